"""The points that documents share, and what comparing them with others takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import CosineTable

__all__ = ["Points", "hashes_of"]


def hashes_of(points: NDArray[Any]) -> NDArray[np.uint64]:
    """One number a point, equal for equal points: its bits times fixed odd numbers, summed."""
    bits = np.ascontiguousarray(points).view(np.uint32 if points.itemsize == 4 else np.uint64)
    odd = _odd(bits.shape[1])
    out = np.empty(len(bits), np.uint64)
    for start in range(0, len(bits), 4096):
        part = bits[start : start + 4096].astype(np.uint64)
        part *= odd
        np.sum(part, axis=1, out=out[start : start + 4096])
    return out


@cache
def _odd(count: int) -> NDArray[np.uint64]:
    """Fixed odd numbers."""
    return np.random.default_rng(0).integers(0, 2**63, count, dtype=np.uint64) * 2 + 1


@dataclass(frozen=True, eq=False)
class Points:
    """Points, one a row; collections of documents over the same words share one of these.

    `squared` (squared norms in float32) and `hashes` are handed in where they are kept, such as in a
    file; otherwise they are found when they are first wanted.

    >>> some = Points(np.array([[0.0, 1.0], [2.0, 3.0]]))
    >>> some.find(np.array([[2.0, 3.0], [5.0, 5.0]])).tolist()
    [1, -1]
    """

    array: NDArray[Any]
    squared: NDArray[np.float32] | None = None
    hashes: NDArray[np.uint64] | None = None

    def __len__(self) -> int:
        return len(self.array)

    @cached_property
    def table(self) -> CosineTable:
        """The points, ready to be compared with a query in float32."""
        if self.squared is not None and self.array.dtype == np.float32:
            return CosineTable(self.array, self.squared)
        return CosineTable.of(self.array, np.float32)

    @cached_property
    def exact_table(self) -> CosineTable:
        """The same in float64."""
        return CosineTable.of(self.array, np.float64)

    @cached_property
    def _places(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """The hashes of all points, in order, and which point each belongs to."""
        hashes = hashes_of(self.array) if self.hashes is None else self.hashes
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def find(self, points: NDArray[Any]) -> NDArray[np.int32]:
        """The row of a point equal to each of `points`; -1 where there is none."""
        rows = np.full(len(points), -1, np.int32)
        if len(self) and len(points) and points.shape[1] == self.array.shape[1]:
            points = points.astype(self.array.dtype, copy=False)
            hashes, places = self._places
            at = np.minimum(np.searchsorted(hashes, hashes_of(points)), len(hashes) - 1)
            found = places[at]
            same = (self.array[found] == points).all(axis=1)
            rows[same] = found[same]
        return rows

"""How far each word of some documents is from a query's points: lower bounds, as codes.

A column of codes, one query point against all words, costs one matrix product over the vocabulary, and
most words of a query were asked before: columns of late are kept, up to a limit on their bytes. Groups of
queries make theirs together.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import CosineTable
from wayfare.many import Documents, Query
from wayfare.threads import scratch

__all__ = ["Spans", "prepare_spans"]

Codes = NDArray[np.uint16]
Key = tuple[float, bytes]

# Words whose products with the query are made, and used, while they are in cache; columns made at once.
BLOCK, GROUP = 2048, 256
MOST_BYTES = 256 * 2**20
# Squared norms whose products float32 holds, with room; others are at no known distance.
SHORTEST, LONGEST = 1e-25, 1e30


@dataclass(frozen=True)
class _Grid:
    """What codes mean: a point at code c is at least `unit c` away, and its square is off by `off`."""

    unit: float
    off: float

    @classmethod
    def of(cls, table: CosineTable, beyond: float) -> _Grid:
        """Wide enough for query points whose squared norms are up to `beyond` times the words'.

        An inner product of n terms in floating point is off by at most n u |x| |y|; doubled, since codes
        lose less than that to their own rounding.
        """
        from wayfare.kernels.cpu.codes import CODES

        if not beyond:
            return cls(0.0, np.inf)
        unit = float(np.finfo(table.points.dtype).eps) / 2
        longest = float(table.squared.max(initial=0.0))
        off = 2 * (table.points.shape[1] + 4) * np.sqrt(beyond) + 4 * (1 + beyond)
        return cls(
            float(np.sqrt(longest) * (1 + np.sqrt(beyond)) / CODES), 2 * off * unit * longest
        )


def _beyond(table: CosineTable, points: NDArray[Any]) -> float:
    """How large query points are beside words, as a power of two; 0 where float32 cannot compare them."""
    longest = float(table.squared.max(initial=0.0))
    own = float(np.einsum("ij,ij->i", points, points, dtype=np.float64).max(initial=0.0))
    if not (SHORTEST < longest < LONGEST and own < LONGEST):
        return 0.0
    return float(np.exp2(np.ceil(np.log2(max(own / longest, 1.0)))))


class _Columns:
    """The codes of every word, a column for each query point; safe to share between threads."""

    def __init__(self, table: CosineTable) -> None:
        self._table = table
        self.length = -(-max(len(table.points), 1) // 64) * 64
        self._most = max(MOST_BYTES // (2 * self.length), 1)
        self._kept: OrderedDict[Key, Codes] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, queries: Sequence[NDArray[Any]], beyond: float) -> list[list[Codes]]:
        """The columns of the points of several queries, made together where they are new."""
        with np.errstate(over="ignore"):
            rows = [points.astype(self._table.points.dtype, copy=False) for points in queries]
        keys = [[(beyond, row.tobytes()) for row in points] for points in rows]
        found: dict[Key, Codes] = {}
        missing: dict[Key, NDArray[Any]] = {}
        with self._lock:
            for names, points in zip(keys, rows, strict=True):
                for key, row in zip(names, points, strict=True):
                    if key in self._kept:
                        self._kept.move_to_end(key)
                        found[key] = self._kept[key]
                    elif key not in found:
                        missing[key] = row
        new = list(missing.items())
        for start in range(0, len(new), GROUP):
            some = new[start : start + GROUP]
            made = self._make(np.array([row for _, row in some]), beyond)
            found.update(zip((key for key, _ in some), made, strict=True))
        with self._lock:
            self._kept.update((key, found[key]) for key in missing)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return [[found[key] for key in names] for names in keys]

    def _make(self, points: NDArray[Any], beyond: float) -> list[Codes]:
        from wayfare.kernels.cpu.codes import codes_from_products

        # An array each: a kept column must not keep its whole group alive.
        columns = [np.zeros(self.length, np.uint16) for _ in points]
        if not beyond:
            return columns
        grid, table = _Grid.of(self._table, beyond), self._table
        squared = np.einsum("ij,ij->i", points, points, dtype=np.float64)
        for start in range(0, len(table.points), BLOCK):
            some = slice(start, min(start + BLOCK, len(table.points)))
            products = points @ table.points[some].T
            for column, row, own in zip(columns, products, squared, strict=True):
                codes_from_products(
                    row, own - grid.off, table.squared[some], grid.unit, column[some]
                )
        return columns


def _table_of(documents: Documents) -> CosineTable:
    with np.errstate(over="ignore"):  # `_beyond` looks for it
        return documents.table


_making = threading.Lock()


def _columns_of(documents: Documents) -> _Columns:
    """The columns of the words of some documents, kept with these words."""
    with _making:
        store: dict[str, Any] = documents.shared.__dict__
        if "code_columns" not in store:
            store["code_columns"] = _Columns(_table_of(documents))
        columns: _Columns = store["code_columns"]
        return columns


def prepare_spans(documents: Documents, queries: Sequence[Query]) -> None:
    """Compare the words of several queries with those of the documents in one product."""
    points = [query.points for query in queries if len(query.points)]
    scales = {_beyond(_table_of(documents), some) for some in points}
    if len(scales) == 1:
        _columns_of(documents).find(points, scales.pop())


@dataclass(frozen=True)
class Spans:
    """The codes of one query: `near[w]` holds word w's of all query points.

    `nearest[w]` is a lower bound of word w's distance from the nearest of them. The arrays belong to the
    thread that made them, until its next query.
    """

    grid: _Grid
    near: Codes
    nearest: NDArray[np.float64]

    @classmethod
    def of(cls, documents: Documents, query: Query) -> Spans:
        """The words of some documents against a query's points."""
        from wayfare.kernels.cpu import codes

        table = _table_of(documents)
        beyond = _beyond(table, query.points)
        found = _columns_of(documents).find([query.points], beyond)[0]
        length, width = len(found[0]), -(-len(found) // 16) * 16
        near = scratch("spans", (length, width), np.uint16)
        least = np.empty(length, np.uint16)
        # Some words at a time: what is copied is still in cache when it is turned.
        block = scratch("span columns", (width, BLOCK), np.uint16)
        block[len(found) :] = codes.FARTHEST
        for start in range(0, length, BLOCK):
            some = slice(start, min(start + BLOCK, length))
            part = block[:, : some.stop - start]
            for row, column in zip(part, found, strict=False):
                row[:] = column[some]
            codes.interleave(part.view(np.uint64), near[some].view(np.uint64))
            codes.column_minima(part[: len(found)], least[some])
        grid = _Grid.of(table, beyond)
        nearest = np.empty(len(documents.points))
        np.multiply(least[: len(nearest)], grid.unit, out=nearest)
        return cls(grid, near, nearest)

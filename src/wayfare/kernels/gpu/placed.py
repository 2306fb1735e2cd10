"""Documents on a device, and the table of cosines of some of them with some others.

The table has a row for each distinct word of the first documents and a column for each entry of the
second, so that the columns of a document lie beside each other. It costs one product of words, not of
entries, formed in float64; kept in float32, a cosine is off by half a unit, whatever the dimension.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.kernels.gpu.problem import SMALLEST_COSINE
from wayfare.kernels.gpu.torches import send, torch

__all__ = ["Placed", "Side", "Table", "table_of", "vocabulary_table"]

Tensor = Any

# Products of words in float64 that are under way at once.
PRODUCTS = 1 << 26


@dataclass(frozen=True)
class Placed:
    """Rows of weights over points, and the mass of each row, on one device."""

    points: Tensor
    starts: Tensor
    indices: Tensor
    weights: Tensor
    masses: Tensor

    @classmethod
    def of(
        cls,
        points: NDArray[Any],
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[Any],
        masses: NDArray[np.float64],
        device: Any,
    ) -> Placed:
        """Bring arrays in CSR to a device, in one transfer."""
        return cls(*send((points, indptr, indices, weights, masses), device))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def device(self) -> Any:
        """Where the arrays are."""
        return self.starts.device

    @cached_property
    def sizes(self) -> Tensor:
        """The number of points of each document."""
        return self.starts.diff()

    @cached_property
    def shares(self) -> Tensor:
        """The weights at mass one, in float64."""
        return self.weights.double() / self.masses.repeat_interleave(self.sizes)

    def with_each_point_once(self) -> Placed:
        """The same documents over distinct points, found by a hash of their bits."""
        t = torch()
        whole = t.int32 if self.points.dtype == t.float32 else t.int64
        bits = self.points.contiguous().view(whole).long()
        odd = np.random.default_rng(0).integers(0, 2**62, bits.shape[1]) * 2 + 1
        # Products and sums of whole numbers wrap around, which is what a hash wants.
        hashes = (bits * t.from_numpy(odd).to(self.device)).sum(1)
        _, which = hashes.unique(return_inverse=True)
        count = int(which.max()) + 1 if len(which) else 0
        one = t.zeros(count, dtype=t.int64, device=self.device)
        one[which] = t.arange(len(which), device=self.device)
        if not bool((self.points[one[which]] == self.points).all()):
            return self
        places = which[self.indices.long()].to(self.indices.dtype)
        return Placed(self.points[one], self.starts, places, self.weights, self.masses)

    def take(self, documents: Tensor) -> Placed:
        """Some documents, in this order, over the same points."""
        sizes = self.sizes[documents]
        starts = _offsets(sizes)
        shift = self.starts[documents] - starts[:-1]
        entries = torch().arange(int(starts[-1]), device=self.device)
        entries = entries + shift.repeat_interleave(sizes)
        kept = self.indices[entries], self.weights[entries], self.masses[documents]
        return Placed(self.points, starts, *kept)


def _offsets(sizes: Tensor) -> Tensor:
    return torch().nn.functional.pad(sizes.cumsum(0), (1, 0))


@dataclass(frozen=True)
class Side:
    """One side of a table: where each document starts, its places in the table, its shares."""

    starts: Tensor
    places: Tensor
    shares: Tensor
    sizes: Tensor
    masses: Tensor

    @classmethod
    def of(cls, documents: Placed, places: Tensor, dtype: Any) -> Side:
        """The documents with `places` in the table."""
        # A share too small for float32 may not become 0: its logarithm is taken.
        shares = documents.shares.clamp(min=1e-30).to(dtype)
        return cls(
            documents.starts,
            places.to(torch().int32),
            shares,
            documents.sizes,
            documents.masses,
        )


@dataclass(frozen=True)
class Table:
    """Cosines of the words of `first` with the entries of `second`, each off by at most `slack`."""

    cosines: Tensor
    slack: float
    first: Side
    second: Side


def table_of(first: Placed, second: Placed, eta: float, dtype: Any) -> Table:
    """The cosines of all words of some documents with all entries of some others."""
    t = torch()
    rows, row_of = first.indices.unique(return_inverse=True)
    cols, col_of = second.indices.unique(return_inverse=True)
    out = t.empty(len(rows), len(second.indices), dtype=dtype, device=first.device)
    x, y = first.points[rows], second.points[cols]
    for some, cosines in _cosines(x, y, eta, dtype):
        t.index_select(cosines, 1, col_of, out=out[some])
    places = t.arange(len(second.indices), device=first.device)
    sides = Side.of(first, row_of, dtype), Side.of(second, places, dtype)
    return Table(out, _slack(x, y, eta, dtype), *sides)


def vocabulary_table(first: Placed, second: Placed, eta: float, dtype: Any) -> Table:
    """The cosines of all points of some documents with all points of some others."""
    x, y = first.points, second.points
    out = torch().empty(len(x), len(y), dtype=dtype, device=first.device)
    for some, cosines in _cosines(x, y, eta, dtype):
        out[some] = cosines
    sides = Side.of(first, first.indices, dtype), Side.of(second, second.indices, dtype)
    return Table(out, _slack(x, y, eta, dtype), *sides)


def _cosines(x: Tensor, y: Tensor, eta: float, dtype: Any) -> Iterator[tuple[slice, Tensor]]:
    """`cos_+(|x_i - y_j| / 2 eta)`, formed in float64, some rows at a time."""
    t = torch()
    x, y = x.double(), y.double()
    own, other = x.square().sum(1), y.square().sum(1)
    step = max(PRODUCTS // max(len(y), 1), 1)
    for start in range(0, len(x), step):
        some = slice(start, start + step)
        angle = t.addmm(other[None, :], x[some], y.T, alpha=-2.0)
        angle += own[some, None]
        angle.clamp_(min=0.0).sqrt_().mul_(0.5 / eta)
        far = angle >= np.pi / 2
        cosines = angle.cos_().clamp_(min=0.0).masked_fill_(far, 0.0).to(dtype)
        if dtype == t.float32:
            cosines.masked_fill_(cosines < SMALLEST_COSINE, 0.0)
        yield some, cosines


def _slack(x: Tensor, y: Tensor, eta: float, dtype: Any) -> float:
    """How far off an entry may be: `ground.CosineTable.slack` in float64, then what float32 drops."""
    t = torch()
    unit = t.finfo(t.float64).eps / 2
    mine, longest = (
        float(side.double().square().sum(1).max()) if len(side) else 0.0 for side in (x, y)
    )
    off = 2 * (x.shape[1] + 4) * unit * float(np.sqrt(longest * mine)) + 4 * unit * (longest + mine)
    slack = float(off / (8 * eta**2) + 8 * unit)
    return slack if dtype == t.float64 else slack + 2.0**-24 + SMALLEST_COSINE

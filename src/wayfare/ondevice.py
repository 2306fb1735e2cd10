"""All pairs of two corpora on a GPU: blocks of documents, each with one table, certified to `tol`.

    float32    every pair, in the kernels of kernels/gpu
    float64    there too, for what float32 could not certify: near-duplicates
    the CPU    for what Sinkhorn in float64 could not: its interior-point finish

The bounds do not depend on the blocks, and hold as those of the CPU do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare import wfr
from wayfare.kernels.gpu import engines, pairs, placed, torches
from wayfare.many import SINGLE_TOL, Documents
from wayfare.measure import Measure
from wayfare.progress import Progress
from wayfare.threads import in_threads, one_blas_thread

__all__ = ["Desk", "all_pairs"]

Array = NDArray[np.float64]
Tensor = Any
Named = Callable[[int], Measure]

# The elements of one table, of which two are alive at once, and which 32 bits must address.
MOST_ELEMENTS = 2**31 - 1
SHARE_OF_MEMORY = 8
ROWS_AT_LEAST = 2048
PAIRS_IN_DOUBLE = 1024
COPIES = 1e-9


@dataclass(frozen=True)
class Desk:
    """Where pairs are worked on, and what is asked of them."""

    device: Any
    eta: float
    tol: float
    atol: float
    n_jobs: int = 1
    dtype: Any = None

    def place(self, documents: Documents) -> placed.Placed:
        """Bring documents to the device."""
        return self.place_all([documents])

    def place_all(self, collections: Sequence[Documents]) -> placed.Placed:
        """Bring several collections to the device as one; points that they share go there once."""
        shared = list({id(one.shared): one.shared for one in collections}.values())
        firsts = np.cumsum([0, *(len(points) for points in shared)])
        at = {id(points): int(first) for points, first in zip(shared, firsts, strict=False)}
        starts = np.cumsum([0, *(one.indptr[-1] for one in collections)])
        if len(collections) == 1:
            (one,) = collections
            arrays = one.points, one.indptr, one.indices, one.weights, one.masses
        else:
            pairs_of = list(zip(collections, starts, strict=False))
            arrays = (
                np.concatenate([points.array for points in shared]),
                np.concatenate([[0], *(one.indptr[1:] + begin for one, begin in pairs_of)]),
                np.concatenate([one.indices + at[id(one.shared)] for one in collections]),
                np.concatenate([one.weights for one in collections]),
                np.concatenate([one.masses for one in collections]),
            )
        return placed.Placed.of(*arrays, self.device)

    @property
    def precisions(self) -> list[Any]:
        """What to try in turn."""
        t = torches.torch()
        if self.dtype is not None:
            return [t.float32 if self.dtype == np.float32 else t.float64]
        return [t.float32, t.float64] if self.tol >= SINGLE_TOL else [t.float64]

    def elements(self) -> int:
        """How large a table may be."""
        free = torches.free_bytes(self.device)
        return min(free // (SHARE_OF_MEMORY * int(self.precisions[0].itemsize)), MOST_ELEMENTS)

    def narrow(
        self,
        table: placed.Table,
        first: Tensor,
        second: Tensor,
        cut: Tensor | None = None,
        **how: Any,
    ) -> pairs.Narrowed:
        """Bound pairs of a table, in its precision."""
        goal = pairs.Goal(self.tol, self.atol, cut)
        return pairs.narrow(table, first, second, goal, engines.best_engine(self.device), **how)

    def again(
        self,
        mine: placed.Placed,
        other: placed.Placed,
        first: Tensor,
        second: Tensor,
        cut: Tensor | None = None,
    ) -> pairs.Narrowed:
        """Bound pairs of documents in float64, over tables of the documents that they need."""
        t = torches.torch()
        found = pairs.nothing_found(mine, other, first, second)

        def run(some: slice) -> None:
            rows, row_of = first[some].unique(return_inverse=True)
            cols, col_of = second[some].unique(return_inverse=True)
            table = placed.table_of(mine.take(rows), other.take(cols), self.eta, t.float64)
            part = self.narrow(table, row_of, col_of, None if cut is None else cut[some])
            # A document beside its own copy has J = 0, which only the CPU's closed form says.
            part.open[part.upper <= COPIES * part.total] = True
            found.put(some, part)

        pairs.in_blocks(run, len(first), PAIRS_IN_DOUBLE)
        return found

    def finish(
        self, mine: Named, other: Named, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> tuple[Array, Array]:
        """Bound pairs of documents on the CPU, one by one; `mine` and `other` make them measures."""
        if not len(first):
            return np.zeros(0), np.zeros(0)

        def solve(pair: tuple[int, int]) -> tuple[float, float]:
            certificate = wfr.solve(
                mine(pair[0]), other(pair[1]), eta=self.eta, tol=self.tol, atol=self.atol
            ).certificate
            return certificate.lower, certificate.upper

        tasks = zip(first.tolist(), second.tolist(), strict=True)
        with one_blas_thread():
            found = np.array(list(in_threads(solve, tasks, self.n_jobs))).reshape(-1, 2)
        return found[:, 0], found[:, 1]


def all_pairs(
    first: Documents, second: Documents | None, desk: Desk, progress: bool | None = None
) -> tuple[Array, Array]:
    """Bounds on J of all pairs; of those above the diagonal only where `second` is None."""
    columns = first if second is None else second
    with (
        torches.exact_products(),
        Progress("solving", total=len(first) * len(columns), unit="pairs", show=progress) as shown,
    ):
        work = _AllPairs.of(first, second, desk)
        most = desk.elements()
        for docs in _by_entries(columns.indptr, max(most // ROWS_AT_LEAST, columns.longest)):
            width = int(columns.indptr[docs.stop] - columns.indptr[docs.start])
            for queries in _by_words(first, most // max(width, 1)):

                def run(some: slice, begin: int = queries.start, docs: slice = docs) -> None:
                    rows = slice(begin + some.start, begin + some.stop)
                    work.block(rows, docs)
                    shown.advance((rows.stop - rows.start) * (docs.stop - docs.start))

                count = queries.stop - queries.start
                pairs.in_blocks(run, count, count)
    return work.lower, work.upper


@dataclass(frozen=True)
class _AllPairs:
    """Two corpora, on the host and on the device, and the bounds that are found."""

    desk: Desk
    first: Documents
    columns: Documents
    mine: placed.Placed
    other: placed.Placed
    triangle: bool
    lower: Array
    upper: Array

    @classmethod
    def of(cls, first: Documents, second: Documents | None, desk: Desk) -> _AllPairs:
        mine = desk.place(first)
        other = mine if second is None else desk.place(second)
        columns = first if second is None else second
        lower, upper = (np.zeros((len(first), len(columns))) for _ in range(2))
        return cls(desk, first, columns, mine, other, second is None, lower, upper)

    def block(self, rows: slice, docs: slice) -> None:
        """Bound the pairs of some consecutive documents of each side."""
        t, desk = torches.torch(), self.desk
        f, s = (t.arange(b.start, b.stop, device=desk.device) for b in (rows, docs))
        if self.triangle and rows.start >= docs.stop - 1:
            return
        shape = len(f), len(s)
        table = placed.table_of(self.mine.take(f), self.other.take(s), desk.eta, desk.precisions[0])
        first = t.arange(shape[0], device=desk.device).repeat_interleave(shape[1])
        second = t.arange(shape[1], device=desk.device).repeat(shape[0])
        if self.triangle:
            above = f[first] < s[second]
            first, second = first[above], second[above]
        found = desk.narrow(table, first, second)
        del table
        first, second = f[first], s[second]
        for _ in desk.precisions[1:]:
            left = found.open.nonzero()[:, 0]
            found.put(left, desk.again(self.mine, self.other, first[left], second[left]))
        for side, bounds in ((self.lower, found.lower), (self.upper, found.upper)):
            dense = t.zeros(shape, dtype=t.float64, device=desk.device)
            dense[first - rows.start, second - docs.start] = bounds
            t.from_numpy(side)[rows, docs] = dense.cpu()
        left = found.open
        self._finish(*(pick[left].cpu().numpy() for pick in (first, second)))

    def _finish(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
        lower, upper = self.desk.finish(self.first.measure, self.columns.measure, first, second)
        self.lower[first, second] = np.maximum(self.lower[first, second], lower)
        self.upper[first, second] = np.minimum(self.upper[first, second], upper)


def _by_entries(indptr: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Consecutive documents of at most so many entries together."""
    start = 0
    while start < len(indptr) - 1:
        stop = int(np.searchsorted(indptr, indptr[start] + most, side="right")) - 1
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start = stop


def _by_words(documents: Documents, most: int) -> Iterator[slice]:
    """Consecutive documents of at most so many distinct words together, halved until they are."""
    start, count = 0, len(documents)
    while start < count:
        stop = count
        while stop > start + 1:
            span = slice(documents.indptr[start], documents.indptr[stop])
            if np.count_nonzero(np.bincount(documents.indices[span])) <= most:
                break
            stop = start + (stop - start + 1) // 2
        yield slice(start, stop)
        start = stop

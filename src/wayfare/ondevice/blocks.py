"""All pairs of two corpora: blocks of documents, each with one table, certified to `tol`.

The bounds do not depend on the blocks, and hold as those of the CPU do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.kernels.gpu import pairs, placed, torches
from wayfare.many import Documents
from wayfare.ondevice.desk import Desk
from wayfare.ondevice.kept import fitting
from wayfare.progress import Progress

__all__ = ["all_pairs"]

Array = NDArray[np.float64]
Tensor = Any

ROWS_AT_LEAST = 2048


def all_pairs(
    first: Documents, second: Documents | None, desk: Desk, progress: bool | None = None
) -> tuple[Array, Array]:
    """Bounds on J of all pairs; of those above the diagonal only where `second` is None.

    Corpora larger than the device go there in parts, each part of one with each part of the other.
    """
    columns = first if second is None else second
    lower, upper = (np.zeros((len(first), len(columns))) for _ in range(2))
    with (
        torches.exact_products(),
        Progress("solving", total=lower.size, unit="pairs", show=progress) as shown,
    ):

        def against(docs: slice) -> None:
            other = _Side.of(columns, docs, desk)

            def along(rows: slice) -> None:
                if second is None and rows.start >= docs.stop:
                    shown.advance((rows.stop - rows.start) * (docs.stop - docs.start))
                    return
                same = second is None and rows == docs
                mine = other if same else _Side.of(first, rows, desk)
                work = _Work(desk, mine, other, second is None, lower, upper)
                work.run(shown)

            pairs.in_blocks(along, len(first), fitting(first, desk.device))

        pairs.in_blocks(against, len(columns), fitting(columns, desk.device))
    return lower, upper


@dataclass(frozen=True)
class _Side:
    """Consecutive documents of a corpus, on the host and on the device, and where they begin in it."""

    documents: Documents
    placed: placed.Placed
    start: int

    @classmethod
    def of(cls, documents: Documents, some: slice, desk: Desk) -> _Side:
        if some.stop - some.start < len(documents):
            documents = documents.block(some.start, some.stop)
        return cls(documents, desk.place(documents), some.start)


@dataclass(frozen=True)
class _Work:
    """Two sides, and the bounds that are found of the whole corpora."""

    desk: Desk
    mine: _Side
    other: _Side
    triangle: bool
    lower: Array
    upper: Array

    def run(self, shown: Progress) -> None:
        """Bound all pairs of the two sides, a table at a time."""
        columns, most = self.other.documents, self.desk.elements()
        for docs in _by_entries(columns.indptr, max(most // ROWS_AT_LEAST, columns.longest)):
            width = int(columns.indptr[docs.stop] - columns.indptr[docs.start])
            for rows in _by_words(self.mine.documents, most // max(width, 1)):

                def block(some: slice, begin: int = rows.start, docs: slice = docs) -> None:
                    here = slice(begin + some.start, begin + some.stop)
                    self.block(here, docs)
                    shown.advance((here.stop - here.start) * (docs.stop - docs.start))

                count = rows.stop - rows.start
                pairs.in_blocks(block, count, count)

    def block(self, rows: slice, docs: slice) -> None:
        """Bound the pairs of some consecutive documents of each side."""
        t, desk = torches.torch(), self.desk
        down, across = self.mine.start + rows.start, self.other.start + docs.start
        if self.triangle and down >= self.other.start + docs.stop - 1:
            return
        f, s = (t.arange(b.start, b.stop, device=desk.device) for b in (rows, docs))
        mine, other = self.mine.placed, self.other.placed
        table = placed.table_of(mine.take(f), other.take(s), desk.eta, desk.precisions[0])
        first = t.arange(len(f), device=desk.device).repeat_interleave(len(s))
        second = t.arange(len(s), device=desk.device).repeat(len(f))
        if self.triangle:
            above = first + down < second + across
            first, second = first[above], second[above]
        found = desk.narrow(table, first, second)
        del table
        for _ in desk.precisions[1:]:
            left = found.open.nonzero()[:, 0]
            found.put(left, desk.again(mine, other, f[first[left]], s[second[left]]))
        dense = t.zeros(2, len(f), len(s), dtype=t.float64, device=desk.device)
        dense[0, first, second], dense[1, first, second] = found.lower, found.upper
        here = slice(down, down + len(f)), slice(across, across + len(s))
        ((self.lower[here], self.upper[here]),) = torches.fetch([dense])
        left = found.open.nonzero()[:, 0]
        if len(left):
            self._finish(*torches.fetch([f[first[left]], s[second[left]]]))

    def _finish(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> None:
        mine, other = self.mine, self.other
        lower, upper = self.desk.finish(
            mine.documents.measure, other.documents.measure, first, second
        )
        at = first + mine.start, second + other.start
        self.lower[at] = np.maximum(self.lower[at], lower)
        self.upper[at] = np.minimum(self.upper[at], upper)


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

"""One collection in one search, and the documents of it that are worth solving."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wayfare import bounds
from wayfare.columns import columns_of
from wayfare.many import CERTIFIED, Documents, Narrow, Query, Scratch
from wayfare.search.hits import SearchWork
from wayfare.search.request import Budget

__all__ = ["Narrowed", "Part", "limit_of"]

Array = NDArray[np.float64]

MOST_KEPT = 2**20  # entries of the largest problem whose workspaces a thread keeps: 32 MB


def limit_of(cut: float, best: Array) -> float:
    """Above which J no document can belong to the answer any more."""
    # Never infinite: documents that may not be found have that for a bound, and are beyond any limit.
    limit = min(cut, float(np.finfo(np.float64).max))
    return min(limit, float(best.max())) if len(best) else limit


@dataclass
class Part:
    """One collection in one search: its bounds, and the documents still in play."""

    number: int
    documents: Documents
    query: Query
    allowed: NDArray[np.bool_] | None
    eta: float
    before: Part | None = None
    work: SearchWork = field(default_factory=SearchWork)

    @cached_property
    def table(self) -> bounds.QueryTable:
        """The query against all words; collections over the same words share it."""
        if self.before is not None and self.before.documents.shared is self.documents.shared:
            return self.before.table
        return bounds.QueryTable.of(columns_of(self.documents).of(self.query, self.eta))

    def bound_words(self) -> Array:
        """Step 1: a lower bound of J for every document, infinite for those not allowed."""
        lower = bounds.word_bound(self.documents, self.table, self.query)
        count = len(self.documents)
        if self.allowed is not None:
            lower[~self.allowed] = np.inf
            count = int(self.allowed.sum())
        self.work += SearchWork(documents=count, by_word=count)
        return lower

    def bound_pairs(self, lower: Array, picks: NDArray[np.int64], enough: float) -> None:
        """Raise the lower bounds of `picks` by what their own words prove."""
        found, tiers = bounds.pair_bound(self.documents, self.table, self.query, picks, enough)
        lower[picks] = np.maximum(lower[picks], found)
        rows, middle, sweep = (int(count) for count in tiers)
        self.work += SearchWork(by_rows=rows, by_middle=middle, by_sweep=sweep)


_local = threading.local()


def _scratch(m: int, n: int) -> Scratch:
    """The workspaces of this thread: fresh pages for every lot cost as much as some solves."""
    if m * n > MOST_KEPT:
        return Scratch(m, n)
    kept: tuple[int, int, Scratch] | None = getattr(_local, "scratch", None)
    if kept is None or kept[0] < m or kept[1] < n:
        p, q = (m, n) if kept is None else (max(m, kept[0]), max(n, kept[1]))
        p, q = (p, q) if p * q <= MOST_KEPT else (m, n)
        _local.scratch = kept = (p, q, Scratch(p, q))
    return kept[2]


class Narrowed:
    """The documents of one collection that are worth sweeps, with their bounds."""

    def __init__(self, part: Part, picks: NDArray[np.int64], lower: Array) -> None:
        self.part, self.picks = part, picks
        self.documents, self.query = part.documents.take(picks, part.query)
        self.spread = self.documents.unknown()
        self.spread.lower[:] = lower[picks]
        self.scratch = _scratch(len(part.query.weights), self.documents.longest)
        self.cosines = self.documents.table.cosines(part.query.points, part.eta)

    def work_on(self, order: NDArray[np.int64], goal: Narrow) -> int:
        """Narrow the bounds of some in this order; returns how many were worth it."""
        spread = self.spread
        touched = self.documents.narrow(
            self.query, order, spread, goal, self.scratch, cosines=self.cosines
        )
        # Two bounds that meet were rounded on their own.
        np.minimum(spread.lower, spread.upper, out=spread.lower)
        return touched

    def narrow(self, goal: Narrow, budget: Budget) -> None:
        """Work on what `goal` leaves open, nearest first."""
        spread = self.spread
        order = np.flatnonzero(spread.lower <= limit_of(goal.cut, goal.best))
        order = order[np.argsort(spread.lower[order], kind="stable")]
        touched = self.work_on(order, goal)
        solved, sweeps = int((spread.status == CERTIFIED).sum()), int(spread.sweeps.sum())
        budget.solved += solved
        self.part.work += SearchWork(started=touched, solved=solved, sweeps=sweeps)

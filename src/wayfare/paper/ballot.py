"""Whether the votes of the first 1, 2, ..., k neighbours are settled, when distances are intervals.

A neighbour is surely among the first j if fewer than j others can come before it, and maybe if fewer
than j surely do. That bounds how many votes each class has among the first j: `low <= votes <= high`.
The election of j is settled

    by a lead       low of one class > high of every other
    by the count    low = high for all, and there is one first, or the election of j - 1 is settled

since a tie is broken by leaving out the farthest. Where no election is open, distances need not be told
apart: most overlaps are between neighbours whose order no majority hangs on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ROUNDING", "TOLS", "Ballot"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]

# How far neighbours are told apart, in turn; then they are tied, and the first in the data comes first.
TOLS = (1e-4, 1e-6, 1e-8, 1e-10)
# Values of one thing, computed on two ways, differ by less than this share.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Ballot:
    """The neighbours of one document, as intervals, in the order (upper, place).

    `order` is where each stood when it came; `votes` are their classes.

    >>> ballot = Ballot.of(
    ...     np.array([5, 7]), np.array([1.0, 0.9]), np.array([1.1, 1.2]), np.arange(9) % 2, 2
    ... )
    >>> ballot.open(), ballot.first()[0]  # of classes 1 and 1: nothing hangs on their order
    (array([], dtype=int64), array([1, 1]))
    """

    order: Places
    places: Places
    lower: Array
    upper: Array
    votes: Places
    k: int

    @classmethod
    def of(cls, places: Places, lower: Array, upper: Array, codes: Places, k: int) -> Ballot:
        """Those of `places`; `codes` number the classes of all places there are."""
        order = np.lexsort((places, upper))
        places, upper = places[order], upper[order]
        lower = np.minimum(lower[order], upper * (1 - ROUNDING))
        return cls(order, places, lower, upper, codes[places], k)

    @property
    def reach(self) -> float:
        """How far the k-th is at most; 0 where nobody is left."""
        return float(self.upper[: self.k].max(initial=0.0))

    def open(self) -> Places:
        """Whose intervals leave an election open and can be made smaller, by where they came."""
        k = min(self.k, len(self.votes))
        if not k:
            return np.empty(0, np.int64)
        surely_before = np.searchsorted(self.upper, self.lower, side="left")
        reach = surely_before < k
        if (self.votes[reach] == self.votes[0]).all():
            return np.empty(0, np.int64)
        maybe_before = np.searchsorted(np.sort(self.lower), self.upper, side="right") - 1
        first = np.arange(1, k + 1)[:, None]
        surely, maybe = maybe_before[reach] < first, surely_before[reach] < first
        settled = _settled(surely, maybe, self.votes[reach], first)
        between = (maybe & ~surely)[~settled].any(axis=0)
        wide = self.upper - self.lower > 2 * ROUNDING * self.upper
        return np.sort(self.order[reach][between & wide[reach]])

    def first(self) -> tuple[Places, Array]:
        """The classes and distances of the first k; what cannot be told apart stands by place."""
        upper = self.upper.copy()
        narrow = self.upper - self.lower <= 2 * ROUNDING * self.upper
        reach, first = -np.inf, 0.0
        for at in np.flatnonzero(narrow):
            if self.lower[at] > reach:
                first = upper[at]
            reach = max(reach, upper[at])
            upper[at] = first
        order = np.lexsort((self.places, upper))[: self.k]
        return self.votes[order], upper[order]


def _settled(
    surely: NDArray[np.bool_], maybe: NDArray[np.bool_], votes: Places, first: Places
) -> NDArray[np.bool_]:
    """Which elections are settled; rows are elections, columns neighbours."""
    mine = votes[:, None] == np.unique(votes)
    low, most = surely @ mine.astype(np.int64), maybe @ mine.astype(np.int64)
    high = np.minimum(most, low + first - low.sum(axis=1, keepdims=True))
    low = np.maximum(low, first - (high.sum(axis=1, keepdims=True) - high))
    counted = low.sum(axis=1) == first[:, 0]
    at = np.arange(len(low))
    best = low.argmax(axis=1)
    lead = low[at, best]
    others = high.copy()
    others[at, best] = -1
    by_lead = lead > others.max(axis=1)
    clear = counted & ((low == lead[:, None]).sum(axis=1) == 1)
    settled = by_lead | clear
    before = True
    for j in range(len(settled)):
        before = settled[j] = bool(settled[j] or (counted[j] and before))
    return np.asarray(settled)

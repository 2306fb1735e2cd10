"""A group of queries against documents on a GPU: steps 1 to 5 of `on_device.py`.

Bounds of all pairs lie there as matrices (queries, documents), and every step works on those pairs of
them that it picks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfare.kernels.gpu import bounds, pairs, placed, problem, torches
from wayfare.ondevice import Desk
from wayfare.search.proof import BORDER_TOLS

if TYPE_CHECKING:
    from wayfare.search.on_device import Group

__all__ = ["Brought", "Round"]

Array = NDArray[np.float64]
Tensor = Any

# The search starts from the likeliest LIKELY * k + SEEDS documents of each query.
SEEDS, LIKELY = 4, 2


@dataclass(frozen=True)
class Brought:
    """What came back from the device: pairs that may belong to an answer, and what all others cost."""

    lower: Array
    upper: Array
    outside: Array
    counts: NDArray[np.int64]
    queries: NDArray[np.int64]
    rows: NDArray[np.int64]


class Round:
    """A group of queries against documents on the device: bounds (queries, documents) there."""

    def __init__(self, group: Group, documents: placed.Placed, begin: int) -> None:
        t = torches.torch()
        self.group, self.documents, self.begin = group, documents, begin
        self.queries, self.desk, self.cut = group.queries, group.desk, group.cut[:, None]
        self.table = placed.vocabulary_table(self.queries, documents, self.desk.eta, t.float32)
        self.lower = bounds.search_bounds(self.table)
        if group.allowed is not None:
            self.lower[:, ~group.allowed[begin : begin + len(documents)]] = np.inf
        self.upper = t.full_like(self.lower, np.inf)
        self.counts = {
            name: t.zeros(len(self.lower), dtype=t.int64, device=self.desk.device)
            for name in ("started", "solved", "refined", "sweeps")
        }
        self._run()

    def _run(self) -> None:
        if self.group.k is not None:
            count = min(LIKELY * self.group.k + SEEDS, self.lower.shape[1])
            likely = self.lower.isnan()
            likely.scatter_(1, self.lower.topk(count, dim=1, largest=False).indices, True)
            self._solve(likely & self._in_play())
        # A few sweeps on what is left show most of it to be too far.
        self._narrow(self.upper.isinf() & self._in_play(), problem.SHALLOW)
        self._solve(self._open() & self._in_play())
        # Finer ones are for the few that are left, one by one.
        for tol in BORDER_TOLS[:4]:
            border = self._border()
            if not bool(border.any()):
                break
            self._count("refined", border.nonzero()[:, 0])
            self._again(border, replace(self.desk, tol=min(tol, self.desk.tol)))

    def best(self) -> Tensor:
        """The k smallest upper bounds of each query, of these documents and those before."""
        t, k = torches.torch(), self.group.best.shape[1]
        here = self.upper.topk(min(k, self.upper.shape[1]), dim=1, largest=False).values
        return t.cat([self.group.best, here], 1).topk(k, dim=1, largest=False).values

    def _limit(self) -> Tensor:
        """What a document's lower bound must not pass: the k-th upper bound, or the radius."""
        if self.group.k is None:
            return self.cut
        return torches.torch().minimum(self.cut, self.best()[:, -1:])

    def _in_play(self) -> Tensor:
        return (self.lower <= self._limit()) & self.lower.isfinite()

    def _open(self) -> Tensor:
        """Which intervals are wider than was asked for."""
        t = torches.torch()
        total = self.queries.masses[:, None] + self.documents.masses
        wanted = self.desk.tol * t.maximum(self.upper, self.desk.atol * total)
        return ~(self.upper - self.lower <= wanted)

    def _solve(self, picks: Tensor) -> None:
        """Bound the picked pairs to `tol`, or until they are too far."""
        self._narrow(picks, problem.PASSES)
        left = picks & self._open() & self._in_play()
        self._again(left, self.desk)
        self._count("solved", (picks & ~self._open()).nonzero()[:, 0])

    def _narrow(self, picks: Tensor, passes: Sequence[problem.Pass]) -> None:
        first, second = picks.nonzero(as_tuple=True)
        cut = self._limit()[first, 0]
        found = self.desk.narrow(self.table, first, second, cut, passes=passes)
        self._count("started", first)
        self._put(first, second, found)

    def _again(self, picks: Tensor, desk: Desk) -> None:
        """Bound the picked pairs in float64, and on the CPU where that is not enough."""
        t = torches.torch()
        first, second = picks.nonzero(as_tuple=True)
        found = desk.again(self.queries, self.documents, first, second)
        left = found.open.nonzero()[:, 0]
        if len(left):
            bounds_left = desk.finish(
                self.group.measures.__getitem__,
                self.group.measure,
                *torches.fetch([first[left], second[left] + self.begin]),
            )
            lower, upper = torches.send(bounds_left, desk.device)
            found.lower[left] = t.maximum(found.lower[left], lower)
            found.upper[left] = t.minimum(found.upper[left], upper)
        self._put(first, second, found)

    def _put(self, first: Tensor, second: Tensor, found: pairs.Narrowed) -> None:
        t = torches.torch()
        self.lower[first, second] = t.maximum(self.lower[first, second], found.lower)
        self.upper[first, second] = t.minimum(self.upper[first, second], found.upper)
        self._count("sweeps", first, found.sweeps)

    def _count(self, name: str, queries: Tensor, weights: Tensor | None = None) -> None:
        counted = queries.bincount(weights, minlength=len(self.lower))
        self.counts[name] += counted.long()

    def _border(self) -> Tensor:
        """What is worth more work here, all at once: documents that may still change places."""
        t = torches.torch()
        live = (self.lower <= self.cut) & self.upper.isfinite()
        border = live & (self.upper > self.cut)
        if self.group.k is not None:
            reach = self.best()[:, -1:]
            live &= self.lower <= reach
            rest = live & (self.upper > reach)
            nearest = t.where(rest, self.lower, np.inf).amin(1, keepdim=True)
            border = (border & live) | rest | (live & (self.upper >= nearest))
        return border

    def bring(self) -> Brought:
        """Bring what may belong to an answer to the host, all of it in one transfer."""
        t = torches.torch()
        picked = self._in_play() & self.upper.isfinite()
        first, second = picked.nonzero(as_tuple=True)
        every = self.lower.isfinite().sum(1)
        counts = t.stack([every, every, *self.counts.values()], 1)
        outside = t.where(picked, np.inf, self.lower).amin(1)
        columns = self.lower[first, second], self.upper[first, second], outside, counts
        return Brought(*torches.fetch([*columns, first, second + self.begin]))

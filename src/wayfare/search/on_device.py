"""Certified search for many queries at once on a GPU, under WFR.

    1  every document     a lower bound from one number a word and query            words
    2  the likeliest      solved: the first k upper bounds of each query            solves
    3  what is left       a few sweeps, which prove nearly all of it too far        sweeps
    4  what is left       solved to `tol`                                           solves
    5  the border         solved further, in float64
    6  what is still tied settled on the CPU, query by query

Queries and documents go in once, and bounds of the candidates come back once. As on the CPU, a document
is dropped only when its lower bound passes the k-th smallest upper bound so far, or the radius.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.kernels.gpu import bounds, pairs, placed, problem, torches
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.ondevice import Desk
from wayfare.search.cascade import search_wfr
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.request import Budget, Ids, Request
from wayfare.wfr import wfr_value

__all__ = ["search_batch"]

Array = NDArray[np.float64]
Tensor = Any
Masks = Sequence[NDArray[np.bool_] | None]

QUERIES = 256
# The search starts from the likeliest LIKELY * k + SEEDS documents of each query.
SEEDS, LIKELY = 4, 2
BORDER_TOLS = (1e-4, 1e-6, 1e-8)


def search_batch(
    collections: Sequence[Documents],
    queries: Sequence[Measure],
    request: Request,
    allowed: Masks,
    ids: Ids,
    desk: Desk,
) -> list[Hits]:
    """The nearest documents of all collections to each query, proven; `request.k` or `within`."""
    shelf = _Shelf.of(collections, allowed, desk)
    hits: list[Hits] = []

    def run(some: slice) -> None:
        group = queries[some]
        for query, found in zip(
            group, _Round(shelf, group, request, desk).answers(ids), strict=True
        ):
            if found is None:
                found = search_wfr(collections, query, request, Budget(), allowed, ids)
            hits.append(found)

    with torches.exact_products():
        pairs.in_blocks(run, len(queries), QUERIES)
    return hits


@dataclass(frozen=True)
class _Shelf:
    """All collections as one on the device, and where each begins."""

    collections: Sequence[Documents]
    starts: NDArray[np.int64]
    placed: placed.Placed
    allowed: Tensor | None

    @classmethod
    def of(cls, collections: Sequence[Documents], allowed: Masks, desk: Desk) -> _Shelf:
        sizes = [len(one) for one in collections]
        mask = None
        if any(one is not None for one in allowed):
            parts = [
                np.ones(size, bool) if one is None else np.asarray(one, bool)
                for size, one in zip(sizes, allowed, strict=True)
            ]
            mask = torches.torch().from_numpy(np.concatenate(parts)).to(desk.device)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(collections, starts, desk.place_all(collections), mask)

    def where(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The collections of some documents, and their places there."""
        numbers = np.searchsorted(self.starts, rows, side="right") - 1
        return numbers, rows - self.starts[numbers]

    def measure(self, row: int) -> Measure:
        (number,), (at,) = self.where(np.array([row]))
        return self.collections[int(number)].measure(int(at))

    def same(self, one: int, other: int) -> bool:
        """Whether two documents are one and the same measure."""
        a, b = self.measure(one), self.measure(other)
        return np.array_equal(a.weights, b.weights) and np.array_equal(a.points, b.points)


@dataclass(frozen=True)
class _Candidates:
    """What one query's answer is chosen from, on the host: documents, bounds on J, names."""

    rows: NDArray[np.int64]
    lower: Array
    upper: Array
    border: NDArray[np.bool_]
    names: list[Any]

    def ranked(self) -> list[int]:
        """Nearest first; equal distances in the order of their ids."""
        return sorted(range(len(self.rows)), key=lambda at: (self.upper[at], self.names[at]))

    def apart(self, one: int, other: int) -> bool:
        """Whether the intervals tell two candidates apart."""
        return bool(self.upper[one] < self.lower[other] or self.upper[other] < self.lower[one])


class _Round:
    """One group of queries against all documents: bounds (queries, documents) on the device."""

    def __init__(
        self, shelf: _Shelf, queries: Sequence[Measure], request: Request, desk: Desk
    ) -> None:
        t = torches.torch()
        self.shelf, self.request, self.desk = shelf, request, desk
        self.measures = queries
        self.queries = desk.place(Documents.of_measures(queries)).with_each_point_once()
        self.cut = np.inf if request.within is None else 0.5 * (request.within / request.eta) ** 2
        self.table = placed.vocabulary_table(self.queries, shelf.placed, request.eta, t.float32)
        self.lower = bounds.word_bounds(self.table)
        if shelf.allowed is not None:
            self.lower[:, ~shelf.allowed] = np.inf
        self.upper = t.full_like(self.lower, np.inf)
        self.counts = {
            name: t.zeros(len(queries), dtype=t.int64, device=desk.device)
            for name in ("started", "solved", "refined", "sweeps")
        }

    def answers(self, ids: Ids) -> list[Hits | None]:
        """The hits of each query; None where only the CPU can settle the border."""
        if self.request.k is not None:
            count = min(LIKELY * self.request.k + SEEDS, self.lower.shape[1])
            likely = self.lower.isnan()
            likely.scatter_(1, self.lower.topk(count, dim=1, largest=False).indices, True)
            self._solve(likely & (self.lower <= self.cut))
        # A few sweeps on what is left show most of it to be too far.
        self._narrow(self.upper.isinf() & self._in_play(), problem.SHALLOW)
        self._solve(self._open() & self._in_play())
        for tol in BORDER_TOLS:
            border = self._border()
            if not bool(border.any()):
                break
            self._refine(border, tol)
        return self._collect(ids)

    def _limit(self) -> Tensor:
        """What a document's lower bound must not pass: the k-th upper bound, or the radius."""
        t, k = torches.torch(), self.request.k
        limit = t.full_like(self.lower[:, 0], self.cut)
        if k is not None and k <= self.upper.shape[1]:
            limit = t.minimum(limit, self.upper.topk(k, dim=1, largest=False).values[:, -1])
        return limit

    def _in_play(self) -> Tensor:
        return (self.lower <= self._limit()[:, None]) & self.lower.isfinite()

    def _open(self) -> Tensor:
        """Which intervals are wider than was asked for."""
        t = torches.torch()
        total = self.queries.masses[:, None] + self.shelf.placed.masses
        wanted = self.request.tol * t.maximum(self.upper, self.request.atol * total)
        return ~(self.upper - self.lower <= wanted)

    def _solve(self, picks: Tensor) -> None:
        """Bound the picked pairs to `tol`, or until they are too far."""
        self._narrow(picks, problem.PASSES)
        left = picks & self._open() & self._in_play()
        self._again(left, self.desk)
        self._count("solved", (picks & ~self._open()).nonzero()[:, 0])

    def _narrow(self, picks: Tensor, passes: Sequence[problem.Pass]) -> None:
        first, second = picks.nonzero(as_tuple=True)
        cut = self._limit()[first]
        found = self.desk.narrow(self.table, first, second, cut, passes=passes)
        self._count("started", first)
        self._put(first, second, found)

    def _again(self, picks: Tensor, desk: Desk) -> None:
        """Bound the picked pairs in float64, and on the CPU where that is not enough."""
        t = torches.torch()
        first, second = picks.nonzero(as_tuple=True)
        found = desk.again(self.queries, self.shelf.placed, first, second)
        left = found.open.nonzero()[:, 0]
        pairs_left = (side[left].cpu().numpy() for side in (first, second))
        bounds_left = desk.finish(self.measures.__getitem__, self.shelf.measure, *pairs_left)
        for side, better, pick in zip(
            (found.lower, found.upper), bounds_left, (t.maximum, t.minimum), strict=True
        ):
            side[left] = pick(side[left], t.from_numpy(better).to(desk.device))
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
        """The documents whose intervals do not tell whether they are inside."""
        t, k = torches.torch(), self.request.k
        border = t.zeros_like(self.lower, dtype=t.bool)
        reach = t.full_like(self.lower[:, :1], np.inf)
        live = self.lower.isfinite() & self.upper.isfinite()
        if k is not None and k < self.lower.shape[1]:
            nearest_k = self.upper.topk(k, dim=1, largest=False)
            reach = nearest_k.values[:, -1:]
            inside = t.zeros_like(border).scatter_(1, nearest_k.indices, True)
            rest = ~inside & live & (self.lower <= reach)
            nearest = t.where(rest, self.lower, np.inf).amin(1, keepdim=True)
            border = (rest | (inside & (self.upper >= nearest))) & (self.lower <= self.cut)
        across = (self.lower <= self.cut) & (self.upper > self.cut) & (self.lower <= reach)
        return live & (border | across)

    def _refine(self, border: Tensor, tol: float) -> None:
        self._count("refined", border.nonzero()[:, 0])
        self._again(border, replace(self.desk, tol=min(tol, self.desk.tol)))

    def _collect(self, ids: Ids) -> list[Hits | None]:
        """Bring the candidates to the host, all at once, and choose among each query's own."""
        t = torches.torch()
        border = self._border()
        first, second = (self._in_play() & self.upper.isfinite() | border).nonzero(as_tuple=True)
        columns = self.lower[first, second], self.upper[first, second], border[first, second]
        lower, upper, unsure = (column.cpu().numpy() for column in columns)
        rows, ends = second.cpu().numpy(), first.bincount(minlength=len(border)).cumsum(0).tolist()
        names = self._names(ids, rows)
        documents = self.lower.isfinite().sum(1)
        counts = t.stack([documents, documents, *self.counts.values()], 1).tolist()
        hits, start = [], 0
        for stop, (every, by_word, started, solved, refined, sweeps) in zip(
            ends, counts, strict=True
        ):
            some = slice(start, stop)
            found = _Candidates(rows[some], lower[some], upper[some], unsure[some], names[some])
            work = SearchWork(
                documents=every,
                by_word=by_word,
                started=started,
                solved=solved,
                refined=refined,
                sweeps=sweeps,
            )
            hits.append(self._choose(found, work))
            start = stop
        return hits

    def _names(self, ids: Ids, rows: NDArray[np.int64]) -> list[Any]:
        names: list[Any] = [None] * len(rows)
        numbers, places = self.shelf.where(rows)
        for number in np.unique(numbers):
            at = np.flatnonzero(numbers == number)
            for where, name in zip(at, ids(int(number), places[at]), strict=True):
                names[where] = name
        return names

    def _choose(self, found: _Candidates, work: SearchWork) -> Hits | None:
        ranked = found.ranked()
        unsure = [at for at in ranked if found.border[at]]
        if np.isfinite(self.cut) and any(found.upper[at] > self.cut for at in unsure):
            return None
        for place, one in enumerate(unsure):
            for other in unsure[place + 1 :]:
                if not self._told_apart(found, one, other):
                    return None
        inside = [at for at in ranked if found.lower[at] <= self.cut][: self.request.k]
        lower, upper = (
            np.array([wfr_value(side[at], self.request.eta) for at in inside])
            for side in (found.lower, found.upper)
        )
        ordered = all(
            found.upper[one] <= found.lower[after]
            or self.shelf.same(found.rows[one], found.rows[after])
            for one, after in pairwise(inside)
        )
        names = [found.names[at] for at in inside]
        return Hits(names, upper, lower, upper.copy(), exact=True, ordered=ordered, work=work)

    def _told_apart(self, found: _Candidates, one: int, other: int) -> bool:
        return found.apart(one, other) or self.shelf.same(found.rows[one], found.rows[other])

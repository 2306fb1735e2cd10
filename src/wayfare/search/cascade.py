"""Certified search under WFR: bound, narrow, solve, prove.

    1  every document   a lower bound from one number a word                  words
    2  the likeliest    bounds from their own words, the best of them solved:
                        the first k upper bounds                              pairs, solves
    3  what is left     bounds from their own words                           pairs
    4  what is left     solved to `tol`, nearest first, some at a time        solves
    5  the border       solved further, until inside and outside are proven apart

A document is dropped as soon as its lower bound passes the k-th smallest upper bound so far, or the
radius. Nothing is dropped for another reason, which is why the answer is exact.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare import bounds
from wayfare.columns import columns_of
from wayfare.many import CERTIFIED, Documents, Narrow, Query, Scratch
from wayfare.measure import Measure
from wayfare.points import hashes_of
from wayfare.search.hits import Hits, SearchWork
from wayfare.wfr import wfr_value

__all__ = ["Budget", "Request", "search_wfr"]

Array = NDArray[np.float64]
Ids = Callable[[int, NDArray[np.int64]], Sequence[Any]]

# Documents that are solved together share a table of their words: the next ones may never need theirs.
FEW, MANY = 16, 256
BOUNDS_BETWEEN_LOOKS = 2048
# The search starts from the best k + SEEDS of the likeliest LIKELY * k + SEEDS documents.
SEEDS, LIKELY = 4, 6
# How far the border is refined, in turn; the last is where double precision ends.
BORDER_TOLS = (1e-4, 1e-6, 1e-8, 1e-10)


@dataclass(frozen=True)
class Request:
    """What is searched for: the `k` nearest, or all `within` a distance, or both at once."""

    k: int | None
    within: float | None
    eta: float
    tol: float
    atol: float


@dataclass
class Budget:
    """A limit on time or on solves; a search that meets it stops and says `exact=False`."""

    milliseconds: float | None = None
    solves: int | None = None
    started: float = field(default_factory=time.perf_counter)
    solved: int = 0

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self.milliseconds is not None or self.solves is not None

    @property
    def solves_left(self) -> int:
        """How many solves may follow; without a limit, more than there are."""
        return sys.maxsize if self.solves is None else max(self.solves - self.solved, 0)

    @property
    def spent(self) -> bool:
        """Whether a limit is reached."""
        late = self.milliseconds is not None and (
            1e3 * (time.perf_counter() - self.started) >= self.milliseconds
        )
        return late or (self.solves is not None and self.solved >= self.solves)


@dataclass
class _Part:
    """One collection in one search: its bounds, and the documents still in play."""

    number: int
    documents: Documents
    query: Query
    allowed: NDArray[np.bool_] | None
    eta: float
    before: _Part | None = None
    work: SearchWork = field(default_factory=SearchWork)

    @cached_property
    def table(self) -> bounds.QueryTable:
        if self.before is not None and self.before.documents.shared is self.documents.shared:
            return self.before.table
        slack = self.documents.table.slack(self.query.points, self.eta)
        return bounds.QueryTable.of(columns_of(self.documents).of(self.query, self.eta), slack)

    def bound_words(self) -> Array:
        """Step 1: a lower bound of J for every document, infinite for those not allowed."""
        if len(self.query.weights):
            lower = bounds.word_bound(self.documents, self.table, self.query)
        else:
            lower = self.documents.masses.copy()
        count = len(self.documents)
        if self.allowed is not None:
            lower[~self.allowed] = np.inf
            count = int(self.allowed.sum())
        self.work += SearchWork(documents=count, by_word=count)
        return lower

    def bound_pairs(self, lower: Array, picks: NDArray[np.int64], enough: float) -> None:
        """Raise the lower bounds of `picks` by what their own words prove."""
        if not len(self.query.weights):
            return
        found, tiers = bounds.pair_bound(self.documents, self.table, self.query, picks, enough)
        lower[picks] = np.maximum(lower[picks], found)
        rows, middle, sweep = (int(count) for count in tiers)
        self.work += SearchWork(by_rows=rows, by_middle=middle, by_sweep=sweep)


class _Narrowed:
    """The documents of one collection that are worth sweeps, with their bounds."""

    def __init__(self, part: _Part, picks: NDArray[np.int64], lower: Array) -> None:
        self.part, self.picks = part, picks
        self.documents, self.query = part.documents.take(picks, part.query)
        self.spread = self.documents.unknown()
        self.spread.lower[:] = lower[picks]
        self.scratch = Scratch(len(part.query.weights), self.documents.longest)
        self.cosines = self.documents.table.cosines(part.query.points, part.eta)

    def narrow(self, goal: Narrow, budget: Budget) -> None:
        """Work on what `goal` leaves open, nearest first."""
        spread = self.spread
        order = np.flatnonzero(spread.lower <= _limit(goal.cut, goal.best))
        order = order[np.argsort(spread.lower[order], kind="stable")]
        touched = self.documents.narrow(
            self.query, order, spread, goal, self.scratch, cosines=self.cosines
        )
        solved, sweeps = int((spread.status == CERTIFIED).sum()), int(spread.sweeps.sum())
        budget.solved += solved
        self.part.work += SearchWork(started=touched, solved=solved, sweeps=sweeps)


def search_wfr(
    collections: Sequence[Documents],
    query: Measure,
    request: Request,
    budget: Budget,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """The nearest documents of all collections under WFR, proven."""
    cut = np.inf if request.within is None else 0.5 * (request.within / request.eta) ** 2
    narrowed: list[_Narrowed] = []
    parts: list[_Part] = []
    best = np.full(request.k or 0, np.inf)
    work, outside = SearchWork(), np.inf
    for number, documents in enumerate(collections):
        if not len(documents):
            continue
        mine = documents.query(query)
        before = parts[-1] if parts else None
        part = _Part(number, documents, mine, allowed[number], request.eta, before)
        some, left = _one_collection(part, request, cut, best, budget)
        narrowed += some
        outside = min(outside, left)
        parts.append(part)
    for part in parts:
        work += part.work
    return _prove(narrowed, request, cut, outside, budget, ids, work)


def _one_collection(
    part: _Part, request: Request, cut: float, best: Array, budget: Budget
) -> tuple[list[_Narrowed], float]:
    """Steps 1 to 4; also the smallest lower bound of what was not solved."""
    lower = part.bound_words()
    goal = Narrow(request.eta, request.tol, request.atol, cut=cut, best=best)
    seeds = np.empty(0, np.int64)
    narrowed = []
    if len(best):
        likely = _smallest(lower, LIKELY * len(best) + SEEDS)
        part.bound_pairs(lower, likely, _limit(cut, best))
        seeds = likely[_smallest(lower[likely], len(best) + SEEDS)]
        seeds = seeds[np.argsort(lower[seeds], kind="stable")]
        narrowed = _solve(part, seeds, lower, goal, budget)
        if budget.spent:
            narrowed += _unsolved(part, seeds[sum(len(some.picks) for some in narrowed) :], lower)
    limit = _limit(cut, best)
    open_ = lower <= limit
    open_[seeds] = False
    others = np.flatnonzero(open_)
    step = BOUNDS_BETWEEN_LOOKS if budget.limited else max(len(others), 1)
    for start in range(0, len(others), step):
        if not budget.spent:
            part.bound_pairs(lower, others[start : start + step], limit)
    others = others[np.argsort(lower[others], kind="stable")]
    narrowed += _solve(part, others, lower, goal, budget)
    for some in narrowed:
        lower[some.picks] = np.inf
    return narrowed, float(lower.min(initial=np.inf))


def _solve(
    part: _Part, order: NDArray[np.int64], lower: Array, goal: Narrow, budget: Budget
) -> list[_Narrowed]:
    """Solve documents in rising order of their bound, until these pass the limit or the budget ends."""
    narrowed: list[_Narrowed] = []
    start, size = 0, FEW
    while start < len(order) and not budget.spent:
        some = order[start : start + min(size, budget.solves_left)]
        some = some[lower[some] <= _limit(goal.cut, goal.best)]
        if not len(some):
            break
        narrowed.append(_Narrowed(part, some, lower))
        narrowed[-1].narrow(goal, budget)
        start += len(some)
        size = FEW if budget.limited else min(2 * size, MANY)
    return narrowed


def _unsolved(part: _Part, picks: NDArray[np.int64], lower: Array) -> list[_Narrowed]:
    """Likely documents that no budget was left for, at what destroying everything costs."""
    if not len(picks):
        return []
    some = _Narrowed(part, picks, lower)
    some.spread.upper[:] = part.query.mass + part.documents.masses[picks]
    return [some]


def _limit(cut: float, best: Array) -> float:
    # Never infinite: documents that may not be found have that for a bound, and are beyond any limit.
    limit = min(cut, float(np.finfo(np.float64).max))
    return min(limit, float(best.max())) if len(best) else limit


def _smallest(values: Array, count: int) -> NDArray[np.int64]:
    if count >= len(values):
        return np.argsort(values, kind="stable")
    return np.argpartition(values, count)[:count].astype(np.int64)


@dataclass(eq=False)
class _Candidate:
    """One document that may belong to the answer."""

    some: _Narrowed
    at: int
    id: Any

    @property
    def lower(self) -> float:
        return float(self.some.spread.lower[self.at])

    @property
    def upper(self) -> float:
        return float(self.some.spread.upper[self.at])

    @cached_property
    def measure(self) -> Measure:
        """The document, with its points in an order that collections do not decide."""
        one = self.some.documents.measure(self.at)
        order = np.argsort(hashes_of(one.points), kind="stable")
        return Measure(one.points[order], one.weights[order])

    @cached_property
    def size(self) -> tuple[int, float]:
        """What copies have in common, at least: most documents are told apart by it."""
        documents = self.some.documents
        start, stop = documents.indptr[self.at : self.at + 2]
        return int(stop - start), float(documents.weights[start:stop].max(initial=0.0))

    def same_as(self, other: _Candidate) -> bool:
        """Whether two documents are one and the same measure: a tie that the ids decide."""
        return (
            self.size == other.size
            and np.array_equal(self.measure.weights, other.measure.weights)
            and np.array_equal(self.measure.points, other.measure.points)
        )

    def narrow(self, lower: float, upper: float) -> None:
        """Take over bounds that were proven elsewhere."""
        self.some.spread.lower[self.at] = lower
        self.some.spread.upper[self.at] = upper


def _prove(
    narrowed: list[_Narrowed],
    request: Request,
    cut: float,
    outside: float,
    budget: Budget,
    ids: Ids,
    work: SearchWork,
) -> Hits:
    """Step 5: settle the border, order what is inside, and say what is proven."""
    finished = not budget.spent
    candidates = _candidates(narrowed, request, ids)
    k = len(candidates) if request.k is None else min(request.k, len(candidates))
    refined = 0
    for tol in BORDER_TOLS:
        border = _border(candidates, k, cut)
        if not border or budget.spent:
            break
        for one in border:
            goal = Narrow(request.eta, tol, request.atol)
            one.some.documents.narrow(
                one.some.query, np.array([one.at]), one.some.spread, goal, one.some.scratch
            )
            refined += 1
    _share(candidates)
    inside = sorted((one for one in candidates if one.lower <= cut), key=_order)[:k]
    border = _border(candidates, k, cut)
    tied = [one for one in border if one.lower <= cut < one.upper or not _told_apart(one, border)]
    # Beyond `outside` nothing was looked at closely, so it must lie beyond what is inside.
    reach = max((one.upper for one in inside), default=0.0) if len(inside) == request.k else np.inf
    proven = finished and not tied and outside >= min(reach, cut)
    value = [wfr_value(one.upper, request.eta) for one in inside]
    return Hits(
        ids=[one.id for one in inside],
        distances=np.array(value),
        lower=np.array([wfr_value(one.lower, request.eta) for one in inside]),
        upper=np.array(value),
        exact=bool(proven),
        ordered=_is_ordered(inside),
        work=work + SearchWork(refined=refined),
        tied=[one.id for one in tied],
    )


def _candidates(narrowed: list[_Narrowed], request: Request, ids: Ids) -> list[_Candidate]:
    """Every document whose lower bound leaves it a place in the answer."""
    uppers = np.concatenate([some.spread.upper for some in narrowed] or [np.empty(0)])
    limit = np.inf
    if request.k is not None and len(uppers) > request.k:
        limit = float(np.partition(uppers, request.k - 1)[request.k - 1])
    if request.within is not None:
        limit = min(limit, 0.5 * (request.within / request.eta) ** 2)
    found = []
    for some in narrowed:
        places = np.flatnonzero((some.spread.lower <= limit) & np.isfinite(some.spread.upper))
        names = ids(some.part.number, some.picks[places])
        found += [_Candidate(some, int(at), id) for at, id in zip(places, names, strict=True)]
    return found


def _share(candidates: list[_Candidate]) -> None:
    """Give copies of a document the same bounds: solves of theirs may have rounded another way."""
    by_size: dict[tuple[int, float], list[_Candidate]] = {}
    for one in candidates:
        by_size.setdefault(one.size, []).append(one)
    for alike in by_size.values():
        while len(alike) > 1:
            copies = [one for one in alike if one.same_as(alike[0])]
            alike = [one for one in alike if one not in copies]
            lower, upper = max(one.lower for one in copies), min(one.upper for one in copies)
            for one in copies:
                one.narrow(min(lower, upper), upper)


def _order(one: _Candidate) -> tuple[float, Any]:
    return one.upper, one.id


def _border(candidates: list[_Candidate], k: int, cut: float) -> list[_Candidate]:
    """The documents whose intervals do not tell whether they are inside."""
    ranked = sorted(candidates, key=_order)
    inside, rest = ranked[:k], ranked[k:]
    border: list[_Candidate] = []
    if inside and rest:
        reach, nearest = max(one.upper for one in inside), min(one.lower for one in rest)
        if nearest <= reach:
            border = [one for one in inside if one.upper >= nearest]
            border += [one for one in rest if one.lower <= reach]
    if np.isfinite(cut):
        border += [one for one in ranked if one.lower <= cut < one.upper and one not in border]
    return border


def _told_apart(one: _Candidate, border: list[_Candidate]) -> bool:
    """Whether only copies of itself are left beside a document on the border."""
    return all(
        other is one or other.lower > one.upper or other.upper < one.lower or one.same_as(other)
        for other in border
    )


def _is_ordered(inside: list[_Candidate]) -> bool:
    return all(one.upper <= after.lower or one.same_as(after) for one, after in pairwise(inside))

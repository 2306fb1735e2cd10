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

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wayfare.many import Documents, Narrow
from wayfare.measure import Measure
from wayfare.search.closed import search_from_nothing
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.parts import Narrowed, Part, limit_of
from wayfare.search.proof import prove
from wayfare.search.request import Budget, Ids, Request

__all__ = ["search_wfr"]

Array = NDArray[np.float64]

# Documents that are solved together share a table of their words: the next ones may never need theirs.
FEW, MANY = 16, 256
BOUNDS_BETWEEN_LOOKS = 2048
# The search starts from the best k + SEEDS of the likeliest LIKELY * k + SEEDS documents.
SEEDS, LIKELY = 4, 6


def search_wfr(
    collections: Sequence[Documents],
    query: Measure,
    request: Request,
    budget: Budget,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """The nearest documents of all collections under WFR, proven."""
    if not query.mass:
        return search_from_nothing(collections, request, allowed, ids)
    cut = np.inf if request.within is None else 0.5 * (request.within / request.eta) ** 2
    narrowed: list[Narrowed] = []
    parts: list[Part] = []
    best = np.full(request.k or 0, np.inf)
    work, outside = SearchWork(), np.inf
    for number, documents in enumerate(collections):
        if not len(documents):
            continue
        mine = documents.query(query)
        before = parts[-1] if parts else None
        part = Part(number, documents, mine, allowed[number], request.eta, before)
        some, left = _one_collection(part, request, cut, best, budget)
        narrowed += some
        outside = min(outside, left)
        parts.append(part)
    for part in parts:
        work += part.work
    return prove(narrowed, request, cut, outside, budget, ids, work)


def _one_collection(
    part: Part, request: Request, cut: float, best: Array, budget: Budget
) -> tuple[list[Narrowed], float]:
    """Steps 1 to 4; also the smallest lower bound of what was not solved."""
    lower = part.bound_words()
    goal = Narrow(request.eta, request.tol, request.atol, cut=cut, best=best)
    seeds = np.empty(0, np.int64)
    narrowed = []
    if len(best):
        likely = _smallest(lower, LIKELY * len(best) + SEEDS)
        likely = likely[np.isfinite(lower[likely])]
        part.bound_pairs(lower, likely, limit_of(cut, best))
        seeds = likely[_smallest(lower[likely], len(best) + SEEDS)]
        seeds = seeds[np.argsort(lower[seeds], kind="stable")]
        narrowed = _solve(part, seeds, lower, goal, budget)
        if budget.spent:
            narrowed += _unsolved(part, seeds[sum(len(some.picks) for some in narrowed) :], lower)
    limit = limit_of(cut, best)
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
    part: Part, order: NDArray[np.int64], lower: Array, goal: Narrow, budget: Budget
) -> list[Narrowed]:
    """Solve documents in rising order of their bound, until these pass the limit or the budget ends."""
    narrowed: list[Narrowed] = []
    start, size = 0, FEW
    while start < len(order) and not budget.spent:
        some = order[start : start + min(size, budget.solves_left)]
        some = some[lower[some] <= limit_of(goal.cut, goal.best)]
        if not len(some):
            break
        narrowed.append(Narrowed(part, some, lower))
        narrowed[-1].narrow(goal, budget)
        start += len(some)
        size = FEW if budget.limited else min(2 * size, MANY)
    return narrowed


def _unsolved(part: Part, picks: NDArray[np.int64], lower: Array) -> list[Narrowed]:
    """Likely documents that no budget was left for, at what destroying everything costs."""
    if not len(picks):
        return []
    some = Narrowed(part, picks, lower)
    some.spread.upper[:] = part.query.mass + part.documents.masses[picks]
    return [some]


def _smallest(values: Array, count: int) -> NDArray[np.int64]:
    if count >= len(values):
        return np.argsort(values, kind="stable")
    return np.argpartition(values, count)[:count].astype(np.int64)

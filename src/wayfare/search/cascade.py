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
from itertools import groupby

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
    parts: list[Part] = []
    for number, documents in enumerate(collections):
        if len(documents):
            before = parts[-1] if parts else None
            mine = documents.query(query)
            parts.append(Part(number, documents, mine, allowed[number], request.eta, before))
    best = np.full(request.k or 0, np.inf)
    narrowed: list[Narrowed] = []
    work, outside = SearchWork(), np.inf
    # Those of other words than the ones before them lay their tables in the same memory.
    for _, some in groupby(parts, key=lambda part: id(part.documents.shared)):
        worked, left = _one_vocabulary(list(some), request, cut, best, budget)
        narrowed += worked
        outside = min(outside, left)
    for part in parts:
        work += part.work
    return prove(narrowed, request, cut, outside, budget, ids, work)


def _one_vocabulary(
    parts: Sequence[Part], request: Request, cut: float, best: Array, budget: Budget
) -> tuple[list[Narrowed], float]:
    """Steps 1 to 4 for collections of the same words; also the smallest lower bound left unsolved."""
    lowers = [part.bound_words() for part in parts]
    lower_of = {part.number: lower for part, lower in zip(parts, lowers, strict=True)}
    goal = Narrow(request.eta, request.tol, request.atol, cut=cut, best=best)
    seeds = _seeds(parts, lowers, goal)
    narrowed = []
    # The collection of the likeliest first: a budget may end after it.
    nearest = [lower[mine].min(initial=np.inf) for lower, mine in zip(lowers, seeds, strict=True)]
    for at in np.argsort(nearest, kind="stable"):
        part, lower, mine = parts[at], lowers[at], seeds[at]
        solved = _solve(part, mine, lower, goal, budget)
        narrowed += solved
        if budget.spent:
            narrowed += _unsolved(part, mine[sum(len(some.picks) for some in solved) :], lower)
    for part, lower, mine in zip(parts, lowers, seeds, strict=True):
        narrowed += _others(part, lower, mine, goal, budget)
    for some in narrowed:
        lower_of[some.part.number][some.picks] = np.inf
    return narrowed, min(float(lower.min(initial=np.inf)) for lower in lowers)


def _seeds(parts: Sequence[Part], lowers: Sequence[Array], goal: Narrow) -> list[NDArray[np.int64]]:
    """Step 2, without the solves: of each collection those that are likeliest of all."""
    k = len(goal.best)
    if not k:
        return [np.empty(0, np.int64) for _ in parts]
    likely = [_smallest(lower, LIKELY * k + SEEDS) for lower in lowers]
    likely = _nearest(lowers, likely, LIKELY * k + SEEDS)
    for part, lower, some in zip(parts, lowers, likely, strict=True):
        part.bound_pairs(lower, some, limit_of(goal.cut, goal.best))
    seeds = _nearest(lowers, likely, k + SEEDS)
    return [
        some[np.argsort(lower[some], kind="stable")]
        for lower, some in zip(lowers, seeds, strict=True)
    ]


def _nearest(
    lowers: Sequence[Array], rows: Sequence[NDArray[np.int64]], count: int
) -> list[NDArray[np.int64]]:
    """Of some rows of each collection those with the smallest bounds of all, where these are finite."""
    values = np.concatenate([lower[some] for lower, some in zip(lowers, rows, strict=True)])
    chosen = np.zeros(len(values), bool)
    chosen[_smallest(values, count)] = True
    chosen &= np.isfinite(values)
    masks = np.split(chosen, np.cumsum([len(some) for some in rows])[:-1])
    return [some[mask] for some, mask in zip(rows, masks, strict=True)]


def _others(
    part: Part, lower: Array, seeds: NDArray[np.int64], goal: Narrow, budget: Budget
) -> list[Narrowed]:
    """Steps 3 and 4: what the first upper bounds left open in a collection."""
    limit = limit_of(goal.cut, goal.best)
    open_ = lower <= limit
    open_[seeds] = False
    others = np.flatnonzero(open_)
    step = BOUNDS_BETWEEN_LOOKS if budget.limited else max(len(others), 1)
    for start in range(0, len(others), step):
        if not budget.spent:
            part.bound_pairs(lower, others[start : start + step], limit)
    others = others[np.argsort(lower[others], kind="stable")]
    return _solve(part, others, lower, goal, budget)


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

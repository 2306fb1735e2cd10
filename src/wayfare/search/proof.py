"""The last step of a search: settle the border, order what is inside, and say what is proven.

A candidate is inside when it is among the first k in the order (upper bound, id). That is proven when
each upper bound inside is below each lower bound outside; copies of one document share their bounds, and
their ids decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from wayfare.many import Narrow
from wayfare.measure import Measure
from wayfare.points import hashes_of
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.parts import Narrowed
from wayfare.search.request import Budget, Ids, Request
from wayfare.wfr import wfr_value

__all__ = ["prove"]

# How far the border is refined, in turn; the last is where double precision ends. From 1e-6 on it takes
# the interior-point finish, which is several times dearer.
BORDER_TOLS = (1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12)
# Documents on the border that differ by no more than this share of J are level.
LEVEL = 1e-8


@dataclass(eq=False)
class _Candidate:
    """One document that may belong to the answer."""

    some: Narrowed
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


def prove(
    narrowed: list[Narrowed],
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
        if border:
            # Copies need no refining: their ids part them.
            _share(candidates)
            border = _tied(candidates, k, cut)
        if not border or budget.spent:
            break
        for one in border:
            goal = Narrow(request.eta, tol, request.atol)
            one.some.work_on(np.array([one.at]), goal)
            refined += 1
    _share(candidates)
    tied = _tied(candidates, k, cut) if finished else []
    _level(tied)
    inside = sorted((one for one in candidates if one.lower <= cut), key=_order)[:k]
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
        outside=wfr_value(_beyond(narrowed, inside, outside), request.eta),
    )


def _beyond(narrowed: list[Narrowed], inside: list[_Candidate], outside: float) -> float:
    """The smallest lower bound of a document that is not in the answer."""
    for some in narrowed:
        lower = some.spread.lower.copy()
        lower[[one.at for one in inside if one.some is some]] = np.inf
        outside = min(outside, float(lower.min(initial=np.inf)))
    return max(outside, 0.0)


def _candidates(narrowed: list[Narrowed], request: Request, ids: Ids) -> list[_Candidate]:
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
    for near in _runs(candidates):
        by_size: dict[tuple[int, float], list[_Candidate]] = {}
        for one in near if len(near) > 1 else []:
            by_size.setdefault(one.size, []).append(one)
        for alike in by_size.values():
            _share_alike(alike)


def _runs(candidates: list[_Candidate]) -> list[list[_Candidate]]:
    """Those whose intervals hang together: copies are in one of them, up to rounding."""
    runs: list[list[_Candidate]] = []
    reach = 0.0
    for one in sorted(candidates, key=lambda one: one.lower):
        if not runs or one.lower > reach * (1 + LEVEL):
            runs.append([])
        runs[-1].append(one)
        reach = max(reach, one.upper)
    return runs


def _share_alike(alike: list[_Candidate]) -> None:
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


def _tied(candidates: list[_Candidate], k: int, cut: float) -> list[_Candidate]:
    """The documents that could change places across the border, as far as is proven."""
    border = _border(candidates, k, cut)
    chosen = set(map(id, sorted(candidates, key=_order)[:k]))
    tied = [one for one in border if one.lower <= cut < one.upper]
    inside = [one for one in border if id(one) in chosen]
    outside = [one for one in border if id(one) not in chosen]
    for one in border:
        others = outside if id(one) in chosen else inside
        pairs = ((one, other) if id(one) in chosen else (other, one) for other in others)
        if one not in tied and not all(_before(*pair) for pair in pairs):
            tied.append(one)
    return tied


def _before(one: _Candidate, other: _Candidate) -> bool:
    """Whether it is proven that one comes before another, in the order (distance, id)."""
    if one.upper < other.lower:
        return True
    level = one.upper == other.lower or one.same_as(other)
    return bool(level and one.id < other.id)


def _level(tied: list[_Candidate]) -> None:
    """Give what only rounding tells apart the same bounds: then the ids decide, not the rounding."""
    if not tied:
        return
    lower, upper = min(one.lower for one in tied), max(one.upper for one in tied)
    if upper - lower <= LEVEL * upper:
        for one in tied:
            one.narrow(lower, upper)


def _is_ordered(inside: list[_Candidate]) -> bool:
    return all(_before(one, after) for one, after in pairwise(inside))

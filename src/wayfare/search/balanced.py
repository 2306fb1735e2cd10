"""Exact search under WMD: bound, narrow, transport.

    1  every document   the document's words, each to its nearest query word     spans, one product
    2  the likeliest    the query's words, each to its nearest; then potentials and a plan by
                        annealed Sinkhorn: the first k proven upper bounds        relax, transport_bounds
    3  what is left     the same
    4  what is left     exact transport, nearest first                            wmd_value

A document is dropped as soon as its lower bound passes the k-th smallest upper bound so far, or the
radius. Nothing is dropped for another reason, which is why the answer is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.many import Documents, Query
from wayfare.measure import Measure
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.parts import limit_of
from wayfare.search.request import Budget, Ids, Request
from wayfare.search.spans import Spans
from wayfare.wmd import EQUAL_MASS, wmd_value

__all__ = ["search_wmd"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]

# A bound formed in floating point may pass the value by this share before it means anything.
ROUNDING = 1e-9
# The search starts from the best k + SEEDS of the likeliest LIKELY * k + SEEDS documents.
SEEDS, LIKELY = 4, 6
BETWEEN_LOOKS = 64


@dataclass
class _Part:
    """One collection in one search: the bounds of its documents' distances, infinite where closed."""

    documents: Documents
    query: Query
    spans: Spans | None
    lower: Array
    upper: Array
    work: SearchWork

    @classmethod
    def of(
        cls,
        documents: Documents,
        query: Measure,
        allowed: NDArray[np.bool_] | None,
        before: _Part | None,
    ) -> _Part:
        """Step 1. Collections over the same words share what is known of them."""
        masses = documents.masses
        open_ = np.abs(masses - query.mass) <= EQUAL_MASS * max(query.mass, 1e-300)
        if allowed is not None:
            open_ &= allowed
        lower, upper = np.where(open_, 0.0, np.inf), np.full(len(documents), np.inf)
        count = int(open_.sum())
        mine, spans = documents.query(query), None
        if count and query.mass:
            if before is not None and before.documents.shared is documents.shared:
                spans = before.spans
            spans = spans or Spans.of(documents, mine)
            reach = documents.matrix @ spans.nearest
            reach *= query.mass * (1 - ROUNDING)
            np.divide(reach, masses, out=lower, where=open_)
        work = SearchWork(documents=count, by_word=count)
        return cls(documents, mine, spans, lower, upper, work)

    def relax(self, picks: Places) -> None:
        """The other half of relaxed WMD."""
        from wayfare.kernels.cpu.balanced import relax

        assert self.spans is not None
        documents, found = self.documents, self.lower[picks]
        scale = self.query.mass * self.spans.grid.unit * (1 - ROUNDING)
        arrays = documents.indptr, documents.indices
        relax(self.spans.near, self.query.shares, *arrays, picks, scale, found)
        self.lower[picks] = found
        self.work += SearchWork(by_rows=len(picks))

    def narrow(self, picks: Places, cut: float, best: Array) -> None:
        """Potentials and plans, nearest first."""
        from wayfare.kernels.cpu.balanced import transport_bounds, workspace

        assert self.spans is not None
        documents, query, grid = self.documents, self.query, self.spans.grid
        picks = picks[np.argsort(self.lower[picks], kind="stable")]
        lower, upper = self.lower[picks], self.upper[picks]
        tried = transport_bounds(
            self.spans.near,
            grid.unit,
            grid.off,
            query.shares,
            query.mass,
            documents.indptr,
            documents.indices,
            documents.weights,
            documents.masses,
            picks,
            cut,
            best,
            workspace(len(query.weights), documents.longest),
            lower,
            upper,
        )
        self.lower[picks], self.upper[picks] = lower, upper
        self.work += SearchWork(by_sweep=int(tried))


def search_wmd(
    collections: Sequence[Documents],
    query: Measure,
    request: Request,
    budget: Budget,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """The nearest documents under WMD (Kusner et al. 2015), proven.

    Documents of another mass than the query have no plan: they are infinitely far and never found.
    """
    cut = np.inf if request.within is None else request.within
    best = np.full(request.k or 0, np.inf)
    parts: list[_Part] = []
    for documents, mask in zip(collections, allowed, strict=True):
        parts.append(_Part.of(documents, query, mask, parts[-1] if parts else None))
        if parts[-1].spans is not None:
            _bound(parts[-1], cut, best, budget)
    return _transport(parts, query, request, budget, ids)


def _bound(part: _Part, cut: float, best: Array, budget: Budget) -> None:
    """Steps 2 and 3."""
    seeds = np.empty(0, np.int64)
    if len(best):
        likely = _smallest(part.lower, LIKELY * len(best) + SEEDS)
        likely = likely[part.lower[likely] <= limit_of(cut, best)]
        part.relax(likely)
        seeds = likely[_smallest(part.lower[likely], len(best) + SEEDS)]
        part.narrow(seeds, cut, best)
    others = part.lower <= limit_of(cut, best)
    others[seeds] = False
    picks = np.flatnonzero(others)
    part.relax(picks)
    picks = picks[part.lower[picks] <= limit_of(cut, best)]
    picks = picks[np.argsort(part.lower[picks], kind="stable")]
    step = BETWEEN_LOOKS if budget.limited else max(len(picks), 1)
    for start in range(0, len(picks), step):
        if budget.spent:
            break
        part.narrow(picks[start : start + step], cut, best)


def _transport(
    parts: Sequence[_Part], query: Measure, request: Request, budget: Budget, ids: Ids
) -> Hits:
    """Step 4, and the answer. Where a budget ends it, proven intervals stand for distances."""
    lower = np.concatenate([part.lower for part in parts] or [np.empty(0)])
    upper = np.concatenate([part.upper for part in parts] or [np.empty(0)])
    starts = np.cumsum([0, *(len(part.documents) for part in parts)])
    work = sum((part.work for part in parts), SearchWork())
    cut = np.inf if request.within is None else request.within
    solved, finished = np.zeros(len(lower), bool), True
    order = np.flatnonzero(lower <= limit_of(cut, _least(upper, request.k)))
    for at in order[np.argsort(lower[order], kind="stable")]:
        if lower[at] > limit_of(cut, _least(upper, request.k)):
            break
        if budget.spent:
            finished = False
            break
        number = int(np.searchsorted(starts, at, side="right")) - 1
        document = parts[number].documents.measure(int(at - starts[number]))
        lower[at] = upper[at] = wmd_value(query, document) if query.mass else 0.0
        solved[at] = True
        budget.solved += 1
    inside = np.flatnonzero(upper <= limit_of(cut, _least(upper, request.k)))
    names: list[Any] = []
    for number, (first, stop) in enumerate(pairwise(starts)):
        mine = inside[(inside >= first) & (inside < stop)]
        names += ids(number, mine - first)
    rows = sorted(zip(upper[inside].tolist(), names, inside.tolist(), strict=True))
    rows = rows[: request.k]
    kept = np.array([at for _, _, at in rows], np.int64)
    low, high = lower[kept], upper[kept]
    lower[kept] = np.inf
    return Hits(
        ids=[name for _, name, _ in rows],
        distances=high.copy(),
        lower=low,
        upper=high,
        exact=finished,
        ordered=finished,
        work=work + SearchWork(solved=int(solved.sum())),
        outside=float(lower.min(initial=np.inf)),
    )


def _least(values: Array, count: int | None) -> Array:
    """The `count` smallest values, infinite where there are fewer."""
    if count is None:
        return np.empty(0)
    if count >= len(values):
        return np.append(values, np.inf)
    return np.partition(values, count - 1)[:count]


def _smallest(values: Array, count: int) -> Places:
    if count >= len(values):
        return np.argsort(values, kind="stable")
    return np.argpartition(values, count)[:count].astype(np.int64)

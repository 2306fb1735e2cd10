"""Exact search under the other metrics: WMD by prefetch and prune, Hellinger in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import distances
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.search.cascade import Budget, Ids, Request
from wayfare.search.hits import Hits, SearchWork
from wayfare.wmd import EQUAL_MASS, rwmd, wmd

__all__ = ["search_hellinger", "search_wmd"]

Array = NDArray[np.float64]

# A bound formed in floating point may pass the value by this share before it means anything.
ROUNDING = 1e-9


def search_wmd(
    collections: Sequence[Documents],
    query: Measure,
    request: Request,
    budget: Budget,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """The nearest documents under WMD (Kusner et al. 2015): centroid, RWMD, then exact transport.

    Documents of another mass than the query have no plan: they are infinitely far and never found.
    """
    rows: list[tuple[float, int, int]] = []
    work = SearchWork()
    for number, documents in enumerate(collections):
        bound, open_ = _first_bounds(documents, query, allowed[number])
        work += SearchWork(documents=int(open_.sum()), by_word=int(open_.sum()))
        rows += [(float(bound[at]), number, int(at)) for at in np.flatnonzero(open_)]
    rows.sort()
    found: list[tuple[float, Any]] = []
    finished = True
    for bound_, number, at in rows:
        limit = _limit(found, request)
        if bound_ * (1 - ROUNDING) > limit:
            break
        if budget.spent:
            finished = False
            break
        document = collections[number].measure(at)
        work += SearchWork(by_rows=1)
        if rwmd(query, document).value * (1 - ROUNDING) > limit:
            continue
        value = wmd(query, document).value
        budget.solved += 1
        work += SearchWork(solved=1)
        if value <= limit:
            found.append((value, ids(number, np.array([at]))[0]))
            found.sort()
            if request.k is not None:
                del found[request.k :]
    return _closed(found, finished, work)


def _first_bounds(
    documents: Documents, query: Measure, allowed: NDArray[np.bool_] | None
) -> tuple[Array, NDArray[np.bool_]]:
    """The larger of the centroids' distance and one half of RWMD, and which documents may be found."""
    masses = documents.masses
    open_ = np.abs(masses - query.mass) <= EQUAL_MASS * max(query.mass, 1e-300)
    if allowed is not None:
        open_ &= allowed
    if not len(query) or not len(documents.indices):
        return np.zeros(len(documents)), open_
    near = np.empty(len(documents.points))
    for start in range(0, len(near), 4096):
        some = slice(start, start + 4096)
        near[some] = distances(documents.points[some], query.points).min(axis=1)
    relaxed = documents.matrix @ near
    centre = query.weights @ query.points.astype(np.float64)
    apart = documents.matrix @ documents.points - centre
    return np.maximum(relaxed, np.linalg.norm(apart, axis=1)), open_


def _limit(found: list[tuple[float, Any]], request: Request) -> float:
    limit = np.inf if request.within is None else request.within
    full = request.k is not None and len(found) == request.k
    return min(limit, found[-1][0]) if full else limit


def search_hellinger(
    collections: Sequence[Documents],
    query: Measure,
    request: Request,
    budget: Budget,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """The nearest documents under the Hellinger distance of weights over equal points."""
    found: list[tuple[float, Any]] = []
    work = SearchWork()
    for number, documents in enumerate(collections):
        mine = documents.query(query)
        roots = np.zeros(len(documents.points))
        known = mine.own >= 0
        np.add.at(roots, mine.own[known], mine.weights[known])
        np.sqrt(roots, out=roots)
        shared = documents.root_matrix @ roots
        objective = np.maximum(documents.masses + query.mass - 2 * shared, 0.0)
        mask = allowed[number]
        open_ = np.ones(len(documents), bool) if mask is None else mask
        work += SearchWork(documents=int(np.sum(open_)), by_word=int(np.sum(open_)))
        value = np.where(open_, np.sqrt(objective / 2), np.inf)
        picks = np.flatnonzero(np.isfinite(value))
        if request.within is not None:
            picks = picks[value[picks] <= request.within]
        if request.k is not None and len(picks) > request.k:
            kth = np.partition(value[picks], request.k - 1)[request.k - 1]
            picks = picks[value[picks] <= kth]
        found += [(float(value[at]), id) for at, id in zip(picks, ids(number, picks), strict=True)]
    found.sort()
    return _closed(found[: request.k], True, work)


def _closed(found: list[tuple[float, Any]], finished: bool, work: SearchWork) -> Hits:
    value = np.array([distance for distance, _ in found])
    return Hits(
        ids=[id for _, id in found],
        distances=value,
        lower=value.copy(),
        upper=value.copy(),
        exact=finished,
        ordered=finished,
        work=work,
    )

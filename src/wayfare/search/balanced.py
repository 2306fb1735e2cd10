"""Exact search under WMD: prefetch and prune."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import distances
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.search.closed import closed
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.request import Budget, Ids, Request
from wayfare.wmd import EQUAL_MASS, rwmd, wmd

__all__ = ["search_wmd"]

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
    return closed(found, finished, work)


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

"""Exact search where distances have a closed form: Hellinger, and WFR from the zero measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.request import Budget, Ids, Request
from wayfare.wfr import wfr_value
from wayfare.wmd import hellinger

__all__ = ["closed", "search_from_nothing", "search_hellinger"]

Array = NDArray[np.float64]

# A value formed in floating point may be off by this share of both masses.
ROUNDING = 1e-9


def search_from_nothing(
    collections: Sequence[Documents],
    request: Request,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """The nearest documents of the zero measure under WFR: the lightest, since `J = |nu|`."""
    found: list[tuple[float, Any]] = []
    work = SearchWork()
    for number, documents in enumerate(collections):
        mask = allowed[number]
        places = np.arange(len(documents)) if mask is None else np.flatnonzero(mask)
        work += SearchWork(documents=len(places), by_word=len(places))
        masses = documents.masses[places]
        if request.within is not None:
            near = request.eta * np.sqrt(2 * masses) <= request.within
            places, masses = places[near], masses[near]
        if request.k is not None and len(places) > request.k:
            first = masses <= np.partition(masses, request.k - 1)[request.k - 1]
            places, masses = places[first], masses[first]
        names = ids(number, places)
        found += [
            (wfr_value(mass, request.eta), id) for mass, id in zip(masses, names, strict=True)
        ]
    found.sort()
    return closed(found[: request.k], True, work)


def search_hellinger(
    collections: Sequence[Documents],
    query: Measure,
    request: Request,
    budget: Budget,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """The nearest documents under the Hellinger distance of weights over equal points.

    One sparse product gives `J = |mu| + |nu| - 2 sum_w sqrt(mu_w nu_w)` of all; near 0 that cancels, so
    what may belong to the answer is added up again as `sum_w (sqrt mu_w - sqrt nu_w)^2`.
    """
    found: list[tuple[float, Any]] = []
    work = SearchWork()
    for number, documents in enumerate(collections):
        total = documents.masses + query.mass
        objective, off = total - 2 * _shared_roots(documents, query), ROUNDING * total
        mask = allowed[number]
        open_ = np.ones(len(documents), bool) if mask is None else mask
        work += SearchWork(documents=int(np.sum(open_)), by_word=int(np.sum(open_)))
        lower, upper = (objective - off)[open_], (objective + off)[open_]
        limit = np.inf if request.within is None else 2 * request.within**2 * (1 + ROUNDING)
        if request.k is not None and len(upper) > request.k:
            limit = min(limit, np.partition(upper, request.k - 1)[request.k - 1])
        picks = np.flatnonzero(open_)[lower <= limit]
        same = Measure(query.points.astype(documents.points.dtype, copy=False), query.weights)
        values = [hellinger(same, documents.measure(int(at))).value for at in picks]
        work += SearchWork(solved=len(picks))
        found += [
            (value, id)
            for value, id in zip(values, ids(number, picks), strict=True)
            if request.within is None or value <= request.within
        ]
    found.sort()
    return closed(found[: request.k], True, work)


def _shared_roots(documents: Documents, query: Measure) -> Array:
    """`sum_w sqrt(mu_w nu_w)` of every document."""
    mine = documents.query(query)
    weights = np.zeros(len(documents.points))
    known = mine.own >= 0
    np.add.at(weights, mine.own[known], mine.weights[known])
    return np.asarray(documents.root_matrix @ np.sqrt(weights))


def closed(found: list[tuple[float, Any]], finished: bool, work: SearchWork) -> Hits:
    """The answer of values that need no interval, in their order."""
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

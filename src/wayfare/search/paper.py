"""Algorithm 3 of the paper, to the letter, so that its pruning can be compared with ours.

Its slips are kept where they are its method: the bound is the dual at raw Sinkhorn potentials, which
need not be feasible, and the order at the end is by an approximate primal. So it is never `exact`. The
threshold of a round is the largest distance of the first K candidates (the printed loop over them has the
index of another), each by the whole of Algorithm 2: in the first round these are the first K documents,
afterwards the K best of the round before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import cosines
from wayfare.kernels.reference import PAPER_SCHEDULE, objective, wfr_doc_dist, wfr_sinkhorn
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.request import Ids, Request
from wayfare.wfr import wfr_value

__all__ = ["search_paper"]

Array = NDArray[np.float64]


@dataclass
class _State:
    number: int
    at: int
    document: Measure
    cost: Array
    cosines: Array
    phi: Array | None = None
    psi: Array | None = None
    primal: float = np.inf
    dual: float = -np.inf
    distance: float | None = None


def search_paper(
    collections: Sequence[Documents],
    query: Measure,
    request: Request,
    allowed: Sequence[NDArray[np.bool_] | None],
    ids: Ids,
) -> Hits:
    """Rounds of Sinkhorn on all that is left, each followed by a prune with its dual values."""
    left = list(_states(collections, query, request.eta, allowed))
    count, k = len(left), request.k or 0
    rounds, sweeps_done = [], 0
    for eps, sweeps in PAPER_SCHEDULE:
        threshold = max((_distance(state, query) for state in left[:k]), default=0.0)
        for state in left:
            _run(state, query, eps, sweeps)
        sweeps_done += sweeps * len(left)
        left = [state for state in left if state.dual < threshold]
        left.sort(key=lambda state: state.primal)
        rounds.append(len(left) / count if count else 0.0)
    inside = left[:k]
    value = np.array([wfr_value(max(state.primal, 0.0), request.eta) for state in inside])
    lower = np.array([wfr_value(max(state.dual, 0.0), request.eta) for state in inside])
    names: list[Any] = [ids(state.number, np.array([state.at]))[0] for state in inside]
    work = SearchWork(
        documents=count, started=count, solved=len(left), sweeps=sweeps_done, rounds=tuple(rounds)
    )
    return Hits(names, value, np.minimum(lower, value), value, False, False, work)


def _states(
    collections: Sequence[Documents],
    query: Measure,
    eta: float,
    allowed: Sequence[NDArray[np.bool_] | None],
) -> list[_State]:
    states = []
    for number, documents in enumerate(collections):
        mask = allowed[number]
        for at in range(len(documents)) if mask is None else np.flatnonzero(mask):
            document = documents.measure(int(at))
            h = cosines(query.points, document.points, eta)
            with np.errstate(divide="ignore"):
                states.append(_State(number, int(at), document, -2 * np.log(h), h))
    return states


def _distance(state: _State, query: Measure) -> float:
    """The objective that all of Algorithm 2 ends at."""
    if state.distance is None:
        mu, nu = query.weights, state.document.weights
        state.distance = objective(wfr_doc_dist(mu, nu, state.cosines)[0], mu, nu, state.cosines)
    return state.distance


def _run(state: _State, query: Measure, eps: float, sweeps: int) -> None:
    mu, nu = query.weights, state.document.weights
    plan, state.phi, state.psi = wfr_sinkhorn(mu, nu, state.cost, eps, sweeps, state.phi, state.psi)
    state.primal = objective(plan, mu, nu, state.cosines)
    state.dual = float(mu @ -np.expm1(-state.phi) + nu @ -np.expm1(-state.psi))

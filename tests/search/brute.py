"""Search by brute force, and what an answer must satisfy against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from wayfare import Corpus, Measure, wfr
from wayfare.search import Hits

# What bounds on J may be off by, of |mu| + |nu|, for their last roundings.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Truth:
    """Proven bounds on the distance of every document, and the documents themselves."""

    lower: np.ndarray
    upper: np.ndarray
    documents: list[Measure]
    slack: np.ndarray

    def same(self, one: int, other: int) -> bool:
        """Whether two documents are the same measure."""
        a, b = self.documents[one], self.documents[other]
        return np.array_equal(a.points, b.points) and np.array_equal(a.weights, b.weights)


def truth_of(corpus: Sequence[Measure] | Corpus, query: Measure, eta: float, tol: float) -> Truth:
    """Every document solved on its own."""
    documents = list(corpus)
    answers = [wfr.solve(query, one, eta=eta, tol=tol) for one in documents]
    # A distance is eta sqrt(2 J): near J = 0 what J is off by weighs most.
    low = np.array([answer.certificate.lower for answer in answers])
    high = np.array([answer.certificate.upper for answer in answers])
    off = ROUNDING * np.array([query.mass + one.mass for one in documents])
    lower = eta * np.sqrt(2 * np.maximum(low - off, 0))
    upper = eta * np.sqrt(2 * (high + off))
    return Truth(lower, upper, documents, np.zeros(len(documents)))


def check(
    hits: Hits,
    truth: Truth,
    k: int | None,
    within: float | None = None,
    allowed: np.ndarray | None = None,
    order: Sequence[Any] | None = None,
) -> None:
    """An answer against brute force; ids are places in `truth`, compared by `order` where given."""
    may = np.ones(len(truth.lower), bool) if allowed is None else allowed
    inside = [int(id) for id in hits.ids]
    outside = np.setdiff1d(np.flatnonzero(may), inside)
    rank = (lambda id: id) if order is None else (lambda id: order[id])
    assert len(set(inside)) == len(inside)
    assert may[inside].all()
    _check_intervals(hits, truth, inside)
    if k is not None:
        assert len(inside) <= k
    if within is not None:
        assert (truth.lower[inside] <= within).all()
    elif hits.exact:
        assert len(inside) == min(k or len(may), int(may.sum()))
    if not hits.exact:
        return
    farthest = hits.upper.max(initial=0.0)
    if k is not None and len(inside) == k:
        for other in outside:
            # Not one outside is proven nearer than one inside, and copies go by their ids.
            assert (truth.upper[other] >= truth.lower[inside]).all()
            for one in inside:
                if truth.same(one, other):
                    assert rank(one) < rank(other)
                else:
                    assert hits.upper[inside.index(one)] <= truth.upper[other]
    if within is not None and (k is None or len(inside) < k):
        assert (truth.upper[outside] >= within).all()
        assert farthest <= within


def _check_intervals(hits: Hits, truth: Truth, inside: list[int]) -> None:
    assert (hits.lower <= hits.distances).all()
    assert (hits.distances <= hits.upper).all()
    assert (hits.lower <= truth.upper[inside]).all()
    assert (truth.lower[inside] <= hits.upper).all()
    pairs = list(zip(hits.distances.tolist(), hits.ids, strict=True))
    assert pairs == sorted(pairs)
    if hits.ordered:
        for place, (one, after) in enumerate(pairwise(inside)):
            proven = hits.upper[place] <= hits.lower[place + 1]
            assert proven or truth.same(one, after)

"""Exact neighbours under balanced transport, squared or smoothed: bound, order, solve, stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.learn.nearest import Known, Neighbours
from wayfare.learn.supervised.transport import Balanced, squared_distances
from wayfare.many import Documents, Query, Scratch
from wayfare.measure import Measure
from wayfare.threads import in_threads, one_blas_thread

__all__ = ["nearest_balanced"]

Array = NDArray[np.float64]

AT_ONCE = 32  # documents solved between two looks at the bounds
# What the solver may be off by, as a share of the value: a bound must beat the k-th by more.
SLACK = 1e-3


def nearest_balanced(
    known: Known, queries: Sequence[Measure], k: int, transport: Balanced, n_jobs: int
) -> Neighbours:
    """The k nearest of the known documents for each query, nearest first.

    All documents have mass one. The zero measure has no plan: infinitely far, in the order of places.
    """
    if k > len(known.places):
        raise InputError(
            f"k: {k} neighbours of {len(known.places)} documents with known words; give a smaller k"
        )
    documents = known.documents
    centres = np.asarray(documents.matrix @ documents.points.astype(np.float64))

    def one(measure: Measure) -> tuple[Array, NDArray[np.int64]]:
        if not measure.mass:
            return np.full(k, np.inf), np.arange(k)
        return _nearest(documents, centres, documents.query(measure), k, transport)

    with one_blas_thread():
        found = list(in_threads(one, queries, n_jobs))
    values = np.array([value for value, _ in found]).reshape(len(queries), k)
    rows = np.array([row for _, row in found], np.int64).reshape(len(queries), k)
    return Neighbours(values, known.places[rows])


def _nearest(
    documents: Documents, centres: Array, query: Query, k: int, transport: Balanced
) -> tuple[Array, NDArray[np.int64]]:
    cost = squared_distances(documents, query, np.float64)
    bounds = _centre_bounds(centres, query)
    if transport.euclidean:
        np.sqrt(cost, out=cost)
        np.sqrt(bounds, out=bounds)
    bounds = np.maximum(bounds, _dual_bounds(documents, query, transport, cost, None))
    left = np.argsort(bounds, kind="stable")
    values, rows, limit = np.empty(0), np.empty(0, np.int64), np.inf
    while len(left) and bounds[left[0]] <= limit * (1 + SLACK):
        some, left = left[:AT_ONCE], left[AT_ONCE:]
        taken, there = documents.take(some, query)
        solved = transport.slopes(taken, there, Scratch(len(query.weights), taken.longest))
        if not len(rows):
            # What the nearest documents make of the query's words is nearly right for all others.
            phi = solved.by_query.mean(axis=0)
            bounds = np.maximum(bounds, _dual_bounds(documents, query, transport, cost, phi))
            left = left[np.argsort(bounds[left], kind="stable")]
        values, rows = np.concatenate([values, solved.values]), np.concatenate([rows, some])
        best = np.lexsort((rows, values))[:k]
        values, rows = values[best], rows[best]
        limit = values[-1] if len(values) == k else np.inf
    return values, rows


def _centre_bounds(centres: Array, query: Query) -> Array:
    """By Jensen's inequality the mean of squared distances is at least that of the centres."""
    apart = centres - query.shares @ query.points.astype(np.float64)
    return np.asarray(np.einsum("ij,ij->i", apart, apart))


def _dual_bounds(
    documents: Documents, query: Query, transport: Balanced, cost: Array, phi: Array | None
) -> Array:
    """Any potential of the query's points bounds the distance of every document from below."""
    phi = np.zeros(len(query.weights)) if phi is None else phi
    phi = phi - float(phi @ query.shares)
    return np.asarray(documents.matrix @ transport.transformed(cost, phi, query.shares))

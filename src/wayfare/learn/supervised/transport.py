"""The distances that can be learnt, each with its derivatives: one anchor against its neighbours.

By the envelope theorem the plan is the derivative by the cost and the potentials are those by the
masses; nothing is propagated back through iterations. Every class answers with `Slopes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayfare import wfr
from wayfare.ground import CosineTable, distances
from wayfare.many import SINGLE_TOL, Documents, Query, Scratch
from wayfare.measure import Measure
from wayfare.wmd import network_simplex

__all__ = [
    "Balanced",
    "Entropic",
    "Exact",
    "Slopes",
    "Transport",
    "Unbalanced",
    "squared_distances",
]

Array = NDArray[np.float64]

MOST_SWEEPS = 400


@dataclass(frozen=True)
class Slopes:
    """The distances D of a query and some documents, and the derivatives of each.

    `by_squared[e, i]` is the one by the squared distance of entry e (of all documents in a row) and
    point i of the query, `by_query[b, i]` the one of distance b by the weight of the query's point,
    `by_entry[e]` the one by the entry's weight. `short` counts the solves that did not reach their
    tolerance.
    """

    values: Array
    by_squared: NDArray[Any]
    by_query: Array
    by_entry: Array
    short: int = 0


class Balanced(Protocol):
    """Balanced transport also answers with what a search needs: a bound from any potential."""

    @property
    def euclidean(self) -> bool:
        """Whether the cost is the distance, and not its square."""

    def slopes(self, documents: Documents, query: Query, scratch: Scratch) -> Slopes:
        """See `Transport`."""

    def transformed(self, cost: Array, phi: Array, shares: Array) -> Array:
        """The best potential of each word (a row of `cost`) beside `phi`: what it pays at least.

        Every document has D >= <phi, mu> + <transformed, nu>.
        """


class Transport(Protocol):
    """A distance between documents with known derivatives."""

    @property
    def dtype(self) -> Any:
        """The precision that it works in."""

    def slopes(self, documents: Documents, query: Query, scratch: Scratch) -> Slopes:
        """`Slopes` of the query against each of the documents, none of them the zero measure."""


def squared_distances(documents: Documents, query: Query, dtype: Any) -> NDArray[Any]:
    """`|word - query point|^2`, (words, query points); exactly 0 where they are the same point."""
    words = documents.points.astype(dtype, copy=False)
    points = query.points.astype(dtype, copy=False)
    table: NDArray[Any] = np.asarray(words @ points.T)
    table *= -2
    table += np.einsum("ij,ij->i", words, words)[:, None]
    table += np.einsum("ij,ij->i", points, points)
    np.maximum(table, 0, out=table)
    shared = query.own >= 0
    table[query.own[shared], np.flatnonzero(shared)] = 0
    return np.asarray(table)


def _rooted(by_cost: NDArray[Any], cost: NDArray[Any]) -> NDArray[Any]:
    """From the derivative by `d` to the one by `d^2`; 0 at distance 0, where nothing need move."""
    zeros = np.zeros_like(by_cost)
    return np.asarray(np.divide(by_cost, 2 * cost, out=zeros, where=cost > 0))


def _empty(documents: Documents, query: Query, dtype: Any) -> Slopes:
    count, entries, width = len(documents), len(documents.indices), len(query.weights)
    return Slopes(
        np.zeros(count),
        np.empty((entries, width), dtype),
        np.zeros((count, width)),
        np.zeros(entries),
    )


@dataclass(frozen=True)
class Entropic:
    """Balanced transport smoothed by `eps` times the divergence from independence.

    `euclidean` takes the distance as the cost, otherwise its square. `tol` is by how much the plan
    may miss the masses, in sum.
    """

    eps: float
    euclidean: bool = False
    tol: float = 1e-3
    sweeps: int = MOST_SWEEPS
    dtype: Any = np.float32

    def slopes(self, documents: Documents, query: Query, scratch: Scratch) -> Slopes:
        """See `Transport`."""
        from wayfare.kernels.cpu import jit, sinkhorn

        jit.announce_compilation(sinkhorn.transport_many)
        cost = squared_distances(documents, query, self.dtype)
        if self.euclidean:
            np.sqrt(cost, out=cost)
        out = _empty(documents, query, self.dtype)
        short = sinkhorn.transport_many(
            cost,
            query.shares,
            documents.indptr,
            documents.indices,
            documents.weights,
            self.eps,
            self.tol,
            self.sweeps,
            scratch.of(self.dtype)[0],
            out.values,
            out.by_squared,
            out.by_query,
            out.by_entry,
        )
        by_squared = out.by_squared
        if self.euclidean:
            by_squared = _rooted(by_squared, cost[documents.indices])
        return Slopes(out.values, by_squared, out.by_query, out.by_entry, int(short))

    def transformed(self, cost: Array, phi: Array, shares: Array) -> Array:
        """`-eps log sum_i mu_i e^((phi_i - c_wi) / eps)`; see `Balanced`."""
        score = (phi - cost) / self.eps
        top = score.max(axis=1)
        score -= top[:, None]
        np.exp(score, out=score)
        return np.asarray(-self.eps * (top + np.log(score @ shares)))


@dataclass(frozen=True)
class Exact:
    """Balanced transport as it is, by the network simplex: slower, and not smooth."""

    euclidean: bool = False
    dtype: Any = np.float64

    def slopes(self, documents: Documents, query: Query, scratch: Scratch) -> Slopes:
        """See `Transport`."""
        cost = squared_distances(documents, query, self.dtype)
        if self.euclidean:
            np.sqrt(cost, out=cost)
        out = _empty(documents, query, np.float64)
        for document in range(len(documents)):
            span = slice(documents.indptr[document], documents.indptr[document + 1])
            here = np.ascontiguousarray(cost[documents.indices[span]].T)
            plan, phi, psi = network_simplex(query.shares, documents.weights[span], here)
            out.values[document] = float(np.sum(plan * here))
            out.by_squared[span] = plan.T
            out.by_query[document], out.by_entry[span] = phi, psi
        by_squared = out.by_squared
        if self.euclidean:
            by_squared = _rooted(by_squared, cost[documents.indices])
        return Slopes(out.values, by_squared, out.by_query, out.by_entry)

    def transformed(self, cost: Array, phi: Array, shares: Array) -> Array:
        """`min_i c_wi - phi_i`; see `Balanced`."""
        return np.asarray((cost - phi).min(axis=1))


@dataclass(frozen=True)
class Unbalanced:
    """WFR's objective J, by the certified solver; `tol` is its relative gap."""

    eta: float
    tol: float = 1e-3

    @property
    def dtype(self) -> Any:
        """Single precision where its rounding is less than what is asked."""
        return np.float32 if self.tol >= SINGLE_TOL else np.float64

    def slopes(self, documents: Documents, query: Query, scratch: Scratch) -> Slopes:
        """See `Transport`."""
        if self.tol < wfr.SINKHORN_TOL:
            return self._one_by_one(documents, query)
        from wayfare.kernels.cpu import batch, jit, slopes

        jit.announce_compilation(slopes.differentiate_many)
        dtype = self.dtype
        table = CosineTable.of(documents.points, dtype).cosines(query.points, self.eta)
        shared = query.own >= 0
        table[query.own[shared], np.flatnonzero(shared)] = 1
        out = _empty(documents, query, dtype)
        m, n = len(query.weights), documents.longest
        short = slopes.differentiate_many(
            table,
            query.own,
            query.shares,
            query.mass,
            documents.indptr,
            documents.indices,
            documents.weights,
            self.eta,
            self.tol,
            *scratch.of(dtype),
            scratch.parts,
            batch.Kept(np.zeros(m), np.zeros(n), np.zeros((m, n))),
            out.values,
            out.by_squared,
            out.by_query,
            out.by_entry,
        )
        return Slopes(out.values, out.by_squared, out.by_query, out.by_entry, int(short))

    def _one_by_one(self, documents: Documents, query: Query) -> Slopes:
        """Beyond Sinkhorn's reach the single solve goes on, and answers with plan and potentials."""
        out = _empty(documents, query, np.float64)
        first, short = Measure(query.points, query.weights), 0
        solve = partial(wfr.solve, eta=self.eta, tol=self.tol)
        for document in range(len(documents)):
            span = slice(documents.indptr[document], documents.indptr[document + 1])
            second = documents.measure(document)
            answer = solve(first, second)
            plan, potentials = answer.plan, answer.potentials
            short += answer.certificate.gap > self.tol
            out.values[document] = answer.objective
            if plan is not None and potentials is not None:
                out.by_query[document], out.by_entry[span] = (-np.expm1(-p) for p in potentials)
                angle = distances(first.points, second.points) / (2 * self.eta)
                met = np.sqrt(plan.sent) * np.sqrt(plan.received)
                pulled = met * np.sinc(angle / np.pi) / (4 * self.eta**2)
                out.by_squared[span] = pulled.T
        return Slopes(out.values, out.by_squared, out.by_query, out.by_entry, short)

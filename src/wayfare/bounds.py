"""Lower bounds on J for search: proven without solving, a function each, cheapest first.

All of them bound the affinity from above, `J = |mu| + |nu| - 2 S`, by a potential `a` that is at hand
and its C-transform `b_w = max_i k_wi / a_i`, since `S <= sqrt(<a, mu> <b, nu>)` for any `a > 0`.

    word_bound    a = 1, and a from the average document       one number a word, for all documents
    pair_bound    a from the document itself, in three steps    some passes over a document's bytes

The first costs one pass over the words and one over all weights of the corpus; the steps of the second
look at a document's own words, each only where the one before left the document in play.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.many import Documents, Query

__all__ = ["QueryTable", "pair_bound", "word_bound"]

Array = NDArray[np.float64]

# The words that carry most of the corpus's mass stand for the average document.
AVERAGE_WORDS = 2048
AVERAGE_ROUNDS = 3

# What the bounds lose to float32: some products a term, and one unit for each term of a sum.
ROUNDING, UNIT = 1e-5, 2.0**-24
# Masses whose weights float32 holds, with room for the products of them.
LIGHTEST, HEAVIEST = 1e-25, 1e30

_local = threading.local()


def _buffer(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """A scratch array of this thread: fresh pages for every query would cost more than the query."""
    store: dict[str, NDArray[Any]] = _local.__dict__.setdefault("buffers", {})
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if name not in store or store[name].size < size:
        store[name] = np.empty(max(size, 1), np.uint8)
    scratch: NDArray[Any] = store[name][:size].view(dtype)
    return scratch.reshape(shape)


@dataclass(frozen=True)
class QueryTable:
    """The cosines of every word of some documents with one query's points, rounded up to bytes.

    `columns` holds a row for each query point, `near` a row for each word, both padded with zeros;
    `reach` is the largest of each word. A 0 stands for a cosine of 0. The arrays belong to the thread
    that made them, until its next query.
    """

    columns: NDArray[np.uint8]
    near: NDArray[np.uint8]
    reach: NDArray[np.float32]

    @classmethod
    def of(cls, found: Sequence[NDArray[np.uint8]]) -> QueryTable:
        """Put the columns of a query's points beside each other."""
        from wayfare.kernels.cpu import byte_rows, word_bounds

        length, width = (
            len(found[0]),
            max(byte_rows.STEP, -(-len(found) // byte_rows.STEP) * byte_rows.STEP),
        )
        columns = _buffer("columns", (width, length), np.uint8)
        for row, column in zip(columns, found, strict=False):
            row[:] = column
        columns[len(found) :] = 0
        near = _buffer("near", (length, width), np.uint8)
        word_bounds.interleave(columns.view(np.uint64), near.view(np.uint64))
        top = np.empty(length, np.uint8)
        word_bounds.column_maxima(columns[: len(found)], top)
        reach = _buffer("reach", (length,), np.float32)
        np.multiply(top, np.float32(1.0000005 / word_bounds.UNIT), out=reach)
        return cls(columns, near, reach)

    @property
    def width(self) -> int:
        """The length of a row, with its padding."""
        return int(self.near.shape[1])


def word_bound(documents: Documents, table: QueryTable, query: Query) -> Array:
    """The better of two bounds for every document, from one number a word each.

        reach     a = 1:  J >= |mu| + |nu| - 2 sqrt(|mu| sum_j nu_j max_i k_ij)
        average   a: the query's potential against the average of all documents

    The second makes the sum of the bounds over the corpus small: it knows which words of the query
    nobody has, and which everybody has.
    """
    from wayfare.kernels.cpu import word_bounds

    alpha = _average_roots(documents, table, query)
    mu = query.shares
    average = _buffer("average", (len(table.near),), np.float32)
    word_bounds.word_potential(table.columns[: len(mu)], 1 / alpha[: len(mu)], average)
    potentials = _buffer("potentials", (len(table.near), 2), np.float32)
    np.multiply(table.reach, table.reach, out=potentials[:, 0])
    potentials[:, 1] = average
    own = np.array([1.0, float(mu @ (alpha[: len(mu)].astype(np.float64) ** 2))])
    affinity = np.empty(len(documents))
    word_bounds.word_bounds(
        documents.indptr, documents.indices, documents.light_weights, potentials, own, affinity
    )
    return _objective(documents, query, documents.masses, affinity)


def _average_roots(documents: Documents, table: QueryTable, query: Query) -> NDArray[np.float32]:
    """The roots of a potential of the query that suits the words with most of the corpus's mass."""
    from wayfare.kernels.cpu import word_bounds

    words, masses = documents.heaviest(AVERAGE_WORDS)
    alpha = np.empty(table.width, np.float32)
    word_bounds.average_potential(table.near, words, masses, query.shares, AVERAGE_ROUNDS, alpha)
    return alpha


def pair_bound(
    documents: Documents,
    table: QueryTable,
    query: Query,
    picks: NDArray[np.int64],
    enough: float,
) -> tuple[Array, NDArray[np.int64]]:
    """The best of three bounds for each of `picks`, the dearer ones while J may be at most `enough`.

        rows     b = 1:   J >= |mu| + |nu| - 2 sqrt(|nu| sum_i mu_i max_j k_ij)      (MaxSim)
        middle   a halfway, in the logarithm, between that pair of potentials and a = 1
        sweep    a after one damped Sinkhorn sweep from there

    each with its C-transforms. Returns also how many documents each of the three looked at.
    """
    from wayfare.kernels.cpu.pair_bounds import pair_bounds

    total, root = query.mass + documents.masses[picks], float(np.sqrt(query.mass))
    limits = np.maximum(total - enough, 0.0) / (2 * root)
    affinity, tiers = np.empty(len(picks)), np.zeros(3, np.int64)
    pair_bounds(
        table.near,
        table.reach,
        query.shares,
        documents.indptr,
        documents.indices,
        documents.light_weights,
        picks,
        limits,
        affinity,
        tiers,
    )
    return _objective(documents, query, documents.masses[picks], affinity), tiers


def _objective(documents: Documents, query: Query, masses: Array, affinity: Array) -> Array:
    affinity *= 1 + ROUNDING + documents.longest * UNIT
    affinity *= -2 * np.sqrt(query.mass)
    affinity += masses
    affinity += query.mass
    np.maximum(affinity, 0.0, out=affinity)
    out = np.flatnonzero(~((masses > LIGHTEST) & (masses < HEAVIEST)))
    if len(out):
        # S is at most the root of both masses: what is left to say where float32 cannot hold weights.
        apart = (np.sqrt(query.mass) - np.sqrt(masses[out])) ** 2
        affinity[out] = apart * (1 - 1e-9)
    return affinity

"""Lower bounds on J for search: proven without solving, a function each, cheapest first.

All of them bound the affinity from above, `J = |mu| + |nu| - 2 S`, by a potential `a` that is at hand
and its C-transform `b_w = max_i k_wi / a_i`, since `S <= sqrt(<a, mu> <b, nu>)` for any `a > 0`.

    reach_bound     a = 1: what each word of the corpus reaches at best      one number a word
    average_bound   a: the query's potential against the average document    one number a word
    pair_bound      a: from the document itself, in four ways                its words and the query's

The first two cost one pass over the words and one over the documents' weights, for all documents at
once; the third one pass over the cosines of a document's words.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import CosineTable
from wayfare.many import Documents, Query

__all__ = ["QueryTable", "average_bound", "pair_bound", "reach_bound"]

Array = NDArray[np.float64]

# Words of the corpus whose products with the query are made, and used, while they are in cache.
BLOCK = 2048

# The words that carry most of the corpus's mass stand for the average document.
AVERAGE_WORDS = 4096
AVERAGE_ROUNDS = 2

# What the bounds lose to float32: some products a term, and one unit for each term of a sum.
ROUNDING, UNIT = 1e-5, 2.0**-24

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
    """The cosines of every word of some documents with one query's points.

    `cosines` is off by at most `slack`; `near` holds the same in bytes, rounded up; `reach` the
    largest of each word. The arrays belong to the thread that made them, until its next query.
    """

    cosines: NDArray[np.float32]
    near: NDArray[np.uint8]
    reach: NDArray[np.float32]
    slack: float

    @classmethod
    def of(cls, source: CosineTable, query: Query, eta: float) -> QueryTable:
        """Compare all words with the query: one matrix product, used block by block."""
        from wayfare.kernels.cpu import bounds

        words, m = len(source.points), len(query.weights)
        width = max(16, -(-m // 16) * 16)
        table = _buffer("cosines", (words, m), np.float32)
        near = _buffer("near", (words, width), np.uint8)
        reach = _buffer("reach", (words,), np.float32)
        slack = source.slack(query.points, eta)
        for start in range(0, words, BLOCK):
            some = slice(start, start + BLOCK)
            source.cosines(query.points, eta, rows=some, out=table[some])
            bounds.round_up(table[some], near[some], reach[some], slack)
        return cls(table, near, reach, slack)


def reach_bound(documents: Documents, table: QueryTable, query: Query) -> Array:
    """`J >= |mu| + |nu| - 2 sqrt(|mu| sum_j nu_j max_i k_ij)` for every document."""
    return _by_word(documents, query, table.reach**2, 1.0, table.slack)


def average_bound(documents: Documents, table: QueryTable, query: Query) -> Array:
    """The bound from the query's potential against the documents' average.

    That potential makes the sum of the bounds over the corpus small: it knows which words of the query
    nobody has, and which everybody has.
    """
    from wayfare.kernels.cpu import bounds

    words, masses = documents.heaviest(AVERAGE_WORDS)
    alpha = np.empty(table.near.shape[1], np.float32)
    mu = query.shares
    bounds.average_potential(table.near, words, masses, mu, AVERAGE_ROUNDS, alpha)
    inverse = np.zeros_like(alpha)
    inverse[: len(mu)] = 1 / alpha[: len(mu)]
    potential = _buffer("potential", (len(table.near),), np.float32)
    bounds.word_potential(table.near, inverse, potential)
    own = float(mu @ (alpha[: len(mu)].astype(np.float64) ** 2))
    return _by_word(documents, query, potential, own, table.slack)


def pair_bound(
    documents: Documents,
    table: QueryTable,
    query: Query,
    picks: NDArray[np.int64],
    enough: float,
) -> Array:
    """The best of four bounds for each of `picks`; it stops at one that proves J above `enough`."""
    from wayfare.kernels.cpu import bounds

    total = query.mass + documents.masses[picks]
    root = float(np.sqrt(query.mass))
    limits = (total - enough) / (2 * root) if np.isfinite(enough) else np.zeros(len(picks))
    affinity = np.empty(len(picks))
    bounds.pair_bounds(
        table.near,
        table.reach,
        query.shares,
        documents.indptr,
        documents.indices,
        documents.light_weights,
        picks,
        limits,
        documents.longest,
        affinity,
        np.empty((0, table.near.shape[1]), np.float32),
    )
    affinity = _rounded(affinity, documents.masses[picks], table.slack, documents.longest)
    return np.asarray(np.maximum(total - 2 * root * affinity, 0.0))


def _by_word(
    documents: Documents, query: Query, potential: NDArray[np.float32], own: float, slack: float
) -> Array:
    from wayfare.kernels.cpu import bounds

    affinity = np.empty(len(documents))
    bounds.word_bounds(
        documents.indptr, documents.indices, documents.light_weights, potential, own, affinity
    )
    affinity = _rounded(affinity, documents.masses, slack, documents.longest)
    affinity *= -2 * np.sqrt(query.mass)
    affinity += documents.masses
    affinity += query.mass
    return np.maximum(affinity, 0.0, out=affinity)


def _rounded(affinity: Array, masses: Array, slack: float, terms: int) -> Array:
    """Above what exact arithmetic would have given, for cosines off by `slack`."""
    return np.asarray(affinity * (1 + ROUNDING + terms * UNIT) + slack * np.sqrt(masses))

"""What is learnt, and how it changes documents: a map of the points and a weight for each word.

points     x_v -> A x_v
weights    d_nv -> q_nv = w_v d_nv, then M_n q_nv / sum_u q_nu, where the mass M_n is kept
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.weighting import segment_sums

__all__ = ["Gradient", "Parameters", "Rows", "by_log_weights", "reweigh"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Documents as CSR rows of weights over points, before anything was learnt.

    `points` is (V, d) in float64. `keep_mass` says whether a re-weighted document keeps its mass.
    """

    points: Array
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: Array
    keep_mass: bool = True

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def entries(self, documents: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the entries of some documents stand, and the `indptr` of just these."""
        sizes = np.diff(self.indptr)[documents]
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return np.arange(indptr[-1]) + np.repeat(
            self.indptr[documents] - indptr[:-1], sizes
        ), indptr


@dataclass(frozen=True)
class Parameters:
    """The linear map A (d', d), and the logarithm of each word's weight (V,)."""

    map: Array
    log_weights: Array

    @property
    def word_weights(self) -> Array:
        """The weight w of each word."""
        return np.exp(self.log_weights)

    def points(self, points: Any) -> Array:
        """`A x` of each point."""
        return np.asarray(points @ self.map.T)


@dataclass(frozen=True)
class Gradient:
    """The derivative by each of the `Parameters`."""

    map: Array
    log_weights: Array


def reweigh(rows: Rows, word_weights: Array) -> Array:
    """The weights of all documents, each word's times its own; at the mass they had, or not.

    >>> rows = Rows(np.zeros((2, 1)), np.array([0, 2]), np.array([0, 1]), np.array([0.5, 0.5]))
    >>> reweigh(rows, np.array([3.0, 1.0]))
    array([0.75, 0.25])
    """
    heavier = rows.weights * word_weights[rows.indices]
    if not rows.keep_mass:
        return heavier
    before = segment_sums(rows.weights, rows.indptr)
    after = segment_sums(heavier, rows.indptr)
    share = np.divide(before, after, out=np.zeros_like(before), where=after > 0)
    return np.asarray(heavier * np.repeat(share, np.diff(rows.indptr)))


def by_log_weights(rows: Rows, word_weights: Array, by_weight: Array) -> Array:
    """From derivatives by each entry's weight to those by the logarithms of the word weights.

    Where the mass M of a document is kept, a constant added to the derivative by its weights means
    nothing: `dL/dq_v = (M / sum q) (g_v - sum_u g_u m_u / M)`, with m the weights that came out.
    """
    if rows.keep_mass:
        heavier = rows.weights * word_weights[rows.indices]
        before = segment_sums(rows.weights, rows.indptr)
        after = segment_sums(heavier, rows.indptr)
        some, lengths = after > 0, np.diff(rows.indptr)
        share = np.divide(before, after, out=np.zeros_like(before), where=some)
        mean = segment_sums(by_weight * heavier, rows.indptr)
        np.divide(mean, after, out=mean, where=some)
        by_weight = (by_weight - np.repeat(mean, lengths)) * np.repeat(share, lengths)
    by_word = np.bincount(rows.indices, by_weight * rows.weights, len(word_weights))
    return np.asarray(by_word * word_weights)

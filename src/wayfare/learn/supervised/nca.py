"""The loss: neighbourhood components analysis (Goldberger et al. 2004) over distances.

L_a = -log sum_{b: y_b = y_a} e^(-D_ab / T) / sum_b e^(-D_ab / T)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["calibrated", "loss_of"]

Array = NDArray[np.float64]

# How many neighbours the softmax of an anchor spreads over before anything is learnt.
PERPLEXITY = 8.0


def loss_of(values: Array, same: NDArray[np.bool_], temperature: float) -> tuple[float, Array]:
    """`L_a` and its derivative by each distance; zero where no neighbour is of the same class.

    >>> value, slope = loss_of(np.array([0.0, 0.0]), np.array([True, False]), 1.0)
    >>> round(value, 6), slope
    (0.693147, array([ 0.5, -0.5]))
    """
    finite = np.isfinite(values)
    if not (same & finite).any():
        return 0.0, np.zeros_like(values)
    score = np.where(finite, -values / temperature, -np.inf)
    every, all_sum = _softmax(score)
    mine, same_sum = _softmax(np.where(same, score, -np.inf))
    return all_sum - same_sum, (mine - every) / temperature


def _softmax(score: Array) -> tuple[Array, float]:
    """The softmax, and the logarithm of the sum under it."""
    top = float(score.max())
    share = np.exp(score - top)
    total = float(share.sum())
    return share / total, top + float(np.log(total))


def calibrated(rows: list[Array], perplexity: float = PERPLEXITY) -> float:
    """The temperature at which the softmax over each row spreads over `perplexity` on average.

    The geometric mean of the rows' perplexities rises with the temperature: bisection finds it.

    >>> round(calibrated([np.array([0.0, 1.0, 1.0, 1.0])], 2.0), 2)
    0.39
    """
    spreads = [np.ptp(row[np.isfinite(row)]) for row in rows if np.isfinite(row).any()]
    scale = float(np.mean(spreads)) if spreads else 0.0
    if scale == 0.0:
        return 1.0
    low, high = np.log(scale) - 16.0, np.log(scale) + 16.0
    for _ in range(60):
        middle = (low + high) / 2
        entropies = [_entropy(row / np.exp(middle)) for row in rows if np.isfinite(row).any()]
        low, high = (low, middle) if np.mean(entropies) > np.log(perplexity) else (middle, high)
    return float(np.exp(middle))


def _entropy(values: Array) -> float:
    share, _ = _softmax(-values)
    some = share > 0
    return float(-np.sum(share[some] * np.log(share[some])))

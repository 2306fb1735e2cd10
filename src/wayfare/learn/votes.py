"""The vote of the nearest neighbours; a tie is broken by leaving out the farthest (Kusner's rule)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["majority", "votes"]


def votes(codes: NDArray[Any], priors: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The elected class and the shares of the vote, for the first 1, 2, ..., k neighbours.

    `codes` (n, k) holds the classes of the neighbours, nearest first; -1 is nobody. Where several
    classes have the most votes of the first k, the first k - 1 decide, and so on: one neighbour is
    never tied. Where there is nobody to ask, the `priors` of the classes decide. Returns (n, k) and
    (n, k, classes); the elected class is the one with the largest share.

    >>> elected, shares = votes(np.array([[1, 0, 0, 1]]), np.array([0.5, 0.5]))
    >>> elected, shares[0, 3].round(2)
    (array([[1, 1, 0, 0]]), array([0.67, 0.33]))
    """
    n, k = codes.shape
    elected = np.empty((n, k), np.int64)
    shares = np.empty((n, k, len(priors)))
    counts = np.zeros((n, len(priors)))
    winner, share = np.full(n, int(np.argmax(priors))), np.tile(priors, (n, 1))
    for place in range(k):
        asked = np.flatnonzero(codes[:, place] >= 0)
        counts[asked, codes[asked, place]] += 1
        top = counts.max(axis=1)
        clear = (top > 0) & ((counts == top[:, None]).sum(axis=1) == 1)
        winner = np.where(clear, counts.argmax(axis=1), winner)
        share = np.where(clear[:, None], counts / np.maximum(counts.sum(axis=1), 1)[:, None], share)
        elected[:, place], shares[:, place] = winner, share
    return elected, shares


def majority(codes: NDArray[Any], classes: int) -> NDArray[Any]:
    """The share of each class among `codes`."""
    return np.asarray(np.bincount(codes, minlength=classes) / len(codes))

"""k nearest neighbours vote, for every k at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["votes"]


def votes(nearest: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """The winning class (documents, k) under 1, 2, ... neighbours, from their classes, nearest first.

    A tie goes to the winner under one neighbour fewer (Kusner et al. 2015).

    >>> votes(np.array([[0, 1, 1, 0]]), 2)
    array([[0, 0, 1, 1]])
    """
    count, most = nearest.shape
    tally = np.zeros((count, classes), np.int64)
    won = np.zeros((count, most), np.int64)
    every = np.arange(count)
    for k in range(most):
        tally[every, nearest[:, k]] += 1
        top = tally.max(axis=1)
        alone = (tally == top[:, None]).sum(axis=1) == 1
        won[:, k] = np.where(alone, tally.argmax(axis=1), won[:, k - 1])
    return won

"""Which neighbours an anchor is compared with: the nearest by their centres of mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayfare.learn.supervised.objective import Anchor
from wayfare.learn.supervised.parameters import Parameters, Rows, reweigh
from wayfare.weighting import segment_sums

__all__ = ["Pools", "SeenPools", "centres_of_mass"]

Array = NDArray[np.float64]

# Of the own class at least so many, so that every anchor has somebody to be drawn to.
OWN_CLASS = 5


def centres_of_mass(rows: Rows, word_weights: Array) -> Array:
    """The centre of each document, before any map; the origin for the zero measure."""
    from scipy.sparse import csr_array

    weights = reweigh(rows, word_weights)
    matrix = csr_array((weights, rows.indices, rows.indptr), shape=(len(rows), len(rows.points)))
    masses = segment_sums(weights, rows.indptr)[:, None]
    sums = np.asarray(matrix @ rows.points)
    return np.asarray(np.divide(sums, masses, out=np.zeros_like(sums), where=masses > 0))


@dataclass(frozen=True)
class Pools:
    """Chooses `count` of the `candidates` for each anchor; a document is never its own neighbour."""

    rows: Rows
    classes: NDArray[np.intp]
    candidates: NDArray[np.int64]
    count: int

    def seen(self, at: Parameters) -> SeenPools:
        """The same, as the parameters see the documents."""
        return SeenPools(self, at.points(centres_of_mass(self.rows, at.word_weights)))


@dataclass(frozen=True)
class SeenPools:
    """`Pools` over centres of mass."""

    pools: Pools
    centres: Array

    def of(self, documents: NDArray[np.int64]) -> list[Anchor]:
        """Each of these documents, with its neighbours."""
        return [Anchor(int(document), self._nearest(document)) for document in documents]

    def _nearest(self, document: np.int64) -> NDArray[np.int64]:
        candidates, classes, count = self.pools.candidates, self.pools.classes, self.pools.count
        apart = self.centres[candidates] - self.centres[document]
        order = np.argsort(np.einsum("ij,ij->i", apart, apart), kind="stable")
        order = candidates[order[candidates[order] != document]]
        own = order[classes[order] == classes[document]][:OWN_CLASS]
        chosen = order[:count]
        missing = np.setdiff1d(own, chosen)
        if len(missing):
            others = chosen[~np.isin(chosen, own)][: max(count - len(own), 0)]
            chosen = np.concatenate([others, own])
        return np.asarray(np.sort(chosen))

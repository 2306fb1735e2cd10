"""The word-centroid learner of Huang et al. (2016): the same loss over distances of centres of mass.

    D_ab = |A (c_a - c_b)|^2,  c_n = sum_v q_nv x_v / sum_v q_nv

It costs a matrix product where transport costs a solve for each pair, and starts the latter well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import distances
from wayfare.learn.supervised.nca import loss_of
from wayfare.learn.supervised.objective import Anchor, Verdict
from wayfare.learn.supervised.parameters import Gradient, Parameters, Rows, by_log_weights
from wayfare.learn.supervised.pools import centres_of_mass
from wayfare.weighting import segment_sums

__all__ = ["CentroidLoss"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CentroidLoss:
    """NCA over squared distances of centres. What mass a document has does not matter to its centre, so
    the weights of `rows` are to keep it."""

    rows: Rows
    classes: NDArray[np.intp]
    temperature: float

    def gradient(self, at: Parameters, anchors: Sequence[Anchor]) -> tuple[float, Gradient]:
        """The mean loss of the anchors, and its derivatives."""
        raw = centres_of_mass(self.rows, at.word_weights)
        centres = at.points(raw)
        documents = np.array([anchor.document for anchor in anchors])
        far, loss = self._distances(centres, documents), 0.0
        slopes = np.zeros_like(far)
        for row, anchor in enumerate(anchors):
            there = anchor.neighbours
            mine, slopes[row, there] = loss_of(
                far[row, there], self._same(anchor), self.temperature
            )
            loss += mine
        slopes *= 2 / len(anchors)
        own = centres[documents]
        pull = slopes.sum(axis=0)[:, None] * centres - slopes.T @ own
        pull[documents] += slopes.sum(axis=1)[:, None] * own - slopes @ centres
        return loss / len(anchors), Gradient(pull.T @ raw, self._by_log_weights(at, pull))

    def verdict(self, at: Parameters, anchors: Sequence[Anchor]) -> Verdict:
        """The loss and the distances of each anchor."""
        centres = at.points(centres_of_mass(self.rows, at.word_weights))
        far = self._distances(centres, np.array([anchor.document for anchor in anchors]))
        values = [far[row, anchor.neighbours] for row, anchor in enumerate(anchors)]
        pairs = zip(anchors, values, strict=True)
        losses = [loss_of(found, self._same(a), self.temperature)[0] for a, found in pairs]
        return Verdict(np.array(losses), values)

    def _distances(self, centres: Array, documents: NDArray[np.int64]) -> Array:
        return distances(centres[documents], centres) ** 2

    def _same(self, anchor: Anchor) -> NDArray[np.bool_]:
        return np.asarray(self.classes[anchor.neighbours] == self.classes[anchor.document])

    def _by_log_weights(self, at: Parameters, pull: Array) -> Array:
        """From derivatives g by the mapped centres, at mass M: `dD/dq_nv = <A' g_n, x_v> / M_n`."""
        from wayfare.kernels.cpu.slopes import entry_products

        rows, by_weight = self.rows, np.empty(len(self.rows.weights))
        masses = segment_sums(rows.weights, rows.indptr)[:, None]
        pull = np.divide(pull, masses, out=np.zeros_like(pull), where=masses > 0)
        # Mapping a pull back for each document is less than mapping every word.
        entry_products(pull @ at.map, rows.points, rows.indptr, rows.indices, by_weight)
        return by_log_weights(rows, at.word_weights, by_weight)

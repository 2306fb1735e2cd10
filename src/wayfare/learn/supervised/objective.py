"""The loss of some anchors over their neighbours, and its gradient by the map and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wayfare.learn.supervised.nca import loss_of
from wayfare.learn.supervised.parameters import Gradient, Parameters, Rows, by_log_weights, reweigh
from wayfare.learn.supervised.transport import Slopes, Transport
from wayfare.many import Documents, Query, Scratch
from wayfare.points import Points
from wayfare.threads import in_threads, one_blas_thread

__all__ = ["Anchor", "Objective", "TransportLoss", "Verdict", "mapped_documents"]

Array = NDArray[np.float64]
Picks = NDArray[np.int64]


class Anchor(NamedTuple):
    """A document, and those it is compared with."""

    document: int
    neighbours: Picks


class Verdict(NamedTuple):
    """The loss of each anchor, and its distances to its neighbours."""

    losses: Array
    values: list[Array]

    @property
    def mean(self) -> float:
        """The mean loss."""
        return float(self.losses.mean()) if len(self.losses) else 0.0


class Objective(Protocol):
    """What descent needs to know of a loss."""

    def gradient(self, at: Parameters, anchors: Sequence[Anchor]) -> tuple[float, Gradient]:
        """The mean loss of the anchors, and its derivatives."""

    def verdict(self, at: Parameters, anchors: Sequence[Anchor]) -> Verdict:
        """The loss and the distances of each anchor."""


class _Pull(NamedTuple):
    """What one anchor adds to the derivatives: at distinct points, and at distinct entries."""

    loss: float
    short: int
    points: NDArray[np.int32]
    by_point: Array
    entries: Picks
    by_entry: Array


class _Meeting(NamedTuple):
    """An anchor's neighbours and the anchor, over the points `used`, and what came of it."""

    documents: Documents
    query: Query
    slopes: Slopes
    entries: Picks
    used: NDArray[np.int32]


def mapped_documents(rows: Rows, at: Parameters) -> Documents:
    """All documents as the parameters make them."""
    return Documents(
        Points(at.points(rows.points)), rows.indptr, rows.indices, reweigh(rows, at.word_weights)
    )


@dataclass(frozen=True)
class TransportLoss:
    """NCA over a transport distance. Anchors go over threads; the sums do not depend on how many."""

    rows: Rows
    classes: NDArray[np.intp]
    transport: Transport
    temperature: float
    n_jobs: int = 1

    def gradient(self, at: Parameters, anchors: Sequence[Anchor]) -> tuple[float, Gradient]:
        """See `Objective`."""
        documents = mapped_documents(self.rows, at)
        by_point, by_weight = np.zeros(documents.points.shape), np.zeros(len(self.rows.weights))
        loss = 0.0

        def pull(anchor: Anchor) -> _Pull:
            return self._pull(documents, anchor)

        with one_blas_thread():
            for part in in_threads(pull, anchors, self.n_jobs):
                loss += part.loss
                by_point[part.points] += part.by_point
                by_weight[part.entries] += part.by_entry
        by_point /= len(anchors)
        by_weight /= len(anchors)
        by_word = by_log_weights(self.rows, at.word_weights, by_weight)
        return loss / len(anchors), Gradient(by_point.T @ self.rows.points, by_word)

    def verdict(self, at: Parameters, anchors: Sequence[Anchor]) -> Verdict:
        """See `Objective`."""
        documents = mapped_documents(self.rows, at)

        def judge(anchor: Anchor) -> Array:
            return self._meeting(documents, anchor).slopes.values

        with one_blas_thread():
            values = list(in_threads(judge, anchors, self.n_jobs))
        pairs = zip(anchors, values, strict=True)
        losses = [loss_of(found, self._same(a), self.temperature)[0] for a, found in pairs]
        return Verdict(np.array(losses), values)

    def _same(self, anchor: Anchor) -> NDArray[np.bool_]:
        return np.asarray(self.classes[anchor.neighbours] == self.classes[anchor.document])

    def _meeting(self, documents: Documents, anchor: Anchor) -> _Meeting:
        """Solve an anchor against its neighbours, over the points that these have."""
        entries, indptr = self.rows.entries(anchor.neighbours)
        used, local = np.unique(documents.indices[entries], return_inverse=True)
        some = Documents(
            Points(documents.points[used]),
            indptr,
            local.astype(np.int32),
            documents.weights[entries],
        )
        span = slice(documents.indptr[anchor.document], documents.indptr[anchor.document + 1])
        mine = documents.indices[span]
        at = np.minimum(np.searchsorted(used, mine), len(used) - 1)
        own = np.where(used[at] == mine, at, -1).astype(np.int32)
        weights = documents.weights[span]
        query = Query(documents.points[mine], weights, float(weights.sum()), own)
        scratch = Scratch(len(mine), some.longest)
        slopes = self.transport.slopes(some, query, scratch)
        return _Meeting(some, query, slopes, entries, used)

    def _pull(self, documents: Documents, anchor: Anchor) -> _Pull:
        from wayfare.kernels.cpu.slopes import add_by_word

        some, query, slopes, entries, used = self._meeting(documents, anchor)
        loss, by_value = loss_of(slopes.values, self._same(anchor), self.temperature)
        pulled = np.zeros((len(used), len(query.weights)), slopes.by_squared.dtype)
        add_by_word(slopes.by_squared, by_value, some.indptr, some.indices, pulled)
        # dL/dz_i = sum_j 2 W_ij (z_i - z_j), with W the derivatives by the squared distances.
        words, points = (p.astype(pulled.dtype, copy=False) for p in (some.points, query.points))
        by_word = 2 * (pulled.sum(axis=1)[:, None] * words - pulled @ points)
        by_own = 2 * (pulled.sum(axis=0)[:, None] * points - pulled.T @ words)
        start, stop = documents.indptr[anchor.document], documents.indptr[anchor.document + 1]
        mine = documents.indices[start:stop]
        met = query.own >= 0
        by_word[query.own[met]] += by_own[met]
        return _Pull(
            loss,
            slopes.short,
            np.concatenate([used, mine[~met]]),
            np.concatenate([by_word, by_own[~met]]).astype(np.float64),
            np.concatenate([entries, np.arange(start, stop)]),
            np.concatenate(
                [
                    slopes.by_entry * np.repeat(by_value, np.diff(some.indptr)),
                    by_value @ slopes.by_query,
                ]
            ),
        )

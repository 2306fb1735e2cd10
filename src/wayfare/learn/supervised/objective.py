"""The loss of some anchors over their neighbours, and its gradient by the map and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

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
    """What one anchor adds to the derivatives.

    `cross` is `sum_wi W_wi y_i x_w'` over words x and the anchor's own y before the map, with W the
    derivatives by their squared distances; `by_word` and `by_own` are the sums of W's rows and columns.
    """

    loss: float
    short: int
    words: NDArray[np.int32]
    by_word: Array
    own: NDArray[np.int32]
    by_own: Array
    cross: Array
    entries: Picks
    by_entry: Array


class _Meeting(NamedTuple):
    """An anchor's neighbours and the anchor, over the points `used`, and what came of it."""

    documents: Documents
    query: Query
    slopes: Slopes
    entries: Picks
    used: NDArray[np.int32]


def mapped_documents(rows: Rows, at: Parameters, dtype: Any) -> Documents:
    """All documents as the parameters make them, with points in the precision that is worked in."""
    points = at.points(rows.points).astype(dtype, copy=False)
    return Documents(Points(points), rows.indptr, rows.indices, reweigh(rows, at.word_weights))


@dataclass(frozen=True)
class TransportLoss:
    """NCA over a transport distance. Anchors go over threads; the sums do not depend on how many."""

    rows: Rows
    classes: NDArray[np.intp]
    transport: Transport
    temperature: float
    n_jobs: int = 1

    def gradient(self, at: Parameters, anchors: Sequence[Anchor]) -> tuple[float, Gradient]:
        """See `Objective`.

        With `D = sum W_wi |A (x_w - y_i)|^2` to first order, the derivative by A is

            2 A sum_wi W_wi (x_w - y_i) (x_w - y_i)',

        and only the cross terms of that sum are apart for each anchor: one product each.
        """
        dtype, points = self.transport.dtype, self.rows.points
        documents, light = mapped_documents(self.rows, at, dtype), points.astype(dtype, copy=False)
        diagonal, cross = np.zeros(len(points)), np.zeros((points.shape[1], points.shape[1]))
        by_weight, loss = np.zeros(len(self.rows.weights)), 0.0

        def pull(anchor: Anchor) -> _Pull:
            return self._pull(documents, light, anchor)

        with one_blas_thread():
            for part in in_threads(pull, anchors, self.n_jobs):
                loss += part.loss
                diagonal[part.words] += part.by_word
                diagonal[part.own] += part.by_own
                cross += part.cross
                by_weight[part.entries] += part.by_entry
        moment = (points * diagonal[:, None]).T @ points - cross - cross.T
        by_word = by_log_weights(self.rows, at.word_weights, by_weight / len(anchors))
        return loss / len(anchors), Gradient(at.map @ moment * (2 / len(anchors)), by_word)

    def verdict(self, at: Parameters, anchors: Sequence[Anchor]) -> Verdict:
        """See `Objective`."""
        documents = mapped_documents(self.rows, at, self.transport.dtype)

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

    def _pull(self, documents: Documents, points: NDArray[Any], anchor: Anchor) -> _Pull:
        from wayfare.kernels.cpu.slopes import add_by_word

        some, query, slopes, entries, used = self._meeting(documents, anchor)
        loss, by_value = loss_of(slopes.values, self._same(anchor), self.temperature)
        pulled = np.zeros((len(used), len(query.weights)), slopes.by_squared.dtype)
        add_by_word(slopes.by_squared, by_value, some.indptr, some.indices, pulled)
        start, stop = documents.indptr[anchor.document], documents.indptr[anchor.document + 1]
        mine = documents.indices[start:stop]
        by_entry = np.concatenate(
            [
                slopes.by_entry * np.repeat(by_value, np.diff(some.indptr)),
                by_value @ slopes.by_query,
            ]
        )
        return _Pull(
            loss,
            slopes.short,
            used,
            pulled.sum(axis=1, dtype=np.float64),
            mine,
            pulled.sum(axis=0, dtype=np.float64),
            points[mine].T @ (pulled.T @ points[used]),
            np.concatenate([entries, np.arange(start, stop)]),
            by_entry,
        )

"""The nearest of some documents for many queries, in an order that does not depend on the way there.

A certified search proves who is among the k nearest, and leaves open the order of those whose
intervals meet. A vote may hang on that order, so here it is settled where it decides anything:

    1  search k + 1                          who is inside
    2  solve on where intervals meet         between groups, and at the border
    3  what double precision cannot tell     is a tie, and goes by position in the training data
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare import wfr
from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.metrics import METRICS, Settings, metric_named
from wayfare.points import Points
from wayfare.progress import Progress
from wayfare.search import Hits, search, search_many
from wayfare.threads import count_jobs, in_threads, one_blas_thread

__all__ = ["Known", "Neighbours", "Space", "check_device", "nearest", "of_matrix"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]

SEARCHED = ("wfr", "wmd", "hellinger")
CHUNK = 256  # queries between two looks at the progress
# How far two neighbours of different groups are told apart, in turn; then they are tied.
TOLS = (1e-4, 1e-6, 1e-8, 1e-10)
# Values of one thing, computed on two ways, differ by less than this share.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Space:
    """What "near" means, and who looks: how many threads, or a GPU."""

    metric: str = "wfr"
    eta: float = 0.5
    tol: float = 1e-3
    n_jobs: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        metric_named(self.metric)
        check_device(self.device, self.metric)


def check_device(device: str, metric: str) -> None:
    """Raise what is missing where a device was asked for that is not the CPU."""
    if device != "cpu":
        from wayfare.kernels.gpu.torches import open_device

        open_device(device, metric=metric)


@dataclass(frozen=True)
class Neighbours:
    """For each query the places of its nearest documents, nearest first, and their distances.

    An infinite distance fills up where fewer documents than asked for are at a finite one.
    """

    distances: Array
    places: Places

    def __len__(self) -> int:
        return len(self.places)

    def groups(self, codes: Places) -> Places:
        """The code of each neighbour; -1 where it is infinitely far."""
        return np.where(np.isfinite(self.distances), codes[self.places], -1)


@dataclass(frozen=True, eq=False)
class Known:
    """The documents to be found: `places` of a corpus."""

    documents: Documents
    places: Places

    @classmethod
    def of(cls, corpus: Corpus, places: Places, like: Known | None = None) -> Known:
        """Some rows of a corpus; `like` is another choice of its rows, whose tables are used again."""
        rows = corpus.select(places)
        shared = Points(corpus.points) if like is None else like.documents.shared
        documents = Documents(shared, rows.indptr, rows.indices, rows.weights)
        return cls(documents, places)


def nearest(
    known: Known,
    queries: Sequence[Measure],
    k: int,
    space: Space,
    *,
    codes: Places | None = None,
    bar: Progress | None = None,
) -> Neighbours:
    """The `k` nearest of the known documents for each query, each at its place.

    With `codes`, a group for each document of the corpus, the order within a group is left as the
    search gives it: who only votes by group need not pay for it.

    >>> corpus = Corpus.from_texts(["rain and wind", "a quiet evening", "wind"])
    >>> found = nearest(Known.of(corpus, np.arange(3)), [corpus[2]], 2, Space())
    >>> found.places, found.distances.round(2)
    (array([[2, 0]]), array([[0.  , 0.51]]))
    """
    if k > len(known.places):
        raise InputError(
            f"k: {k} neighbours of {len(known.places)} documents with known words; give a smaller k"
        )
    own = np.arange(len(known.places))
    groups = own if codes is None else codes[known.places]
    distances = np.full((len(queries), k), np.inf)
    places = np.zeros((len(queries), k), np.int64)
    for start in range(0, len(queries), CHUNK):
        some = queries[start : start + CHUNK]
        for at, (value, rows) in enumerate(_answers(known, some, k, space, groups), start):
            found = len(rows)
            distances[at, :found], places[at, :found] = value, known.places[rows]
            if found < k:
                places[at, found:] = known.places[np.setdiff1d(own, rows)[: k - found]]
        if bar is not None:
            bar.advance(len(some))
    return Neighbours(distances, places)


def of_matrix(distances: Array, k: int) -> Neighbours:
    """The `k` smallest of each row of a matrix of distances; equal ones by position.

    >>> of_matrix(np.array([[0.5, 0.1, 0.1]]), 2).places
    array([[1, 2]])
    """
    if k > distances.shape[1]:
        raise InputError(f"k: {k} neighbours of {distances.shape[1]} documents; give a smaller k")
    places = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return Neighbours(np.take_along_axis(distances, places, axis=1), places.astype(np.int64))


Answer = tuple[Array, Places]


def _answers(
    known: Known, queries: Sequence[Measure], k: int, space: Space, groups: Places
) -> list[Answer]:
    jobs = count_jobs(space.n_jobs)
    if space.metric not in SEARCHED:
        with one_blas_thread():
            return list(in_threads(lambda query: _by_pairs(known, query, k, space), queries, jobs))
    speaking = [at for at, query in enumerate(queries) if query.mass > 0]
    asked = [queries[at] for at in speaking]
    hits = search_many(
        [known.documents],
        asked,
        k=k + 1,
        n_jobs=space.n_jobs,
        device=space.device,
        **_settings(space),
    )
    found = dict(zip(speaking, hits, strict=True))

    def settle(at: int) -> Answer:
        if at not in found:
            return _sorted(_from_nothing(known, space), k)
        return _settle(known, queries[at], found[at], k, space, groups)

    with one_blas_thread():
        return list(in_threads(settle, range(len(queries)), jobs))


def _settings(space: Space) -> dict[str, Any]:
    return {"eta": space.eta, "tol": space.tol, "metric": space.metric}


def _by_pairs(known: Known, query: Measure, k: int, space: Space) -> Answer:
    """Metrics that have no search: every pair."""
    solve, settings = METRICS[space.metric], Settings(eta=space.eta, tol=space.tol)
    pairs = (known.documents.measure(row) for row in range(len(known.places)))
    return _sorted(np.array([solve(query, other, settings).value for other in pairs]), k)


def _from_nothing(known: Known, space: Space) -> Array:
    """The distances of the zero measure, where all documents of one mass are tied."""
    masses = known.documents.masses
    if space.metric == "wfr":
        return np.asarray(space.eta * np.sqrt(2 * masses))
    if space.metric == "hellinger":
        return np.asarray(np.sqrt(masses / 2))
    return np.where(masses == 0, 0.0, np.inf)


def _sorted(distances: Array, k: int) -> Answer:
    rows = np.argsort(distances, kind="stable")[:k]
    rows = rows[np.isfinite(distances[rows])]
    return distances[rows], rows.astype(np.int64)


@dataclass
class _Order:
    """Neighbours of one query as intervals, and what is not told apart yet."""

    rows: Places
    lower: Array
    upper: Array

    @classmethod
    def of(cls, hits: Hits) -> _Order:
        slack = ROUNDING * hits.upper
        rows = np.array(hits.ids, np.int64)
        return cls(rows, np.minimum(hits.lower, hits.upper - slack), hits.upper.copy())

    def sort(self) -> None:
        order = np.lexsort((self.rows, self.upper))
        self.rows, self.lower, self.upper = self.rows[order], self.lower[order], self.upper[order]

    def open(self, groups: Places, k: int) -> NDArray[np.bool_]:
        """Which of them meet one of another group, or one on the other side of place k."""
        meets = self.lower[:, None] <= self.upper[None, :]
        meets &= meets.T
        mine = groups[self.rows]
        inside = np.arange(len(mine)) < k
        matters = (mine[:, None] != mine[None, :]) | (inside[:, None] != inside[None, :])
        return np.asarray((meets & matters).any(axis=1))

    def level(self, tied: NDArray[np.bool_]) -> None:
        """Give those that cannot be told apart one value: the order of rows decides."""
        reach, first = -np.inf, 0.0
        for at in np.flatnonzero(tied):
            if self.lower[at] > reach:
                first = self.upper[at]
            reach = max(reach, self.upper[at])
            self.upper[at] = first
        self.sort()


def _settle(
    known: Known, query: Measure, hits: Hits, k: int, space: Space, groups: Places
) -> Answer:
    order = _refined(known, query, _Order.of(hits), k, space, groups)
    reached = len(order.rows) > k and order.lower[k] <= order.upper[k - 1]
    if reached and len(known.places) > k + 1:
        # The tie at the border may go on beyond what was found.
        within = float(order.upper[k] * (1 + ROUNDING))
        all_hits = search([known.documents], query, k=None, within=within, **_settings(space))
        order = _refined(known, query, _Order.of(all_hits), k, space, groups)
    return order.upper[:k], order.rows[:k]


def _refined(
    known: Known, query: Measure, order: _Order, k: int, space: Space, groups: Places
) -> _Order:
    order.sort()
    for tol in TOLS if space.metric == "wfr" else ():
        # Where an interval is as good as a number already, no tolerance will tell it apart.
        wide = order.upper - order.lower > 2 * ROUNDING * order.upper
        open_ = order.open(groups, k) & wide
        if not open_.any():
            break
        for at in np.flatnonzero(open_):
            answer = wfr.solve(
                query, known.documents.measure(int(order.rows[at])), eta=space.eta, tol=tol
            )
            low, high = answer.certificate.lower, answer.certificate.upper
            order.upper[at] = wfr.wfr_value(high, space.eta)
            slack = ROUNDING * order.upper[at]
            order.lower[at] = min(wfr.wfr_value(low, space.eta), order.upper[at] - slack)
        order.sort()
    order.level(order.open(groups, k))
    return order

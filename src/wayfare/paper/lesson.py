"""One split of a dataset as a lesson: what may be known, the folds of it, and how answers are judged."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.model_selection import KFold, StratifiedKFold

from wayfare import wfr
from wayfare.corpus import Corpus
from wayfare.learn.documents import eta_of, reweigh
from wayfare.learn.nearest import Known, of_matrix
from wayfare.learn.votes import majority, votes
from wayfare.paper.cells import SCHEME
from wayfare.paper.graph import Find, Found, Graph, Refine
from wayfare.paper.scope import Scope
from wayfare.paper.splits import Split
from wayfare.search import search_many

__all__ = ["FOLDS", "MOST", "Graphs", "Lesson", "judged", "percent"]

MOST = 19  # k in 1..19, as in the paper
FOLDS = 5
# Half the usual gap costs the search little, and leaves fewer neighbours to be told apart.
TOL = 5e-4
DIGITS = 12  # of L1 distances: many documents share no word, and all of them are tied
ALONE = ("nbow",)  # weightings that read one document at a time, so that no split changes them

NEAREST = 1e-9  # below it a vote would weigh more than a number can say

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Fold = tuple[Places, Places]


@dataclass(eq=False)
class Graphs:
    """The graphs of one dataset under some vectors; its splits share those that none of them changes.

    `corpus` holds counts. Files go to `folder`, named by `content`, which stands for the dataset.
    """

    corpus: Corpus
    splits: Sequence[Split]
    n_jobs: int | None = None
    folder: Path | None = None
    content: str = ""
    _weighed: tuple[str, Corpus, Known] | None = None
    _open: dict[str, Graph] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        # Elsewhere nothing is open, and there is no folder to keep lists in.
        return self.__dict__ | {"folder": None, "_weighed": None, "_open": {}}

    def of(self, metric: str, weighting: str, eta: float | None, split: Split) -> Graph:
        """The graph of a split: among the training documents of all splits, or of it alone."""
        if weighting in ALONE:
            rows = np.unique(np.concatenate([one.train for one in self.splits]))
        else:
            rows = split.train
        digest = hashlib.blake2b(rows.tobytes(), digest_size=8).hexdigest()
        corpus, known = self._known(f"{weighting}-{digest}", weighting, rows)
        from wayfare import __version__

        key = {
            "content": self.content,
            "metric": metric,
            "weighting": weighting,
            "eta": eta,
            "known": digest,
            "version": __version__,
            "scheme": SCHEME,
        }
        name = hashlib.blake2b(repr(sorted(key.items())).encode(), digest_size=8).hexdigest()
        if name not in self._open:
            path = self.folder and self.folder / f"graph-{metric}-{weighting}-{name}.npz"
            if metric == "l1":
                find, refine = _by_l1(corpus, known.places), None
            else:
                find = _by_search(corpus, known, metric, eta, self.n_jobs)
                refine = None if eta is None else _by_solving(corpus, eta)
            self._open[name] = Graph(find, known.places, refine, _farthest(metric, eta), path, key)
        return self._open[name]

    def _known(self, name: str, weighting: str, rows: Places) -> tuple[Corpus, Known]:
        if self._weighed is None or self._weighed[0] != name:
            self._open.clear()
            corpus = reweigh(self.corpus, weighting, rows)
            like = None if self._weighed is None else self._weighed[2]
            self._weighed = name, corpus, Known.of(corpus, rows[corpus.masses[rows] > 0], like)
        return self._weighed[1], self._weighed[2]


def _farthest(metric: str, eta: float | None) -> float:
    """How far two documents of mass 1 are that have nothing in common; WMD has no such distance."""
    if metric == "wfr":
        return wfr.wfr_value(2.0, eta or 1.0)
    return {"hellinger": 1.0, "l1": 2.0}.get(metric, np.inf)


def _by_search(
    corpus: Corpus, known: Known, metric: str, eta: float | None, n_jobs: int | None
) -> Find:
    settings: dict[str, Any] = {"metric": metric, "tol": TOL, "n_jobs": n_jobs}
    settings |= {} if eta is None else {"eta": eta}

    def find(rows: Places, depth: int) -> list[Found]:
        queries = [corpus[int(row)] for row in rows]
        hits = search_many([known.documents], queries, k=depth, **settings)
        return [(known.places[np.array(one.ids, np.int64)], one.lower, one.upper) for one in hits]

    return find


def _by_solving(corpus: Corpus, eta: float) -> Refine:
    def refine(row: int, place: int, tol: float) -> tuple[float, float]:
        certificate = wfr.solve(corpus[row], corpus[place], eta=eta, tol=tol).certificate
        return wfr.wfr_value(certificate.lower, eta), wfr.wfr_value(certificate.upper, eta)

    return refine


def _by_l1(corpus: Corpus, known: Places) -> Find:
    matrix = corpus.matrix
    others = matrix[known]

    def find(rows: Places, depth: int) -> list[Found]:
        far = np.asarray(manhattan_distances(matrix[rows], others).round(DIGITS))
        found = of_matrix(far, depth)
        return [
            (known[places], distances, distances)
            for places, distances in zip(found.places, found.distances, strict=True)
        ]

    return find


@dataclass(frozen=True, eq=False)
class Lesson:
    """One split of one dataset. `corpus` holds counts, `labels` the class of each document."""

    corpus: Corpus
    labels: NDArray[Any]
    split: Split
    scope: Scope
    graphs: Graphs
    n_jobs: int | None = None

    @classmethod
    def alone(
        cls, corpus: Corpus, labels: NDArray[Any], split: Split, scope: Scope, n_jobs: int | None
    ) -> Lesson:
        """A lesson that shares its graphs with no other, and keeps them nowhere."""
        return cls(corpus, labels, split, scope, Graphs(corpus, [split], n_jobs), n_jobs)

    @property
    def train(self) -> Corpus:
        """The counts of the training documents."""
        return self.corpus.select(self.split.train)

    @property
    def known(self) -> NDArray[Any]:
        """The labels of the training documents, which alone may decide anything."""
        return np.asarray(self.labels[self.split.train])

    @property
    def live(self) -> NDArray[np.bool_]:
        """Which documents have words."""
        return np.asarray(self.corpus.masses > 0)

    def weighed(self, weighting: str) -> Corpus:
        """All documents, under a weighting fitted on the training documents."""
        return reweigh(self.corpus, weighting, self.split.train)

    def etas(self, multiples: Sequence[float]) -> list[float]:
        """Values of eta for unit vectors; for others the same multiples of what suits them."""
        return [2 * eta * eta_of(None, self.corpus) for eta in multiples]

    @property
    def splitter(self) -> Any:
        """Stratified folds, or plain ones where a class of a sample has fewer documents than folds.

        Shuffled: data often come in an order, of classes or of sources, that test documents do not have.
        """
        enough = np.unique(self.known, return_counts=True)[1].min() >= FOLDS
        kind = StratifiedKFold if enough else KFold
        return kind(FOLDS, shuffle=True, random_state=self.scope.seed)

    def folds(self) -> list[Fold]:
        """For each fold the rows learnt from, and those asked: all the others, or a seeded sample.

        The sample prefers the same documents in every split, so that splits share what is searched for.
        """
        rows, most = self.split.train, self.scope.asked
        turn = np.random.default_rng([self.scope.seed, 2]).permutation(len(self.corpus))
        found = []
        for learnt, held in self.splitter.split(np.zeros((len(rows), 1)), self.known):
            if most is not None and len(rows) > most:
                first = np.argsort(turn[rows[held]])[: max(most // FOLDS, 1)]
                held = np.sort(held[first])
            found.append((rows[learnt], rows[held]))
        return found

    def most(self) -> int:
        """The largest k that every fold can train on, at most 19."""
        live = self.live
        return max(min(MOST, *(int(live[learnt].sum()) for learnt, _ in self.folds())), 1)


def judged(
    lesson: Lesson,
    codes: Places,
    classes: NDArray[Any],
    rows: Places,
    learnt: Places,
    distances: Array | None = None,
) -> Array:
    """The share of `rows` that the first 1, 2, ... neighbours get wrong; `codes` are their classes.

    With `distances` a neighbour's vote weighs 1 / distance, as `weights="distance"` of scikit-learn.
    """
    priors = majority(np.searchsorted(classes, lesson.labels[learnt]), len(classes))
    if distances is None:
        elected, _ = votes(codes, priors)
    else:
        weights = (codes >= 0) / np.maximum(distances, NEAREST)
        shares = np.cumsum(weights[..., None] * (codes[..., None] == range(len(classes))), axis=1)
        nobody = shares.sum(axis=2) == 0
        elected = np.where(nobody, int(np.argmax(priors)), shares.argmax(axis=2))
    return np.asarray((classes[elected] != lesson.labels[rows][:, None]).mean(axis=0))


def percent(share: float) -> float:
    """A share in percent."""
    return 100 * float(share)

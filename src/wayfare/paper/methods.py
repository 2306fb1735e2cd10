"""The rows of Table 2: what chooses on the training documents, and asks the test documents once.

Each is a function of a `Lesson`. The test labels are read by `_judged` alone, after everything is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.model_selection import KFold, StratifiedKFold

from wayfare.corpus import Corpus
from wayfare.learn import (
    SupervisedWFR,
    SupervisedWMD,
    WFRNeighborsClassifierCV,
    WordMoversEmbeddingCV,
)
from wayfare.learn.documents import eta_of, reweigh
from wayfare.learn.nearest import Known, Neighbours, Space, nearest, of_matrix
from wayfare.learn.votes import majority, votes
from wayfare.paper.scope import Scope
from wayfare.paper.splits import Split

__all__ = ["ROWS", "Lesson", "Row"]

MOST = 19  # k in 1..19, as in the paper
FOLDS = 5
DIGITS = 12
ETAS = (1.0, 1 / 2, 1 / 3, 1 / 4)  # for unit vectors; for others in multiples of what suits them
D_MAXS, GAMMAS = (3, 6, 12), (0.3, 1.0, 3.0, 10.0)

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Lesson:
    """One split of one dataset. `corpus` holds counts, `labels` the class of each document."""

    corpus: Corpus
    labels: NDArray[Any]
    split: Split
    scope: Scope
    n_jobs: int | None = None

    @property
    def train(self) -> Corpus:
        """The counts of the training documents."""
        return self.corpus.select(self.split.train)

    @property
    def known(self) -> NDArray[Any]:
        """The labels of the training documents, which alone may decide anything."""
        return np.asarray(self.labels[self.split.train])

    def weighed(self, weighting: str) -> Corpus:
        """All documents, under a weighting fitted on the training documents."""
        return reweigh(self.corpus, weighting, self.split.train)


@dataclass(frozen=True)
class Row:
    """One row: its name, what it is called in print, and how much it costs beside a WFR row."""

    name: str
    title: str
    run: Callable[[Lesson], dict[str, Any]]
    cost: float = 1.0


def _etas(corpus: Corpus) -> list[float]:
    return [2 * eta * eta_of(None, corpus) for eta in ETAS]


def _folds(lesson: Lesson) -> Any:
    """Stratified folds, or plain ones where a class of a sample has fewer documents than folds."""
    if np.unique(lesson.known, return_counts=True)[1].min() >= FOLDS:
        return StratifiedKFold(FOLDS)
    return KFold(FOLDS, shuffle=True, random_state=lesson.scope.seed)


def _ks(lesson: Lesson, live: int) -> list[int]:
    """1 to 19, or as many as every fold can train on: folds differ by at most one document a class."""
    largest = -(-len(lesson.known) // FOLDS) + len(np.unique(lesson.known))
    return list(range(1, max(min(MOST, live - largest), 1) + 1))


def _neighbours(lesson: Lesson, *, metric: str, weighting: str) -> dict[str, Any]:
    """k and eta by cross-validation; then one exact search a test document."""
    corpus, labels = lesson.weighed(weighting), lesson.known
    live = int((lesson.train.masses > 0).sum())
    model = WFRNeighborsClassifierCV(
        _ks(lesson, live),
        etas=_etas(corpus),
        weighting=[weighting],
        cv=_folds(lesson),
        metric=metric,
        n_jobs=lesson.n_jobs,
        progress=False,
    ).fit(lesson.train, labels)
    eta = model.best_params_["eta"]
    train, test = lesson.split
    known = Known.of(corpus, train[corpus.masses[train] > 0])
    space = Space(metric, eta_of(eta, corpus), n_jobs=lesson.n_jobs)
    codes = np.full(len(corpus), -1)
    codes[train] = np.searchsorted(model.classes_, labels)
    depth = min(MOST, len(known.places))
    found = nearest(known, [corpus[int(n)] for n in test], depth, space, codes=codes)
    elected = found.groups(codes)
    elected[corpus.masses[test] == 0] = -1
    told = {"k": model.k_, "eta": eta, "cv_error": _percent(1 - model.best_score_)}
    return told | _judged(lesson, elected, model.classes_, model.k_)


def _plain(lesson: Lesson, *, weighting: str) -> dict[str, Any]:
    """The L1 distance of weights that sum to one (Sato et al. 2022)."""
    matrix, labels = lesson.weighed(weighting).matrix, lesson.known
    train, test = matrix[lesson.split.train], matrix[lesson.split.test]
    model = WFRNeighborsClassifierCV(
        _ks(lesson, train.shape[0]), cv=_folds(lesson), metric="precomputed", progress=False
    ).fit(_l1(train, train), labels)
    found = of_matrix(_l1(test, train), min(MOST, train.shape[0]))
    told = {"k": model.k_, "eta": None, "cv_error": _percent(1 - model.best_score_)}
    return told | _judged(lesson, found.groups(model._codes), model.classes_, model.k_)


def _l1(first: Any, second: Any) -> NDArray[np.float64]:
    """Distances whose ties are ties: many documents share no word, and all of them are at 2."""
    return np.asarray(manhattan_distances(first, second).round(DIGITS))


def _supervised(lesson: Lesson, *, metric: str) -> dict[str, Any]:
    """What is learnt from the training documents; k and eta by the part of them set apart."""
    corpus, labels = lesson.weighed("nbow"), lesson.known
    train = corpus.select(lesson.split.train)
    settings: dict[str, Any] = {
        "max_iter": lesson.scope.steps,
        "random_state": lesson.scope.seed,
        "n_jobs": lesson.n_jobs,
        "progress": False,
    }
    if metric == "wmd":
        tries = [SupervisedWMD(**settings)]
    else:
        tries = [SupervisedWFR(eta=eta, **settings) for eta in _etas(corpus)]
    models = [model.fit(train, labels) for model in tries]
    model = min(models, key=lambda one: float(one.validation_errors_.min()))
    depth = min(MOST, int((train.masses > 0).sum()))
    test = corpus.select(lesson.split.test)
    found = Neighbours(*model.kneighbors(test, depth))
    codes = found.groups(model._codes)
    codes[test.masses == 0] = -1
    told = {
        "k": model.k_,
        "eta": getattr(model, "eta_", None),
        "cv_error": _percent(float(model.validation_errors_.min())),
    }
    return told | _judged(lesson, codes, model.classes_, min(model.k_, depth))


def _embedded(lesson: Lesson, *, metric: Literal["wfr", "wmd"]) -> dict[str, Any]:
    """Word Mover's Embedding and logistic regression; gamma, d_max and eta by cross-validation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    corpus, labels = lesson.weighed("nbow"), lesson.known
    train = corpus.select(lesson.split.train)
    embedding = WordMoversEmbeddingCV(
        lesson.scope.components,
        gammas=GAMMAS,
        d_maxs=D_MAXS,
        etas=(None,) if metric == "wmd" else _etas(corpus),
        cv=_folds(lesson),
        metric=metric,
        random_state=lesson.scope.seed,
        n_jobs=lesson.n_jobs,
        progress=False,
    )
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    classifier.fit(embedding.fit_transform(train, labels), labels)
    said = classifier.predict(embedding.transform(corpus.select(lesson.split.test)))
    wrong = said != lesson.labels[lesson.split.test]
    return {
        "k": None,
        "eta": None if metric == "wmd" else float(embedding.best_params_["eta"]),
        "cv_error": _percent(1 - embedding.best_score_),
        "error": _percent(wrong.mean()),
        "leaking": None,
    }


def _judged(lesson: Lesson, codes: Places, classes: NDArray[Any], k: int) -> dict[str, Any]:
    """The error with the `k` chosen, and the least over all k: the figure that leaks the test labels."""
    priors = majority(np.searchsorted(classes, lesson.known), len(classes))
    elected, _ = votes(codes, priors)
    wrong = classes[elected] != lesson.labels[lesson.split.test][:, None]
    errors = [_percent(one) for one in wrong.mean(axis=0)]
    return {"error": errors[k - 1], "leaking": min(errors), "errors_by_k": errors}


def _percent(share: float) -> float:
    return 100 * float(share)


ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        Row("l1-nbow", "bag of words, L1/L1", partial(_plain, weighting="nbow"), 0.02),
        Row("l1-tfidf", "tf-idf, L1/L1", partial(_plain, weighting="tfidf"), 0.02),
        Row(
            "hellinger",
            "Hellinger",
            partial(_neighbours, metric="hellinger", weighting="nbow"),
            0.05,
        ),
        Row("wfr", "WFR", partial(_neighbours, metric="wfr", weighting="nbow")),
        Row("wfr-tfidf", "WFR, tf-idf", partial(_neighbours, metric="wfr", weighting="tfidf")),
        Row("wmd", "WMD", partial(_neighbours, metric="wmd", weighting="nbow"), 2.0),
        Row("wmd-tfidf", "WMD, tf-idf", partial(_neighbours, metric="wmd", weighting="tfidf"), 2.0),
        Row("wme-wmd", "WME(512)+WMD", partial(_embedded, metric="wmd"), 1.0),
        Row("wme-wfr", "WME(512)+WFR", partial(_embedded, metric="wfr"), 4.0),
        Row("s-wmd", "S-WMD", partial(_supervised, metric="wmd"), 3.0),
        Row("s-wfr", "supervised WFR", partial(_supervised, metric="wfr"), 6.0),
    )
}

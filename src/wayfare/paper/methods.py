"""The rows of Table 2: what chooses on the training documents, and asks the test documents once.

Each is a function of a `Lesson`. The test labels are read by `judged` alone, after everything is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wayfare.learn import SupervisedWFR, SupervisedWMD, WordMoversEmbeddingCV
from wayfare.learn.nearest import Neighbours
from wayfare.paper.graph import Graph, depth_for
from wayfare.paper.lesson import FOLDS, MOST, Lesson, judged, percent

__all__ = ["ROWS", "Row"]

ETAS = (1.0, 1 / 2, 1 / 3, 1 / 4)  # for unit vectors; for others in multiples of what suits them
HAVE_ETA = ("wfr",)
D_MAXS, GAMMAS = (3, 6, 12), (0.3, 1.0, 3.0, 10.0)

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One row: its name, what it is called in print, what of the scope decides it, and its cost.

    The cost is a share of what the row of WFR takes. `splits` is on how many it is run; None: all.
    """

    name: str
    title: str
    run: Callable[[Lesson], dict[str, Any]]
    cost: float = 1.0
    decided_by: tuple[str, ...] = ("asked",)
    splits: int | None = None


@dataclass(frozen=True, eq=False)
class _Ballots:
    """A row of k-NN on one split: a graph for each eta, and the errors read off them."""

    lesson: Lesson
    graphs: list[Graph]
    by_distance: bool = False

    @classmethod
    def of(
        cls,
        lesson: Lesson,
        metric: str,
        weighting: str,
        etas: list[Any],
        *,
        by_distance: bool = False,
    ) -> _Ballots:
        graphs = [lesson.graphs.of(metric, weighting, eta, lesson.split) for eta in etas]
        return cls(lesson, graphs, by_distance)

    def by_validation(self) -> list[NDArray[np.float64]]:
        """For each graph the mean error over the folds, by k."""
        lesson, most = self.lesson, self.lesson.most()
        folds = lesson.folds()
        return [
            np.mean([self.errors(graph, *fold, most) for fold in folds], axis=0)
            for graph in self.graphs
        ]

    def errors(self, graph: Graph, learnt: Places, asked: Places, k: int) -> NDArray[np.float64]:
        """The share of `asked` that 1, 2, ..., k neighbours among `learnt` get wrong."""
        lesson, live = self.lesson, self.lesson.live
        classes = np.unique(lesson.known)
        codes = np.full(len(lesson.labels), -1)
        codes[learnt] = np.searchsorted(classes, lesson.labels[learnt])
        codes[~live] = -1
        found, far = np.full((len(asked), k), -1), np.full((len(asked), k), np.inf)
        speaking = live[asked]
        some = asked[speaking]
        found[speaking], far[speaking] = graph.nearest(some, codes, k, self._depth(graph, some))
        return judged(lesson, found, classes, asked, learnt, far if self.by_distance else None)

    def _depth(self, graph: Graph, asked: Places) -> int:
        """Those who train in one fold are asked in another: their lists must serve every fold."""
        share = len(self.lesson.split.train) / max(len(graph.known), 1)
        inside = np.isin(asked, graph.known, kind="table").any()
        # One more, so that a list does not end at the last who votes, where a tie might go on.
        return 1 + depth_for(MOST, min(share, 1.0) * (1 - 1 / FOLDS if inside else 1.0))


def _best(tries: list[NDArray[np.float64]]) -> tuple[int, int]:
    """Which graph and which k err least; of equal ones the first eta, then the smallest k."""
    at, k = divmod(int(np.argmin(np.concatenate(tries))), len(tries[0]))
    return at, k + 1


def _voted(
    lesson: Lesson, *, metric: str, weighting: str, by_distance: bool = False
) -> dict[str, Any]:
    """k and eta by cross-validation; then the test documents are asked, under the eta chosen."""
    etas: list[Any] = lesson.etas(ETAS) if metric in HAVE_ETA else [None]
    ballots = _Ballots.of(lesson, metric, weighting, etas, by_distance=by_distance)
    tries = ballots.by_validation()
    at, k = _best(tries)
    train, test = lesson.split
    most = max(min(MOST, int(lesson.live[train].sum())), 1)
    errors = ballots.errors(ballots.graphs[at], train, test, most)
    return {
        "k": k,
        "eta": etas[at],
        "asked": sum(len(held) for _, held in lesson.folds()),
        "cv_error": percent(tries[at][k - 1]),
        "cv_by_eta": [percent(one.min()) for one in tries],
        "cpu_seconds": sum(graph.claim() for graph in ballots.graphs),
    } | _told(errors, k)


def _eta_of_wfr(lesson: Lesson) -> float:
    """The eta that the row of WFR chooses: rows that are too dear to try all of them take it over."""
    etas = lesson.etas(ETAS)
    return etas[_best(_Ballots.of(lesson, "wfr", "nbow", etas).by_validation())[0]]


def _supervised(lesson: Lesson, *, metric: str) -> dict[str, Any]:
    """What is learnt from the training documents; k by the part of them set apart."""
    corpus, labels = lesson.weighed("nbow"), lesson.known
    train = corpus.select(lesson.split.train)
    settings: dict[str, Any] = {
        "max_iter": lesson.scope.steps,
        "random_state": lesson.scope.seed,
        "n_jobs": lesson.n_jobs,
        "progress": False,
    }
    model: Any = SupervisedWMD(**settings)
    if metric == "wfr":
        model = SupervisedWFR(eta=_eta_of_wfr(lesson), **settings)
    model.fit(train, labels)
    depth = min(MOST, int((train.masses > 0).sum()))
    test = corpus.select(lesson.split.test)
    found = Neighbours(*model.kneighbors(test, depth))
    codes = found.groups(model._codes)
    codes[test.masses == 0] = -1
    told = {
        "k": model.k_,
        "eta": getattr(model, "eta_", None),
        "cv_error": percent(float(model.validation_errors_.min())),
    }
    learnt, asked = lesson.split
    return told | _told(judged(lesson, codes, model.classes_, asked, learnt), min(model.k_, depth))


def _embedded(lesson: Lesson, *, metric: Literal["wfr", "wmd"]) -> dict[str, Any]:
    """Word Mover's Embedding and logistic regression; gamma and d_max by cross-validation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    corpus, labels = lesson.weighed("nbow"), lesson.known
    train = corpus.select(lesson.split.train)
    eta = None if metric == "wmd" else _eta_of_wfr(lesson)
    embedding = WordMoversEmbeddingCV(
        lesson.scope.components,
        gammas=GAMMAS,
        d_maxs=D_MAXS,
        etas=(eta,),
        cv=lesson.splitter,
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
        "eta": eta,
        "cv_error": percent(1 - embedding.best_score_),
        "error": percent(wrong.mean()),
        "leaking": None,
    }


def _told(errors: NDArray[np.float64], k: int) -> dict[str, Any]:
    """The error with the `k` chosen, and the least over all k: the figure that leaks the test labels."""
    each = [percent(one) for one in errors]
    return {"error": each[k - 1], "leaking": min(each), "errors_by_k": each}


ROWS: dict[str, Row] = {
    row.name: row
    for row in (
        Row("l1-nbow", "bag of words, L1/L1", partial(_voted, metric="l1", weighting="nbow"), 0.02),
        Row("l1-tfidf", "tf-idf, L1/L1", partial(_voted, metric="l1", weighting="tfidf"), 0.02),
        Row(
            "hellinger",
            "Hellinger",
            partial(_voted, metric="hellinger", weighting="nbow"),
            0.05,
        ),
        Row("wfr", "WFR", partial(_voted, metric="wfr", weighting="nbow")),
        Row("wfr-tfidf", "WFR, tf-idf", partial(_voted, metric="wfr", weighting="tfidf")),
        Row(
            "wfr-near",
            "WFR, votes by 1/distance",
            partial(_voted, metric="wfr", weighting="nbow", by_distance=True),
        ),
        Row(
            "wfr-tfidf-near",
            "WFR, tf-idf, votes by 1/distance",
            partial(_voted, metric="wfr", weighting="tfidf", by_distance=True),
        ),
        Row("wmd", "WMD", partial(_voted, metric="wmd", weighting="nbow"), 2.0),
        Row(
            "wmd-near",
            "WMD, votes by 1/distance",
            partial(_voted, metric="wmd", weighting="nbow", by_distance=True),
            2.0,
        ),
        Row("wmd-tfidf", "WMD, tf-idf", partial(_voted, metric="wmd", weighting="tfidf"), 2.0),
        Row(
            "wme-wmd",
            "WME(512)+WMD",
            partial(_embedded, metric="wmd"),
            1.0,
            ("components", "asked"),
        ),
        Row(
            "wme-wfr",
            "WME(512)+WFR",
            partial(_embedded, metric="wfr"),
            1.0,
            ("components", "asked"),
        ),
        Row("s-wmd", "S-WMD", partial(_supervised, metric="wmd"), 3.0, ("steps",), 1),
        Row(
            "s-wfr",
            "supervised WFR",
            partial(_supervised, metric="wfr"),
            6.0,
            ("steps", "asked"),
            1,
        ),
    )
}

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

    The cost is a share of what the row of WFR takes.
    """

    name: str
    title: str
    run: Callable[[Lesson], dict[str, Any]]
    cost: float = 1.0
    decided_by: tuple[str, ...] = ("asked",)


def _voted(lesson: Lesson, *, metric: str, weighting: str) -> dict[str, Any]:
    """k and eta by cross-validation; then the test documents are asked, under the eta chosen.

    The mean accuracy over the folds decides; of equal ones the first eta, then the smallest k.
    """
    etas = lesson.etas(ETAS) if metric in HAVE_ETA else [None]
    classes = np.unique(lesson.known)
    folds, most, live = lesson.folds(), lesson.most(), lesson.live
    graphs = [lesson.graphs.of(metric, weighting, eta, lesson.split) for eta in etas]

    def wrong(graph: Graph, learnt: Places, asked: Places, k: int) -> NDArray[np.float64]:
        codes = np.full(len(lesson.labels), -1)
        codes[learnt] = np.searchsorted(classes, lesson.labels[learnt])
        codes[~live] = -1
        found, speaking = np.full((len(asked), k), -1), live[asked]
        some = asked[speaking]
        found[speaking] = graph.classes(some, codes, k, depth(graph, some))
        return judged(lesson, found, classes, asked, learnt)

    def depth(graph: Graph, asked: Places) -> int:
        """Those who train in one fold are asked in another: their lists must serve every fold."""
        share = len(lesson.split.train) / max(len(graph.known), 1)
        inside = np.isin(asked, graph.known, kind="table").any()
        return depth_for(MOST, min(share, 1.0) * (1 - 1 / FOLDS if inside else 1.0))

    tries = [np.mean([wrong(graph, *fold, most) for fold in folds], axis=0) for graph in graphs]
    at, k = divmod(int(np.argmin(np.concatenate(tries))), most)
    train, test = lesson.split
    errors = wrong(graphs[at], train, test, max(min(MOST, int(live[train].sum())), 1))
    return {
        "k": k + 1,
        "eta": etas[at],
        "asked": sum(len(held) for _, held in folds),
        "cv_error": percent(tries[at][k]),
        "cv_by_eta": [percent(one.min()) for one in tries],
        "cpu_seconds": sum(graph.claim() for graph in graphs),
    } | _told(errors, k + 1)


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
        tries = [SupervisedWFR(eta=eta, **settings) for eta in lesson.etas(ETAS)]
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
        "cv_error": percent(float(model.validation_errors_.min())),
    }
    learnt, asked = lesson.split
    return told | _told(judged(lesson, codes, model.classes_, asked, learnt), min(model.k_, depth))


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
        etas=(None,) if metric == "wmd" else lesson.etas(ETAS),
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
        "eta": None if metric == "wmd" else float(embedding.best_params_["eta"]),
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
        Row("wmd", "WMD", partial(_voted, metric="wmd", weighting="nbow"), 2.0),
        Row("wmd-tfidf", "WMD, tf-idf", partial(_voted, metric="wmd", weighting="tfidf"), 2.0),
        Row("wme-wmd", "WME(512)+WMD", partial(_embedded, metric="wmd"), 1.0, ("components",)),
        Row("wme-wfr", "WME(512)+WFR", partial(_embedded, metric="wfr"), 4.0, ("components",)),
        Row("s-wmd", "S-WMD", partial(_supervised, metric="wmd"), 3.0, ("steps",)),
        Row("s-wfr", "supervised WFR", partial(_supervised, metric="wfr"), 6.0, ("steps",)),
    )
}

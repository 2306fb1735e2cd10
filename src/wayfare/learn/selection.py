"""k, eta and the weighting chosen on the training data, at one search a document for each eta.

The neighbours of a document among the documents of the other folds do not depend on k, and the
first k of them are its k neighbours for every smaller k. So each document is searched for once for
each (weighting, eta), with the largest k, and every (k, fold) is read off these neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.learn.documents import Tokenize, check_labels, eta_of, gather, reweigh
from wayfare.learn.nearest import Known, Neighbours, Space, nearest, of_matrix
from wayfare.learn.neighbors import VotingNeighbours
from wayfare.learn.votes import majority, votes
from wayfare.progress import Progress
from wayfare.search.door import check_k

__all__ = ["WFRNeighborsClassifierCV"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Fold = tuple[Places, Places]

# The paper's values of eta for unit vectors, in multiples of the eta that suits them.
ETAS = (2.0, 1.0, 2 / 3, 1 / 2)
MOST_NEIGHBOURS = 19
HAVE_ETA = ("wfr", "wmd-wfr-cost")


@dataclass(frozen=True)
class _Setting:
    """What a search depends on."""

    weighting: Any
    eta: float | None


class WFRNeighborsClassifierCV(VotingNeighbours):
    """`WFRNeighborsClassifier` with k, eta and weighting chosen by cross-validation when it is fitted.

    `ks` are the numbers of neighbours to try; None: 1 to 19, or as many as the smallest fold has.
    `etas` are in the unit of the points; None: 1, 1/2, 1/3, 1/4 for unit vectors, the same multiples of
    `default_eta` for others; metrics without an eta ignore them. `weighting` is one, or a list of them
    to choose from. `cv` is a number of folds (stratified, in the order of the data) or a splitter of
    scikit-learn. The other settings, and X, are those of `WFRNeighborsClassifier`.

    Nothing leaks: each document is classified by documents of other folds alone, and tf-idf, or another
    fitted weighting, is fitted on those. The scores are what a loop over every (weighting, eta, k, fold)
    finds, at the cost of one search a document for each (weighting, eta). The best mean accuracy
    wins; of equal ones the first: weightings and etas in their order, then the smaller k.

    Attributes after `fit`: `best_params_`, `best_score_`; `cv_results_`, a table of scores with a row for
    each (weighting, eta, k), as that of `GridSearchCV`; `cv_neighbors_`, for each (weighting, eta) the
    distances and positions of each document's neighbours in the other folds; `n_searches_`; and those of
    `WFRNeighborsClassifier`, fitted on all documents with the chosen values.

    A `Corpus` keeps its weights, which it may have from all of its documents; to choose between
    weightings give texts, or a `Corpus` of `weighting="counts"`.

    >>> texts = ["rain", "wind", "snow", "storm", "rates", "bonds", "bank", "tax"]
    >>> model = WFRNeighborsClassifierCV(ks=[1, 2], etas=[0.5, 1.0], cv=2)
    >>> _ = model.fit(texts, ["weather"] * 4 + ["money"] * 4)
    >>> model.n_searches_, len(model.cv_results_["mean_test_score"]), model.best_params_["k"]
    (16, 4, 1)
    """

    def __init__(
        self,
        ks: Sequence[int] | None = None,
        *,
        etas: Sequence[float] | None = None,
        weighting: Any = "nbow",
        cv: Any = 5,
        metric: str = "wfr",
        tol: float = 1e-3,
        vectors: Any = None,
        tokenizer: Tokenize | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        progress: bool | None = None,
    ) -> None:
        self.ks = ks
        self.etas = etas
        self.weighting = weighting
        self.cv = cv
        self.metric = metric
        self.tol = tol
        self.vectors = vectors
        self.tokenizer = tokenizer
        self.n_jobs = n_jobs
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Search, choose, and keep all documents under the values chosen."""
        if self.metric == "precomputed":
            documents = len(self._keep_matrix(X, y))
            source: _Source = _OfMatrix(self._fit_X)
        else:
            source = _OfWords(self, X)
            documents = len(source.corpus)
        self.classes_, self._codes = check_labels(y, documents)
        self.class_prior_ = majority(self._codes, len(self.classes_))
        folds = self._folds(y, documents)
        ks = self._ks(source, folds)
        best = self._choose(source, folds, ks)
        if isinstance(source, _OfWords):
            self.eta_ = eta_of(best.eta, source.corpus)
            self._keep(source.weighed(best.weighting, None), leave_empty=True)
        return self

    def _folds(self, y: Any, documents: int) -> list[Fold]:
        from sklearn.model_selection import check_cv

        splitter = check_cv(self.cv, y, classifier=True)
        try:
            return list(splitter.split(np.zeros((documents, 1)), y))
        except ValueError as error:
            raise InputError(f"cv: {error} Give fewer folds, or more documents a label") from None

    def _ks(self, source: _Source, folds: list[Fold]) -> Places:
        smallest = min(source.count(train) for train, _ in folds)
        if self.ks is None:
            return np.arange(1, max(min(MOST_NEIGHBOURS, smallest), 1) + 1)
        try:
            ks = sorted({check_k(k) or 0 for k in self.ks})
        except TypeError:
            raise InputError(f"ks: {self.ks!r} came; give a list of whole numbers") from None
        if not ks or ks[0] < 1:
            raise InputError(f"ks: {self.ks!r} came; give at least one whole number from 1")
        if ks[-1] > smallest:
            raise InputError(
                f"ks: {ks[-1]} neighbours came, but a fold trains on {smallest} documents with known "
                "words; give smaller ks or more folds"
            )
        return np.array(ks)

    def _choose(self, source: _Source, folds: list[Fold], ks: Places) -> _Setting:
        settings = source.settings()
        scores = np.empty((len(settings), len(ks), len(folds)))
        self.cv_neighbors_: dict[tuple[Any, float | None], tuple[Array, Places]] = {}
        self.n_searches_ = len(settings) * sum(len(test) for _, test in folds)
        total, depth = self.n_searches_, int(ks[-1])
        with Progress("choosing k", total=total, unit="searches", show=self.progress) as bar:
            for at, setting in enumerate(settings):
                kept = (
                    np.full((len(self._codes), depth), np.nan),
                    np.full((len(self._codes), depth), -1),
                )
                found = source.neighbours(setting, folds, depth, self._codes, bar)
                for number, (neighbours, empty) in enumerate(found):
                    train, test = folds[number]
                    kept[0][test], kept[1][test] = neighbours.distances, neighbours.places
                    scores[at, :, number] = self._scores(neighbours, empty, train, test)[ks - 1]
                self.cv_neighbors_[setting.weighting, setting.eta] = kept
        return self._tell(settings, ks, scores)

    def _scores(
        self, found: Neighbours, empty: NDArray[np.bool_], train: Places, test: Places
    ) -> Array:
        """The accuracy on one fold, for each number of neighbours."""
        codes = found.groups(self._codes)
        codes[empty] = -1
        elected, _ = votes(codes, majority(self._codes[train], len(self.classes_)))
        return np.asarray((elected == self._codes[test][:, None]).mean(axis=0))

    def _tell(self, settings: list[_Setting], ks: Places, scores: Array) -> _Setting:
        flat = scores.reshape(-1, scores.shape[2])
        mean = flat.mean(axis=1)
        params = [
            {"weighting": one.weighting, "eta": one.eta, "k": int(k)}
            for one in settings
            for k in ks
        ]
        best = int(np.argmax(mean))
        self.best_params_, self.best_score_ = params[best], float(mean[best])
        self.k_ = self.best_params_["k"]
        columns: dict[str, Any] = {"params": params}
        for name in ("weighting", "eta", "k"):
            columns[f"param_{name}"] = np.array([one[name] for one in params], dtype=object)
        columns |= {f"split{n}_test_score": flat[:, n] for n in range(flat.shape[1])}
        columns |= {"mean_test_score": mean, "std_test_score": flat.std(axis=1)}
        columns["rank_test_score"] = 1 + np.array([int((mean > one).sum()) for one in mean])
        self.cv_results_ = columns
        return settings[best // len(ks)]


class _OfMatrix:
    """Distances that were given: nothing to search, and no eta."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix

    def settings(self) -> list[_Setting]:
        return [_Setting(None, None)]

    def count(self, rows: Places) -> int:
        return len(rows)

    def neighbours(
        self, setting: _Setting, folds: list[Fold], k: int, codes: Places, bar: Progress
    ) -> Iterator[tuple[Neighbours, NDArray[np.bool_]]]:
        for train, test in folds:
            found = of_matrix(self.matrix[np.ix_(test, train)], k)
            bar.advance(len(test))
            yield Neighbours(found.distances, train[found.places]), np.zeros(len(test), np.bool_)


class _OfWords:
    """Documents under each weighting, over points whose tables all of them share."""

    def __init__(self, estimator: Any, X: Any) -> None:
        Space(estimator.metric, device=estimator.device)
        self.estimator = estimator
        given = estimator.weighting
        self.choices = list(given) if isinstance(given, list | tuple) else [given]
        if not self.choices:
            raise InputError("weighting: an empty list came; give at least one")
        self.corpus = gather(
            X, vectors=estimator.vectors, weighting="counts", tokenizer=estimator.tokenizer
        )
        # What has its weights already keeps them, unless it is asked to choose.
        made = isinstance(X, Corpus) or self.corpus.weighting is None
        self.fixed = made and not isinstance(given, list | tuple)
        self.known = Known.of(self.corpus, np.arange(len(self.corpus)))

    def settings(self) -> list[_Setting]:
        etas: list[float | None] = [None]
        if self.estimator.metric in HAVE_ETA:
            scale = eta_of(None, self.corpus)
            asked = self.estimator.etas
            wanted = [scale * one for one in ETAS] if asked is None else list(asked)
            if not wanted:
                raise InputError("etas: an empty list came; give at least one")
            etas = [eta_of(eta, self.corpus) for eta in wanted]
        return [_Setting(weighting, eta) for weighting in self.choices for eta in etas]

    def count(self, rows: Places) -> int:
        return int((self.corpus.masses[rows] > 0).sum())

    def weighed(self, weighting: Any, rows: Places | None) -> Corpus:
        return self.corpus if self.fixed else reweigh(self.corpus, weighting, rows)

    def neighbours(
        self, setting: _Setting, folds: list[Fold], k: int, codes: Places, bar: Progress
    ) -> Iterator[tuple[Neighbours, NDArray[np.bool_]]]:
        mine = self.estimator
        eta = eta_of(setting.eta, self.corpus)
        space = Space(mine.metric, eta, mine.tol, mine.n_jobs, mine.device)
        for train, test in folds:
            corpus = self.weighed(setting.weighting, train)
            known = Known.of(corpus, train[corpus.masses[train] > 0], like=self.known)
            queries = [corpus[int(n)] for n in test]
            yield nearest(known, queries, k, space, codes=codes, bar=bar), corpus.masses[test] == 0


_Source = _OfMatrix | _OfWords

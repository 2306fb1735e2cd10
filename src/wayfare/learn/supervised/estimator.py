"""What both estimators share: reading X, learning, choosing k, and voting."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.learn.documents import Tokenize, check_labels, encode, gather
from wayfare.learn.supervised import checkpoint, settings
from wayfare.learn.supervised.descent import Course, Schedule
from wayfare.learn.supervised.known import mapped, places
from wayfare.learn.supervised.lesson import Lesson, divide
from wayfare.learn.supervised.parameters import Parameters, Rows
from wayfare.learn.supervised.transport import Transport
from wayfare.learn.supervised.voting import votes
from wayfare.threads import count_jobs

__all__ = ["SupervisedTransport"]

Array = NDArray[np.float64]


class SupervisedTransport(ClassifierMixin, TransformerMixin, BaseEstimator):
    """The learner under `SupervisedWMD` and `SupervisedWFR`, which say what a distance is."""

    vectors: Any
    weighting: Any
    tokenizer: Tokenize | None

    @abstractmethod
    def _rows(self, corpus: Corpus) -> Rows:
        """The documents as this distance takes them."""

    @abstractmethod
    def _transport(self, corpus: Corpus, rows: Rows) -> Transport:
        """The distance to learn, given the documents."""

    @abstractmethod
    def _nearest(self, queries: Corpus, k: int) -> tuple[Array, NDArray[np.int64]]:
        """The k nearest of `corpus_`: distances, and positions in it."""

    # -- learning ---------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from texts, lists of words, measures or a `Corpus`, and a label for each.

        Documents without known words teach nothing and are nobody's neighbours. Raises `InputError`
        for settings out of range, for fewer than two documents with words, and for a checkpoint of
        another problem.
        """
        settings.check(self)
        corpus = gather(X, vectors=self.vectors, weighting=self.weighting, tokenizer=self.tokenizer)
        classes, codes = check_labels(y, len(corpus))
        live = np.flatnonzero(corpus.masses > 0)
        if len(live) < 2:
            raise InputError(
                f"X: {len(live)} documents with known words came; at least 2 can be compared"
            )
        known = corpus.select(live)
        lesson = self._lesson(known, codes[live])
        before = self._learnt_before(known)
        course = self._learn(lesson, before)
        self.classes_, self.source_, self.rows_, self.codes_ = classes, known, live, codes[live]
        self.components_, self.log_weights_ = course.best.map, course.best.log_weights
        self.n_iter_, self.best_iter_, self.history_ = course.step, course.best_step, course.history
        self.temperature_ = course.temperature
        self.corpus_ = mapped(known, lesson.rows, course.best)
        self._choose(lesson, course.best)
        return self

    def _lesson(self, corpus: Corpus, classes: NDArray[np.int64]) -> Lesson:
        asked: Any = self
        seed = int(check_random_state(asked.random_state).randint(2**31 - 1))
        rows = self._rows(corpus)
        return Lesson(
            rows,
            classes,
            divide(classes, asked.validation_fraction, seed),
            self._transport(corpus, rows),
            asked.pool,
            Schedule(
                max_iter=asked.max_iter,
                batch_size=asked.batch_size,
                learning_rate=asked.learning_rate,
                check_every=asked.check_every,
                patience=asked.patience,
                seed=seed,
                weight_range=asked.weight_range,
            ),
            count_jobs(asked.n_jobs),
            asked.progress,
        )

    def _learnt_before(self, corpus: Corpus) -> Parameters | None:
        """What the fit before this one learnt, for the words of now, where `warm_start` asks for it."""
        if not getattr(self, "warm_start", False) or not hasattr(self, "components_"):
            return None
        if self.components_.shape[1] != corpus.dim:
            raise InputError(
                f"warm_start: points of {corpus.dim} dimensions came, the fit before had "
                f"{self.components_.shape[1]}; use the same vectors, or warm_start=False"
            )
        weights = np.append(self.log_weights_, 0.0)[places(self.source_, corpus)]
        return Parameters(self.components_, weights)

    def _learn(self, lesson: Lesson, before: Parameters | None) -> Course:
        """From the checkpoint if there is one, else from what was learnt before, else anew."""
        asked: Any = self
        path, first = asked.checkpoint, lesson.first(asked.init, asked.n_components)
        course, save = None, None
        if path is not None:
            decided = settings.deciding(self) | {"seed": lesson.schedule.seed}
            stamp = checkpoint.fingerprint(lesson.rows, lesson.classes, decided)
            course, save = (
                checkpoint.load(path, first, stamp),
                partial(checkpoint.save, path, stamp),
            )
        if course is None:
            at = before or (lesson.centroids(first) if asked.init == "centroids" else first)
            course = Course.start(at, lesson.temperature(at))
        return lesson.run(course, save)

    def _choose(self, lesson: Lesson, at: Parameters) -> None:
        """Take the k that errs least on the validation part, the smallest of equals; or the one asked."""
        asked: Any = self
        self.validation_errors_ = np.empty(0)
        if len(lesson.parts.validation):
            self.validation_errors_ = lesson.errors(at)
        if asked.n_neighbors is not None:
            self.n_neighbors_ = min(int(asked.n_neighbors), len(lesson.rows))
        else:
            self.n_neighbors_ = int(np.argmin(self.validation_errors_)) + 1

    # -- using what was learnt --------------------------------------------------------------

    @property
    def word_weights_(self) -> dict[str, float]:
        """The weight of each word of the training documents, the heaviest first."""
        check_is_fitted(self)
        if self.source_.vocabulary is None:
            raise AttributeError("word_weights_: the documents came as points without words")
        order = np.argsort(-self.log_weights_, kind="stable")
        return {self.source_.vocabulary[v]: float(np.exp(self.log_weights_[v])) for v in order}

    def transform(self, X: Any) -> Corpus:
        """The documents of X with their words re-weighted and mapped: distances are the learnt ones.

        A word that was not in the training documents weighs 1, and is mapped like any other.
        """
        check_is_fitted(self)
        corpus = encode(self.source_, X)
        at, rows = places(self.source_, corpus), self._rows(corpus)
        learnt = Parameters(self.components_, np.append(self.log_weights_, 0.0)[at])
        points = learnt.points(rows.points).astype(np.float32)
        # A product of other matrices may round otherwise, and equal words must stay equal.
        points[at >= 0] = self.corpus_.points[at[at >= 0]]
        return mapped(corpus, rows, learnt, points)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Distances to the nearest training documents, nearest first, and their rows in the fit's X.

        Without X, of the training documents that have words, none of which is its own neighbour.
        """
        check_is_fitted(self)
        k = self.n_neighbors_ if n_neighbors is None else n_neighbors
        most = len(self.corpus_) - (X is None)
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= most:
            raise InputError(f"n_neighbors: {k!r} came; give 1 to {most}")
        if X is None:
            found = self._nearest(self.corpus_, int(k) + 1)
            distances, rows = _without_self(*found)
        else:
            distances, rows = self._nearest(self.transform(X), int(k))
        return (distances, self.rows_[rows]) if return_distance else self.rows_[rows]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that the `n_neighbors_` nearest vote for; a tie goes to fewer, nearer neighbours.

        A document without known words is given the most frequent class.
        """
        distances, near = self._voters(X)
        won = votes(near, len(self.classes_))[:, -1]
        won[~np.isfinite(distances[:, 0])] = np.argmax(np.bincount(self.codes_))
        return np.asarray(self.classes_[won])

    def predict_proba(self, X: Any) -> Array:
        """The share of each class among the `n_neighbors_` nearest; among all where there are none."""
        distances, near = self._voters(X)
        every = np.arange(len(self.classes_))
        share = np.mean(near[:, :, None] == every, axis=1)
        prior = np.bincount(self.codes_, minlength=len(every)) / len(self.codes_)
        share[~np.isfinite(distances[:, 0])] = prior
        return np.asarray(share)

    def _voters(self, X: Any) -> tuple[Array, NDArray[np.int64]]:
        """The distances and the classes of the nearest; infinitely far from a document without words."""
        check_is_fitted(self)
        queries = self.transform(X)
        distances, rows = self._nearest(queries, self.n_neighbors_)
        distances[queries.masses == 0] = np.inf
        return distances, self.codes_[rows]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags


def _without_self(distances: Array, rows: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """Drop each document from its own neighbours; where equals came before it, drop the last."""
    own = rows == np.arange(len(rows))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(rows), rows.shape[1] - 1)
    return distances[~own].reshape(shape), rows[~own].reshape(shape)

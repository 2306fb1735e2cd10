"""What both estimators share: reading X, learning, choosing k, and voting."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import partial
from os import PathLike
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.learn.documents import Tokenize, check_labels, encode, gather
from wayfare.learn.nearest import Neighbours
from wayfare.learn.neighbors import VotingNeighbours, without_self
from wayfare.learn.supervised import checkpoint, settings
from wayfare.learn.supervised.descent import Course, Schedule
from wayfare.learn.supervised.known import mapped, places
from wayfare.learn.supervised.lesson import Lesson, divide
from wayfare.learn.supervised.parameters import Parameters, Rows
from wayfare.learn.supervised.transport import Transport
from wayfare.learn.votes import majority
from wayfare.measure import Measure
from wayfare.threads import count_jobs

__all__ = ["SupervisedTransport"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SupervisedTransport(TransformerMixin, VotingNeighbours):
    """The learner under `SupervisedWMD` and `SupervisedWFR`, which say what a distance is."""

    k: int | None = None
    _: KW_ONLY
    n_components: int | None = None
    init: Literal["centroids", "pca", "identity"] = "centroids"
    pool: int = 200
    batch_size: int = 32
    max_iter: int = 200
    learning_rate: float = 0.02
    weight_range: tuple[float, float] = (0.01, 10.0)
    validation_fraction: float = 0.2
    check_every: int = 10
    patience: int = 5
    warm_start: bool = False
    checkpoint: str | PathLike[str] | None = None
    vectors: Any = None
    weighting: Any = "nbow"
    tokenizer: Tokenize | None = None
    random_state: Any = None
    n_jobs: int | None = None
    progress: bool | None = None

    @abstractmethod
    def _rows(self, corpus: Corpus) -> Rows:
        """The documents as this distance takes them."""

    @abstractmethod
    def _transport(self, corpus: Corpus, rows: Rows) -> Transport:
        """The distance to learn, given the documents."""

    @abstractmethod
    def _among(self, queries: list[Measure], k: int, codes: NDArray[np.int64] | None) -> Neighbours:
        """The k nearest of the training documents for each transformed query."""

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
        lesson = self._lesson(corpus.select(live), codes[live])
        course = self._learn(lesson, self._learnt_before(corpus))
        self.classes_, self._codes, self.source_ = classes, codes, corpus
        self.class_prior_ = majority(codes, len(classes))
        self.components_, self.log_weights_ = course.best.map, course.best.log_weights
        self.n_iter_, self.best_iter_, self.history_ = course.step, course.best_step, course.history
        self.temperature_ = course.temperature
        self._keep(mapped(corpus, self._rows(corpus), course.best), leave_empty=True)
        self._choose(lesson, course.best)
        return self

    def _lesson(self, corpus: Corpus, classes: NDArray[np.int64]) -> Lesson:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rows = self._rows(corpus)
        return Lesson(
            rows,
            classes,
            divide(classes, self.validation_fraction, seed),
            self._transport(corpus, rows),
            self.pool,
            Schedule(
                max_iter=self.max_iter,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                check_every=self.check_every,
                patience=self.patience,
                seed=seed,
                weight_range=self.weight_range,
            ),
            count_jobs(self.n_jobs),
            self.progress,
        )

    def _learnt_before(self, corpus: Corpus) -> Parameters | None:
        """What the fit before this one learnt, for the words of now, where `warm_start` asks for it."""
        if not self.warm_start or not hasattr(self, "components_"):
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
        path, first = self.checkpoint, lesson.first(self.init, self.n_components)
        course, save = None, None
        if path is not None:
            decided = settings.deciding(self) | {"seed": lesson.schedule.seed}
            stamp = checkpoint.fingerprint(lesson.rows, lesson.classes, decided)
            course, save = (
                checkpoint.load(path, first, stamp),
                partial(checkpoint.save, path, stamp),
            )
        if course is None:
            at = before or (lesson.better_start(first) if self.init == "centroids" else first)
            course = Course.start(at, lesson.temperature(at))
        return lesson.run(course, save)

    def _choose(self, lesson: Lesson, at: Parameters) -> None:
        """Take the k that errs least on the validation part, the smallest of equals; or the one self."""
        self.validation_errors_ = np.empty(0)
        if len(lesson.parts.validation):
            self.validation_errors_ = lesson.errors(at)
        best = np.argmin(self.validation_errors_) + 1 if self.k is None else self.k
        self.k_ = int(best)

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

    def _nearest(
        self, X: Any, k: int, codes: NDArray[np.int64] | None = None
    ) -> tuple[Neighbours, NDArray[np.bool_]]:
        own = X is None
        corpus = self.corpus_ if own else self.transform(X)
        found = self._among([corpus[n] for n in range(len(corpus))], k + own, codes)
        return (without_self(found) if own else found), corpus.masses == 0

"""k-nearest-neighbour classification of documents, by exact search."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.learn.documents import Tokenize, check_labels, encode, eta_of, gather
from wayfare.learn.nearest import Known, Neighbours, Space, check_device, nearest, of_matrix
from wayfare.learn.votes import majority, votes
from wayfare.progress import Progress
from wayfare.search.door import check_k

__all__ = [
    "NearestDocuments",
    "VotingNeighbours",
    "WFRNeighborsClassifier",
    "checked_k",
    "without_self",
]

Array = NDArray[np.float64]


class NearestDocuments(BaseEstimator):
    """Keeps documents, or a matrix of their distances, and finds the nearest of them.

    What the estimators of neighbours have in common. `_known` holds what is prepared for the search;
    it is made again when a pickle is read.
    """

    metric: str
    n_jobs: int | None
    device: str
    progress: bool | None
    tol: float
    k_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.two_d_array = given
        tags.input_tags.positive_only = given
        tags.input_tags.one_d_array = tags.input_tags.string = not given
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_known"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "_places"):
            self._prepare()

    def _keep_matrix(self, X: Any, y: Any = None) -> Array:
        matrix: Array
        matrix = validate_data(self, X, dtype=np.float64) if y is None else _with_labels(self, X, y)
        if matrix.shape[0] != matrix.shape[1]:
            raise InputError(
                f"X: distances of shape {matrix.shape} came; metric='precomputed' fits on the square "
                "matrix of all training documents with each other"
            )
        _check_distances(matrix)
        check_device(self.device, self.metric)
        self._fit_X = matrix
        return matrix

    def _keep(self, corpus: Corpus, *, leave_empty: bool) -> None:
        self.corpus_ = corpus
        held = corpus.masses > 0 if leave_empty else np.ones(len(corpus), np.bool_)
        self._places = np.flatnonzero(held)
        if not len(self._places):
            raise InputError("X: no document holds a known word; give other texts or vectors")
        self._prepare()

    def _prepare(self) -> None:
        self._known = Known.of(self.corpus_, self._places)

    def _nearest(
        self, X: Any, k: int, codes: NDArray[np.int64] | None = None
    ) -> tuple[Neighbours, NDArray[np.bool_]]:
        """The neighbours of new documents, and which of these hold no known word.

        X None: of the training documents, each without itself. `codes` is for votes, see `nearest`.
        """
        own = X is None
        if self.metric == "precomputed":
            matrix = self._fit_X
            if not own:
                matrix = validate_data(self, X, dtype=np.float64, reset=False)
                _check_distances(matrix)
            found, empty = of_matrix(matrix, k + own), np.zeros(len(matrix), np.bool_)
        else:
            corpus = self.corpus_ if own else encode(self.corpus_, X)
            asked, empty = [corpus[n] for n in range(len(corpus))], corpus.masses == 0
            with Progress("searching", total=len(asked), unit="texts", show=self.progress) as bar:
                space = Space(self.metric, self.eta_, self.tol, self.n_jobs, self.device)
                found = nearest(self._known, asked, k + own, space, codes=codes, bar=bar)
        return (without_self(found) if own else found), empty

    def kneighbors(
        self, X: Any = None, k: int | None = None, return_distance: bool = True
    ) -> NDArray[np.int64] | tuple[Array, NDArray[np.int64]]:
        """Distances and positions in the training data of the `k` nearest, nearest first.

        Both of shape (documents, k). X None: of each training document, without itself. An infinite
        distance marks a document that the metric cannot reach; `metric="precomputed"` wants the rows
        of distances to the training documents.
        """
        check_is_fitted(self)
        found, _ = self._nearest(X, self.k_ if k is None else checked_k(k))
        return (found.distances, found.places) if return_distance else found.places


class VotingNeighbours(ClassifierMixin, NearestDocuments):
    """The vote of the `k_` nearest documents. Ties are broken by leaving out the farthest."""

    classes_: NDArray[Any]
    class_prior_: Array
    _codes: NDArray[np.int64]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each document: what most of its `k` nearest neighbours are.

        Of classes with equally many votes the one wins that does among the k - 1 nearest, and so on
        (Kusner's rule). A document without known words has no neighbours: it gets the commonest class.
        """
        elected, _ = self._vote(X)
        return np.asarray(self.classes_[elected])

    def predict_proba(self, X: Any) -> Array:
        """The share of each class among the neighbours whose vote decided, in order of `classes_`.

        Where the vote of `k` was tied these are fewer than `k`, so that the largest share is always that
        of the class of `predict`.
        """
        return self._vote(X)[1]

    def _vote(self, X: Any) -> tuple[NDArray[np.int64], Array]:
        check_is_fitted(self)
        found, empty = self._nearest(X, self.k_, self._codes)
        codes = found.groups(self._codes)
        codes[empty] = -1
        elected, shares = votes(codes, self.class_prior_)
        return elected[:, -1], shares[:, -1]


class WFRNeighborsClassifier(VotingNeighbours):
    """The classes of documents by the vote of their `k` nearest neighbours, found by exact search.

    `metric` is "wfr", "wmd", "hellinger" (searched exactly), "wmd-wfr-cost", "rwmd", "wcd" (every pair),
    or "precomputed". X is a list of texts or of word lists, a `Corpus`, a list of measures, or, under
    "precomputed", the matrix of distances: square at `fit`, (new, training) afterwards. `vectors`,
    `weighting` and `tokenizer` are for texts and words; a `Corpus` keeps what it has. `eta` is in the
    unit of the points, None takes what suits the vectors; `tol` is the relative gap to which each
    distance is certified. Which documents are the nearest, and every vote, does not depend on `tol`: what
    is near enough to matter is solved further. What double precision cannot tell apart goes by position.
    `device="cuda"` searches on a GPU, under "wfr" alone: the neighbours and the votes are the same.

    Training documents without known words are never neighbours. `k=1..19` and `eta` are chosen by
    `WFRNeighborsClassifierCV`.

    Attributes after `fit`: `classes_`; `class_prior_`, their shares; `corpus_`; `k_`; `eta_`.

    >>> model = WFRNeighborsClassifier(k=1)
    >>> model.fit(["rain and wind", "rates and bonds"], ["weather", "money"])
    WFRNeighborsClassifier(k=1)
    >>> model.predict(["snow and storm", "the bank lends"]).tolist()
    ['weather', 'money']
    """

    def __init__(
        self,
        k: int = 5,
        *,
        metric: str = "wfr",
        eta: float | None = None,
        tol: float = 1e-3,
        weighting: Any = "nbow",
        vectors: Any = None,
        tokenizer: Tokenize | None = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        progress: bool | None = None,
    ) -> None:
        self.k = k
        self.metric = metric
        self.eta = eta
        self.tol = tol
        self.weighting = weighting
        self.vectors = vectors
        self.tokenizer = tokenizer
        self.n_jobs = n_jobs
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the documents and their labels. Nothing is solved yet."""
        self.k_ = checked_k(self.k)
        if self.metric == "precomputed":
            matrix = self._keep_matrix(X, y)
            self.classes_, self._codes = check_labels(y, len(matrix))
        else:
            Space(self.metric, device=self.device)
            corpus = gather(
                X, vectors=self.vectors, weighting=self.weighting, tokenizer=self.tokenizer
            )
            self.classes_, self._codes = check_labels(y, len(corpus))
            self.eta_ = eta_of(self.eta, corpus)
            self._keep(corpus, leave_empty=True)
        self.class_prior_ = majority(self._codes, len(self.classes_))
        return self


def checked_k(k: Any) -> int:
    """Return `k` as an int, or say why it cannot be used."""
    checked = check_k(k)
    if checked is None:
        raise InputError("k: None came; give a whole number from 1")
    return checked


def _with_labels(estimator: Any, X: Any, y: Any) -> Array:
    matrix: Array = validate_data(estimator, X, y, dtype=np.float64)[0]
    return matrix


def _check_distances(matrix: Array) -> None:
    if len(matrix) and matrix.min() < 0:
        row, column = np.unravel_index(int(matrix.argmin()), matrix.shape)
        raise InputError(
            f"Negative values in data: entry {int(row)}, {int(column)} of X is "
            f"{matrix[row, column]:g}; give distances"
        )


def without_self(found: Neighbours) -> Neighbours:
    """Leave out each document itself, or the last where copies of it came before."""
    own = found.places == np.arange(len(found))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(found), found.places.shape[1] - 1)
    return Neighbours(found.distances[~own].reshape(shape), found.places[~own].reshape(shape))

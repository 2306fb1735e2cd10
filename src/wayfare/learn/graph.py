"""The k-nearest graph of documents, for whatever takes neighbours: clustering, embedding, pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wayfare.errors import InputError
from wayfare.learn.documents import Tokenize, eta_of, gather
from wayfare.learn.nearest import Neighbours, Space
from wayfare.learn.neighbors import NearestDocuments, checked_k

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["WFRNeighborsTransformer"]


class WFRNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NearestDocuments):
    """The graph of nearest documents as a sparse matrix, with the meaning of `KNeighborsTransformer`.

    Row n of `transform(X)` holds the distances from X[n] to its nearest training documents. Under
    `mode="distance"` these are k + 1, since a training document is the first neighbour of itself, at
    distance 0; `mode="connectivity"` holds k ones. Give it before anything that takes
    `metric="precomputed"`: DBSCAN, spectral clustering
    (`affinity="precomputed_nearest_neighbors"`), t-SNE, UMAP. The other settings, and X, are those of
    `WFRNeighborsClassifier`. Raises `InputError` where the metric reaches fewer documents, such as WMD
    from a document without known words.

    >>> graph = WFRNeighborsTransformer(k=1).fit_transform(["rain and wind", "wind", "bonds"])
    >>> graph.toarray().round(1)
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0.9, 0. , 0. ]])
    """

    def __init__(
        self,
        k: int = 5,
        *,
        mode: Literal["distance", "connectivity"] = "distance",
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
        self.mode = mode
        self.metric = metric
        self.eta = eta
        self.tol = tol
        self.weighting = weighting
        self.vectors = vectors
        self.tokenizer = tokenizer
        self.n_jobs = n_jobs
        self.device = device
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the documents; `y` is ignored."""
        self.k_ = checked_k(self.k)
        if self.mode not in ("distance", "connectivity"):
            raise InputError(f'mode: {self.mode!r} came; give "distance" or "connectivity"')
        if self.metric == "precomputed":
            self.n_samples_fit_ = len(self._keep_matrix(X))
        else:
            Space(self.metric, device=self.device)
            corpus = gather(
                X, vectors=self.vectors, weighting=self.weighting, tokenizer=self.tokenizer
            )
            self.eta_ = eta_of(self.eta, corpus)
            self._keep(corpus, leave_empty=False)
            self.n_samples_fit_ = len(corpus)
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def transform(self, X: Any) -> csr_matrix[Any]:
        """The nearest training documents of each document, (documents, training documents)."""
        check_is_fitted(self)
        found, _ = self._nearest(X, self.k_ + (self.mode == "distance"))
        return self._graph(found)

    def fit_transform(self, X: Any, y: Any = None) -> csr_matrix[Any]:
        """`fit(X).transform(X)`."""
        return self.fit(X).transform(X)

    def _graph(self, found: Neighbours) -> csr_matrix[Any]:
        from scipy.sparse import csr_matrix

        far = ~np.isfinite(found.distances).all(axis=1)
        if far.any():
            raise InputError(
                f"X: document {int(np.argmax(far))} has fewer than {found.places.shape[1]} documents at "
                f'a finite distance under metric={self.metric!r}; leave it out, or use metric="wfr"'
            )
        n, width = found.places.shape
        data: NDArray[np.float64] = found.distances.ravel()
        if self.mode == "connectivity":
            data = np.ones(n * width)
        indptr = np.arange(0, n * width + 1, width)
        return csr_matrix((data, found.places.ravel(), indptr), shape=(n, self.n_samples_fit_))

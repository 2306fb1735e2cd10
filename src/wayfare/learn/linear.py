"""Linearised WFR: a plain vector a document, whose Euclidean distance stands for WFR.

The cone over the space of words has the points (x, r), mass r^2 at x, and between two of them

    |(x, r) - (y, s)|^2 = r^2 + s^2 - 2 r s cos(|x - y| / 2 eta),

which is what a pair of a semi-coupling costs. Seen from (z, r), the point (x, s) lies at

    s (cos t, sin t v) - (r, 0),     t = |x - z| / 2 eta,   v = (x - z) / |x - z|,

with the length just named: radial, how the mass changes, and tangential, where it goes. From a
reference measure sum_r s_r d(z_r) the optimal semi-coupling (A, B) to a document sends A_ri of s_r as
B_ri to word i, and the logarithm of the document at z_r is the mean over what z_r sends

    sqrt(s_r) T_r = sum_i sqrt(A_ri B_ri / s_r) (cos t_ri, sin t_ri v_ri) - (sqrt(s_r), 0)        (1)

(Cai, Cheng, Schmitzer and Thorpe 2021). What no reference point reaches is created out of nothing;
it is kept for the nearest reference point, as one more coordinate sqrt(mass). Then

    |phi(mu) - phi(reference)|^2 <= J(reference, mu), equal where no z_r sends to several words.  (2)

The vectors are (1) and these roots, times eta sqrt(2), without the constant (sqrt(s_r), 0).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from wayfare import wfr
from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.ground import check_tol, cosines, distances
from wayfare.learn.documents import encode, eta_of
from wayfare.learn.transformer import DocumentTransformer, check_count, rows_of
from wayfare.measure import Measure

__all__ = ["LinearWFREmbedding"]

Array = NDArray[np.float64]

# Words that are shown to k-means; more of them move the centres by less than another seed does.
MOST_WORDS = 20_000
MOST_DOCUMENTS = 2_000  # whose vectors are held at full length, for the principal components


@dataclass(eq=False, repr=False)
class LinearWFREmbedding(DocumentTransformer):
    """Vectors whose Euclidean distance approximates the WFR distance, for any vector database.

    A document is described by where an optimal plan takes the mass of a fixed reference measure: see the
    formula at the head of wayfare/learn/linear.py. `reference` is a number of points, the centres of the
    training words by k-means with their share of the mass, or a `Measure` of your own. A vector has
    (dimensions + 2) numbers for each reference point; `n_components` reduces them by principal
    components of (a sample of 2,000 of) the training documents.

    It is an approximation without a certificate: words that one reference point sends to are seen as
    their mean, so that documents that differ only there come out too near; beyond `pi eta` of every
    reference point a word is only a mass, so that at small `eta` it tells little. docs/embedding.md has
    the correlation with exact WFR. Search with it, then rank what was found by `wayfare.rank`.

    X and the other settings are those of `WFRNeighborsClassifier`. Attributes after `fit`:
    `reference_`, a measure; `eta_`.

    >>> texts = ["rain and wind", "snow and wind", "bonds and rates"]
    >>> vectors = LinearWFREmbedding(4).fit_transform(texts)
    >>> near, far = (float(np.linalg.norm(vectors[0] - other)) for other in vectors[1:])
    >>> vectors.shape, near < far
    ((3, 1032), True)
    """

    reference: int | Measure = 64
    _: KW_ONLY
    n_components: int | None = None
    eta: float | None = None
    tol: float = 1e-2

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the reference, and find principal components where they are wanted; `y` is ignored."""
        check_tol(self.tol)
        corpus = self._gather(X)
        self.corpus_, self.eta_ = corpus, eta_of(self.eta, corpus)
        rng = check_random_state(self.random_state)
        self.reference_ = self._reference(corpus, rng)
        self._n_features_out = len(self.reference_) * (corpus.dim + 2)
        self._rotation: tuple[Array, Array] | None = None
        if self.n_components is not None:
            self._rotation = self._components(corpus, rng)
            self._n_features_out = self.n_components
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """`fit(X).transform(X)`."""
        self.fit(X)
        return self._rows(self.corpus_)

    def transform(self, X: Any) -> Array:
        """The vector of each document."""
        check_is_fitted(self)
        return self._rows(encode(self.corpus_, X))

    def _reference(self, corpus: Corpus, rng: Any) -> Measure:
        if not isinstance(self.reference, Measure):
            return _centres(corpus, check_count("reference", self.reference), rng)
        if not self.reference.mass or self.reference.dim != corpus.dim:
            raise InputError(
                f"reference: {self.reference!r} came; give a measure with mass in {corpus.dim} dimensions"
            )
        held = self.reference.weights > 0
        return Measure(self.reference.points[held], self.reference.weights[held])

    def _components(self, corpus: Corpus, rng: Any) -> tuple[Array, Array]:
        """The mean of the vectors, and their directions of most variance."""
        from sklearn.decomposition import PCA

        count = check_count("n_components", self.n_components)
        if len(corpus) > MOST_DOCUMENTS:
            corpus = corpus.select(np.sort(rng.choice(len(corpus), MOST_DOCUMENTS, replace=False)))
        full = self._rows(corpus)
        if count > min(full.shape):
            raise InputError(
                f"n_components: {count} came for {len(full)} documents and {full.shape[1]} numbers each; "
                "give at most the smaller of the two"
            )
        found = PCA(count, random_state=rng).fit(full)
        return found.mean_, found.components_

    def _rows(self, corpus: Corpus) -> Array:
        if self._rotation is None:
            width = len(self.reference_) * (self.reference_.dim + 2)
            return rows_of(corpus, self._row, width, self.n_jobs, self.progress)
        mean, components = self._rotation

        def reduced(document: Measure) -> Array:
            return np.asarray(components @ (self._row(document) - mean))

        return rows_of(corpus, reduced, len(components), self.n_jobs, self.progress)

    def _row(self, document: Measure) -> Array:
        """Equation (1), and the roots of what is created."""
        reference, dim = self.reference_, self.reference_.dim
        out = np.zeros((len(reference), dim + 2))
        if document.mass:
            answer = wfr.solve(reference, document, eta=self.eta_, tol=self.tol)
            plan = answer.plan
            assert plan is not None
            weight = np.sqrt(plan.sent * plan.received / reference.weights[:, None])
            h = cosines(reference.points, document.points, self.eta_)
            apart = distances(reference.points, document.points)
            # sin(t) v = (sin(t) / |x - z|) (x - z), whose limit at x = z is nothing.
            turn = np.zeros_like(apart)
            np.divide(np.sqrt(1 - h**2), apart, out=turn, where=apart > 0)
            moved = weight * turn
            out[:, 0] = (weight * h).sum(axis=1)
            out[:, 1:-1] = moved @ document.points - moved.sum(axis=1)[:, None] * reference.points
            nearest = apart.argmin(axis=0)
            created = np.bincount(nearest, plan.created, len(reference))
            out[:, -1] = np.sqrt(created)
        return np.asarray(self.eta_ * np.sqrt(2) * out.ravel())


def _centres(corpus: Corpus, count: int, rng: Any) -> Measure:
    """The centres of the training words, each with the mass of the words that are nearest to it.

    Where the words have unit length, so have the centres: the mean of a cluster lies deep inside the
    sphere, far from all its words.
    """
    from sklearn.cluster import KMeans

    mass = np.bincount(corpus.indices, corpus.weights, len(corpus.points))
    words = np.argsort(-mass, kind="stable")[:MOST_WORDS]
    words = words[mass[words] > 0]
    points = corpus.points[words].astype(np.float64)
    count = min(count, len(np.unique(points, axis=0)))
    found = KMeans(count, n_init=1, random_state=rng).fit(points, sample_weight=mass[words])
    centres = found.cluster_centers_
    if np.all(abs(np.linalg.norm(points, axis=1) - 1) < 1e-3):
        centres = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    shares = np.bincount(found.labels_, mass[words], count)
    typical = float(np.mean(corpus.masses[corpus.masses > 0]))
    return Measure(centres.astype(np.float32), typical * shares / shares.sum())

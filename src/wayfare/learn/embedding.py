"""Word Mover's Embedding (Wu et al. 2018), under WMD and under WFR.

With random documents w_1, ..., w_R and a distance D,

    phi_r(x) = exp(-gamma D(x, w_r)) / sqrt(R),      <phi(x), phi(y)> ~ E_w exp(-gamma (D(x,w) + D(y,w)))

so that the inner product is a Monte-Carlo estimate of a positive-definite kernel of documents, which
no exp(-gamma D(x, y)) is. Any linear model may follow.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.ground import check_tol, distances
from wayfare.learn.documents import encode, eta_of
from wayfare.learn.nearest import check_device
from wayfare.learn.transformer import DocumentTransformer, check_count, rows_of
from wayfare.many import Documents, Scratch
from wayfare.measure import Measure
from wayfare.threads import count_jobs
from wayfare.wmd import EQUAL_MASS

__all__ = ["WordMoversEmbedding"]

Array = NDArray[np.float64]
Words = Literal["data", "box"]

UNIT_LENGTH = 1e-3  # how far from 1 the length of a unit vector may be


@dataclass(eq=False, repr=False)
class WordMoversEmbedding(DocumentTransformer):
    """Vectors of documents from their distances to `n_components` random ones.

    A random document has 1 to `d_max` words of equal weight. `words="data"` takes them out of a random
    training document; `words="box"` draws points in the box that holds the words of the training data,
    at unit length where those are. `metric` is "wfr" (with `eta` and `tol`, as in `wayfare.distance`) or
    "wmd", which is exact and needs documents of mass 1. `gamma` is per unit of distance. All features of
    a document come from one pass over all random documents. X, `weighting`, `vectors` and `tokenizer` are
    those of `WFRNeighborsClassifier`; `random_state` seeds the drawing. `device="cuda"` finds the
    distances on a GPU, under "wfr" alone, to the same `tol`.

    Beyond `pi eta` nothing travels: points drawn in the box are about `sqrt 2` from every unit word,
    so that under WFR at `eta` below 0.45 all their features are one constant. Use "data" there. A
    document without known words is at one distance from all: its features are equal, or 0 under WMD.

    Attributes after `fit`: `random_documents_`, a list of measures; `eta_`. `WordMoversEmbeddingCV`
    chooses `gamma`, `d_max` and `eta`.

    >>> phi = WordMoversEmbedding(4).fit_transform(["rain and wind", "wind, rain", "bonds"])
    >>> phi.shape, bool(np.allclose(phi[0], phi[1])), bool(phi.max() <= 0.5)
    ((3, 4), True, True)
    """

    n_components: int = 512
    _: KW_ONLY
    gamma: float = 1.0
    d_max: int = 6
    words: Words = "data"
    metric: Literal["wfr", "wmd"] = "wfr"
    eta: float | None = None
    device: str = "cpu"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the random documents; `y` is ignored."""
        self._keep(self._gather(X))
        return self

    def transform(self, X: Any) -> Array:
        """`phi` of each document, (documents, `n_components`)."""
        check_is_fitted(self)
        return self.features(self.distances(X))

    def distances(self, X: Any) -> Array:
        """The distance of each document to each random one, (documents, `n_components`)."""
        check_is_fitted(self)
        return self._distances(encode(self.corpus_, X))

    def features(self, distances: Array) -> Array:
        """`phi` from what `distances` gave: with another `gamma` nothing is solved again."""
        return np.asarray(np.exp(-self.gamma * distances) / np.sqrt(self.n_components))

    def _keep(self, corpus: Corpus) -> None:
        self._check()
        self.corpus_, self.eta_ = corpus, eta_of(self.eta, corpus)
        rng = check_random_state(self.random_state)
        draw = _DRAWN[self.words]
        self.random_documents_ = draw(corpus, self.n_components, self.d_max, rng)
        self._n_features_out = self.n_components
        self._random = Documents.of_measures(self.random_documents_)

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        check_count("d_max", self.d_max)
        check_tol(self.gamma, "gamma")
        check_tol(self.tol)
        if self.words not in _DRAWN:
            raise InputError(f'words: {self.words!r} came; give "data" or "box"')
        if self.metric not in ("wfr", "wmd"):
            raise InputError(f'metric: {self.metric!r} came; give "wfr" or "wmd"')
        check_device(self.device, self.metric)

    def _distances(self, corpus: Corpus) -> Array:
        if self.device != "cpu":
            return self._on_device(corpus)
        if self.metric == "wmd":
            _check_masses(corpus)
            row = self._wmd_row
        else:
            row = self._wfr_row
        return rows_of(corpus, row, self.n_components, self.n_jobs, self.progress)

    def _on_device(self, corpus: Corpus) -> Array:
        from wayfare.ondevice import Desk, all_pairs

        jobs = count_jobs(self.n_jobs)
        desk = Desk.open(self.device, self.eta_, self.tol, n_jobs=jobs, metric=self.metric)
        _, upper = all_pairs(Documents.of(corpus), self._random, desk, self.progress)
        return np.asarray(self.eta_ * np.sqrt(2 * upper))

    def _wfr_row(self, document: Measure) -> Array:
        query, random = self._random.query(document), self._random
        everyone = np.arange(len(random))
        scratch = Scratch(len(query.weights), random.longest)
        found = random.solve(
            query, everyone, eta=self.eta_, tol=self.tol, atol=1e-12, scratch=scratch
        )
        return np.asarray(self.eta_ * np.sqrt(2 * found.upper))

    def _wmd_row(self, document: Measure) -> Array:
        from wayfare.kernels.cpu.few import transport_to_each

        out = np.full(len(self._random), np.inf)
        held = np.flatnonzero(document.weights)
        if len(held):
            costs = distances(document.points[held], self._random.points)
            mu = document.weights[held] / document.mass
            transport_to_each(costs, mu, self._random.indptr, self._random.weights, out)
        return out

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_random"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "random_documents_"):
            self._random = Documents.of_measures(self.random_documents_)


def _out_of_documents(corpus: Corpus, count: int, d_max: int, rng: Any) -> list[Measure]:
    """Each takes its words from one training document, likelier the heavier they are there."""
    speaking = np.flatnonzero(corpus.masses > 0)
    drawn = []
    for _ in range(count):
        source = corpus[int(rng.choice(speaking))]
        size = min(int(rng.randint(1, d_max + 1)), len(source))
        words = rng.choice(len(source), size, replace=False, p=source.weights / source.mass)
        drawn.append(Measure(source.points[words], np.full(size, 1 / size)))
    return drawn


def _out_of_the_box(corpus: Corpus, count: int, d_max: int, rng: Any) -> list[Measure]:
    """Points spread evenly in the box of the training words, on the sphere where those are."""
    words = corpus.points[np.unique(corpus.indices)].astype(np.float64)
    low, high = words.min(axis=0), words.max(axis=0)
    on_sphere = bool(np.all(abs(np.linalg.norm(words, axis=1) - 1) < UNIT_LENGTH))
    drawn = []
    for _ in range(count):
        size = int(rng.randint(1, d_max + 1))
        points = low + (high - low) * rng.random_sample((size, len(low)))
        if on_sphere:
            points /= np.linalg.norm(points, axis=1, keepdims=True)
        drawn.append(Measure(points.astype(np.float32), np.full(size, 1 / size)))
    return drawn


_DRAWN = {"data": _out_of_documents, "box": _out_of_the_box}


def _check_masses(corpus: Corpus) -> None:
    off = (corpus.masses > 0) & (abs(corpus.masses - 1) > EQUAL_MASS)
    if off.any():
        n = int(np.argmax(off))
        raise InputError(
            f'metric="wmd": document {n} of X has mass {corpus.masses[n]:g}, random documents have 1; '
            'weigh with "nbow", "tfidf" or "sif", or use metric="wfr"'
        )

"""`SupervisedWFR`: the same learner on the objective of Wasserstein-Fisher-Rao."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus import Corpus
from wayfare.learn.documents import eta_of
from wayfare.learn.nearest import Neighbours, Space, nearest
from wayfare.learn.supervised.estimator import SupervisedTransport
from wayfare.learn.supervised.parameters import Rows
from wayfare.learn.supervised.transport import Unbalanced
from wayfare.measure import Measure

__all__ = ["SupervisedWFR"]


@dataclass(eq=False, repr=False)
class SupervisedWFR(SupervisedTransport):
    """WFR learnt from labels: the learner of `SupervisedWMD` on the objective J, and k-NN under it.

    Learns a linear map A of the word vectors and a weight w for each word::

        J(a, b) = min <C, R> + KL(R 1 | m_a w o a) + KL(R' 1 | m_b w o b)
        C_ij    = -2 log cos_+(|A (x_i - y_j)| / 2 eta)

    and the loss of `SupervisedWMD` with J for D. The derivatives are those of the certificate: the
    plan by the cost, `1 - e^-phi` and `1 - e^-psi` by the masses; a pair at infinite cost has none.
    What a word has in nobody else's document is destroyed or created at its mass, so that J can learn
    by weights alone which words to forgive.

    `eta` (None: what suits the vectors) stays as it is: A can stretch and shrink. `tol` is the relative
    gap of a solve while learning. `mass="keep"` lets re-weighted documents keep their mass (m_a);
    "free" lets w change it (m_a = 1), so that a document of weak words becomes light and near to all.
    The other settings and attributes are those of `SupervisedWMD`; `eta_` is what was used.

    >>> texts = ["rain and wind", "wind and snow", "a goal", "the match", "snow", "a late goal"]
    >>> learner = SupervisedWFR(k=1, max_iter=5, validation_fraction=0, random_state=0)
    >>> learner.fit(texts, ["weather", "weather", "sport", "sport", "weather", "sport"])
    SupervisedWFR(k=1, max_iter=5, random_state=0, validation_fraction=0)
    >>> learner.predict(["rain and snow", "the goal of the match"]).tolist()
    ['weather', 'sport']
    """

    metric = "wfr"

    _: KW_ONLY
    eta: float | None = None
    mass: Literal["keep", "free"] = "keep"
    tol: float = 1e-3

    def _rows(self, corpus: Corpus) -> Rows:
        points = corpus.points.astype(np.float64)
        return Rows(points, corpus.indptr, corpus.indices, corpus.weights, self.mass == "keep")

    def _transport(self, corpus: Corpus, rows: Rows) -> Unbalanced:
        self.eta_ = eta_of(self.eta, corpus)
        return Unbalanced(self.eta_, self.tol)

    def _among(self, queries: list[Measure], k: int, codes: NDArray[np.int64] | None) -> Neighbours:
        space = Space("wfr", self.eta_, n_jobs=self.n_jobs)
        return nearest(self._known, queries, k, space, codes=codes)

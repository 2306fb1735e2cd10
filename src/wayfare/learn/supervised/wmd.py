"""`SupervisedWMD`: the Word Mover's Distance, learnt from labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus import Corpus
from wayfare.learn.nearest import Neighbours
from wayfare.learn.supervised.estimator import SupervisedTransport
from wayfare.learn.supervised.initial import word_variance
from wayfare.learn.supervised.nearest import nearest_balanced
from wayfare.learn.supervised.parameters import Rows
from wayfare.learn.supervised.transport import Entropic, Exact
from wayfare.measure import Measure
from wayfare.threads import count_jobs
from wayfare.weighting import segment_sums

__all__ = ["SupervisedWMD"]

Array = NDArray[np.float64]

FINE = 1e-4  # by how much a plan may miss the masses once neighbours are wanted, not gradients
FINE_SWEEPS = 5_000


@dataclass(eq=False, repr=False)
class SupervisedWMD(SupervisedTransport):
    """The supervised Word Mover's Distance of Huang et al. (2016), and k-NN under it.

    Learns a linear map A of the word vectors and a weight w for each word, so that documents of a
    class come near each other::

        D(a, b) = min <c, T>,  T 1 = w o a / <w, a>,  T' 1 = w o b / <w, b>,  c_ij = |A (x_i - y_j)|^2
        loss    = - mean_a log( sum_{b: y_b = y_a} e^(-D(a, b) / t) / sum_b e^(-D(a, b) / t) )

    by mini-batches against the `pool` nearest documents by centroids. The plan is the derivative of D
    by c, the potentials are those by the masses; nothing is propagated back through iterations.

    `n_components` (None: as many as the vectors have) is the height of A. `init` is "centroids" (the
    same loss on centres of mass, which is cheap), "pca" or "identity". `solver="entropic"` smooths the
    transport by `E c / regularization`, with `E c` the mean cost of two random words of the corpus at
    the start; "exact" is the network simplex, slower. `cost="euclidean"` takes `|A (x_i - y_j)|`, so
    that under "exact" the transformed corpus has the learnt distances with `metric="wmd"`.
    `learning_rate` is the share by which the entries of A, and the weights, change in a step; weights
    stay in `weight_range`.

    Every `check_every` steps the loss on a `validation_fraction` of the documents, none of which is
    learnt from, is taken; learning ends after `max_iter` steps or `patience` checks without a
    better one, and the best is kept. `k=None` chooses k among 1 to 19 on the same part.
    `warm_start=True` goes on from what the fit before learnt; `checkpoint` names an .npz file that
    each check writes and a later fit of the same problem takes up.

    Attributes: `components_` (A), `word_weights_`, `k_`, `validation_errors_` for each k,
    `history_` (rows of step, training loss, validation loss), `n_iter_`, `best_iter_`,
    `temperature_` (t), `classes_`, `corpus_` (the training documents, transformed).

    >>> texts = ["rain and wind", "wind and snow", "a goal", "the match", "snow", "a late goal"]
    >>> learner = SupervisedWMD(k=1, max_iter=5, validation_fraction=0, random_state=0)
    >>> learner.fit(texts, ["weather", "weather", "sport", "sport", "weather", "sport"])
    SupervisedWMD(k=1, max_iter=5, random_state=0, validation_fraction=0)
    >>> learner.predict(["rain and snow", "the goal of the match"]).tolist()
    ['weather', 'sport']
    """

    metric = "wmd"

    _: KW_ONLY
    solver: Literal["entropic", "exact"] = "entropic"
    cost: Literal["squared", "euclidean"] = "squared"
    regularization: float = 10.0

    def _rows(self, corpus: Corpus) -> Rows:
        """All documents at mass one: nothing here changes mass."""
        masses = segment_sums(corpus.weights, corpus.indptr)
        weights = corpus.weights / np.repeat(masses, np.diff(corpus.indptr))
        return Rows(corpus.points.astype(np.float64), corpus.indptr, corpus.indices, weights)

    def _transport(self, corpus: Corpus, rows: Rows) -> Entropic | Exact:
        euclidean = self.cost == "euclidean"
        if self.solver == "exact":
            return Exact(euclidean)
        # Two independent words are apart by twice the variance, on average of squares.
        mean = 2 * word_variance(rows, np.eye(rows.points.shape[1]))
        self.eps_ = (np.sqrt(mean) if euclidean else mean) / self.regularization or 1.0
        return Entropic(float(self.eps_), euclidean)

    def _among(self, queries: list[Measure], k: int, codes: NDArray[np.int64] | None) -> Neighbours:
        transport = self._fine()
        return nearest_balanced(self._known, queries, k, transport, count_jobs(self.n_jobs))

    def _fine(self) -> Entropic | Exact:
        euclidean = self.cost == "euclidean"
        if self.solver == "exact":
            return Exact(euclidean)
        eps = float(self.eps_)
        return Entropic(eps, euclidean, tol=FINE, sweeps=FINE_SWEEPS, dtype=np.float64)

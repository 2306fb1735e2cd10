"""The settings of a Word Mover's Embedding, chosen on the training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from wayfare.errors import InputError
from wayfare.learn.documents import check_labels
from wayfare.learn.embedding import WordMoversEmbedding, Words
from wayfare.learn.transformer import DocumentTransformer
from wayfare.progress import Progress

__all__ = ["WordMoversEmbeddingCV"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class WordMoversEmbeddingCV(DocumentTransformer):
    """`WordMoversEmbedding` with `gamma`, `d_max` and `eta` chosen by cross-validation of a classifier.

    `classifier` is what is to follow; None is logistic regression on standardised features. Distances
    to the random documents do not depend on `gamma` and the folds: they are found once for each
    (`d_max`, `eta`). Random documents come from all training documents, which tells the folds nothing
    about labels. Wants `y`. The best mean accuracy wins; of equal ones the first. Other settings as in
    `WordMoversEmbedding`.

    Attributes after `fit`: `best_params_`, `best_score_`; `cv_results_`, a row for each (`d_max`, `eta`,
    `gamma`); `embedding_`, the `WordMoversEmbedding` of the chosen setting.

    >>> texts = ["rain", "wind", "snow", "storm", "rates", "bonds", "bank", "tax"]
    >>> model = WordMoversEmbeddingCV(16, gammas=[0.5, 2.0], d_maxs=[1], cv=2)
    >>> model.fit(texts, [0, 0, 0, 0, 1, 1, 1, 1]).transform(["hail"]).shape
    (1, 16)
    """

    n_components: int = 512
    _: KW_ONLY
    gammas: Sequence[float] = (0.3, 1.0, 3.0, 10.0)
    d_maxs: Sequence[int] = (3, 6, 12)
    etas: Sequence[float | None] = (None,)
    classifier: Any = None
    cv: Any = 5
    words: Words = "data"
    metric: Literal["wfr", "wmd"] = "wfr"
    device: str = "cpu"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose by cross-validation, and keep the random documents of the chosen setting."""
        self._choose(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """`fit(X, y).transform(X)`, without finding the distances again."""
        far = self._choose(X, y)
        return np.asarray(self.embedding_.features(far))

    def transform(self, X: Any) -> Array:
        """`phi` of each document, (documents, `n_components`)."""
        check_is_fitted(self)
        return np.asarray(self.embedding_.transform(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _choose(self, X: Any, y: Any) -> Array:
        """Try every setting; returns the distances of the documents under the best."""
        from sklearn.model_selection import cross_val_score

        for name in ("gammas", "d_maxs", "etas"):
            if not len(getattr(self, name)):
                raise InputError(f"{name}: an empty list came; give at least one")
        corpus = self._gather(X)
        _, codes = check_labels(y, len(corpus))
        classifier = _usual() if self.classifier is None else self.classifier
        tries = list(product(self.d_maxs, self.etas))
        best, kept = -np.inf, np.empty(0)
        rows: list[dict[str, Any]] = []
        total = len(tries) * len(self.gammas)
        with Progress("choosing", total=total, unit="settings", show=self.progress) as bar:
            for d_max, eta in tries:
                found = self._embedding(d_max, eta).fit(corpus)
                far = found.distances(corpus)
                for gamma in self.gammas:
                    features = found.set_params(gamma=gamma).features(far)
                    scores = cross_val_score(classifier, features, codes, cv=self.cv)
                    params = {"d_max": d_max, "eta": found.eta_, "gamma": gamma}
                    rows.append(params | {"scores": scores})
                    if scores.mean() > best:
                        best, kept = float(scores.mean()), far
                        self.embedding_, self.best_params_ = clone(found).fit(corpus), params
                    bar.advance()
        self.best_score_, self._n_features_out = best, self.n_components
        self.cv_results_ = _table(rows)
        return kept

    def _embedding(self, d_max: int, eta: float | None) -> WordMoversEmbedding:
        return WordMoversEmbedding(
            self.n_components,
            d_max=d_max,
            eta=eta,
            words=self.words,
            metric=self.metric,
            tol=self.tol,
            weighting=self.weighting,
            tokenizer=self.tokenizer,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            device=self.device,
            progress=False,
        )


def _usual() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    scores = np.array([row["scores"] for row in rows])
    names = ("d_max", "eta", "gamma")
    table: dict[str, Any] = {"params": [{name: row[name] for name in names} for row in rows]}
    table |= {f"param_{name}": np.array([row[name] for row in rows]) for name in names}
    table |= {f"split{n}_test_score": scores[:, n] for n in range(scores.shape[1])}
    return table | {"mean_test_score": scores.mean(axis=1), "std_test_score": scores.std(axis=1)}

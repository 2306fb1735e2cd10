"""What the embeddings have in common: documents in, vectors out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.learn.documents import Tokenize, gather
from wayfare.measure import Measure
from wayfare.progress import Progress
from wayfare.threads import count_jobs, in_threads, one_blas_thread

__all__ = ["DocumentTransformer", "check_count", "rows_of"]

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class DocumentTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Reads texts, lists of words, a `Corpus` or measures, and gives each a row of numbers.

    As data classes, the estimators state each setting once, and share those that are one idea.
    """

    _: KW_ONLY
    tol: float = 1e-3
    weighting: Any = "nbow"
    vectors: Any = None
    tokenizer: Tokenize | None = None
    random_state: Any = 0
    n_jobs: int | None = None
    progress: bool | None = None
    _n_features_out: int = field(init=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = tags.input_tags.string = True
        return tags

    def _gather(self, X: Any) -> Corpus:
        """The corpus of the fit, which must hold a known word somewhere."""
        corpus = gather(X, vectors=self.vectors, weighting=self.weighting, tokenizer=self.tokenizer)
        if not len(corpus.indices):
            raise InputError("X: no document holds a known word; give other texts or vectors")
        return corpus


def rows_of(
    corpus: Corpus,
    row: Callable[[Measure], Array],
    width: int,
    n_jobs: int | None,
    show: bool | None,
) -> Array:
    """One row of `width` numbers for each document, over a pool of threads."""
    out = np.empty((len(corpus), width))

    def fill(n: int) -> None:
        out[n] = row(corpus[n])

    with (
        one_blas_thread(),
        Progress("embedding", total=len(corpus), unit="texts", show=show) as bar,
    ):
        for _ in in_threads(fill, range(len(corpus)), count_jobs(n_jobs)):
            bar.advance()
    return out


def check_count(name: str, value: Any) -> int:
    """Return a whole number from 1, or say why it cannot be used."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name}: {value!r} came; give a whole number from 1")
    return int(value)

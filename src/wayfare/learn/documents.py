"""What estimators take as X: texts, lists of words, a `Corpus`, or measures.

    gather(X)            at fit: a corpus, with the weighting fitted on it
    encode(home, X)      afterwards: read the way the corpus of the fit was

Rows stay rows: document n of the corpus is X[n], also where it holds no known word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wayfare import given
from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.measure import Measure
from wayfare.weighting import Counts, resolve, weigh

__all__ = ["Tokenize", "check_labels", "encode", "eta_of", "gather", "reweigh"]

Tokenize = Callable[[str], Sequence[str]]
Kind = Literal["texts", "words", "measures"]


def gather(
    X: Any, *, vectors: Any = None, weighting: Any = "nbow", tokenizer: Tokenize | None = None
) -> Corpus:
    """The documents of a fit. A `Corpus` and measures keep their weights: `weighting` is for words.

    Raises `InputError` for anything else, for an empty X, and for a `Corpus` made with other vectors
    than those asked for.

    >>> gather(["rain and wind", "a quiet evening"])
    Corpus(2 documents, 4 words in 256 dimensions, weighting nbow)
    """
    if isinstance(X, Corpus):
        _check_vectors(X, vectors)
        return _not_empty(X)
    documents = _rows(X)
    kind = _kind(documents)
    if kind == "texts":
        return Corpus.from_texts(
            documents,
            vectors=vectors,
            weighting=weighting,
            tokenizer=tokenizer,
            keep_texts=False,
            progress=False,
        )
    if kind == "words":
        return Corpus.from_tokens(documents, vectors=vectors, weighting=weighting, progress=False)
    return _of_measures(documents)


def encode(home: Corpus, X: Any) -> Corpus:
    """Documents that came after the fit. A `Corpus` and measures are taken as they are.

    Raises `InputError` where the dimensions are not those of the fit.

    >>> encode(gather(["rain and wind"]), ["snow"]).vocabulary
    ('snow',)
    """
    if isinstance(X, Corpus):
        new = _not_empty(X)
    else:
        documents = _rows(X)
        if _kind(documents) == "measures":
            new = _of_measures(documents)
        else:
            new = home.encode(documents, share=False, keep_texts=False)
    if len(new.indices) and len(home.indices) and new.dim != home.dim:
        raise InputError(
            f"X: points of {new.dim} dimensions came, the fit had {home.dim}; use the same vectors"
        )
    return new


def reweigh(corpus: Corpus, weighting: Any, rows: NDArray[np.int64] | None = None) -> Corpus:
    """A corpus of counts under a weighting that is fitted on some of its rows; None: on all.

    >>> corpus = gather(["rain today", "sun today"], weighting="counts")
    >>> reweigh(corpus, "tfidf")[0].weights.round(3)
    array([0.584, 0.416])
    """
    if corpus.weighting is None or corpus.weighting.fingerprint != "counts":
        raise InputError(
            "weighting: X keeps its own weights and no counts; give texts, lists of words, or a "
            'Corpus made with weighting="counts"'
        )
    terms = len(corpus.points)
    known = corpus if rows is None else corpus.select(rows)
    fitted = resolve(weighting).fit(Counts(known.indptr, known.indices, known.weights, terms))
    weights = weigh(Counts(corpus.indptr, corpus.indices, corpus.weights, terms), fitted)
    heavy = weights > 0
    indptr = np.concatenate([[0], np.cumsum(heavy)])[corpus.indptr]
    return Corpus(
        corpus.points,
        indptr,
        corpus.indices[heavy],
        weights[heavy],
        ids=corpus.ids,
        labels=corpus.labels,
        texts=corpus.texts,
        metadata=corpus.metadata,
        vocabulary=corpus.vocabulary,
        vectors=corpus.vectors,
        weighting=fitted,
        tokenizer=corpus.tokenizer,
        unknown=corpus.unknown,
        unknown_counts=corpus.unknown_counts,
        trusted=True,
    )


def eta_of(eta: float | None, corpus: Corpus) -> float:
    """The `eta` that was asked for, or what suits the vectors of the corpus."""
    return given.eta_of(eta, corpus.vectors)


def check_labels(y: Any, documents: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The classes, sorted, and the number of each document's class.

    >>> check_labels(["sport", "news", "sport"], 3)
    (array(['news', 'sport'], dtype='<U5'), array([1, 0, 1]))
    """
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    if y is None:
        raise InputError(
            "y: fit requires y to be passed, but the target y is None; give a label a document"
        )
    labels = column_or_1d(y, warn=True)
    if len(labels) != documents:
        raise InputError(f"y: {len(labels)} labels for {documents} documents; give one each")
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.int64)


def _rows(X: Any) -> list[Any]:
    if isinstance(X, str | bytes):
        raise InputError("X: a single string came; give a list with one text a document")
    if getattr(X, "ndim", 1) != 1 or isinstance(X, Measure):
        raise InputError(
            f"X: {type(X).__name__} of shape {getattr(X, 'shape', '?')} came; give a list of texts or "
            'word lists, or a Corpus (a matrix of distances goes with metric="precomputed")'
        )
    try:
        documents = list(X)
    except TypeError:
        raise InputError(
            f"X: {type(X).__name__} came; give a list of texts or word lists, or a Corpus"
        ) from None
    if not documents:
        raise InputError("X: no documents came; give at least one")
    return documents


def _kind(documents: list[Any]) -> Kind:
    first = _kind_of(documents[0])
    for at, one in enumerate(documents):
        if _kind_of(one) is None or _kind_of(one) != first:
            raise InputError(
                f"X: item {at} is {one!r:.60}, a {type(one).__name__}; give all texts, all lists of "
                "words, or all measures ('' for no text)"
            )
    assert first is not None
    return first


def _kind_of(document: Any) -> Kind | None:
    if isinstance(document, str):
        return "texts"
    if isinstance(document, Measure):
        return "measures"
    return "words" if isinstance(document, list | tuple | np.ndarray) else None


def _of_measures(measures: list[Measure]) -> Corpus:
    """Measures over common points: equal points become one, and their weights are added."""
    dims = {one.dim for one in measures if len(one)}
    if len(dims) > 1:
        raise InputError(f"X: measures of {sorted(dims)} dimensions came; give one width")
    corpus = Corpus.from_ragged([one.points for one in measures], [one.weights for one in measures])
    if not len(corpus.points):
        return corpus
    points, own = np.unique(corpus.points, axis=0, return_inverse=True)
    from scipy.sparse import csr_array

    matrix = csr_array(
        (corpus.weights, own.astype(np.int32), corpus.indptr.astype(np.int32)),
        shape=(len(corpus), len(points)),
    )
    matrix.sum_duplicates()
    return Corpus(points, matrix.indptr.astype(np.int64), matrix.indices, matrix.data, trusted=True)


def _not_empty(corpus: Corpus) -> Corpus:
    if not len(corpus):
        raise InputError("X: a Corpus without documents came; give at least one")
    return corpus


def _check_vectors(corpus: Corpus, vectors: Any) -> None:
    if vectors is None or corpus.vectors is None or vectors is corpus.vectors:
        return
    if vectors.fingerprint != corpus.vectors.fingerprint:
        raise InputError("vectors: X is a Corpus made with other vectors; leave vectors=None")

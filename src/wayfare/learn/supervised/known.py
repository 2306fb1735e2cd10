"""From what was learnt on some documents to others: which of their words are the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus import Corpus
from wayfare.learn.supervised.parameters import Parameters, Rows, reweigh

__all__ = ["mapped", "places"]

Array = NDArray[np.float64]


def places(source: Corpus, corpus: Corpus) -> NDArray[np.int64]:
    """The row in `source` of each word of another corpus; -1 for new ones.

    Words are told apart by their names where both have names, else by their points.
    """
    if corpus.points is source.points:
        return np.arange(len(source.points))
    if source.vocabulary is not None and corpus.vocabulary is not None:
        rows = source.word_rows
        return np.array([rows.get(word, -1) for word in corpus.vocabulary], np.int64)
    known = {point.tobytes(): row for row, point in enumerate(source.points)}
    return np.array([known.get(point.tobytes(), -1) for point in corpus.points], np.int64)


def mapped(
    corpus: Corpus, rows: Rows, at: Parameters, points: NDArray[np.float32] | None = None
) -> Corpus:
    """The corpus as the parameters make it. Its points are no longer those of any word vectors."""
    return Corpus(
        at.points(rows.points).astype(np.float32) if points is None else points,
        corpus.indptr,
        corpus.indices,
        reweigh(rows, at.word_weights),
        ids=corpus.ids,
        labels=corpus.labels,
        texts=corpus.texts,
        metadata=corpus.metadata,
        vocabulary=corpus.vocabulary,
        unknown_counts=corpus.unknown_counts,
        trusted=True,
    )

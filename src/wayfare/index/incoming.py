"""New documents in the numbering of an index: what a build or an addition puts on its shelves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus import Corpus
from wayfare.corpus.build import read_new
from wayfare.corpus.columns import as_column, as_ids, as_metadata
from wayfare.errors import InputError, VectorsMismatchError
from wayfare.index.snapshot import Snapshot
from wayfare.weighting import Counts

__all__ = ["Incoming", "of_corpus", "of_texts"]


@dataclass(frozen=True, eq=False)
class Incoming:
    """Documents over the words of an index and, after these, `words` that it does not have yet.

    `ids` is None where the caller named none. `words` is None in an index of points without words.
    """

    counts: Counts
    points: NDArray[np.float32]
    words: Sequence[str] | None
    ids: NDArray[Any] | None
    texts: Sequence[str] | None = None
    labels: list[Any] | None = None
    metadata: dict[str, list[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.counts)


def of_texts(
    there: Snapshot,
    texts: Any,
    ids: Any,
    labels: Any,
    metadata: Mapping[str, Sequence[Any]] | None,
) -> Incoming:
    """Texts or lists of words, read as the index reads them."""
    if there.settings.vectors is None:
        raise InputError(
            "texts: the index was built from points without vectors; add a Corpus of points"
        )
    fresh = read_new(there.reading, texts, there.settings.keep_texts)
    count = len(fresh.weighed)
    return Incoming(
        fresh.weighed,
        fresh.found.points,
        fresh.found.words,
        None if ids is None else as_ids(ids, count),
        fresh.texts,
        None if labels is None else as_column("labels", labels, count),
        as_metadata(metadata, count),
    )


def of_corpus(there: Snapshot, corpus: Corpus) -> Incoming:
    """The documents of a corpus as it weighed them, over the words of the index."""
    s = there.settings
    if s.vectors is not None and corpus.vectors is not None:
        came, wanted = corpus.vectors.fingerprint, s.vectors["fingerprint"]
        if came != wanted:
            raise VectorsMismatchError(
                f"corpus: its vectors have the fingerprint {came}, and those of the index {wanted}; "
                "make it with the vectors of the index"
            )
    if s.words and corpus.dim != s.dim and len(corpus.points):
        raise InputError(f"corpus: points of {corpus.dim} dimensions came; the index has {s.dim}")
    if s.vocabulary and corpus.vocabulary is None and len(corpus.points):
        raise InputError("corpus: it has points without words, and the index holds words")
    used = np.unique(corpus.indices)
    rows = _rows(there, corpus, used)
    new = used[rows < 0]
    rows[rows < 0] = s.words + np.arange(len(new))
    number = np.zeros(len(corpus.points), np.int64)
    number[used] = rows
    counts = _sorted(corpus.indptr, number[corpus.indices], corpus.weights, s.words + len(new))
    words = None if corpus.vocabulary is None else [corpus.vocabulary[n] for n in new]
    return Incoming(
        counts,
        corpus.points[new],
        words if s.vocabulary else None,
        corpus.ids,
        corpus.texts if s.keep_texts else None,
        corpus.labels,
        corpus.metadata,
    )


def _rows(there: Snapshot, corpus: Corpus, used: NDArray[np.int32]) -> NDArray[np.int64]:
    """The row in the index of each used point of a corpus; -1 for a new one."""
    none = np.full(len(used), -1, np.int64)
    if corpus.vocabulary is None or there.reading.vocabulary is None:
        return none  # equal points of token clouds stay apart
    words = [corpus.vocabulary[n] for n in used]
    if corpus.vectors is not None and there.settings.vectors is not None:
        return np.array([there.reading.word_rows.get(word, -1) for word in words], np.int64)
    # One word may have several vectors here, so word and point decide together.
    rows = there.shared.find(corpus.points[used]).astype(np.int64)
    kept = there.reading.vocabulary
    same = [row >= 0 and kept[row] == word for row, word in zip(rows.tolist(), words, strict=True)]
    return np.where(same, rows, none)


def _sorted(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    weights: NDArray[np.float64],
    terms: int,
) -> Counts:
    document = np.repeat(np.arange(len(indptr) - 1, dtype=np.int64), np.diff(indptr))
    order = np.lexsort((indices, document))
    return Counts(indptr, indices[order].astype(np.int32), weights[order], terms)

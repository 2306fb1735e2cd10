"""Counts become weighted points: embed the vocabulary once, drop unknown words, weigh.

The finished arrays are filled block by block while the counted blocks are given back, and every
temporary is a block long: the peak stays well under twice what is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus.counting import Counted
from wayfare.errors import InputError
from wayfare.weighting import Counts, Fitted, segment_sums, weigh

__all__ = [
    "Embedded",
    "Unknown",
    "Vectors",
    "as_parts",
    "collect",
    "embed",
    "from_columns",
    "keep_known",
    "weigh_in_place",
]

Unknown = Literal["skip", "error", "subword"]


@runtime_checkable
class Vectors(Protocol):
    """What a corpus asks of word vectors; `WordVectors` has it."""

    @property
    def dim(self) -> int:
        """Coordinates a point."""

    @property
    def fingerprint(self) -> str:
        """Equal for equal vectors."""

    def embed(
        self, words: Sequence[str], *, unknown: Unknown = "skip"
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Points of the known words, in order, and which words those are."""


@dataclass(frozen=True, eq=False)
class Embedded:
    """Points of the known words, those words, and the old number of a word to its new one."""

    points: NDArray[np.float32]
    words: tuple[str, ...]
    known: NDArray[np.bool_]


def embed(words: Sequence[str], vectors: Vectors, unknown: Unknown) -> Embedded:
    """Look up all words in one batch; unknown ones are missing from the points and the words."""
    if not len(words):
        return Embedded(np.zeros((0, vectors.dim), np.float32), (), np.zeros(0, bool))
    points, known = vectors.embed(words, unknown=unknown)
    points = np.ascontiguousarray(points, dtype=np.float32)
    kept = tuple(words) if known.all() else tuple(w for w, k in zip(words, known, strict=True) if k)
    return Embedded(points, kept, np.asarray(known, dtype=bool))


def collect(counted: Counted, known: NDArray[np.bool_]) -> tuple[Counts, NDArray[np.int64]]:
    """Join the blocks into one `Counts` without the unknown words; spends the blocks.

    `known` marks the new terms; the ones below `counted.start` are all known. Also returns how
    many words of each document were unknown.
    """
    known = np.concatenate([np.ones(counted.start, bool), known])
    number = (np.cumsum(known) - 1).astype(np.int32)
    entries = int(counted.indptr[-1])
    if not known.all():
        entries = sum(int(np.count_nonzero(known[block])) for block in counted.indices)
    indices, values = np.empty(entries, np.int32), np.empty(entries, np.float64)
    missing = np.zeros(len(counted), np.int64)
    lengths = np.diff(counted.indptr)
    # From the back: the block that came last lies last in memory, and can be given back first.
    read, start = int(counted.indptr[-1]), entries
    while counted.indices:
        terms, counts = counted.indices.pop(), counted.counts.pop()
        keep = known[terms]
        gone = np.flatnonzero(~keep)
        read -= len(terms)
        if len(gone):
            document = np.searchsorted(counted.indptr, read + gone, side="right") - 1
            np.add.at(missing, document, counts[gone])
            np.subtract.at(lengths, document, 1)
        start, end = start - len(terms) + len(gone), start
        indices[start:end] = number[terms[keep]]
        values[start:end] = counts[keep]
    indptr = np.zeros(len(counted) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return Counts(indptr, indices, values, int(known.sum())), missing


def keep_known(counts: Counts, known: NDArray[np.bool_]) -> tuple[Counts, NDArray[np.int64]]:
    """Drop the unknown columns of a matrix, and say how much of each document went with them."""
    if known.all():
        return counts, np.zeros(len(counts), np.int64)
    keep = known[counts.indices]
    lost = segment_sums(np.where(keep, 0.0, counts.values), counts.indptr)
    number = (np.cumsum(known) - 1).astype(np.int32)
    kept = _where(counts, keep)
    renumbered = Counts(kept.indptr, number[kept.indices], kept.values, int(known.sum()))
    return renumbered, np.rint(lost).astype(np.int64)


def weigh_in_place(counts: Counts, fitted: Fitted) -> Counts:
    """Turn the counts into weights, a run of documents at a time, and drop zero weights."""
    zeros = 0
    for start, block in counts.blocks():
        weights = weigh(block, fitted)
        counts.values[start : start + len(weights)] = weights
        zeros += int(np.count_nonzero(weights == 0))
    return _where(counts, counts.values != 0) if zeros else counts


def _where(counts: Counts, keep: NDArray[np.bool_]) -> Counts:
    # indptr of what is kept: how many kept entries stand before each boundary.
    before = np.concatenate([[0], np.cumsum(keep)])
    return Counts(before[counts.indptr], counts.indices[keep], counts.values[keep], counts.terms)


def as_parts(
    weighed: Counts, points: NDArray[np.float32], words: tuple[str, ...] | None, fitted: Fitted
) -> dict[str, Any]:
    """Name the arrays as the arguments of `Corpus` are named."""
    return {
        "points": points,
        "indptr": weighed.indptr,
        "indices": weighed.indices,
        "weights": weighed.values,
        "vocabulary": words,
        "weighting": fitted,
    }


def from_columns(matrix: Any, terms: int) -> Counts:
    """Read a document-term matrix, dense or scipy sparse, of `terms` columns, into `Counts`."""
    import scipy.sparse

    try:
        rows = scipy.sparse.csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"matrix: not a document-term matrix of numbers ({error})") from None
    if rows.ndim != 2 or rows.shape[1] != terms:
        raise InputError(
            f"matrix: shape {rows.shape} for a vocabulary of {terms}; columns are words"
        )
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not (np.isfinite(rows.data).all() and (rows.data > 0).all()):
        raise InputError("matrix: it holds NaN, infinity or a negative count; counts are >= 0")
    indptr = rows.indptr.astype(np.int64)
    return Counts(indptr, rows.indices.astype(np.int32), rows.data, terms)

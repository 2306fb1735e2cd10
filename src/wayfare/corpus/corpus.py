"""Many documents as one sparse matrix of weights over one array of points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfare.corpus import build
from wayfare.corpus.assemble import Unknown, Vectors
from wayfare.corpus.columns import as_column, as_ids, as_metadata
from wayfare.corpus.sources import Sources
from wayfare.errors import InputError
from wayfare.measure import Measure
from wayfare.weighting import Counts, Fitted, segment_sums

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from wayfare.readers import Skipped

__all__ = ["Corpus"]

Tokenize = Callable[[str], Sequence[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Corpus(Sources):
    """Documents in CSR: document `n` has `weights[a:b]` on `points[indices[a:b]]`.

    There `a, b = indptr[n], indptr[n + 1]`. `points` (V, d) is float32, one row a distinct word
    (`vocabulary`), or a token of its own where `vocabulary` is None; `indptr` int64, `indices`
    int32, rising strictly within a document; `weights` float64, all above zero, summing to the
    mass of the document. `ids` are int64 or str and distinct; `labels` and each column of
    `metadata` hold one value a document, as do `texts` where they were kept and `unknown_counts`,
    the number of words that the vectors did not have. A document without known words is a row of
    nothing: the zero measure.

    Make one with a `from_*` method; the constructor takes such arrays back, and reads them once to
    check them unless `trusted=True`. Raises `InputError` for arrays that do not fit.

    >>> corpus = Corpus.from_tokens([["rain", "rain", "sun"], []])
    >>> corpus
    Corpus(2 documents, 2 words in 256 dimensions, weighting nbow)
    >>> corpus[0].words, corpus[0].weights.round(3).tolist(), len(corpus[1])
    (('rain', 'sun'), [0.667, 0.333], 0)
    """

    points: NDArray[np.float32]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64]
    ids: NDArray[Any] = field(kw_only=True, default=cast(Any, None))
    labels: list[Any] | None = field(kw_only=True, default=None)
    texts: list[str] | None = field(kw_only=True, default=None)
    metadata: dict[str, list[Any]] = field(kw_only=True, default_factory=dict)
    vocabulary: tuple[str, ...] | None = field(kw_only=True, default=None)
    vectors: Vectors | None = field(kw_only=True, default=None)
    weighting: Fitted | None = field(kw_only=True, default=None)
    tokenizer: Tokenize | None = field(kw_only=True, default=None)
    unknown: Unknown = field(kw_only=True, default="skip")
    unknown_counts: NDArray[np.int64] = field(kw_only=True, default=cast(Any, None))
    skipped: Skipped | None = field(kw_only=True, default=None)
    # The corpus whose numbering of words the weighting was fitted to, if it is not this one's.
    origin: Corpus | None = field(kw_only=True, default=None)
    trusted: InitVar[bool] = field(kw_only=True, default=False)

    def __post_init__(self, trusted: bool) -> None:
        put = object.__setattr__
        put(self, "points", np.ascontiguousarray(self.points, dtype=np.float32))
        put(self, "indptr", np.ascontiguousarray(self.indptr, dtype=np.int64))
        put(self, "indices", np.ascontiguousarray(self.indices, dtype=np.int32))
        put(self, "weights", np.ascontiguousarray(self.weights, dtype=np.float64))
        _check_shapes(self)
        if not trusted:
            _check_entries(self)
        documents = len(self)
        put(self, "ids", as_ids(self.ids, documents))
        for name in ("labels", "texts"):
            if getattr(self, name) is not None:
                put(self, name, as_column(name, getattr(self, name), documents))
        put(self, "metadata", as_metadata(self.metadata, documents))
        counts = cast(Any, self.unknown_counts)
        put(self, "unknown_counts", np.zeros(documents, np.int64) if counts is None else counts)

    # -- what it is -------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, document: int) -> Measure:
        n = _position(document, len(self))
        rows = self.indices[self.indptr[n] : self.indptr[n + 1]]
        words = None if self.vocabulary is None else [self.vocabulary[r] for r in rows]
        return Measure(self.points[rows], self.weights[self.indptr[n] : self.indptr[n + 1]], words)

    def __iter__(self) -> Iterator[Measure]:
        return (self[n] for n in range(len(self)))

    def __getstate__(self) -> dict[str, Any]:
        # A few encoded queries must not carry the corpus they were encoded by; without it they
        # cannot encode, and their weighting, which numbers its words, must not claim to.
        kept = {f.name: getattr(self, f.name) for f in fields(self)}
        return kept if self.origin is None else kept | {"origin": None, "weighting": None}

    def __repr__(self) -> str:
        what = "points" if self.vocabulary is None else "words"
        how = "" if self.weighting is None else f", weighting {self.weighting.fingerprint}"
        size = f"{len(self)} documents, {len(self.points)} {what} in {self.dim} dimensions"
        return f"Corpus({size}{how})"

    @property
    def dim(self) -> int:
        """How many coordinates a point has."""
        return int(self.points.shape[1])

    @cached_property
    def masses(self) -> NDArray[np.float64]:
        """The mass of each document: 1 or 0 under a normalising weighting."""
        return segment_sums(self.weights, self.indptr)

    @cached_property
    def matrix(self) -> csr_array[np.float64, tuple[int, int]]:
        """The weights as a scipy CSR array (documents, points); it shares memory where it can."""
        from scipy.sparse import csr_array

        shape = (len(self), len(self.points))
        # scipy widens int32 indices to int64 when indptr is int64: a copy worth avoiding.
        small = len(self.weights) < np.iinfo(np.int32).max
        indptr = self.indptr.astype(np.int32) if small else self.indptr
        return csr_array((self.weights, self.indices, indptr), shape=shape)

    @cached_property
    def word_rows(self) -> dict[str, int]:
        """The row of `points` of each word; empty where there is no vocabulary."""
        return {word: row for row, word in enumerate(self.vocabulary or ())}

    # -- others from it ---------------------------------------------------------------------

    def select(self, documents: ArrayLike | slice) -> Corpus:
        """Return the documents at these positions, in this order, over the same points.

        `documents` holds positions (negative ones count from the end), one boolean a document, or
        is a slice. Raises `InputError` for positions that are not there, and `DuplicateIdError`
        for a document taken twice.

        >>> corpus = Corpus.from_tokens([["rain"], ["sun"], ["sun"]])
        >>> corpus.select([2, 0]).ids
        array([2, 0])
        """
        at = _positions(documents, len(self))
        lengths = np.diff(self.indptr)[at]
        indptr = np.zeros(len(at) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[at] - indptr[:-1], lengths)

        def pick(column: list[Any] | None) -> list[Any] | None:
            return None if column is None else [column[n] for n in at]

        return Corpus(
            self.points,
            indptr,
            self.indices[entries],
            self.weights[entries],
            ids=self.ids[at],
            labels=pick(self.labels),
            texts=pick(self.texts),
            metadata={name: [c[n] for n in at] for name, c in self.metadata.items()},
            vocabulary=self.vocabulary,
            vectors=self.vectors,
            weighting=self.weighting,
            tokenizer=self.tokenizer,
            unknown=self.unknown,
            unknown_counts=self.unknown_counts[at],
            origin=self.origin,
            trusted=True,
        )

    def encode(
        self,
        texts: Iterable[str] | Iterable[Sequence[str]],
        *,
        ids: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        metadata: Mapping[str, Sequence[Any]] | None = None,
        share: bool = True,
        keep_texts: bool = True,
    ) -> Corpus:
        """Read new texts with the tokeniser, vectors and fitted weighting of this corpus.

        A list of words in place of a text is taken as it is. Under `share=True` the first rows of
        the new `points` are this corpus's (the very array when no word is new) and new words
        follow, so equal words have equal row numbers. Under `share=False` only the rows that the
        texts use are there: what a few queries want, who need no copy of a large vocabulary.
        Pickled, such a corpus leaves this one behind and encodes no more. Raises `InputError` where
        this corpus was not made from words.

        >>> corpus = Corpus.from_tokens([["rain"], ["rain", "sun"]])
        >>> new = corpus.encode([["sun", "snow"]])
        >>> new.vocabulary, new.indices
        (('rain', 'sun', 'snow'), array([1, 2], dtype=int32))
        """
        home = self.origin or self
        return Corpus(
            **build.encode(home, texts, share, keep_texts),
            ids=cast(Any, ids),
            labels=cast(Any, labels),
            metadata=cast(Any, metadata),
            origin=None if share else home,
            trusted=True,
        )


def _check_shapes(corpus: Corpus) -> None:
    entries = int(corpus.indptr[-1]) if len(corpus.indptr) else -1
    if corpus.points.ndim != 2:
        raise InputError(f"points: shape {corpus.points.shape} came; give (points, dimensions)")
    if not len(corpus.indptr) or corpus.indptr[0] != 0:
        raise InputError("indptr: give documents + 1 offsets that start at 0")
    if len(corpus.indices) != entries or len(corpus.weights) != entries:
        raise InputError(
            f"indices, weights: {len(corpus.indices)} and {len(corpus.weights)} entries came, "
            f"but indptr ends at {entries}"
        )
    if corpus.vocabulary is not None and len(corpus.vocabulary) != len(corpus.points):
        raise InputError(
            f"vocabulary: {len(corpus.vocabulary)} words for {len(corpus.points)} points"
        )


def _check_entries(corpus: Corpus) -> None:
    # Compiled loops index by these numbers without looking: a wrong one would be a crash.
    if (np.diff(corpus.indptr) < 0).any():
        raise InputError("indptr: it falls; give offsets that never do")
    counts = Counts(corpus.indptr, corpus.indices, corpus.weights, len(corpus.points))
    for _, block in counts.blocks():
        rows = block.indices
        if len(rows) and not (rows.min() >= 0 and rows.max() < counts.terms):
            raise InputError(f"indices: {rows.min()} to {rows.max()}, of {counts.terms} points")
        rising = np.diff(rows) > 0
        starts = block.indptr[1:-1]
        rising[starts[(starts > 0) & (starts < len(rows))] - 1] = True
        if not rising.all():
            raise InputError("indices: they do not rise within a document; sort and add them up")
        if not ((block.values > 0).all() and np.isfinite(block.values).all()):
            raise InputError("weights: a weight is not finite and above 0; leave such entries out")


def _position(document: Any, documents: int) -> int:
    if isinstance(document, bool) or not isinstance(document, int | np.integer):
        raise InputError(f"corpus[...]: {document!r} came; give a position, or use select()")
    if not -documents <= document < documents:
        raise IndexError(f"document {document} of a corpus of {documents}")
    return int(document) % documents


def _positions(documents: Any, count: int) -> NDArray[np.int64]:
    if isinstance(documents, slice):
        return np.arange(count, dtype=np.int64)[documents]
    at = np.asarray(documents)
    if at.dtype == bool:
        if at.shape != (count,):
            raise InputError(f"documents: a mask of shape {at.shape} for {count} documents")
        return np.flatnonzero(at).astype(np.int64)
    if at.size == 0:
        return np.zeros(0, np.int64)
    if at.ndim != 1 or at.dtype.kind not in "iu":
        raise InputError(
            f"documents: {at.dtype} of shape {at.shape} came; give a list of positions"
        )
    if at.min() < -count or at.max() >= count:
        wrong = at.max() if at.max() >= count else at.min()
        raise InputError(f"documents: position {wrong} in a corpus of {count}")
    return np.where(at < 0, at + count, at).astype(np.int64)

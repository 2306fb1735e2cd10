"""The parts of a `Corpus` from texts, words, matrices and arrays: one function a source.

Each returns the keyword arguments of `Corpus`, so that the class itself stays a description.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus.assemble import (
    Embedded,
    Unknown,
    Vectors,
    as_parts,
    collect,
    embed,
    from_columns,
    keep_known,
    weigh_in_place,
)
from wayfare.corpus.counting import Counted, TermCounter
from wayfare.corpus.points import as_points, as_weights
from wayfare.errors import InputError
from wayfare.progress import Progress
from wayfare.text import DEFAULT_TOKENIZER
from wayfare.vectors import WordVectors
from wayfare.weighting import Counts, Fitted, Weighting, resolve

__all__ = ["Fresh", "encode", "matrix", "ragged", "read_new", "texts", "tokens"]

log = logging.getLogger("wayfare")

Parts = dict[str, Any]
Weigh = str | Weighting | Callable[[Counts], Any]


def texts(
    source: Iterable[str],
    vectors: Vectors | None,
    weighting: Weigh,
    tokenizer: Callable[[str], Sequence[str]] | None,
    unknown: Unknown,
    keep: bool,
    progress: bool | None,
) -> Parts:
    """Tokenise and count as the texts come, then embed and weigh."""
    tokenizer = DEFAULT_TOKENIZER if tokenizer is None else tokenizer
    if not callable(tokenizer):
        raise InputError(f"tokenizer: {tokenizer!r} came; give a function of text to words")
    kept: list[str] | None = [] if keep else None
    # A wrong weighting or unloadable vectors should not wait for the last text.
    weigh, vectors = resolve(weighting), _vectors(vectors, unknown)
    counter = TermCounter()
    with Progress("reading texts", total=_length(source), show=progress) as bar:
        for text in _documents("texts", source):
            counter.add(_words(text, tokenizer, bar.done))
            if kept is not None:
                kept.append(text)
            bar.advance()
    parts = _weigh(counter.finish(), vectors, weigh, unknown)
    return parts | {"tokenizer": tokenizer, "texts": kept}


def tokens(
    source: Iterable[Sequence[str]],
    vectors: Vectors | None,
    weighting: Weigh,
    unknown: Unknown,
    progress: bool | None,
) -> Parts:
    """Count lists of words as they come, then embed and weigh."""
    weigh, vectors = resolve(weighting), _vectors(vectors, unknown)
    counter = TermCounter()
    with Progress("reading words", total=_length(source), show=progress) as bar:
        for words in _documents("tokens", source):
            counter.add(_as_words(words))
            bar.advance()
    return _weigh(counter.finish(), vectors, weigh, unknown)


def matrix(
    source: Any,
    vocabulary: Sequence[str] | Mapping[str, int],
    vectors: Vectors | None,
    weighting: Weigh,
    unknown: Unknown,
) -> Parts:
    """Take the counts as they are, then embed the words of the columns and weigh."""
    words = _column_words(vocabulary)
    weigh, vectors = resolve(weighting), _vectors(vectors, unknown)
    counts = from_columns(source, len(words))
    found = embed(words, vectors, unknown)
    counts, missing = keep_known(counts, found.known)
    return _finish(counts, missing, found, vectors, weigh, unknown)


def ragged(arrays: Iterable[Any], weights: Iterable[Any] | None) -> Parts:
    """Put the arrays below each other; a point of weight zero is left out."""
    stacks = [as_points(n, a) for n, a in enumerate(_documents("arrays", arrays))]
    dim = next((s.shape[1] for s in stacks if len(s)), 0)
    for n, stack in enumerate(stacks):
        if len(stack) and stack.shape[1] != dim:
            wrong = f"points of {stack.shape[1]} dimensions came after points of {dim}"
            raise InputError(f"arrays[{n}]: {wrong}; give one width throughout")
    masses = [np.full(len(s), 1 / max(len(s), 1)) for s in stacks]
    if weights is not None:
        masses = as_weights(list(_documents("weights", weights)), stacks)
    keep = [w > 0 for w in masses]
    indptr = np.cumsum([0, *(int(k.sum()) for k in keep)], dtype=np.int64)
    points = np.empty((int(indptr[-1]), dim), np.float32)
    for n, (stack, k) in enumerate(zip(stacks, keep, strict=True)):
        if k.any():
            points[indptr[n] : indptr[n + 1]] = stack[k]
    kept = [w[k] for w, k in zip(masses, keep, strict=True)]
    return {
        "points": points,
        "indptr": indptr,
        "indices": np.arange(indptr[-1], dtype=np.int32),
        "weights": np.concatenate([np.zeros(0), *kept]),
    }


class Home(Protocol):
    """What new documents are read by: a corpus, or an index that was built from one."""

    @property
    def points(self) -> NDArray[np.float32]: ...
    @property
    def vocabulary(self) -> Sequence[str] | None: ...
    @property
    def word_rows(self) -> Mapping[str, int]: ...
    @property
    def vectors(self) -> Vectors | None: ...
    @property
    def weighting(self) -> Fitted | None: ...
    @property
    def tokenizer(self) -> Callable[[str], Sequence[str]] | None: ...
    @property
    def unknown(self) -> Unknown: ...


@dataclass(frozen=True, eq=False)
class Fresh:
    """New documents in the numbering of their home; `found` are the words that it does not have."""

    weighed: Counts
    found: Embedded
    missing: NDArray[np.int64]
    texts: list[str] | None


def read_new(home: Home, source: Iterable[Any], keep: bool) -> Fresh:
    """Count new documents in the numbering of `home` and weigh them with its fitted weighting."""
    if home.vectors is None or home.vocabulary is None or home.weighting is None:
        raise InputError(
            "encode: this corpus keeps no vectors or no weighting (it came from points, a .mat, or "
            "a pickle of encode(share=False)); encode with the corpus of the words"
        )
    counter = TermCounter(home.word_rows)
    kept: list[Any] = []
    for number, document in enumerate(_documents("texts", source)):
        counter.add(_read(document, home, number))
        if keep:
            kept.append(document)
    counted = counter.finish()
    found = embed(counted.new, home.vectors, home.unknown)
    counts, missing = collect(counted, found.known)
    weighed = weigh_in_place(counts, home.weighting)
    whole = keep and all(isinstance(d, str) for d in kept)
    return Fresh(weighed, found, missing, kept if whole else None)


def encode(home: Home, source: Iterable[Any], share: bool, keep: bool) -> Parts:
    """New documents over the points of `home` and their own, or over their own only."""
    fresh = read_new(home, source, keep)
    weighed, found = fresh.weighed, fresh.found
    points, words = home.points, cast(Sequence[str], home.vocabulary)
    if not share:
        used, where = np.unique(weighed.indices, return_inverse=True)
        old = used[used < len(points)]
        new = used[used >= len(points)] - len(points)
        words = (*(words[r] for r in old), *(found.words[r] for r in new))
        points = np.concatenate([points[old], found.points[new]])
        weighed = Counts(weighed.indptr, where.astype(np.int32), weighed.values, len(words))
    elif found.words:
        points, words = np.concatenate([points, found.points]), (*words, *found.words)
    return as_parts(weighed, points, tuple(words), cast(Fitted, home.weighting)) | {
        "vectors": home.vectors,
        "unknown": home.unknown,
        "unknown_counts": fresh.missing,
        "tokenizer": home.tokenizer,
        "texts": fresh.texts,
    }


def _vectors(vectors: Vectors | None, unknown: Unknown) -> Vectors:
    vectors = WordVectors.default() if vectors is None else vectors
    if not isinstance(vectors, Vectors):
        raise InputError(
            f"vectors: {type(vectors).__name__} came; give WordVectors, such as those of "
            "WordVectors.load(path)"
        )
    vectors.embed([], unknown=unknown)  # what they cannot do about unknown words, they say here
    return vectors


def _weigh(counted: Counted, vectors: Vectors, weighting: Weighting, unknown: Unknown) -> Parts:
    found = embed(counted.new, vectors, unknown)
    counts, missing = collect(counted, found.known)
    return _finish(counts, missing, found, vectors, weighting, unknown)


def _finish(
    counts: Counts,
    missing: NDArray[np.int64],
    found: Embedded,
    vectors: Vectors,
    weighting: Weighting,
    unknown: Unknown,
) -> Parts:
    if missing.any():
        of = f"{np.count_nonzero(missing)} of {len(missing)} documents"
        log.info("%d words, in %s, are unknown to the vectors and left out", missing.sum(), of)
    fitted = weighting.fit(counts)
    parts = as_parts(weigh_in_place(counts, fitted), found.points, found.words, fitted)
    return parts | {"vectors": vectors, "unknown": unknown, "unknown_counts": missing}


def _documents(name: str, source: Any) -> Iterator[Any]:
    if isinstance(source, str | bytes):
        raise InputError(f"{name}: a single string came; give a list with one item a document")
    if isinstance(source, Mapping) or hasattr(source, "columns") or hasattr(source, "column_names"):
        # Iterating over these gives the names of their columns.
        raise InputError(
            f"{name}: {type(source).__name__} came; give one of its columns, or use from_table"
        )
    try:
        documents: Iterator[Any] = iter(source)
    except TypeError:
        raise InputError(f"{name}: {type(source).__name__} came; give a list") from None
    return documents


def _length(source: Any) -> int | None:
    return len(source) if hasattr(source, "__len__") else None


def _words(text: Any, tokenizer: Callable[[str], Sequence[str]], number: int) -> Sequence[str]:
    if not isinstance(text, str):
        raise InputError(
            f"texts: item {number} is {text!r:.60}, a {type(text).__name__}; "
            "give strings, '' for no text"
        )
    return _as_words(tokenizer(text))


def _as_words(words: Any) -> Sequence[str]:
    if isinstance(words, np.ndarray):
        words = words.tolist()
    elif isinstance(words, Iterator):  # a tokenizer may well yield its words
        words = list(words)
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise InputError(f"tokens: {words!r:.60} came; give a list of words for each document")
    return words


def _read(document: Any, home: Home, number: int) -> Sequence[str]:
    if not isinstance(document, str):
        return _as_words(document)
    if home.tokenizer is None:
        raise InputError("encode: this corpus came from lists of words; give lists of words")
    return _words(document, home.tokenizer, number)


def _column_words(vocabulary: Any) -> list[str]:
    if isinstance(vocabulary, Mapping):
        words = [word for word, _ in sorted(vocabulary.items(), key=lambda item: item[1])]
        if sorted(vocabulary.values()) != list(range(len(words))):
            raise InputError("vocabulary: the columns are not 0, 1, 2, ..., one a word")
    else:
        words = list(_documents("vocabulary", vocabulary))
    if not all(isinstance(word, str) for word in words):
        raise InputError("vocabulary: something that is not a string came; give the words")
    if len(set(words)) != len(words):
        twice = next(w for n, w in enumerate(words) if w in words[:n])
        raise InputError(f"vocabulary: {twice!r} came twice; add its columns up first")
    return words

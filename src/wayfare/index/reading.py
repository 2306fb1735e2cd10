"""How an index reads texts: its tokeniser, its weighting and its vectors, kept and found again.

What has a description of its own is described and made again: the tokeniser of wayfare.text, the
named weightings with what they were fitted to, the built-in vectors. Code is never stored: a function
of the caller's is kept by its name only, and must be handed in again where it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError, VectorsMismatchError
from wayfare.index.catalog import Catalog, plain, stored
from wayfare.index.settings import Settings
from wayfare.text import Tokenizer
from wayfare.vectors import WordVectors
from wayfare.weighting import (
    Custom,
    Fitted,
    FittedSif,
    FittedTfidf,
    Nbow,
    RawCounts,
)

__all__ = ["Reading", "describe_tokenizer", "describe_vectors", "describe_weighting"]

Tokenize = Callable[[str], Sequence[str]]
Arrays = dict[str, NDArray[np.float64]]


def describe_tokenizer(tokenizer: Tokenize | None) -> dict[str, Any] | None:
    """A tokeniser as JSON: its settings, or the name of a function."""
    if tokenizer is None:
        return None
    if isinstance(tokenizer, Tokenizer):
        stop = tokenizer.stop_words
        return {
            "lowercase": tokenizer.lowercase,
            "stop_words": stop if stop is None or isinstance(stop, str) else sorted(stop),
            "fingerprint": tokenizer.fingerprint,
        }
    return {"function": getattr(tokenizer, "__qualname__", type(tokenizer).__name__)}


def describe_weighting(fitted: Fitted | None) -> tuple[dict[str, Any] | None, Arrays]:
    """A fitted weighting as JSON, and the numbers of its fit."""
    if fitted is None:
        return None, {}
    told: dict[str, Any] = {"fingerprint": fitted.fingerprint}
    if isinstance(fitted, FittedTfidf):
        return told | {"name": "tfidf", "documents": fitted.documents}, {"fit": fitted.idf}
    if isinstance(fitted, FittedSif):
        return told | {"name": "sif", "a": fitted.a}, {"fit": fitted.probability}
    if isinstance(fitted, Nbow | RawCounts):
        return told | {"name": fitted.fingerprint}, {}
    return told | {"name": None}, {}


def describe_vectors(vectors: Any) -> dict[str, Any] | None:
    """Vectors as JSON: what tells them from others, and whether they are the built-in ones."""
    if vectors is None:
        return None
    unit = getattr(vectors, "unit", True)
    return {
        "fingerprint": vectors.fingerprint,
        "name": getattr(vectors, "name", type(vectors).__name__),
        "unit": unit,
        "builtin": WordVectors._defaults.get(unit) is vectors,
    }


class WordRows(Mapping[str, int]):
    """The row of each word, looked up in the catalogue."""

    def __init__(self, catalog: Catalog, words: int) -> None:
        self._catalog, self._words = catalog, words

    def __getitem__(self, word: str) -> int:
        row = self._catalog.one("select row from words where word = ?", (stored(word),))
        if row is None or row >= self._words:
            raise KeyError(word)
        return int(row)

    def __len__(self) -> int:
        return self._words

    def __iter__(self) -> Iterator[str]:
        return (plain(w) for (w,) in self._catalog.execute("select word from words order by row"))


class WordList(Sequence[str]):
    """The word of each row, looked up in the catalogue."""

    def __init__(self, catalog: Catalog, words: int) -> None:
        self._catalog, self._words = catalog, words

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[r] for r in range(*row.indices(self._words))]
        if not 0 <= row < self._words:
            raise IndexError(row)
        return str(plain(self._catalog.one("select word from words where row = ?", (int(row),))))

    def __len__(self) -> int:
        return self._words


@dataclass(frozen=True)
class Handed:
    """What a caller hands in at the door, in place of what is stored."""

    vectors: Any = None
    tokenizer: Tokenize | None = None
    weighting: Fitted | None = None


class Reading:
    """Texts as an index reads them; `wayfare.corpus.build.encode` asks it as it would a corpus."""

    def __init__(
        self,
        settings: Settings,
        handed: Handed,
        catalog: Catalog,
        points: NDArray[np.float32],
        fit: Arrays,
    ) -> None:
        self._settings, self._handed, self._fit = settings, handed, fit
        self.points = points
        self.word_rows = WordRows(catalog, settings.words)
        self.vocabulary = WordList(catalog, settings.words) if settings.vocabulary else None
        self.unknown: Any = settings.unknown
        if handed.vectors is not None:
            self._check(handed.vectors)

    @cached_property
    def vectors(self) -> Any:
        """The vectors of the build: handed in, or the built-in ones."""
        told = self._settings.vectors
        if told is None:
            return None
        if self._handed.vectors is not None:
            return self._handed.vectors
        if not told["builtin"]:
            raise InputError(
                f"vectors: the index was built with {told['name']!r}, which it does not hold; pass "
                "vectors= to Index.open to read new texts"
            )
        vectors = WordVectors.default(unit=told["unit"])
        self._check(vectors)
        return vectors

    def _check(self, vectors: Any) -> None:
        told = self._settings.vectors
        if told is None:
            raise VectorsMismatchError(
                "vectors: the index was built from points without vectors; open it without vectors="
            )
        if vectors.fingerprint != told["fingerprint"]:
            name = getattr(vectors, "name", type(vectors).__name__)
            raise VectorsMismatchError(
                f"vectors: {name!r} came, whose fingerprint is {vectors.fingerprint}; the index was "
                f"built with {told['name']!r}, {told['fingerprint']}; open it with those, or build "
                "it again"
            )

    @cached_property
    def tokenizer(self) -> Tokenize | None:
        """The tokeniser of the build."""
        told = self._settings.tokenizer
        if self._handed.tokenizer is not None or told is None:
            return self._handed.tokenizer
        if "function" in told:
            raise InputError(
                f"tokenizer: the index was built with the function {told['function']!r}, and code "
                "is not stored; pass tokenizer= to Index.open, or give lists of words"
            )
        made = Tokenizer(lowercase=told["lowercase"], stop_words=told["stop_words"])
        if made.fingerprint != told["fingerprint"]:
            raise InputError(
                f"tokenizer: the index was built under the rules {told['fingerprint']}, and this "
                f"version of wayfare has {made.fingerprint}; build it again, or pass tokenizer="
            )
        return made

    @cached_property
    def weighting(self) -> Fitted | None:
        """The weighting, as it was fitted at the build."""
        told = self._settings.weighting
        if told is None:
            return None
        if self._handed.weighting is not None:
            given = self._handed.weighting
            return Custom(given) if callable(given) else given
        if told["name"] is None:
            raise InputError(
                f"weighting: the index was built with {told['fingerprint']}, and code is not "
                "stored; pass weighting= to Index.open"
            )
        return _weighting(told, self._fit)


def _weighting(told: dict[str, Any], fit: Arrays) -> Fitted:
    if told["name"] == "tfidf":
        return FittedTfidf(fit["fit"], told["documents"])
    if told["name"] == "sif":
        return FittedSif(fit["fit"], told["a"])
    return Nbow() if told["name"] == "nbow" else RawCounts()

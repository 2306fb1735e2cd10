"""How an index reads texts: its words, its vectors, its tokeniser, its weighting.

All of them are looked up or made when they are first wanted: opening an index reads none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from wayfare.index.catalog import Catalog, plain, stored
from wayfare.index.settings import Settings

if TYPE_CHECKING:
    from wayfare.weighting import Fitted

__all__ = ["Handed", "Reading"]

Tokenize = Callable[[str], Sequence[str]]
Arrays = dict[str, NDArray[Any]]

MOST_KNOWN = 2**16  # words that are remembered at most: some MB


class Known:
    """Words and their rows, as looked up of late: a query asks for each word and then for each row."""

    def __init__(self) -> None:
        self.rows: dict[str, int | None] = {}
        self.words: dict[int, str] = {}

    def keep(self, word: str, row: int | None) -> None:
        """Remember a word, and begin anew where there are too many."""
        if len(self.rows) >= MOST_KNOWN:
            self.rows, self.words = {}, {}
        self.rows[word] = row
        if row is not None:
            self.words[row] = word


class WordRows(Mapping[str, int]):
    """The row of each word, looked up in the catalogue."""

    def __init__(self, catalog: Catalog, words: int, known: Known) -> None:
        self._catalog, self._words, self._known = catalog, words, known

    def __getitem__(self, word: str) -> int:
        # Writers only add rows beyond those of this state: what was found once stays so.
        row = self._known.rows.get(word, -1)
        if row == -1:
            found = self._catalog.one("select row from words where word = ?", (stored(word),))
            row = None if found is None or found >= self._words else int(found)
            self._known.keep(word, row)
        if row is None:
            raise KeyError(word)
        return row

    def __len__(self) -> int:
        return self._words

    def __iter__(self) -> Iterator[str]:
        return (plain(w) for (w,) in self._catalog.execute("select word from words order by row"))


class WordList(Sequence[str]):
    """The word of each row, looked up in the catalogue."""

    def __init__(self, catalog: Catalog, words: int, known: Known) -> None:
        self._catalog, self._words, self._known = catalog, words, known

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[str]: ...
    def __getitem__(self, row: int | slice) -> str | Sequence[str]:
        if isinstance(row, slice):
            return [self[r] for r in range(*row.indices(self._words))]
        if not 0 <= row < self._words:
            raise IndexError(row)
        known = self._known.words.get(int(row))
        if known is not None:
            return known
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
        copy: Arrays,
    ) -> None:
        self._settings, self._handed = settings, handed
        self._fit, self._copy = fit, copy
        self.points = points
        known = Known()
        self.word_rows = WordRows(catalog, settings.words, known)
        self.vocabulary = WordList(catalog, settings.words, known) if settings.vocabulary else None
        self.unknown: Any = settings.unknown
        if handed.vectors is not None:
            from wayfare.index.description import check_vectors

            check_vectors(handed.vectors, settings.vectors)

    @cached_property
    def vectors(self) -> Any:
        """The vectors of the build: handed in, their copy, or the built-in ones."""
        from wayfare.index.description import vectors_of

        told = self._settings.vectors
        if told is None or self._handed.vectors is not None:
            return self._handed.vectors
        return vectors_of(told, self._copy)

    @cached_property
    def tokenizer(self) -> Tokenize | None:
        """The tokeniser of the build."""
        from wayfare.index.description import tokenizer_of

        told = self._settings.tokenizer
        if told is None or self._handed.tokenizer is not None:
            return self._handed.tokenizer
        return tokenizer_of(told)

    @cached_property
    def weighting(self) -> Fitted | None:
        """The weighting, as it was fitted at the build."""
        from wayfare.index.description import weighting_of
        from wayfare.weighting import Custom

        told, given = self._settings.weighting, self._handed.weighting
        if told is None:
            return None
        if given is not None:
            return Custom(given) if callable(given) else given
        return weighting_of(told, self._fit)

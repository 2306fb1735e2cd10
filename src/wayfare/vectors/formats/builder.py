"""Words and rows, block by block, to a `Table`; what is wrong with them is decided here.

a row with NaN or infinity      FormatError, or skipped and counted under on_error="skip"
a word that is not UTF-8        the same
a word that is there already    the first one stays, the others are counted in the report
words with equal vectors        kept: they are at distance zero from each other
a row of zeros                  kept and counted; unknown where unit vectors are asked for
no word at all                  FormatError
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wayfare.errors import FormatError
from wayfare.vectors.formats.request import Request
from wayfare.vectors.store import Floats, Ints, LoadReport
from wayfare.vectors.table import Table
from wayfare.vectors.vocabulary import Vocabulary

__all__ = ["Builder", "flaw_of"]


class Builder:
    """Grows a table of `dim` columns; `unit` names what the file counts: lines, words or rows."""

    def __init__(self, request: Request, dim: int, *, unit: str, expected: int = 0) -> None:
        self._request, self._dim, self._unit = request, dim, unit
        self._limit = request.limit
        self._words: list[bytes] = []
        self._numbers: list[Sequence[int]] = []  # where the words stood, a block at a time
        self._matrix = np.empty((expected, dim), dtype=np.float32)
        self._skipped, self._first_skipped = 0, ""

    @property
    def full(self) -> bool:
        """Whether `limit` words are there."""
        return self._limit is not None and len(self._words) >= self._limit

    def problem(self, number: int, message: str) -> None:
        """Line `number` cannot be used: raise, or count it."""
        if self._request.on_error == "skip":
            self._skipped += 1
            self._first_skipped = self._first_skipped or f"{self._unit} {number}: {message}"
            return
        message += "; repair it"
        if self._request.on_error is not None:
            message += ', or pass on_error="skip" to leave such entries out'
        if self._unit == "line":
            raise FormatError(message, path=self._request.path, line=number)
        raise FormatError(f"{self._unit} {number}: {message}", path=self._request.path)

    def add(self, words: Sequence[bytes], rows: Floats, numbers: Sequence[int]) -> None:
        """Append words and their rows; `numbers` says where in the file each came from."""
        sound = np.isfinite(rows).all(axis=1)
        if not (sound.all() and _is_utf8(b"\n".join(words))):
            flaws = [flaw_of(word, row) for word, row in zip(words, rows, strict=True)]
            for number, flaw in zip(numbers, flaws, strict=True):
                if flaw:
                    self.problem(number, flaw)
            kept = [i for i, flaw in enumerate(flaws) if not flaw]
            words, rows = [words[i] for i in kept], rows[kept]
            numbers = [numbers[i] for i in kept]
        room = len(words) if self._limit is None else self._limit - len(self._words)
        words, rows = words[:room], rows[:room]
        self._numbers.append(numbers[:room])
        start = len(self._words)
        self._reserve(start + len(words))
        self._matrix[start : start + len(words)] = rows
        self._words.extend(words)

    def _reserve(self, count: int) -> None:
        if count > len(self._matrix):
            # In place where the system can: two copies of a large table never stand side by side.
            self._matrix.resize((max(count, len(self._matrix) * 5 // 4), self._dim), refcheck=False)

    def table(self) -> Table:
        """The table of all that was added."""
        if not self._words:
            why = f" (skipped {self._skipped}: {self._first_skipped})" if self._skipped else ""
            raise FormatError(f"no word vectors in this file{why}", path=self._request.path)
        self._matrix.resize((len(self._words), self._dim), refcheck=False)
        vocabulary, kept = Vocabulary.build(self._words)
        whole = len(kept) == len(self._words)
        matrix = self._matrix if whole else self._matrix[kept]
        return Table(vocabulary, matrix, report=self._report(matrix, kept))

    def _report(self, matrix: Floats, kept: Ints) -> LoadReport:
        again = np.setdiff1d(np.arange(len(self._words)), kept)
        zero = kept[~matrix.any(axis=1)]
        return LoadReport(
            repeated=len(again),
            first_repeated=self._repetition(int(again[0])) if len(again) else None,
            zero=len(zero),
            first_zero=self._named(int(zero[0])) if len(zero) else None,
            skipped=self._skipped,
            first_skipped=self._first_skipped or None,
        )

    def _repetition(self, entry: int) -> str:
        there = self._words.index(self._words[entry])
        return f"{self._named(entry)} is there already, in {self._place(there)}"

    def _named(self, entry: int) -> str:
        return f"{self._place(entry)}: {self._words[entry].decode('utf-8', 'replace')!r}"

    def _place(self, entry: int) -> str:
        for numbers in self._numbers:
            if entry < len(numbers):
                return f"{self._unit} {numbers[entry]}"
            entry -= len(numbers)
        raise IndexError(entry)


def flaw_of(word: bytes, row: Floats) -> str | None:
    """What is wrong with an entry of the right width, if anything is."""
    if not _is_utf8(word):
        return f"the word {word!r} is not UTF-8"
    if not np.isfinite(row).all():
        return f"the vector of {word.decode()!r} holds NaN or infinity"
    return None


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True

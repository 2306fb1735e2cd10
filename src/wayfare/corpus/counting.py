"""Words become numbers, and numbers become counts, a block of documents at a time.

A Python-level `Counter` a document would cost more than reading it. Here a document costs one
`list.extend`; a block of words is numbered by one pass of a dictionary, then sorted and run-length
counted by NumPy. Terms are numbered in order of first appearance, so the result does not depend on
the size of a block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError

__all__ = ["Counted", "TermCounter"]

BLOCK = 1 << 18  # words held as Python strings before they are counted: about 15 MB


@dataclass
class Counted:
    """What the counter leaves: a block's terms and counts at a time, not yet one array.

    `new` lists the words numbered `start` and up; those below were there before. The blocks are
    meant to be popped, so that they shrink while the finished arrays grow.
    """

    indptr: NDArray[np.int64]
    indices: list[NDArray[np.int32]]
    counts: list[NDArray[np.unsignedinteger]]
    new: list[str]
    start: int = 0

    def __len__(self) -> int:
        return len(self.indptr) - 1


class TermCounter:
    """Counts the words of documents as they come; words of `base` keep their numbers.

    >>> counter = TermCounter()
    >>> counter.add(["b", "a", "b"]); counter.add([])
    >>> counted = counter.finish()
    >>> counted.new, counted.indptr, counted.indices, counted.counts
    (['b', 'a'], array([0, 2, 2]), [array([0, 1], dtype=int32)], [array([2, 1], dtype=uint8)])
    """

    def __init__(self, base: Mapping[str, int] | None = None, *, block: int = BLOCK) -> None:
        self._start = len(base or ())
        self._numbers: dict[str, int]
        self._numbers = _Overlay(base) if base else defaultdict(count().__next__)
        self._block = block
        self._words: list[str] = []
        self._lengths: list[int] = []
        self._sizes: list[NDArray[np.int64]] = []
        self._indices: list[NDArray[np.int32]] = []
        self._counts: list[NDArray[np.unsignedinteger]] = []

    def add(self, words: Sequence[str]) -> None:
        """Count one document."""
        self._words.extend(words)
        self._lengths.append(len(words))
        # Many empty documents fill no block of words, but their lengths add up too.
        if len(self._words) >= self._block or len(self._lengths) >= self._block:
            self._flush()

    def finish(self) -> Counted:
        """Return the counts of all documents; the counter is spent."""
        self._flush()
        indptr = np.zeros(sum(map(len, self._sizes)) + 1, dtype=np.int64)
        if self._sizes:
            np.cumsum(np.concatenate(self._sizes), out=indptr[1:])
        new = [word for word, number in self._numbers.items() if number >= self._start]
        return Counted(indptr, self._indices, self._counts, new, self._start)

    def _flush(self) -> None:
        documents = len(self._lengths)
        if not documents:
            return
        look_up = self._numbers.__getitem__
        try:
            numbers = np.fromiter(map(look_up, self._words), np.int64, len(self._words))
        except TypeError:  # unhashable
            raise InputError("tokens: a word came that is no string; give strings") from None
        self._words.clear()
        lengths = np.array(self._lengths, dtype=np.int64)
        self._lengths.clear()
        # Document above, term below, in one integer: sorting it sorts by both.
        shift = max(1, int(numbers.max(initial=0)).bit_length())
        numbers |= np.repeat(np.arange(documents, dtype=np.int64), lengths) << shift
        keys, counts = np.unique(numbers, return_counts=True)
        self._sizes.append(np.bincount(keys >> shift, minlength=documents))
        self._indices.append((keys & ((1 << shift) - 1)).astype(np.int32))
        # Counts are small: most blocks fit a byte an entry.
        self._counts.append(counts.astype(np.min_scalar_type(counts.max(initial=0))))


class _Overlay(dict[str, int]):
    """Numbers of words: those of `base`, then new ones after them; `base` is never touched."""

    def __init__(self, base: Mapping[str, int]) -> None:
        self._find, self._next = base.get, count(len(base)).__next__

    def __missing__(self, word: str) -> int:
        number = self._find(word)
        self[word] = number = self._next() if number is None else number
        return number

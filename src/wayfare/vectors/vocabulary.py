"""Words to row numbers, without a dictionary.

A dictionary of 400,000 words takes longer to build than all the rest of opening a cached file. The
words stand in one blob of UTF-8 instead, beside their 64-bit hashes in order; looking up is a
binary search and a comparison of bytes, for thousands of words in one NumPy call. Every array can
lie in a memory-mapped file and is only read.

The hash is `sum_p C[p] (byte_p + 1)` modulo 2^64 with fixed random `C`. Words that collide are
seen when the vocabulary is built, and another `C` is taken; a hit always compares the bytes, so no
unknown word is ever taken for a known one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["Vocabulary"]

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

SPAN = 256  # beyond so many bytes the coefficients repeat


class Vocabulary:
    """An immutable list of distinct words that knows the row of each."""

    def __init__(self, blob: Bytes, offsets: Ints, hashes: Hashes, order: Ints, seed: int) -> None:
        self.blob, self.offsets, self.hashes, self.order = blob, offsets, hashes, order
        self.seed = seed

    @classmethod
    def build(cls, words: Sequence[bytes]) -> tuple[Self, Ints]:
        """The vocabulary of `words` in UTF-8, and which of them it kept: the first of equals."""
        blob, offsets = _pack(words)
        for seed in range(1 << 16):
            hashes = _hash(blob, offsets, seed)
            order = np.argsort(hashes, kind="stable")
            ordered = hashes[order]
            repeats = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
            if all(words[order[i]] == words[order[i - 1]] for i in repeats):
                break
        if len(repeats) == 0:
            return cls(blob, offsets, ordered, order, seed), np.arange(len(words))
        # The sort is stable, so the first of a run of equal words is the first in the file.
        kept = np.sort(np.delete(order, repeats))
        vocabulary, _ = cls.build([words[i] for i in kept])
        return vocabulary, kept

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a cache has to keep, beside `seed`."""
        return {
            "blob": self.blob,
            "offsets": self.offsets,
            "hashes": self.hashes,
            "order": self.order,
        }

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words, by row."""
        raw, ends = self.blob.tobytes(), self.offsets.tolist()
        return tuple(raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends))

    def find(self, words: Sequence[str]) -> Ints:
        """The row of each word; -1 for a word that is not here."""
        if len(self) == 0 or len(words) == 0:
            return np.full(len(words), -1, dtype=np.int64)
        blob, offsets = _pack([word.encode("utf-8", "surrogatepass") for word in words])
        hashes = _hash(blob, offsets, self.seed)
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self) - 1)
        rows = np.where(self.hashes[place] == hashes, self.order[place], -1)
        return np.where(self._same_bytes(rows, blob, offsets), rows, -1)

    def _same_bytes(self, rows: Ints, blob: Bytes, offsets: Ints) -> NDArray[np.bool_]:
        lengths = np.diff(offsets)
        same: NDArray[np.bool_] = (rows >= 0) & (
            self.offsets[rows + 1] - self.offsets[rows] == lengths
        )
        hits = np.flatnonzero(same)
        if len(hits):
            steps, starts = _steps(lengths[hits])
            ours = self.blob[np.repeat(self.offsets[rows[hits]], lengths[hits]) + steps]
            theirs = blob[np.repeat(offsets[hits], lengths[hits]) + steps]
            differs = _sums(ours != theirs, starts, lengths[hits])
            same[hits] = differs == 0
        return same


def _pack(words: Sequence[bytes]) -> tuple[Bytes, Ints]:
    blob = np.frombuffer(b"".join(words), dtype=np.uint8)
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, words), dtype=np.int64, count=len(words)), out=offsets[1:])
    return blob, offsets


def _steps(lengths: Ints) -> tuple[Ints, Ints]:
    """0, 1, ..., n-1 for each length n in turn, and where each run starts."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(starts, lengths), starts


def _sums(values: NDArray[Any], starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    sums = np.zeros(len(lengths), dtype=np.uint64)
    full = lengths > 0  # reduceat gives an empty run the value at its start, not zero
    if full.any():
        sums[full] = np.add.reduceat(values, starts[full], dtype=np.uint64)
    return sums


def _hash(blob: Bytes, offsets: Ints, seed: int) -> Hashes:
    coefficients = np.random.PCG64(seed).random_raw(SPAN)
    lengths = np.diff(offsets)
    steps, starts = _steps(lengths)
    return _sums((blob.astype(np.uint64) + 1) * coefficients[steps % SPAN], starts, lengths)

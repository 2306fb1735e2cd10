"""fastText's model: a word is the mean of its own row and of those of its character n-grams.

The n-grams are those of "<word>", counted in characters; one n-gram shares a row with all others
that hash to the same bucket. A word that is not in the vocabulary has its n-grams all the same.
Vectors are made when they are asked for: opening a model of seven gigabytes reads its words only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayfare.vectors.store import (
    Floats,
    Ints,
    LoadReport,
    Mask,
    mean_of_runs,
    refuse_infinite,
    row_norms,
)
from wayfare.vectors.vocabulary import Vocabulary

__all__ = ["NgramModel", "Ngrams"]

WHOLE = "</s>"  # the end of a sentence: the one word that fastText gives no n-grams
BATCH = 4096  # words whose n-grams are alive at once


@dataclass(frozen=True)
class Ngrams:
    """Which n-grams count, `shortest` to `longest` characters, and into how many buckets."""

    shortest: int
    longest: int
    buckets: int

    def of(self, words: Sequence[str]) -> tuple[Ints, Ints]:
        """The bucket of every n-gram, and the number of the word that it belongs to."""
        raw = [f"<{word}>".encode("utf-8", "replace") for word in words]
        text = np.frombuffer(b"".join(raw), dtype=np.uint8)
        ends = np.cumsum(np.fromiter(map(len, raw), dtype=np.int64, count=len(raw)))
        starts = np.flatnonzero((text & 0xC0) != 0x80)  # of characters: not a continuation byte
        word_of = np.searchsorted(ends, starts, side="right")
        stops = np.append(starts, len(text))
        buckets, owners = [], []
        for n in range(max(self.shortest, 1), self.longest + 1):
            if self.buckets == 0 or n > len(starts):
                break
            first = np.arange(len(starts) - n + 1)
            inside = word_of[first] == word_of[first + n - 1]
            if n == 1:  # the two brackets alone do not count
                last = stops[first + 1] == ends[word_of[first]]
                inside &= (np.diff(word_of, prepend=-1) == 0) & ~last
            first = first[inside]
            hashes = _fnv(text, starts[first], stops[first + n])
            buckets.append(hashes.astype(np.int64) % self.buckets)
            owners.append(word_of[first])
        if not buckets:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.concatenate(buckets), np.concatenate(owners)


def _fnv(text: NDArray[np.uint8], starts: Ints, stops: Ints) -> NDArray[np.uint32]:
    """FNV-1a of each slice, with the sign extension that fastText's bytes have."""
    signed = text.view(np.int8).astype(np.int32).view(np.uint32)
    hashes = np.full(len(starts), 2166136261, dtype=np.uint32)
    longest = int((stops - starts).max()) if len(starts) else 0
    for k in range(longest):
        alive = np.flatnonzero(starts + k < stops)
        hashes[alive] = (hashes[alive] ^ signed[starts[alive] + k]) * np.uint32(16777619)
    return hashes


class NgramModel:
    """Rows of words, then rows of buckets; `content` is asked for a hash when one is wanted."""

    kind = "words"

    def __init__(
        self, vocabulary: Vocabulary, rows: Floats, ngrams: Ngrams, content: Callable[[], str]
    ) -> None:
        self._vocabulary, self._rows, self._ngrams = vocabulary, rows, ngrams
        self._first_bucket = len(rows) - ngrams.buckets
        self._content = content
        self.dim = int(rows.shape[1])
        self.report = LoadReport()

    def __len__(self) -> int:
        return len(self._vocabulary)

    def entries(self) -> tuple[str, ...]:
        """The words of the vocabulary, by row."""
        return self._vocabulary.words

    def gather(self, words: Sequence[str], *, subwords: bool) -> tuple[Floats, Mask]:
        """Means of word and n-grams; of n-grams alone for the other words if `subwords`."""
        batches = [
            self._gather(words[i : i + BATCH], subwords) for i in range(0, len(words), BATCH)
        ]
        if not batches:
            return np.zeros((0, self.dim), np.float32), np.zeros(0, np.bool_)
        return np.concatenate([b[0] for b in batches]), np.concatenate([b[1] for b in batches])

    def _gather(self, words: Sequence[str], subwords: bool) -> tuple[Floats, Mask]:
        rows = self._vocabulary.find(words)
        buckets, owners = self._ngrams.of(words)
        whole = np.array([word == WHOLE for word in words], dtype=np.bool_) & (rows >= 0)
        wanted = ~whole[owners]
        if not subwords:
            wanted &= rows[owners] >= 0
        stored = np.flatnonzero(rows >= 0)
        owner = np.concatenate([stored, owners[wanted]])
        ids = np.concatenate([rows[stored], buckets[wanted] + self._first_bucket])
        ids = ids[np.argsort(owner, kind="stable")]
        counts = np.bincount(owner, minlength=len(words))
        known = counts > 0
        points = mean_of_runs(self._rows, ids, counts[known])
        # Here and not at the door: a model of seven gigabytes is not read to be opened.
        refuse_infinite(points, words, known)
        return points, known

    def has_subwords(self) -> bool:
        """Whether the model was trained with n-grams."""
        return self._ngrams.buckets > 0 and self._ngrams.longest > 0

    def median_norm(self) -> float:
        """The median norm of the first 50,000 words, which are the most frequent."""
        points, _ = self.gather(self.entries()[:50_000], subwords=False)
        return float(np.median(row_norms(points))) if len(points) else 1.0

    def content(self) -> str:
        """A hash of the file."""
        return self._content()

"""What each query word reaches in a corpus: a column of cosines over all of its words, in bytes.

A column costs one product with the whole vocabulary, which is kept in 16-bit numbers for it, and most
words of a query were asked before: columns of late are kept, up to a limit on their bytes. Groups of
queries make theirs together, so that the vocabulary is read once for all of them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.many import Documents, Query

__all__ = ["MOST_BYTES", "Columns", "PackedWords", "columns_of"]

Column = NDArray[np.uint8]

MOST_BYTES = 256 * 2**20
# Columns made at once: what they are made into stays small beside what is kept.
GROUP = 256


@dataclass(frozen=True)
class PackedWords:
    """Points in 16-bit whole numbers, in the order in which a product wants them.

    `share` is the largest part of a point's length that its numbers are off by.
    """

    words: NDArray[np.int16]
    lengths: NDArray[np.float32]
    squared: NDArray[np.float32]
    share: float

    @classmethod
    def of(cls, points: NDArray[Any]) -> PackedWords:
        """Pack points, one a row."""
        from wayfare.kernels.cpu import tiles, word_columns

        blocks, pairs = -(-max(len(points), 1) // word_columns.BLOCK), _pairs(points)
        words = np.empty((blocks, tiles.PANELS, pairs, tiles.LANES, 2), np.int16)
        lengths = np.empty(blocks * word_columns.BLOCK, np.float32)
        squared = np.empty_like(lengths)
        with np.errstate(over="ignore"):
            share = word_columns.pack_words(points, words, lengths, squared)
        return cls(words, lengths, squared, share)

    def columns(self, points: NDArray[Any], eta: float) -> NDArray[np.uint8]:
        """A column of bytes for each of `points`, none below its cosines."""
        from wayfare.kernels.cpu import tiles, word_columns

        padded = -(-len(points) // tiles.GROUP) * tiles.GROUP
        query = np.empty((padded, 2 * self.words.shape[2]), np.int16)
        lengths, squared = np.empty(padded, np.float32), np.empty(padded, np.float32)
        share = word_columns.pack_query(points, query, lengths, squared)
        lost = self.share + share + self.share * share
        out = np.empty((len(points), len(self.lengths)), np.uint8)
        word_columns.byte_columns(
            self.words,
            self.lengths,
            self.squared,
            query,
            lengths,
            squared,
            lost,
            0.25 / eta**2,
            out,
        )
        return out


def _pairs(points: NDArray[Any]) -> int:
    return max(-(-int(points.shape[1]) // 2), 1)


class Columns:
    """The columns of the words of some documents, for any query; safe to share between threads.

    Each entry is `cos_+(|word - query point| / 2 eta)`, rounded up to a multiple of 1 / 254 at least;
    where it is 0, so is the cosine. A column is padded with zeros to a multiple of 64.
    """

    def __init__(self, points: NDArray[Any], most_bytes: int = MOST_BYTES) -> None:
        self._points = points
        self._packed: PackedWords | None = None
        self.length = -(-max(len(points), 1) // 64) * 64
        self._most = max(most_bytes // self.length, 1)
        self._kept: OrderedDict[tuple[float, bytes], Column] = OrderedDict()
        self._lock, self._packing = threading.Lock(), threading.Lock()

    def of(self, query: Query, eta: float) -> list[Column]:
        """One column for each point of the query, in their order."""
        return self._find([query], eta)[0]

    def prepare(self, queries: Sequence[Query], eta: float) -> list[list[Column]]:
        """The columns of several queries, made together."""
        return self._find(queries, eta)

    def __len__(self) -> int:
        return len(self._kept)

    def _find(self, queries: Sequence[Query], eta: float) -> list[list[Column]]:
        points = [query.points.astype(self._points.dtype, copy=False) for query in queries]
        keys = [[(eta, row.tobytes()) for row in some] for some in points]
        found: dict[tuple[float, bytes], Column] = {}
        missing: dict[tuple[float, bytes], NDArray[Any]] = {}
        with self._lock:
            for some, array in zip(keys, points, strict=True):
                for key, row in zip(some, array, strict=True):
                    if key in self._kept:
                        self._kept.move_to_end(key)
                        found[key] = self._kept[key]
                    elif key not in found:
                        missing[key] = row
        names, new = list(missing), list(missing.values())
        for start in range(0, len(names), GROUP):
            made = self._make(np.array(new[start : start + GROUP]), eta)
            found.update(zip(names[start : start + GROUP], made, strict=True))
        with self._lock:
            for name in names:
                self._kept[name] = found[name]
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return [[found[key] for key in some] for some in keys]

    def _make(self, points: NDArray[Any], eta: float) -> list[Column]:
        with self._packing:
            if self._packed is None:
                self._packed = PackedWords.of(self._points)
        made = self._packed.columns(points, eta)
        made[:, len(self._points) :] = 0
        # An array each: a kept column must not keep its whole group alive.
        return [column.copy() for column in made]


_making = threading.Lock()


def columns_of(documents: Documents) -> Columns:
    """The columns of the words of some documents, kept with these words."""
    with _making:
        store: dict[str, Any] = documents.shared.__dict__
        if "columns" not in store:
            store["columns"] = Columns(documents.table.points)
        columns: Columns = store["columns"]
        return columns

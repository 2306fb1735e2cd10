"""What each query word reaches in a corpus: a column of cosines over all of its words, in bytes.

A column costs one matrix product over the vocabulary, and most words of a query were asked before:
columns of late are kept, up to a limit on their bytes. Groups of queries make theirs together, so that
the vocabulary is read once for all of them.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.ground import CosineTable
from wayfare.many import Documents, Query

__all__ = ["MOST_BYTES", "Columns", "columns_of"]

Column = NDArray[np.uint8]

# Words whose products with the query are made, and used, while they are in cache.
BLOCK = 2048
MOST_BYTES = 256 * 2**20
# Columns made at once: the floats of a block of them stay in cache too.
GROUP = 256


class Columns:
    """The columns of the words of some documents, for any query; safe to share between threads.

    Each entry is `cos_+(|word - query point| / 2 eta)`, rounded up to a multiple of 1 / 254; where it
    is 0, the cosine is at most the `slack` of the table. A column is padded to a multiple of 64.
    """

    def __init__(self, table: CosineTable, most_bytes: int = MOST_BYTES) -> None:
        self._table = table
        self.length = -(-max(len(table.points), 1) // 64) * 64
        self._most = max(most_bytes // self.length, 1)
        self._kept: OrderedDict[tuple[float, bytes], Column] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, query: Query, eta: float) -> list[Column]:
        """One column for each point of the query, in their order."""
        return self._find([query], eta)[0]

    def prepare(self, queries: Sequence[Query], eta: float) -> list[list[Column]]:
        """The columns of several queries, made together."""
        return self._find(queries, eta)

    def __len__(self) -> int:
        return len(self._kept)

    def _find(self, queries: Sequence[Query], eta: float) -> list[list[Column]]:
        points = [query.points.astype(self._table.points.dtype, copy=False) for query in queries]
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
        from wayfare.kernels.cpu.word_bounds import round_up

        # An array each: a kept column must not keep its whole group alive.
        columns = [np.zeros(self.length, np.uint8) for _ in points]
        slack = self._table.slack(points, eta)
        for some, block in self._table.across(points, eta, BLOCK):
            for column, cosines in zip(columns, block, strict=True):
                round_up(cosines, column[some], slack)
        return columns


_making = threading.Lock()


def columns_of(documents: Documents) -> Columns:
    """The columns of the words of some documents, kept with these words."""
    with _making:
        store: dict[str, Any] = documents.shared.__dict__
        if "columns" not in store:
            store["columns"] = Columns(documents.table)
        columns: Columns = store["columns"]
        return columns

"""How often each term occurs in each document: what every weighting reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "segment_sums"]

BLOCK = 1 << 19  # entries handled at once: temporaries stay at a few megabytes


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each term occurs in each document: CSR rows, sorted, without zeros.

    `indptr` is (documents + 1,), `indices` numbers the terms, `values` holds the counts in
    float64 (a document-term matrix of the caller's may hold fractions); `terms` is how many terms
    there are.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    terms: int

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def rows(self, start: int, stop: int) -> Counts:
        """Documents `start` to `stop`, without copying their entries."""
        low, high = int(self.indptr[start]), int(self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - low
        return Counts(indptr, self.indices[low:high], self.values[low:high], self.terms)

    def blocks(self, entries: int = BLOCK) -> Iterator[tuple[int, Counts]]:
        """Runs of documents of about `entries` entries, each with the entry it starts at."""
        start = 0
        while start < len(self):
            goal = self.indptr[start] + entries
            stop = max(start + 1, int(np.searchsorted(self.indptr, goal, side="right")) - 1)
            yield int(self.indptr[start]), self.rows(start, stop)
            start = stop


def segment_sums(values: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum each run `values[indptr[i]:indptr[i + 1]]`; an empty run sums to 0.

    >>> segment_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 4.])
    """
    sums = np.zeros(len(indptr) - 1)
    filled = indptr[1:] > indptr[:-1]
    # reduceat has no notion of an empty run, but between non-empty ones nothing is left out.
    if filled.any():
        sums[filled] = np.add.reduceat(values, indptr[:-1][filled])
    return sums

"""One row a word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wayfare.vectors.store import Floats, LoadReport, Mask, digest, row_norms
from wayfare.vectors.vocabulary import Vocabulary

__all__ = ["Table"]

BLOCK = 1 << 16  # rows whose float64 copies are alive at once


class Table:
    """Words and their vectors. `matrix` may lie in a memory-mapped file; it is only read."""

    kind = "words"

    def __init__(
        self,
        vocabulary: Vocabulary,
        matrix: Floats,
        *,
        report: LoadReport | None = None,
        content: str | None = None,
        median_norm: float | None = None,
    ) -> None:
        self.vocabulary, self.matrix = vocabulary, matrix
        self.dim = int(matrix.shape[1])
        self.report = report or LoadReport()
        self._content, self._median_norm = content, median_norm

    def __len__(self) -> int:
        return len(self.vocabulary)

    def entries(self) -> tuple[str, ...]:
        """The words, by row."""
        return self.vocabulary.words

    def gather(self, words: Sequence[str], *, subwords: bool) -> tuple[Floats, Mask]:
        """The rows of the known words; there are no subwords."""
        rows = self.vocabulary.find(words)
        known = rows >= 0
        return np.asarray(self.matrix[rows[known]]), known

    def has_subwords(self) -> bool:
        """Never."""
        return False

    def median_norm(self) -> float:
        """The median norm of a row; 1 where there is none."""
        if self._median_norm is None:
            blocks = [self.matrix[i : i + BLOCK] for i in range(0, len(self), BLOCK)]
            norms = [row_norms(block) for block in blocks]
            self._median_norm = float(np.median(np.concatenate(norms))) if norms else 1.0
        return self._median_norm

    def content(self) -> str:
        """A hash of words and rows, whatever file they came from."""
        if self._content is None:
            self._content = digest(self.vocabulary.blob, self.vocabulary.offsets, self.matrix)
        return self._content

"""What stands behind `WordVectors`: three ways of keeping vectors, one interface.

Table        one row a word (table.py)
TokenModel   one row a token of a subword tokenizer; a word is the mean of its tokens (tokens.py)
NgramModel   one row a word and one a bucket of character n-grams: fastText (ngrams.py)
"""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import FormatError

__all__ = [
    "Floats",
    "Ints",
    "LoadReport",
    "Mask",
    "Store",
    "at_unit_length",
    "digest",
    "mean_of_runs",
    "refuse_infinite",
    "row_norms",
]

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

log = logging.getLogger("wayfare")

BLOCK = 2048  # rows whose float64 copies are alive at once


@dataclass(frozen=True)
class LoadReport:
    """What reading a file of vectors met, how often, and where first.

    `repeated` words, of which the first counts; `zero` rows, which have no direction; entries
    `skipped` under `on_error="skip"`.
    """

    repeated: int = 0
    first_repeated: str | None = None
    zero: int = 0
    first_zero: str | None = None
    skipped: int = 0
    first_skipped: str | None = None

    def log(self, path: Path) -> None:
        """Write a line for each kind to the log: a warning for what was left out."""
        for level, count, what, first in [
            (logging.WARNING, self.skipped, "skipped", self.first_skipped),
            (logging.INFO, self.repeated, "repeated", self.first_repeated),
            (logging.INFO, self.zero, "all zero", self.first_zero),
        ]:
            if count:
                log.log(level, "%s: entries %s: %d; first: %s", path, what, count, first)


class Store(Protocol):
    """Raw vectors, never normalised: that is up to `WordVectors`.

    `kind` names what is stored a row each: words, or the tokens that words are made of.
    """

    kind: str
    dim: int
    report: LoadReport

    def __len__(self) -> int:
        """How many entries are stored."""
        ...

    def entries(self) -> tuple[str, ...]:
        """What is stored, by row: words, or the tokens that words are made of."""
        ...

    def gather(self, words: Sequence[str], *, subwords: bool) -> tuple[Floats, Mask]:
        """A fresh array with the vectors of the known words, and which those are."""
        ...

    def has_subwords(self) -> bool:
        """Whether a word that is not stored can be made from parts."""
        ...

    def median_norm(self) -> float:
        """The median Euclidean norm of the stored entries."""
        ...

    def content(self) -> str:
        """A hash of all that decides the vectors."""
        ...


def row_norms(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    """Euclidean norms; in float64, where no float32 row can overflow or vanish."""
    wide = rows.astype(np.float64)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", wide, wide)))


def at_unit_length(points: Floats, known: Mask) -> tuple[Floats, Mask]:
    """Divide rows by their norms, in place; rows of zeros have no direction and are not known."""
    directed = np.ones(len(points), dtype=np.bool_)
    for start in range(0, len(points), BLOCK):
        block = points[start : start + BLOCK]
        norms = row_norms(block)
        directed[start : start + BLOCK] = norms > 0
        block /= np.where(norms > 0, norms, 1.0)[:, None]
    if not directed.all():
        known = known.copy()
        known[known] = directed
        points = points[directed]
    return points, known


def digest(*parts: bytes | NDArray[np.generic]) -> str:
    """A hash of bytes and arrays, with their types and shapes."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, bytes):
            state.update(b"%d bytes;" % len(part))
            state.update(part)
        else:
            state.update(f"{part.dtype.str} {part.shape};".encode())
            state.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return state.hexdigest()


def mean_of_runs(rows: Floats, ids: Ints, counts: Ints) -> Floats:
    """The mean of each run of `counts[i]` rows, summed in their order."""
    starts = np.cumsum(counts) - counts
    # Longest first: the words that still have a token at `position` are then the first so many,
    # and each pass is one gather and one addition.
    by_length = np.argsort(-counts, kind="stable")
    first, lengths = starts[by_length], counts[by_length]
    sums = np.zeros((len(counts), rows.shape[1]), dtype=np.float32)
    for position in itertools.count():
        alive = int(np.searchsorted(-lengths, -position, side="left"))
        if alive == 0:
            break
        # What is not finite is refused by name in the end.
        with np.errstate(over="ignore", invalid="ignore"):
            sums[:alive] += rows[ids[first[:alive] + position]]
    sums /= np.maximum(lengths, 1)[:, None].astype(np.float32)
    means = np.empty_like(sums)
    means[by_length] = sums
    return means


def refuse_infinite(points: Floats, words: Sequence[str], known: Mask) -> None:
    """Raise `FormatError` naming the first known word whose point is not finite."""
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        word = words[int(np.flatnonzero(known)[np.argmin(finite)])]
        raise FormatError(
            f"the vector of {word!r} comes out as NaN or infinity; the model is damaged, or its "
            "numbers are too large for float32"
        )

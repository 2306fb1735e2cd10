"""Documents on their way into a segment: new ones, and those of segments that it takes the place of.

Small segments would make every search slower, so an addition takes in the segments at the end that are
no larger than twice itself: sizes fall at least by half from one segment to the next, there are never
more than the logarithm of the number of documents, and each document is written as often at most.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.index import facets
from wayfare.index.segments import Segment
from wayfare.index.snapshot import SHELF, Shelf
from wayfare.weighting import segment_sums

__all__ = ["Part", "absorbed", "write_shelf"]

AT_ONCE = 1 << 16  # documents copied at a time
HEAVIEST = 4096  # words that are kept with their mass: twice what bounds ask for
LARGER = 2


@dataclass(frozen=True, eq=False)
class Part:
    """Documents as arrays; `keep` marks those that are wanted, None all."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64]
    numbers: NDArray[np.int64]
    codes: Mapping[str, NDArray[np.int32]]
    keep: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, shelf: Shelf, alive: NDArray[np.bool_] | None) -> Part:
        """What is left on a shelf."""
        some = shelf.documents
        return cls(some.indptr, some.indices, some.weights, shelf.numbers, shelf.codes, alive)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many entries each wanted document has."""
        return self.wanted(np.diff(self.indptr))

    def wanted(self, column: NDArray[Any]) -> NDArray[Any]:
        """Of one value a document, those of wanted documents."""
        return column if self.keep is None else column[self.keep]

    def entries(self, values: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Of one value an entry, those of wanted documents, a block at a time."""
        for start in range(0, len(self.numbers), AT_ONCE):
            stop = min(start + AT_ONCE, len(self.numbers))
            block = values[self.indptr[start] : self.indptr[stop]]
            if self.keep is not None:
                sizes = np.diff(self.indptr[start : stop + 1])
                block = block[np.repeat(self.keep[start:stop], sizes)]
            yield block

    def masses(self) -> NDArray[np.float64]:
        """The mass of each wanted document."""
        return self.wanted(segment_sums(self.weights, self.indptr))


def absorbed(shelves: Sequence[Shelf], fresh: int) -> int:
    """How many of the last shelves an addition of `fresh` documents takes in."""
    size = count = 0
    for shelf in reversed(shelves):
        if len(shelf) > LARGER * (fresh + size):
            break
        size += len(shelf)
        count += 1
    return count


def write_shelf(folder: Path, parts: Sequence[Part], terms: int) -> Segment:
    """Write the wanted documents of all parts as one segment."""
    sizes = np.concatenate([part.sizes for part in parts])
    heavy_points, heavy_masses = _heaviest(parts, terms)
    arrays: dict[str, tuple[Any, Any]] = {
        "indptr": (np.int64, [np.concatenate([[0], np.cumsum(sizes)])]),
        "indices": (np.int32, (b for part in parts for b in part.entries(part.indices))),
        "light": (np.float32, (b for part in parts for b in part.entries(part.weights))),
        "weights": (np.float64, (b for part in parts for b in part.entries(part.weights))),
        "masses": (np.float64, (part.masses() for part in parts)),
        "numbers": (np.int64, (part.wanted(part.numbers) for part in parts)),
        "heavy_points": (np.int64, [heavy_points]),
        "heavy_masses": (np.float64, [heavy_masses]),
        "longest": (np.int64, [np.array([sizes.max(initial=0)])]),
    }
    for name in sorted({name for part in parts for name in part.codes}):
        arrays[facets.ARRAY + name] = (np.int32, [_codes(part, name) for part in parts])
    return Segment.write(folder, f"{SHELF}{secrets.token_hex(6)}.segment", arrays)


def _codes(part: Part, name: str) -> NDArray[np.int32]:
    codes = part.codes.get(name)
    if codes is None:
        codes = np.full(len(part.numbers), facets.NONE, np.int32)
    return part.wanted(codes)


def _heaviest(parts: Sequence[Part], terms: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    mass = np.zeros(terms)
    for part in parts:
        blocks = zip(part.entries(part.indices), part.entries(part.weights), strict=True)
        for indices, weights in blocks:
            mass += np.bincount(indices, weights, terms)
    top = np.arange(terms)
    if terms > HEAVIEST:
        top = np.argpartition(mass, -HEAVIEST)[-HEAVIEST:]
    top = top[mass[top] > 0]
    top = top[np.argsort(-mass[top], kind="stable")]
    return top.astype(np.int64), mass[top]

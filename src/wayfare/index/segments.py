"""A segment: arrays in one file, written once and mapped into memory when it is read.

    magic, then each array from a multiple of 64 bytes

What lies where, and the checksum of each array, stands in the catalogue, in the same transaction
that makes the segment count.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexCorruptError

__all__ = ["BLOCK", "Place", "Segment", "checksum", "map_file"]

MAGIC = b"wayfare segment 1\n".ljust(64, b"\0")
ALIGNMENT = 64
BLOCK = 1 << 22  # bytes hashed and written at a time

Blocks = Iterable[NDArray[Any]]


@dataclass(frozen=True)
class Place:
    """Where an array lies in its file, what it is, and the checksum of its bytes."""

    dtype: str
    length: int
    offset: int
    checksum: str

    @property
    def bytes(self) -> int:
        """How many bytes the array takes."""
        return self.length * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Segment:
    """One file of arrays, as the catalogue knows it."""

    name: str
    size: int
    arrays: Mapping[str, Place]

    @classmethod
    def write(cls, folder: Path, name: str, arrays: Mapping[str, tuple[Any, Blocks]]) -> Segment:
        """Write arrays, each a type and its blocks in turn, and return when they are on the disk."""
        places = {}
        with (folder / name).open("xb") as file:
            file.write(MAGIC)
            for label, (dtype, blocks) in arrays.items():
                file.write(b"\0" * (-file.tell() % ALIGNMENT))
                places[label] = _append(file, np.dtype(dtype), blocks)
            size = file.tell()
            file.flush()
            os.fsync(file.fileno())
        return cls(name, size, places)

    def layout(self) -> str:
        """The places of the arrays, to be kept."""
        return json.dumps({label: asdict(place) for label, place in self.arrays.items()})

    @classmethod
    def kept(cls, name: str, size: int, layout: str) -> Segment:
        """What was kept, back."""
        places = {label: Place(**place) for label, place in json.loads(layout).items()}
        return cls(name, size, places)

    def open(self, folder: Path) -> dict[str, NDArray[Any]]:
        """The arrays, mapped; `IndexCorruptError` where the file is not as long as it was."""
        data = map_file(folder / self.name, self.size)
        return {
            label: np.frombuffer(data, place.dtype, place.length, place.offset)
            for label, place in self.arrays.items()
        }

    def faults(self, folder: Path) -> Iterator[str]:
        """Say which arrays are not what was written."""
        try:
            arrays = self.open(folder)
        except IndexCorruptError as error:
            yield str(error)
            return
        for label, place in self.arrays.items():
            if checksum([arrays[label]]) != place.checksum:
                yield f"{folder / self.name}: the array {label!r} was altered"


def _append(file: BinaryIO, dtype: np.dtype[Any], blocks: Blocks) -> Place:
    state, offset, length = hashlib.blake2b(digest_size=16), file.tell(), 0
    for block in blocks:
        array = np.ascontiguousarray(block, dtype=dtype)
        length += len(array)
        for part in _bytes_of(array):
            state.update(part)
            file.write(part)
    return Place(dtype.str, length, offset, state.hexdigest())


def checksum(blocks: Blocks) -> str:
    """The checksum of arrays in turn."""
    state = hashlib.blake2b(digest_size=16)
    for block in blocks:
        for part in _bytes_of(np.ascontiguousarray(block)):
            state.update(part)
    return state.hexdigest()


def _bytes_of(array: NDArray[Any]) -> Iterator[memoryview]:
    flat = array.reshape(-1).view(np.uint8).data
    return (flat[start : start + BLOCK] for start in range(0, len(flat), BLOCK))


def map_file(path: Path, size: int, *, grown: bool = False) -> mmap.mmap | bytes:
    """The first `size` bytes of a file, mapped; it may only be longer if it was `grown`."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found < size or (found > size and not grown):
                raise IndexCorruptError(
                    f"{path}: {found} bytes, and {size} were written; restore it from a copy, or "
                    "build the index again"
                )
            return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
    except FileNotFoundError:
        raise IndexCorruptError(
            f"{path}: it is missing; restore it from a copy, or build the index again"
        ) from None

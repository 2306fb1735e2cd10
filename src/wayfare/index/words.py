"""The words of an index as points: files that only ever grow, so that all segments share them.

    words-<token>.points     float32, a row a word
    words-<token>.squared    float32, the squared norm of each
    words-<token>.hashes     uint64, a hash of each

The catalogue says how many rows count. A writer appends and syncs before it commits that number; what
a killed one left beyond it is overwritten by the next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexCorruptError
from wayfare.index.segments import checksum, map_file
from wayfare.points import Points, hashes_of

__all__ = ["Growth", "append", "faults", "file_names", "open_points"]

KINDS: dict[str, np.dtype[Any]] = {
    "points": np.dtype("<f4"),
    "squared": np.dtype("<f4"),
    "hashes": np.dtype("<u8"),
}


@dataclass(frozen=True)
class Growth:
    """Rows that were appended together, and the checksum of the bytes of each file."""

    start: int
    stop: int
    points: str
    squared: str
    hashes: str


def file_names(token: str) -> dict[str, str]:
    """The files of the words, by what they hold."""
    return {kind: f"words-{token}.{kind}" for kind in KINDS}


def append(folder: Path, token: str, start: int, points: NDArray[np.float32]) -> Growth:
    """Write points as the rows from `start`, and return when they are on the disk."""
    arrays: dict[str, NDArray[Any]] = {
        "points": points,
        "squared": np.einsum("ij,ij->i", points, points, dtype=np.float64),
        "hashes": hashes_of(points),
    }
    sums = {}
    for kind, name in file_names(token).items():
        rows = np.ascontiguousarray(arrays[kind], dtype=KINDS[kind])
        width = points.shape[1] if kind == "points" else 1
        handle = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o666)
        with os.fdopen(handle, "r+b") as file:
            file.seek(start * width * rows.itemsize)
            file.write(rows.reshape(-1).view(np.uint8).data)
            file.flush()
            os.fsync(file.fileno())
        sums[kind] = checksum([rows])
    return Growth(start, start + len(points), **sums)


def open_points(folder: Path, token: str, rows: int, dim: int) -> Points:
    """The first `rows` words, mapped."""
    arrays = _open(folder, token, rows, dim)
    return Points(arrays["points"], squared=arrays["squared"], hashes=arrays["hashes"])


def _open(folder: Path, token: str, rows: int, dim: int) -> dict[str, NDArray[Any]]:
    arrays = {}
    for kind, name in file_names(token).items():
        shape = (rows, dim) if kind == "points" else (rows,)
        size = int(np.prod(shape)) * KINDS[kind].itemsize
        data = map_file(folder / name, size, grown=True)
        flat = np.frombuffer(data, KINDS[kind], int(np.prod(shape)))
        arrays[kind] = flat.reshape(shape)
    return arrays


def faults(folder: Path, token: str, rows: int, dim: int, growths: list[Growth]) -> Iterator[str]:
    """Say which rows are not what was written."""
    try:
        arrays = _open(folder, token, rows, dim)
    except IndexCorruptError as error:
        yield str(error)
        return
    for growth in growths:
        for kind, name in file_names(token).items():
            part = arrays[kind][growth.start : growth.stop]
            if checksum([part]) != getattr(growth, kind):
                yield f"{folder / name}: the rows {growth.start} to {growth.stop} were altered"

"""Parsed vectors on disk, memory-mapped when they are opened again.

    $WAYFARE_CACHE or the user's cache directory / vectors /
        <key>.table       one parsed file: a JSON header, then the arrays of `Table`
        <path>.source     the content hash of one file that was read, and how that file looked

**Keyed by content.** A table's key is the hash of every byte of the files it was read from, with
the arguments that change the outcome. So that opening need not read 400 MB again, the hash of a
file is remembered beside its path, size, inode, and times of change to the nanosecond; a file for
which any of these differs is hashed anew. A file that changed within the last two seconds is never
remembered: it could change again within the clock's grain.

**Written atomically.** A table is written under a name of its own and renamed when it is whole. Of
two processes that race both write the same bytes, and the last rename wins.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from wayfare.atomic import PART, whole_file
from wayfare.progress import Progress
from wayfare.vectors.store import LoadReport
from wayfare.vectors.table import Table
from wayfare.vectors.vocabulary import Vocabulary

__all__ = [
    "CacheEntry",
    "CacheInfo",
    "cache_info",
    "clear_cache",
    "hash_of",
    "key",
    "load",
    "looks",
    "save",
]

LAYOUT = 2  # part of every key: changes whenever the layout or a reader's outcome changes
MAGIC = b"wayfare table\n"
ALIGNMENT = 64
SETTLED = 2_000_000_000  # nanoseconds after which a file's times can be relied upon
BLOCK = 1_000_000  # bytes hashed at a time
SMALLEST = 1 << 20  # bytes; parsing less takes no longer than opening a cache


@dataclass(frozen=True)
class CacheEntry:
    """One cached table: the file it came from, its shape, and its size on disk in bytes."""

    source: str
    words: int
    dim: int
    bytes: int


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds, and where; `bytes` counts everything in it."""

    directory: Path
    entries: tuple[CacheEntry, ...]
    bytes: int


def cache_info() -> CacheInfo:
    """What the cache of parsed vectors holds.

    >>> cache_info().bytes >= 0
    True
    """
    entries, total = [], 0
    for path in _files():
        with contextlib.suppress(OSError, ValueError, KeyError):
            size = path.stat().st_size
            total += size
            if path.suffix == ".table":
                with path.open("rb") as file:
                    header, _ = _read_header(file)
                entries.append(CacheEntry(header["source"], header["words"], header["dim"], size))
    return CacheInfo(_directory(), tuple(entries), total)


def clear_cache() -> CacheInfo:
    """Delete all cached vectors, and return what there was.

    Vectors that are open stay usable. Files that cannot be deleted, because another process on
    Windows holds them open, stay.
    """
    before = cache_info()
    for path in _files():
        with contextlib.suppress(OSError):
            path.unlink()
    return before


def hash_of(paths: Iterable[Path], *, progress: bool | None = False) -> str:
    """The hash of all bytes of these files; remembered while they do not change."""
    hashes = "\n".join(_hash_one(path, progress) for path in paths)
    return hashlib.blake2b(hashes.encode(), digest_size=16).hexdigest()


def key(
    paths: Iterable[Path], arguments: Mapping[str, object], *, progress: bool | None = False
) -> str:
    """The key of the table that reading `paths` with `arguments` gives."""
    told = json.dumps([LAYOUT, hash_of(paths, progress=progress), arguments], sort_keys=True)
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def load(name: str) -> Table | None:
    """The cached table of this key; None if there is none, or it is not whole."""
    path = _directory() / f"{name}.table"
    try:
        with path.open("rb") as file:
            header, start = _read_header(file)
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _table(header, data, start) if len(data) == header["size"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _table(header: dict[str, Any], data: mmap.mmap, start: int) -> Table:
    arrays = {
        name: np.frombuffer(data, dtype, int(np.prod(shape)), start + offset).reshape(shape)
        for name, (dtype, shape, offset) in header["arrays"].items()
    }
    matrix = arrays.pop("matrix")
    return Table(
        Vocabulary(**arrays, seed=header["seed"]),
        matrix,
        report=LoadReport(**header["report"]),
        content=header["content"],
        median_norm=header["median_norm"],
    )


def save(name: str, table: Table, source: Path) -> Table:
    """Keep `table` under this key, and return it as the cache has it."""
    arrays = table.vocabulary.arrays() | {"matrix": table.matrix}
    places, end = {}, 0
    for label, array in arrays.items():
        places[label] = (array.dtype.str, array.shape, end)
        end += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    header = {
        "source": str(source),
        "words": len(table),
        "dim": table.dim,
        "seed": table.vocabulary.seed,
        "report": asdict(table.report),
        "content": table.content(),
        "median_norm": table.median_norm(),
        "arrays": places,
    }
    head = _header_bytes(header, end)
    try:
        with _kept(f"{name}.table") as file:
            file.write(head)
            for array in arrays.values():
                file.write(np.ascontiguousarray(array).data)
                file.write(b"\0" * (-array.nbytes % ALIGNMENT))
    except OSError as error:
        # On Windows a table that is open cannot be replaced; then an equal one is there already.
        if load(name) is None:
            warnings.warn(
                f"the parsed vectors could not be kept in {_directory()} ({error}); set "
                "WAYFARE_CACHE to a directory with room, or pass cache=False",
                RuntimeWarning,
                stacklevel=4,
            )
    return load(name) or table


def _header_bytes(header: dict[str, Any], length: int) -> bytes:
    # The size of the file is in its header; spaces keep the header's own length from mattering.
    room = -(-(len(json.dumps(header)) + 64) // ALIGNMENT) * ALIGNMENT
    start = len(MAGIC) + 8 + room
    room += -start % ALIGNMENT
    header["size"] = len(MAGIC) + 8 + room + length
    return MAGIC + room.to_bytes(8, "little") + json.dumps(header).encode().ljust(room)


def _read_header(file: IO[bytes]) -> tuple[dict[str, Any], int]:
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError("not a cached table")
    room = int.from_bytes(file.read(8), "little")
    if room > 1 << 20:
        raise ValueError("not a cached table")
    header = json.loads(file.read(room))
    return header, len(MAGIC) + 8 + room


def _hash_one(path: Path, progress: bool | None) -> str:
    path = path.resolve()
    name = hashlib.blake2b(os.fsencode(path), digest_size=16).hexdigest()
    note = _directory() / f"{name}.source"
    seen = looks(path)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads(note.read_text(encoding="utf-8"))
        if told["looks"] == seen:
            return str(told["hash"])
    found = _hash_bytes(path, progress)
    settled = time.time_ns() - max(seen[-2:]) > SETTLED
    if settled and seen[1] >= SMALLEST and looks(path) == seen:
        told = {"path": str(path), "looks": seen, "hash": found}
        with contextlib.suppress(OSError), _kept(note.name) as out:
            out.write(json.dumps(told).encode())
    return found


def _hash_bytes(path: Path, progress: bool | None) -> str:
    state = hashlib.blake2b(digest_size=16)
    total = path.stat().st_size // BLOCK
    with (
        path.open("rb") as file,
        Progress(f"checking {path.name}", total=total, unit="MB", show=progress) as bar,
    ):
        while block := file.read(BLOCK):
            state.update(block)
            bar.advance(len(block) // BLOCK)
    return state.hexdigest()


def looks(path: Path) -> list[int]:
    """What changes when a file does."""
    seen = path.stat()
    return [seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns]


@contextlib.contextmanager
def _kept(name: str) -> Iterator[IO[bytes]]:
    directory = _directory()
    directory.mkdir(parents=True, exist_ok=True)
    with whole_file(directory / name) as file:
        yield file


def _files() -> Sequence[Path]:
    directory = _directory()
    if not directory.is_dir():
        return []
    return sorted(p for p in directory.iterdir() if p.suffix in (".table", ".source", PART))


def _directory() -> Path:
    if chosen := os.environ.get("WAYFARE_CACHE"):
        return Path(chosen).expanduser() / "vectors"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "wayfare" / "vectors"

"""Pieces: what one task reads to make one shard.

    files        whole files; a large plain file of lines in ranges of bytes, Parquet in row groups
    partitions   of a Dask bag or dataframe, as Dask cut them

A piece of a file is copied out into a file of its own, which the ordinary readers then read: there is
one reader for each format, and it knows nothing of pieces.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from wayfare.errors import FormatError, InputError
from wayfare.extras import require

__all__ = ["Piece", "Span", "cut", "find_files", "opened"]

LINES = (".jsonl", ".ndjson", ".txt", ".text")
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Span:
    """Part of a file: bytes of whole lines, or row groups, from `start` to `stop`; None is all of it."""

    url: str
    size: int
    changed: str
    start: int | None = None
    stop: int | None = None

    @property
    def name(self) -> str:
        """What an error calls it."""
        if self.start is None:
            return self.url
        unit = "row groups" if self.url.lower().endswith(PARQUET) else "bytes"
        return f"{self.url} ({unit} {self.start:,} to {self.stop:,})"


Piece = tuple[Span, ...]


def find_files(pattern: str | os.PathLike[str] | Sequence[Any]) -> list[Span]:
    """The files of a glob, or of several, in the order of their names."""
    fsspec = require("fsspec", extra="dask")
    patterns = [pattern] if isinstance(pattern, str | os.PathLike) else list(pattern)
    found: list[Span] = []
    for one in patterns:
        name = os.fspath(one)
        try:
            system, path = fsspec.core.url_to_fs(name)
        except (ValueError, ImportError) as error:
            raise InputError(f"source: {name!r} cannot be reached ({error})") from None
        matches = sorted(system.glob(path)) if any(c in path for c in "*?[") else [path]
        files = [str(match) for match in matches if system.isfile(match)]
        if not files:
            raise InputError(
                f"source: no file matches {name!r}; give a glob such as 'docs/*.jsonl'"
            )
        for file in files:
            told = system.info(file)
            changed = str(told.get("mtime") or told.get("ETag") or told.get("created") or "")
            found.append(Span(system.unstrip_protocol(file), int(told["size"]), changed))
    return found


def cut(files: Sequence[Span], shards: int) -> list[Piece]:
    """At most `shards` pieces of about one size, in the order of the files.

    All files stand in one row, which is cut at even distances: plain lines at the next line, Parquet at
    the nearest row group, compressed files only between them.
    """
    total = max(sum(file.size for file in files), 1)
    edges = [total * n // shards for n in range(1, shards)]
    pieces: list[list[Span]] = [[] for _ in range(shards)]
    before = 0
    for file in files:
        inside = [edge - before for edge in edges if 0 < edge - before < file.size]
        for part, middle in _cut_one(file, inside):
            pieces[min(int((before + middle) * shards // total), shards - 1)].append(part)
        before += file.size
    return [tuple(piece) for piece in pieces if piece]


def _cut_one(file: Span, places: Sequence[int]) -> list[tuple[Span, float]]:
    """The parts of a file cut at about these bytes, each with the byte of its middle."""
    whole, scale = file.size, 1.0
    ends: set[int] = set()
    if places and file.url.lower().endswith(LINES):
        ends = _line_starts(file, places)
    elif places and file.url.lower().endswith(PARQUET):
        whole = _row_groups(file)
        scale = file.size / max(whole, 1)
        ends = {round(place / scale) for place in places}
    ends -= {0, whole}
    if not ends:
        return [(file, file.size / 2)]
    marks = [0, *sorted(ends), whole]
    return [
        (replace(file, start=start, stop=stop), (start + stop) / 2 * scale)
        for start, stop in itertools.pairwise(marks)
    ]


def _line_starts(file: Span, places: Sequence[int]) -> set[int]:
    starts = set()
    with _open(file.url) as stream:
        for place in places:
            stream.seek(place)
            stream.readline()
            starts.add(min(stream.tell(), file.size))
    return starts


def _row_groups(file: Span) -> int:
    from pyarrow.parquet import ParquetFile

    with _open(file.url) as stream:
        try:
            return int(ParquetFile(stream).num_row_groups)
        except (ValueError, OSError) as error:
            raise FormatError(f"it is not a Parquet file ({error})", path=file.url) from None


def _open(url: str) -> IO[bytes]:
    fsspec = require("fsspec", extra="dask")
    stream: IO[bytes] = fsspec.open(url, "rb").open()
    return stream


@contextmanager
def opened(span: Span) -> Iterator[Path]:
    """The span as a file of this machine that the readers can read; errors name the span."""
    fsspec = require("fsspec", extra="dask")
    system, path = fsspec.core.url_to_fs(span.url)
    with tempfile.TemporaryDirectory(prefix="wayfare-piece-") as folder:
        here = Path(folder, span.url.rpartition("/")[2])
        try:
            if span.start is None and getattr(system, "protocol", ("",))[0] in ("file", "local"):
                here = Path(path)
            elif span.start is None:
                system.get_file(path, str(here))
            elif span.url.lower().endswith(PARQUET):
                _copy_row_groups(span, here)
            else:
                _copy_bytes(span, here)
            yield here
        except FormatError as error:
            raise _renamed(error, span, here) from None


def _copy_bytes(span: Span, here: Path) -> None:
    assert span.start is not None
    assert span.stop is not None
    with _open(span.url) as source, here.open("wb") as target:
        source.seek(span.start)
        left = span.stop - span.start
        while left and (data := source.read(min(left, 1 << 20))):
            target.write(data)
            left -= len(data)


def _copy_row_groups(span: Span, here: Path) -> None:
    from pyarrow.parquet import ParquetFile, ParquetWriter

    assert span.start is not None
    assert span.stop is not None
    with _open(span.url) as source:
        file = ParquetFile(source)
        with ParquetWriter(str(here), file.schema_arrow) as target:
            for group in range(span.start, span.stop):
                target.write_table(file.read_row_group(group))


def _renamed(error: FormatError, span: Span, here: Path) -> FormatError:
    text = str(error).replace(str(here), span.name)
    return FormatError(text)

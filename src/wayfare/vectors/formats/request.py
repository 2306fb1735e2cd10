"""What a reader is asked for, and the bytes it reads: plain or gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from wayfare.errors import FormatError
from wayfare.progress import Progress

__all__ = ["CHUNK", "GZIP", "OnError", "Request", "Stream", "content_of", "open_stream"]

GZIP = b"\x1f\x8b"
CHUNK = 1 << 24  # bytes read, and parsed, at a time
MEGABYTE = 1_000_000

OnError = Literal["raise", "skip"]


@dataclass(frozen=True)
class Request:
    """A file or folder, and the arguments of `WordVectors.load` that readers heed.

    `on_error` is None for what is no file, where a caller has nothing to pass it to.
    """

    path: Path
    limit: int | None = None
    vocabulary: Path | None = None
    on_error: OnError | None = "raise"
    trust: bool = False
    progress: bool | None = None


class Stream:
    """The content of a file, decompressed, with its progress shown."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile, raw: IO[bytes], progress: Progress) -> None:
        self._file, self._raw, self._progress = file, raw, progress

    def read(self, size: int = CHUNK) -> bytes:
        """Up to `size` bytes; none at the end."""
        piece = self._file.read(size)
        self._progress.advance(self._raw.tell() // MEGABYTE - self._progress.done)
        return piece


@contextmanager
def open_stream(path: Path, *, progress: bool | None = False) -> Iterator[Stream]:
    """The content of `path`; a damaged or shortened gzip member is a `FormatError`."""
    with path.open("rb") as raw:
        zipped = raw.read(2) == GZIP
        raw.seek(0)
        total = path.stat().st_size // MEGABYTE
        bar = Progress(f"reading {path.name}", total=total, unit="MB", show=progress)
        try:
            with bar:
                if not zipped:
                    yield Stream(raw, raw, bar)
                    return
                with gzip.open(raw) as file:
                    yield Stream(file, raw, bar)
        except EOFError:
            raise FormatError(
                "the gzip data end early; the file was cut short, fetch it again", path=path
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise FormatError(
                f"the gzip data are damaged ({error}); fetch the file again", path=path
            ) from None


def content_of(path: Path) -> bytes:
    """All of a file, decompressed."""
    with open_stream(path) as stream:
        return b"".join(iter(stream.read, b""))

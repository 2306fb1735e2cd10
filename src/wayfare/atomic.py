"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import IO

__all__ = ["PART", "whole_file"]

PART = ".part"  # how the names of unfinished files end


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Write to a file beside `path` that takes its place when the block ends, never before.

    If the block raises, `path` is as it was and nothing else stays. Processes that write the same
    path at once do not meet; the last one's file stays.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "words.txt")
    ...     with whole_file(path) as file:
    ...         _ = file.write(b"river"); there = path.exists()
    ...     there, path.read_bytes()
    (False, b'river')
    """
    # Not tempfile: its files can be read by their owner alone, and would keep that in their place.
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(8)}{PART}")
    try:
        file = unfinished.open("xb")
    except OSError as error:
        error.filename = str(path)  # the name that was given, which says more
        raise
    try:
        with file:
            yield file
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)

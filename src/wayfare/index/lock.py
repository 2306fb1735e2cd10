"""One writer at a time: a lock on a file, which the system lets go when its process ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wayfare.errors import IndexFailure, IndexLockedError

__all__ = ["LOCK", "writing"]

LOCK = "write.lock"

if sys.platform == "win32":
    import msvcrt

    BEYOND = 1 << 30  # Windows keeps others from reading what is locked: lock what nobody reads

    def _lock(handle: int) -> None:
        os.lseek(handle, BEYOND, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Be the one writer of an index; `IndexLockedError` at once where there is another."""
    path = folder / LOCK
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise IndexFailure(
            f"{folder}: it cannot be written to ({error.strerror}); reading it is still possible"
        ) from error
    try:
        try:
            _lock(handle)
        except OSError:
            raise IndexLockedError(_held(folder, path)) from None
        with suppress(OSError):  # a full disk: then nobody learns who holds it
            os.truncate(handle, 0)
            os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        os.close(handle)


def _held(folder: Path, path: Path) -> str:
    holder = ""
    with suppress(OSError, ValueError):
        holder = f" (process {int(path.read_bytes() or b'x')})"
    return f"{folder}: another writer is at work{holder}; try again when it is done"

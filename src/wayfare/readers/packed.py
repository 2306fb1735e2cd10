"""Compressed bytes as a stream that notices when they are cut off."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol

__all__ = ["Unpacked"]

# A few bytes can stand for megabytes. What one chunk unpacks to is held at once, so chunks are
# small: at the worst ratio of gzip 2 MB, at that of Zstandard 64 MB.
CHUNK = 1 << 11


class _Member(Protocol):
    """What `zlib.decompressobj` and Zstandard's `decompressobj` have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class Unpacked(io.RawIOBase):
    """Unpacks the members (gzip) or frames (Zstandard) of `packed`; `start` begins each.

    Raises `EOFError` inside a member, after giving all that could be unpacked: the libraries'
    own streams lose what they had read ahead (gzip) or end quietly (zstandard).
    """

    def __init__(self, packed: BinaryIO, start: Callable[[], _Member]) -> None:
        self._packed, self._start = packed, start
        self._member: _Member | None = None
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        """Bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with what comes next; 0 at the end."""
        while not self._unpacked:
            chunk = self._packed.read(CHUNK)
            if not chunk:
                if self._member is not None:
                    raise EOFError
                return 0
            self._unpacked = memoryview(self._unpack(chunk))
        count = min(len(buffer), len(self._unpacked))
        buffer[:count] = self._unpacked[:count]
        self._unpacked = self._unpacked[count:]
        return count

    def _unpack(self, chunk: bytes) -> bytes:
        parts = []
        while chunk:
            if self._member is None:
                # Zeros may follow a member, to fill a block of a tape.
                chunk = chunk.lstrip(b"\0")
                if not chunk:
                    break
                self._member = self._start()
            parts.append(self._member.decompress(chunk))
            chunk = b""
            if self._member.eof:
                chunk, self._member = self._member.unused_data, None
        return b"".join(parts)

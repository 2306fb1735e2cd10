"""Zstandard frames as a stream that notices when the last one is cut off."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO

__all__ = ["ZstdStream"]

CHUNK = 1 << 16


class ZstdStream(io.RawIOBase):
    """Unpacks the frames of `packed`; `zstandard` is the module, which is optional.

    The module's own stream readers end quietly in the middle of a frame. This one raises
    `EOFError`, as gzip does.
    """

    def __init__(self, packed: BinaryIO, zstandard: Any) -> None:
        self._packed = packed
        self._start: Callable[[], Any] = lambda: zstandard.ZstdDecompressor().decompressobj()
        self._frame = self._start()
        self._unpacked = memoryview(b"")
        self._inside = False  # a frame has begun and not ended

    def readable(self) -> bool:
        """Bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer` with what comes next; 0 at the end."""
        while not self._unpacked:
            chunk = self._packed.read(CHUNK)
            if not chunk:
                if self._inside:
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
            parts.append(self._frame.decompress(chunk))
            self._inside, chunk = not self._frame.eof, b""
            if self._frame.eof:
                chunk, self._frame = self._frame.unused_data, self._start()
        return b"".join(parts)

"""word2vec binary: a header line, then for each word its bytes, a space, and float32 numbers.

Some writers put a newline before each word, some do not; both are read.
"""

from __future__ import annotations

import numpy as np

from wayfare.errors import FormatError
from wayfare.vectors.formats.builder import Builder
from wayfare.vectors.formats.request import CHUNK, Request, Stream, open_stream
from wayfare.vectors.formats.text import header_of
from wayfare.vectors.table import Table

__all__ = ["read"]

WIDEST = 1_000_000  # dimensions; a header that says more is none
LONGEST_WORD = 1 << 16  # bytes; without a space for longer, this is no such file


def read(request: Request) -> Table:
    """Read binary vectors; `FormatError` names the word at which a file goes wrong."""
    with open_stream(request.path, progress=request.progress) as stream:
        buffer = stream.read(CHUNK)
        header = header_of(buffer)
        if header is None or not 0 < header[1] <= WIDEST:
            raise FormatError(
                "expected a first line with the numbers of words and of dimensions, the latter "
                f"from 1 to {WIDEST}",
                path=request.path,
                line=1,
            )
        promised, dim, start = header
        builder = Builder(request, dim, unit="word")
        return _entries(request, builder, stream, buffer[start:], promised, dim)


def _entries(
    request: Request, builder: Builder, stream: Stream, buffer: bytes, promised: int, dim: int
) -> Table:
    done = 0
    while True:
        words, vectors, used = _whole(buffer, 4 * dim, promised - done)
        if words:
            rows = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(words), dim)
            builder.add(words, rows, range(done + 1, done + len(words) + 1))
            done += len(words)
        if builder.full or done == promised:
            break
        piece = stream.read(CHUNK)
        buffer = buffer[used:] + piece
        _stop_if_lost(request, buffer, dim, done, promised, ended=not piece)
    if not builder.full and (buffer[used:] + stream.read(1)).strip(b"\r\n"):
        raise FormatError(
            f"the header promises {promised} words of {dim} numbers, and more follows them: "
            "the header is wrong",
            path=request.path,
        )
    return builder.table()


def _stop_if_lost(
    request: Request, buffer: bytes, dim: int, done: int, promised: int, *, ended: bool
) -> None:
    if len(buffer) > LONGEST_WORD and b" " not in buffer[:LONGEST_WORD]:
        raise FormatError(
            f"word {done + 1} has no end: these are not words and {dim} numbers each",
            path=request.path,
        )
    if ended:
        raise FormatError(
            f"the header promises {promised} words, the file ends in word {done + 1}: "
            "it was cut short, fetch it again",
            path=request.path,
        )


def _whole(buffer: bytes, width: int, most: int) -> tuple[list[bytes], list[bytes], int]:
    """The entries that `buffer` holds whole, at most `most`, and how many bytes they take."""
    words: list[bytes] = []
    vectors: list[bytes] = []
    place = 0
    while len(words) < most:
        space = buffer.find(b" ", place)
        end = space + 1 + width
        if space < 0 or end > len(buffer):
            break
        words.append(buffer[place:space].lstrip(b"\n"))
        vectors.append(buffer[space + 1 : end])
        place = end
    return words, vectors, place

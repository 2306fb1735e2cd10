"""fastText's `.bin`: settings, words, then one array with the rows of words and of n-grams.

The layout is that of fastText's own `FastText::saveModel`, version 12. Only the words are read; the
array is memory-mapped. Compressed models (`.ftz`) are not read.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from wayfare.errors import FormatError, InputError
from wayfare.vectors.cache import hash_of
from wayfare.vectors.formats.request import GZIP, Request, content_of
from wayfare.vectors.ngrams import NgramModel, Ngrams
from wayfare.vectors.store import Floats
from wayfare.vectors.vocabulary import Vocabulary

__all__ = ["MAGIC", "read"]

MAGIC = struct.pack("<i", 793712314)
SETTINGS = struct.Struct("<4s13id")  # magic, version, twelve settings, the sampling threshold
COUNTS = struct.Struct("<3i2q")  # entries, words, labels, tokens, pruned buckets
SHAPE = struct.Struct("<?2q")  # quantised, rows, columns
COUNT_AND_KIND = 9  # bytes after each word: how often, and whether a word or a label
Content: TypeAlias = bytes | mmap.mmap

DIM, BUCKETS, SHORTEST, LONGEST = 2, 10, 11, 12  # places in SETTINGS


@dataclass
class _Cursor:
    path: Path
    data: Content
    place: int = 0

    def take(self, layout: struct.Struct) -> tuple[int, ...]:
        if self.place + layout.size > len(self.data):
            raise FormatError("the file was cut short; fetch it again", path=self.path)
        values = layout.unpack_from(self.data, self.place)
        self.place += layout.size
        return values


def read(request: Request) -> NgramModel:
    """Open a model; `FormatError` if it is cut short, compressed or of another version."""
    if request.limit is not None:
        raise InputError(
            "limit: a fastText .bin is opened without reading its vectors; leave limit out, or "
            "load the .vec file of the same model"
        )
    path = request.path
    cursor = _Cursor(path, _content(path))
    settings = cursor.take(SETTINGS)
    if settings[1] != 12:
        raise FormatError(f"version {settings[1]} of the format; expected 12", path=path)
    entries, words, labels, _, pruned = cursor.take(COUNTS)
    if entries != words + labels or words < 0 or labels < 0:
        raise FormatError(f"{words} words and {labels} labels of {entries} entries", path=path)
    vocabulary = _words(cursor, entries, words)
    if pruned > 0:
        raise FormatError("a pruned model; give the .bin it was made from", path=path)
    quantised, rows, columns = cursor.take(SHAPE)
    if quantised:
        raise FormatError("a compressed model (.ftz); give the .bin it was made from", path=path)
    buckets = settings[BUCKETS] if settings[LONGEST] > 0 else 0
    if columns != settings[DIM] or columns < 1 or buckets < 0 or rows < words + buckets:
        raise FormatError(
            f"an array of {rows} x {columns} for {words} words, {buckets} buckets and "
            f"{settings[DIM]} dimensions; the file is damaged",
            path=path,
        )
    ngrams = Ngrams(settings[SHORTEST], settings[LONGEST], buckets)
    matrix = _matrix(cursor, rows, columns)
    return NgramModel(vocabulary, matrix[: words + buckets], ngrams, partial(_hash, path))


def _hash(path: Path) -> str:
    try:
        return hash_of([path])
    except OSError as error:
        raise FormatError(f"can no longer be read ({error.strerror})", path=path) from None


def _content(path: Path) -> Content:
    with path.open("rb") as raw:
        if raw.read(2) != GZIP:
            return mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
    return content_of(path)


def _words(cursor: _Cursor, entries: int, words: int) -> Vocabulary:
    found = []
    for entry in range(entries):
        end = cursor.data.find(b"\0", cursor.place)
        after = end + 1 + COUNT_AND_KIND
        if end < 0 or after > len(cursor.data):
            raise FormatError(f"the file ends in word {entry + 1} of {entries}", path=cursor.path)
        if entry < words:  # labels come after the words
            found.append(cursor.data[cursor.place : end])
        cursor.place = after
    vocabulary, kept = Vocabulary.build(found)
    if len(kept) < len(found):
        raise FormatError("a word stands in it twice; the file is damaged", path=cursor.path)
    return vocabulary


def _matrix(cursor: _Cursor, rows: int, columns: int) -> Floats:
    if cursor.place + 4 * rows * columns > len(cursor.data):
        raise FormatError("the file was cut short; fetch it again", path=cursor.path)
    flat = np.frombuffer(cursor.data, dtype="<f4", count=rows * columns, offset=cursor.place)
    return flat.reshape(rows, columns)

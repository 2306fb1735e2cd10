"""Words and raw rows to a file, a block at a time; what is written, `load` reads back unchanged.

    .txt    GloVe text
    .vec    the same after a line `words dimensions`: word2vec text, fastText .vec
    .bin    word2vec binary
    .npy    an array, and beside it X.vocab.txt with a word a line

A name that ends in `.gz` after any of these is gzip.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np

from wayfare.atomic import whole_file
from wayfare.errors import InputError
from wayfare.vectors.formats.numpy_pair import words_beside
from wayfare.vectors.store import Floats

__all__ = ["Content", "write"]

GZ = ".gz"
BLOCK = 1 << 13  # rows at a time

# What would not come back: from a line of UTF-8, and from between spaces.
NO_LINE = re.compile(r"[\n\ud800-\udfff]|\r\Z")
NO_FIELD = re.compile(r"[ \t\n\r\v\f\ud800-\udfff]|\A\ufeff|\A\Z")


@dataclass(frozen=True)
class Content:
    """What is to be written: distinct words, and a function that gives the rows of some of them."""

    words: Sequence[str]
    dim: int
    rows: Callable[[Sequence[str]], Floats]

    def blocks(self) -> Iterator[tuple[Sequence[str], Floats]]:
        """Words and their rows, some thousands at a time."""
        for start in range(0, len(self.words), BLOCK):
            words = self.words[start : start + BLOCK]
            yield words, self.rows(words)


def write(path: Path, content: Content) -> tuple[Path, ...]:
    """Write `content` as the name of `path` says, and return the paths of all that was written.

    Raises `InputError` for a name that says no format, for words that the format cannot hold, and
    for a place that cannot be written to; what stood there before is then as it was.
    """
    suffix = Path(path.name.removesuffix(GZ)).suffix
    if suffix not in WRITERS:
        raise InputError(
            f"path: {str(path)!r} came; give a name that ends in {', '.join(WRITERS)}, "
            f"or in one of these and {GZ}"
        )
    if not content.words:
        raise InputError("words: none came; give at least one word to write")
    try:
        return WRITERS[suffix](path, content)
    except OSError as error:
        raise InputError(f"path: {path} cannot be written ({error.strerror or error})") from error


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with whole_file(path) as file:
        if path.suffix != GZ:
            yield file
            return
        # Without name and time in its header, equal content gives equal files.
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed:
            yield packed  # type: ignore[misc]  # it has all that is used of IO[bytes]


def _text(path: Path, content: Content, *, header: bool) -> tuple[Path, ...]:
    _refuse(content.words, NO_FIELD, "be a field of text; leave it out, or write .npy")
    if content.dim == 1 and not header:
        raise InputError(
            f"path: {path.name}: one number a word without a header reads like a header; give .vec"
        )
    with _opened(path) as file:
        if header:
            file.write(b"%d %d\n" % (len(content.words), content.dim))
        for words, rows in content.blocks():
            file.write(_lines(words, rows).encode())
    return (path,)


def _lines(words: Sequence[str], rows: Floats) -> str:
    import pyarrow  # it knows the shortest digits that mean the same float32, and is fast

    digits = pyarrow.array(rows.ravel()).cast(pyarrow.string()).to_pylist()
    dim = rows.shape[1]
    starts = range(0, len(digits), dim)
    return "".join(
        f"{w} {' '.join(digits[at : at + dim])}\n" for w, at in zip(words, starts, strict=True)
    )


def _binary(path: Path, content: Content) -> tuple[Path, ...]:
    _refuse(content.words, NO_FIELD, "stand before a space; leave it out, or write .npy")
    with _opened(path) as file:
        file.write(b"%d %d\n" % (len(content.words), content.dim))
        for words, rows in content.blocks():
            little = rows.astype("<f4")
            for word, row in zip(words, little, strict=True):
                file.write(b"%s %s" % (word.encode(), row.tobytes()))
    return (path,)


def _pair(path: Path, content: Content) -> tuple[Path, ...]:
    _refuse(content.words, NO_LINE, "be a line of UTF-8; leave it out")
    listed = words_beside(path)
    shape = (len(content.words), content.dim)
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    with ExitStack() as stack:
        array, lines = (stack.enter_context(_opened(each)) for each in (path, listed))
        np.lib.format.write_array_header_1_0(array, header)
        for words, rows in content.blocks():
            array.write(rows.astype("<f4").tobytes())
            lines.write("".join(f"{word}\n" for word in words).encode())
    return path, listed


def _refuse(words: Sequence[str], unfit: re.Pattern[str], why: str) -> None:
    for word in words:
        if unfit.search(word):
            raise InputError(f"words: {word!r} cannot {why}")


WRITERS: dict[str, Callable[[Path, Content], tuple[Path, ...]]] = {
    ".txt": partial(_text, header=False),
    ".vec": partial(_text, header=True),
    ".bin": _binary,
    ".npy": _pair,
}

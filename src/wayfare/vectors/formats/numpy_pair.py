"""An `.npy` array, one row a word, and beside it a text file with a word a line.

`X.npy` or `X.vectors.npy` goes with `X.vocab.txt`, `X.vocab`, `X.words.txt` or `X.txt`, plain or
gzip; `vocabulary=` names any other file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import FormatError, InputError
from wayfare.vectors.formats.builder import Builder
from wayfare.vectors.formats.request import GZIP, Request, content_of, open_stream
from wayfare.vectors.table import BLOCK, Table

__all__ = ["files", "load_array", "read", "words_beside"]

SUFFIXES = (".vocab.txt", ".vocab", ".words.txt", ".txt")


def files(request: Request) -> list[Path]:
    """The array and its words."""
    return [request.path, _vocabulary_of(request)]


def read(request: Request) -> Table:
    """Read the pair; `FormatError` if the counts differ, or names the row that is wrong."""
    array = load_array(request.path)
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiu":
        raise FormatError(
            f"an array of shape {array.shape} and type {array.dtype} came; "
            "expected real numbers in (words, dimensions)",
            path=request.path,
        )
    listed = _vocabulary_of(request)
    text = content_of(listed)
    words = text.removesuffix(b"\n").split(b"\n") if text else []
    words = [word.removesuffix(b"\r") for word in words]
    if len(words) != len(array):
        raise FormatError(
            f"{len(words)} words for the {len(array)} rows of {request.path.name}; "
            "give one word a line, in the order of the rows",
            path=listed,
        )
    builder = Builder(request, array.shape[1], unit="row")
    for start in range(0, len(array), BLOCK):
        block = array[start : start + BLOCK]
        with np.errstate(over="ignore"):  # too large for float32 is infinite, and refused as such
            rows = block.astype(np.float32)
        builder.add(words[start : start + BLOCK], rows, range(start + 1, start + len(block) + 1))
        if builder.full:
            break
    return builder.table()


def load_array(path: Path) -> NDArray[Any]:
    """The array of an `.npy` file, memory-mapped if it can be; never runs code from the file."""
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == GZIP
        if not zipped:
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        with open_stream(path) as stream:
            return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
    except (FormatError, FileNotFoundError):
        raise
    except Exception as error:
        # The header is a Python literal; a damaged one fails in more ways than can be listed.
        raise FormatError(f"not a whole .npy array ({error})", path=path) from None


def words_beside(path: Path) -> Path:
    """Where the words of an array that is written to `path` go."""
    return path.with_name(f"{_stems(path)[0]}{SUFFIXES[0]}")


def _stems(path: Path) -> list[str]:
    name = path.name.removesuffix(".gz").removesuffix(".npy")
    return list(dict.fromkeys([name.removesuffix(".vectors"), name]))


def _vocabulary_of(request: Request) -> Path:
    if request.vocabulary is not None:
        return request.vocabulary
    stems = _stems(request.path)
    names = [f"{stem}{end}{gz}" for stem in stems for end in SUFFIXES for gz in ("", ".gz")]
    for candidate in names:
        if (found := request.path.with_name(candidate)).is_file():
            return found
    raise InputError(
        f"vocabulary: {request.path.name} holds numbers without words, and none of "
        f"{', '.join(n for n in names if not n.endswith('.gz'))} stands beside it; "
        "pass vocabulary=, a file with one word a line"
    )

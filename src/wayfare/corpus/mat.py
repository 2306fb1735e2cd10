"""The `.mat` files of Kusner et al. (2015), in both layouts.

    X, BOW_X, Y, words, TR, TE             a cell a document; each row of TR and TE is a split
    xtr, BOW_xtr, ytr, words_tr and ..te   one split, told by the names

`X{n}` is (dimensions, words), `BOW_X{n}` the counts of those words, positions in TR and TE count
from 1, as MATLAB does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike, fspath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus.assemble import as_parts, weigh_in_place
from wayfare.errors import FormatError, InputError
from wayfare.weighting import Counts, Weighting, resolve

__all__ = ["parts"]


class _Names(NamedTuple):
    points: str
    counts: str
    labels: str
    words: str


WHOLE = _Names("X", "BOW_X", "Y", "words")
TRAIN = _Names("xtr", "BOW_xtr", "ytr", "words_tr")
TEST = _Names("xte", "BOW_xte", "yte", "words_te")


class _Document(NamedTuple):
    points: NDArray[np.float32]  # (words, dimensions)
    counts: NDArray[np.float64]
    words: list[str] | None


def parts(
    path: str | PathLike[str], weighting: str | Weighting | Callable[[Counts], Any]
) -> dict[str, Any]:
    """The keyword arguments of `Corpus` for one file."""
    weigh, name = resolve(weighting), fspath(path)
    content = _load(name)
    if WHOLE.points in content:
        documents, labels = _documents(content, WHOLE, name)
        metadata = _splits(content, len(documents), name)
    elif TRAIN.points in content:
        documents, labels = _documents(content, TRAIN, name)
        tests, test_labels = _documents(content, TEST, name)
        metadata = {"split": ["train"] * len(documents) + ["test"] * len(tests)}
        documents, labels = documents + tests, labels + test_labels
    else:
        there = ", ".join(k for k in content if not k.startswith("__"))
        raise FormatError(f"expected X or xtr, found {there or 'no variables'}", path=name)
    counts, points, words = _gather(documents, name)
    fitted = weigh.fit(counts)
    weighed = weigh_in_place(counts, fitted)
    return as_parts(weighed, points, words, fitted) | {"labels": labels, "metadata": metadata}


def _load(path: str) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        content: dict[str, Any] = loadmat(path, appendmat=False)
    except FileNotFoundError:
        raise InputError(f"path: there is no file {path!r}") from None
    except IsADirectoryError:
        raise FormatError("it is a directory; give a .mat file", path=path) from None
    except NotImplementedError:
        raise FormatError("a MATLAB 7.3 file; save it again with -v7", path=path) from None
    # loadmat's parser lets many kinds of exception out of a damaged file.
    except Exception as error:
        raise FormatError(f"not a readable .mat file ({error})", path=path) from None
    return content


def _documents(
    content: dict[str, Any], names: _Names, path: str
) -> tuple[list[_Document], list[Any]]:
    for name in names[:3]:
        if name not in content:
            there = ", ".join(k for k in content if not k.startswith("__"))
            raise FormatError(f"no variable {name!r}; the variables are {there}", path=path)
    cells, counts = content[names.points].ravel(), content[names.counts].ravel()
    labels = [_plain(y) for y in content[names.labels].ravel()]
    words = content[names.words].ravel() if names.words in content else [None] * len(cells)
    if not len(cells) == len(counts) == len(labels) == len(words):
        lengths = f"{len(cells)}, {len(counts)}, {len(labels)} and {len(words)}"
        raise FormatError(f"{', '.join(names)}: {lengths} documents; they must agree", path=path)
    documents = [
        _document(n, *cell, path) for n, cell in enumerate(zip(cells, counts, words, strict=True))
    ]
    return documents, labels


def _document(number: int, points: Any, counts: Any, words: Any, path: str) -> _Document:
    array, count = np.asarray(points), np.asarray(counts).ravel()
    if count.size == 0:
        return _Document(np.zeros((0, 0), np.float32), np.zeros(0), None if words is None else [])
    if array.ndim != 2 or array.shape[1] != len(count) or array.dtype.kind not in "fiu":
        raise FormatError(
            f"document {number + 1}: points of shape {array.shape} for {len(count)} counts; "
            "expected (dimensions, words)",
            path=path,
        )
    names = None if words is None else [_word(w) for w in np.asarray(words).ravel()]
    if names is not None and len(names) != len(count):
        raise FormatError(
            f"document {number + 1}: {len(names)} words for {len(count)} counts", path=path
        )
    with np.errstate(over="ignore"):
        rows = np.ascontiguousarray(array.T, dtype=np.float32)
    if not (np.isfinite(rows).all() and np.isfinite(count).all() and (count >= 0).all()):
        raise FormatError(f"document {number + 1}: NaN, infinity or a negative count", path=path)
    return _Document(rows, count.astype(np.float64), names)


def _gather(
    documents: list[_Document], path: str
) -> tuple[Counts, NDArray[np.float32], tuple[str, ...] | None]:
    named = all(d.words is not None for d in documents)
    rows: dict[tuple[str, bytes], int] = {}
    distinct: list[NDArray[np.float32]] = []
    indptr = [0]
    indices: list[NDArray[Any]] = [np.zeros(0, np.int32)]
    values: list[NDArray[Any]] = [np.zeros(0)]
    for document in documents:
        numbers = []
        names = document.words or [""] * len(document.points)
        for word, point in zip(names, document.points, strict=True):
            # Files differ in whether one word has one vector; both together are one point.
            key = (word, point.tobytes())
            if key not in rows:
                rows[key] = len(distinct)
                distinct.append(point)
            numbers.append(rows[key])
        index, inverse = np.unique(np.array(numbers, np.int32), return_inverse=True)
        total = np.bincount(inverse, weights=document.counts, minlength=len(index))
        indices.append(index[total > 0])
        values.append(total[total > 0])
        indptr.append(indptr[-1] + len(indices[-1]))
    if len({len(point) for point in distinct}) > 1:
        raise FormatError("points of several dimensions; expected one", path=path)
    points = np.array(distinct, np.float32) if distinct else np.zeros((0, 0), np.float32)
    counts = Counts(
        np.array(indptr, np.int64),
        np.concatenate(indices).astype(np.int32),
        np.concatenate(values),
        len(points),
    )
    return counts, points, tuple(word for word, _ in rows) if named else None


def _splits(content: dict[str, Any], documents: int, path: str) -> dict[str, list[Any]]:
    if "TR" not in content or "TE" not in content:
        return {}
    columns: dict[str, list[Any]] = {}
    train, test = np.atleast_2d(content["TR"]), np.atleast_2d(content["TE"])
    for number, rows in enumerate(zip(train, test, strict=False)):
        column = columns[f"split_{number}"] = [None] * documents
        for name, position in _named(rows):
            if not 1 <= position <= documents:
                raise FormatError(
                    f"split {number + 1}: position {position} of {documents} documents", path=path
                )
            column[position - 1] = name
    return columns


def _named(rows: tuple[Any, Any]) -> Iterator[tuple[str, int]]:
    for name, positions in zip(("train", "test"), rows, strict=True):
        yield from ((name, int(p)) for p in positions)


def _plain(label: Any) -> Any:
    value = label.item() if hasattr(label, "item") else label
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _word(cell: Any) -> str:
    # A cell of a string comes as an array of one string, an empty one as an empty array.
    while isinstance(cell, np.ndarray):
        if cell.size == 0:
            return ""
        cell = cell.ravel()[0]
    return str(cell)

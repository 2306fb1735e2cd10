"""What stands beside the text of a document: ids, labels, metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import DuplicateIdError, InputError

__all__ = ["as_column", "as_ids", "as_metadata"]

NAMED = 5  # duplicate ids that a message lists


def as_ids(ids: Any, documents: int) -> NDArray[Any]:
    """Return `ids` as int64 or as an object array of str; None numbers the documents from 0.

    Raises `InputError` for other types or a wrong number, `DuplicateIdError` for repeats.

    >>> as_ids(None, 3), as_ids(["a", "b"], 2)
    (array([0, 1, 2]), array(['a', 'b'], dtype=object))
    """
    if ids is None:
        return np.arange(documents, dtype=np.int64)
    if isinstance(ids, np.ndarray) and ids.dtype == np.int64 and ids.shape == (documents,):
        return _without_repeats(ids)
    values = as_column("ids", ids, documents)
    kinds = {type(v) for v in values}
    if all(issubclass(k, str) for k in kinds):
        array: NDArray[Any] = np.empty(documents, dtype=object)
        array[:] = values
    elif all(issubclass(k, int | np.integer) and k is not bool for k in kinds):
        try:
            array = np.array(values, dtype=np.int64)
        except OverflowError:
            raise InputError("ids: an integer beyond 64 bits came; give it as a string") from None
    else:
        names = ", ".join(sorted(k.__name__ for k in kinds))
        raise InputError(f"ids: {names} came; give all integers or all strings")
    return _without_repeats(array)


def _without_repeats(ids: NDArray[Any]) -> NDArray[Any]:
    if ids.dtype == np.int64:
        unique = bool((ids[1:] > ids[:-1]).all()) or len(np.unique(ids)) == len(ids)
    else:
        unique = len(set(ids)) == len(ids)
    if not unique:
        repeated = [i for i, n in Counter(ids.tolist()).items() if n > 1]
        some = ", ".join(repr(i) for i in repeated[:NAMED])
        more = f" and {len(repeated) - NAMED} more" if len(repeated) > NAMED else ""
        raise DuplicateIdError(f"ids: {some}{more} came more than once; give each document its own")
    return ids


def as_column(name: str, values: Iterable[Any], documents: int) -> list[Any]:
    """Return one plain Python value a document, or say how many came."""
    if isinstance(values, str | bytes):
        raise InputError(
            f"{name}: a single {type(values).__name__} came; give one value a document"
        )
    try:
        column = values.tolist() if hasattr(values, "tolist") else list(values)
    except TypeError:
        raise InputError(
            f"{name}: {type(values).__name__} came; give one value a document"
        ) from None
    if not isinstance(column, list) or len(column) != documents:
        came = len(column) if isinstance(column, list) else "one"
        raise InputError(f"{name}: {came} values for {documents} documents; give one a document")
    return column


def as_metadata(
    metadata: Mapping[str, Sequence[Any]] | None, documents: int
) -> dict[str, list[Any]]:
    """Return a column a name, each of one value a document."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise InputError(
            f"metadata: {type(metadata).__name__} came; give a mapping of name to column"
        )
    return {k: as_column(f"metadata[{k!r}]", v, documents) for k, v in metadata.items()}

"""Columns of the tables people have, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wayfare.errors import InputError

__all__ = ["Columns"]


class Columns:
    """The columns of a table that make a corpus: `texts` is lazy, the others are lists."""

    def __init__(
        self, table: Any, text: str, id: str | None, label: str | None, metadata: Sequence[str]
    ) -> None:
        names = _names(table)
        if isinstance(metadata, str):
            raise InputError(f"metadata: {metadata!r} came; give a list of column names")
        for role, name in [("text", text), ("id", id), ("label", label)]:
            _check(names, role, name)
        for name in metadata:
            _check(names, "metadata", name)
        self.texts: Iterator[str] = _texts(_values(table, text), text)
        self.ids = None if id is None else list(_values(table, id))
        self.labels = None if label is None else list(_values(table, label))
        self.metadata = {name: list(_values(table, name)) for name in metadata}


def _names(table: Any) -> list[Any]:
    if callable(getattr(table, "collect", None)):  # a plan of polars or Spark, not yet a table
        raise _no_columns(table)
    # Arrow and `datasets` say column_names; pandas and polars say columns; a dict has keys.
    if isinstance(table, Mapping):
        return list(table)
    for attribute in ("column_names", "columns"):
        names = getattr(table, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    schema = getattr(table, "schema", None)  # an Arrow RecordBatch
    if schema is not None and hasattr(schema, "names"):
        return list(schema.names)
    raise InputError(
        f"table: {type(table).__name__} came; give a pandas, polars, Arrow or datasets table, "
        "or a dict of columns"
    )


def _check(names: list[Any], role: str, name: str | None) -> None:
    if name is not None and name not in names:
        there = ", ".join(map(repr, names[:50]))
        raise InputError(f"{role}: there is no column {name!r}; the columns are {there or 'none'}")
    if name is not None and names.count(name) > 1:
        raise InputError(f"{role}: the column {name!r} is there twice; rename one")


def _values(table: Any, name: str) -> Iterable[Any]:
    try:
        column = table[name]
    except (TypeError, NotImplementedError):
        raise _no_columns(table) from None
    if hasattr(column, "chunks"):  # Arrow: a chunk at a time, so that texts are not all copied
        return (value for chunk in column.chunks for value in chunk.to_pylist())
    for method in ("to_pylist", "to_list"):  # Arrow array; pandas and polars series
        if hasattr(column, method):
            values: list[Any] = getattr(column, method)()
            return values
    every: Iterable[Any] = iter(column)
    return every


def _no_columns(table: Any) -> InputError:
    return InputError(
        f"table: a {type(table).__name__} gives no whole columns; collect or load it first"
    )


def _texts(values: Iterable[Any], name: str) -> Iterator[str]:
    for row, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError(
                f"text: row {row} of column {name!r} holds {value!r:.60}, no text; "
                "fill it with '' or drop the row"
            )
        yield value

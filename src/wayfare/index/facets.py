"""Labels and metadata: each value a number in an array of the segment, each number once in the catalogue.

A restriction such as `where={"label": "earn"}` is then a comparison over one array, however many
documents there are. A label is the facet "label".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.index.catalog import Catalog, plain, stored

__all__ = ["ARRAY", "LABEL", "Codes", "columns_of", "holds", "value_of", "wanted"]

ARRAY = "facet:"  # how the names of their arrays begin in a segment
LABEL = "label"
NONE = -1  # the code of a document that has no such value

Codes = dict[str, NDArray[np.int32]]


def columns_of(
    labels: Sequence[Any] | None, metadata: Mapping[str, Sequence[Any]]
) -> dict[str, Sequence[Any]]:
    """Labels and metadata as columns by name."""
    if LABEL in metadata:
        raise InputError(f"metadata: the name {LABEL!r} is kept for labels=; rename the column")
    for name in metadata:
        if not isinstance(name, str):
            raise InputError(f"metadata: the name {name!r} came; give strings")
    return dict(metadata) if labels is None else {LABEL: labels, **metadata}


def as_json(name: str, value: Any) -> str:
    """A value as the catalogue keeps it, so that 1, 1.0, True and "1" stay four things."""
    if hasattr(value, "tolist") and getattr(value, "ndim", 0) == 0:
        value = value.tolist()
    try:
        return json.dumps(value, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: {value!r:.60} came, a {type(value).__name__}; an index keeps strings, "
            "numbers, booleans, None, and lists and dicts of these"
        ) from None


class Coder:
    """Gives each value of a facet its number, and remembers which are new."""

    def __init__(self, catalog: Catalog | None) -> None:
        self._catalog = catalog
        self._codes: dict[tuple[str, str], int] = {}
        last = None if catalog is None else catalog.one("select max(code) from facets")
        self._next = 0 if last is None else int(last) + 1
        self.new: list[tuple[int, Any, str]] = []

    def codes(self, name: str, column: Iterable[Any]) -> NDArray[np.int32]:
        """The code of each value; that of None is none."""
        # The same label comes over and over: its JSON is made once.
        seen: dict[tuple[type, Any], int] = {}
        out = []
        for value in column:
            try:
                code = seen.get((type(value), value))
                if code is None:
                    code = seen[type(value), value] = self._code(name, value)
            except TypeError:  # a list or dict, which cannot be a key
                code = self._code(name, value)
            out.append(code)
        return np.array(out, np.int32)

    def _code(self, name: str, value: Any) -> int:
        if value is None:
            return NONE
        key = name, as_json(name, value)
        if key not in self._codes:
            found = None if self._catalog is None else _look_up(self._catalog, *key)
            if found is None:
                found, self._next = self._next, self._next + 1
                self.new.append((found, stored(name), key[1]))
            self._codes[key] = found
        return self._codes[key]


def _look_up(catalog: Catalog, name: str, value: str) -> int | None:
    ask = "select code from facets where name = ? and value = ?"
    code = catalog.one(ask, (stored(name), value))
    return None if code is None else int(code)


def wanted(catalog: Catalog, where: Mapping[str, Any]) -> dict[str, NDArray[np.int32]]:
    """The codes that a restriction allows, by facet; a list of values allows any of them."""
    if not isinstance(where, Mapping):
        raise InputError(f'where: {where!r:.60} came; give a dict such as {{"label": "earn"}}')
    out = {}
    for name, values in where.items():
        if not catalog.one("select 1 from facets where name = ? limit 1", (stored(name),)):
            rows = catalog.execute("select distinct name from facets")
            there = ", ".join(sorted(repr(plain(one)) for (one,) in rows)) or "none"
            raise InputError(f"where: nothing is kept under {name!r}; there is {there}")
        listed = isinstance(values, list | tuple | set | frozenset)
        some = []
        for value in values if listed else [values]:
            code = NONE if value is None else _look_up(catalog, name, as_json("where", value))
            if code is not None:
                some.append(code)
        out[name] = np.array(some, np.int32)
    return out


def holds(
    codes: NDArray[np.int32] | None, some: NDArray[np.int32], count: int
) -> NDArray[np.bool_]:
    """Which of `count` documents have one of some values."""
    if codes is None:
        return np.full(count, NONE in some)
    return codes == some[0] if len(some) == 1 else np.isin(codes, some)


def value_of(catalog: Catalog, code: int) -> Any:
    """The value behind a code."""
    if code == NONE:
        return None
    return json.loads(catalog.one("select value from facets where code = ?", (code,)))

"""Add, delete, compact: files first, then the one commit that makes them count.

    1  new files under new names, or new rows beyond those that count      write, sync
    2  their names                                                         sync the folder
    3  one transaction of the catalogue                                    commit
    4  what nothing refers to any more                                     remove

Killed before 3, a writer leaves files that nobody reads, which the next removes; after it, everything
is there. Every function here is called by the holder of the lock, with the state as of now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import DuplicateIdError, IndexFailure, InputError
from wayfare.index import facets, words
from wayfare.index.catalog import Catalog, stored
from wayfare.index.files import HEAD, remove, sync_folder
from wayfare.index.incoming import Incoming
from wayfare.index.lock import LOCK
from wayfare.index.segments import Segment
from wayfare.index.settings import IdKind, Settings
from wayfare.index.shelving import Part, absorbed, write_shelf
from wayfare.index.snapshot import FIT, SHELF, VECTORS, Snapshot

__all__ = ["add", "compact", "delete", "named", "put_documents", "sweep", "unchanged_on_failure"]

NAMED = 5  # ids that a message lists


def add(there: Snapshot, catalog: Catalog, new: Incoming, *, again: bool) -> None:
    """Put documents on a shelf of their own, or on one with the small shelves at the end."""
    if not len(new):
        return
    s = there.settings
    ids, kind = _ids(there, new)
    gone = _replaced(there, ids, again)
    terms = s.words + len(new.points)
    numbers = np.arange(s.next_number, s.next_number + len(new), dtype=np.int64)
    coder = facets.Coder(catalog)
    columns = facets.columns_of(new.labels, new.metadata)
    codes = {name: coder.codes(name, column) for name, column in columns.items()}
    c = new.counts
    fresh = Part(c.indptr, c.indices, c.values, numbers, codes)
    kept = len(there.shelves) - absorbed(there.shelves, len(new))
    with unchanged_on_failure(there.folder):
        growth = None
        if len(new.points):
            growth = words.append(there.folder, s.token, s.words, new.points)
        parts = _parts(there, kept, gone)
        segment = write_shelf(there.folder, [*parts, fresh], terms)
        sync_folder(there.folder)
    with catalog.transaction():
        if growth is not None:
            put_words(catalog, growth, new.words)
        catalog.insert("facets", coder.new, 3)
        _forget(catalog, gone)
        put_documents(catalog, numbers, ids, new.texts)
        _reshelve(there, catalog, kept, segment)
        dim = new.points.shape[1] if len(new.points) else s.dim
        last = s.next_number + len(new)
        _step(catalog, replace(s, words=terms, dim=dim, ids=kind, next_number=last))


def delete(there: Snapshot, catalog: Catalog, numbers: NDArray[np.int64]) -> None:
    """Mark documents as gone; their rows stay until a segment is written anew."""
    if len(numbers):
        with catalog.transaction():
            _forget(catalog, numbers)
            _step(catalog, there.settings)


def compact(there: Snapshot, catalog: Catalog) -> None:
    """Write all documents as one segment, without those that are gone."""
    whole = len(there.shelves) <= 1 and all(mask is None for mask in there.alive)
    if whole:
        return
    with unchanged_on_failure(there.folder):
        parts = _parts(there, 0, np.zeros(0, np.int64))
        segment = write_shelf(there.folder, parts, there.settings.words)
        sync_folder(there.folder)
    with catalog.transaction():
        _reshelve(there, catalog, 0, segment)
        _step(catalog, there.settings)


def sweep(folder: Path, catalog: str, segments: Iterable[str], token: str) -> None:
    """Remove files of ours that nothing refers to."""
    wanted = {HEAD, LOCK, *segments, *words.file_names(token).values()}
    wanted |= {catalog + end for end in ("", "-wal", "-shm")}
    remove(path for path in folder.iterdir() if is_ours(path.name) and path.name not in wanted)
    sync_folder(folder)


def is_ours(name: str) -> bool:
    """Whether a file of that name is one of an index."""
    stems = (SHELF, FIT, VECTORS, "words-", "catalog-")
    return name in (HEAD, LOCK) or name.startswith(stems)


@contextmanager
def unchanged_on_failure(folder: Path) -> Iterator[None]:
    """Say of a full or failing disk that nothing was changed by it, and clear away what was begun."""
    before = {path.name for path in folder.iterdir()}
    try:
        yield
    except OSError as error:
        remove(p for p in folder.iterdir() if p.name not in before and is_ours(p.name))
        raise IndexFailure(
            f"{folder}: it could not be written ({error.strerror}); nothing has changed, so make "
            "room and try again"
        ) from error


# -- what goes into the transaction ---------------------------------------------------------------


def put_words(catalog: Catalog, growth: words.Growth, names: Sequence[str] | None) -> None:
    """Count rows of the word files, and their words."""
    row = (growth.start, growth.stop, growth.points, growth.squared, growth.hashes)
    catalog.insert("growths", [row], 5)
    if names is not None:
        catalog.insert("words", ((growth.start + n, stored(w)) for n, w in enumerate(names)), 2)


def put_documents(
    catalog: Catalog, numbers: NDArray[np.int64], ids: list[Any], texts: Sequence[str] | None
) -> None:
    """Enter documents by number."""
    listed = numbers.tolist()
    catalog.insert("documents", zip(listed, map(stored, ids), strict=True), 2)
    if texts is not None:
        catalog.insert("texts", zip(listed, map(stored, texts), strict=True), 2)


def put_segment(catalog: Catalog, position: int, segment: Segment) -> None:
    """Enter a segment."""
    row = (position, segment.name, segment.size, segment.layout())
    catalog.insert("segments", [row], 4)


def _forget(catalog: Catalog, numbers: NDArray[np.int64]) -> None:
    catalog.remove("documents", numbers)
    catalog.remove("texts", numbers)
    catalog.insert("deleted", ((int(n),) for n in numbers), 1)


def _reshelve(there: Snapshot, catalog: Catalog, kept: int, segment: Segment) -> None:
    """Put a segment in the place of all shelves from `kept` on."""
    for shelf in there.shelves[kept:]:
        catalog.execute("delete from segments where name = ?", (shelf.segment.name,))
    first = there.shelves[kept].numbers[0] if kept < len(there.shelves) else None
    if first is not None:
        # Numbers grow from shelf to shelf: those from here on are on the new one, or gone for good.
        catalog.execute("delete from deleted where number >= ?", (int(first),))
    last = catalog.one("select max(position) from segments")
    put_segment(catalog, 0 if last is None else last + 1, segment)


def _step(catalog: Catalog, settings: Settings) -> None:
    catalog.put_settings(replace(settings, generation=settings.generation + 1).kept())


# -- what is asked before -------------------------------------------------------------------------


def _parts(there: Snapshot, kept: int, gone: NDArray[np.int64]) -> list[Part]:
    """What is left, without `gone`, on the shelves from `kept` on."""
    parts = []
    for shelf, alive in list(zip(there.shelves, there.alive, strict=True))[kept:]:
        rows = shelf.rows_of(gone)
        if len(rows):
            alive = np.ones(len(shelf), bool) if alive is None else alive.copy()
            alive[rows] = False
        parts.append(Part.of(shelf, alive))
    return parts


def _ids(there: Snapshot, new: Incoming) -> tuple[list[Any], IdKind]:
    """The ids of new documents, and their kind: one kind throughout, so that they have an order."""
    had = there.settings.ids if len(there) else None
    if new.ids is None:
        if had == "str":
            raise InputError(
                "ids: none came, and those of this index are strings; give each its id"
            )
        largest = there.catalog.one("select max(id) from documents")
        first = max(there.settings.next_number, 0 if largest is None else largest + 1)
        return list(range(first, first + len(new))), "int"
    kind: IdKind = "int" if new.ids.dtype == np.int64 else "str"
    if had is not None and kind != had:
        names = {"int": "integers", "str": "strings"}
        raise InputError(f"ids: {names[kind]} came, and those of this index are {names[had]}")
    return new.ids.tolist(), kind


def _replaced(there: Snapshot, ids: list[Any], again: bool) -> NDArray[np.int64]:
    """The numbers of the documents whose ids come again."""
    found = there.catalog.numbers_of(ids)
    twice = [id for id, number in zip(ids, found, strict=True) if number is not None]
    if twice and not again:
        raise DuplicateIdError(
            f"ids: {named(twice)} in the index already; pass replace=True to put these documents "
            "in the place of those"
        )
    return np.array([number for number in found if number is not None], np.int64)


def named(ids: Sequence[Any]) -> str:
    """Some ids, and how many more, with the verb."""
    some = ", ".join(repr(id) for id in ids[:NAMED])
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return f"{some}{more} {'is' if len(ids) == 1 else 'are'}"

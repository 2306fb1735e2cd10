"""What an index tells about itself and about one of its documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wayfare.errors import IndexCorruptError
from wayfare.index import facets, words
from wayfare.index.catalog import plain
from wayfare.index.files import FORMAT
from wayfare.index.snapshot import Shelf, Snapshot
from wayfare.measure import Measure

__all__ = ["Document", "IndexInfo", "describe", "document", "verify"]


@dataclass(frozen=True, eq=False)
class Document:
    """One document of an index; `text` is None where texts are not kept."""

    id: int | str
    text: str | None
    label: Any
    metadata: dict[str, Any]
    measure: Measure


@dataclass(frozen=True)
class IndexInfo:
    """What an index holds, and how it was built; `bytes` counts all its files.

    `deleted` documents still take room in one of `segments`, until that is written anew. `facets` are
    the names that `where` knows. `vectors`, `tokenizer` and `weighting` name what texts are read by.
    """

    path: Path
    format: int
    generation: int
    documents: int
    deleted: int
    segments: int
    words: int
    dim: int
    bytes: int
    eta: float
    tol: float
    metric: str
    vectors: str | None
    weighting: str | None
    tokenizer: str | None
    texts: bool
    facets: tuple[str, ...]


def describe(there: Snapshot) -> IndexInfo:
    """All that is known of an index without reading its arrays."""
    s = there.settings
    names = there.catalog.execute("select distinct name from facets order by name")
    tokenizer = s.tokenizer or {}
    return IndexInfo(
        path=there.folder,
        format=FORMAT,
        generation=s.generation,
        documents=len(there),
        deleted=sum(map(len, there.shelves)) - len(there),
        segments=len(there.shelves),
        words=s.words,
        dim=s.dim,
        bytes=sum(path.stat().st_size for path in there.folder.iterdir() if path.is_file()),
        eta=s.eta,
        tol=s.tol,
        metric=s.metric,
        vectors=None if s.vectors is None else s.vectors["name"],
        weighting=None if s.weighting is None else s.weighting["fingerprint"],
        tokenizer=tokenizer.get("fingerprint", tokenizer.get("function")),
        texts=s.keep_texts,
        facets=tuple(plain(name) for (name,) in names),
    )


def document(there: Snapshot, id: int | str, number: int) -> Document:
    """One document, from all the places where its parts lie."""
    shelf, row = there.place(number)
    kept = {
        name: facets.value_of(there.catalog, int(codes[row]))
        for name, codes in shelf.codes.items()
        if codes[row] != facets.NONE
    }
    found = shelf.documents.measure(row)
    names = there.reading.vocabulary
    if names is not None:
        span = slice(shelf.documents.indptr[row], shelf.documents.indptr[row + 1])
        listed = [names[int(n)] for n in shelf.documents.indices[span]]
        found = Measure(found.points, found.weights, listed)
    (text,) = there.catalog.texts_of(np.array([number]))
    return Document(id, text, kept.pop(facets.LABEL, None), kept, found)


def verify(there: Snapshot) -> None:
    """Raise `IndexCorruptError` naming every fault."""
    faults = list(_faults(there))
    if faults:
        some = "\n  ".join(faults[:20])
        raise IndexCorruptError(
            f"{there.folder}: {len(faults)} faults; restore it from a copy, or build it again\n  {some}"
        )


def _faults(there: Snapshot) -> Iterator[str]:
    s, catalog = there.settings, there.catalog
    yield from catalog.faults()
    rows = catalog.execute(
        "select start, stop, points, squared, hashes from growths order by start"
    )
    growths = [words.Growth(*row) for row in rows]
    if [g.start for g in growths] != [0, *(g.stop for g in growths)][: len(growths)]:
        yield f"{catalog.path}: rows of words are missing between those that were appended"
    yield from words.faults(there.folder, s.token, s.words, s.dim, growths)
    if s.vocabulary and (named := catalog.one("select count(*) from words")) != s.words:
        yield f"{catalog.path}: {named} words for {s.words} points"
    for segment in there.segments:
        yield from segment.faults(there.folder)
    for shelf in there.shelves:
        yield from _shelf_faults(there, shelf)
    listed = catalog.one("select count(*) from documents")
    if listed != len(there):
        yield f"{catalog.path}: {listed} ids for {len(there)} documents"
    if listed and not np.array_equal(
        np.array(catalog.execute("select number from documents order by number")).reshape(-1),
        there.numbers,
    ):
        yield f"{catalog.path}: the documents are not those of the segments"


def _shelf_faults(there: Snapshot, shelf: Shelf) -> Iterator[str]:
    """What checksums cannot see: numbers that compiled loops would follow out of their arrays."""
    some, path = shelf.documents, there.folder / shelf.segment.name
    entries = len(some.indices)
    if len(some.indptr) != len(shelf) + 1 or some.indptr[0] != 0 or some.indptr[-1] != entries:
        yield f"{path}: the documents do not add up to the entries"
    elif (np.diff(some.indptr) < 0).any() or len(some.weights) != entries:
        yield f"{path}: the documents overlap"
    if entries and not (some.indices.min() >= 0 and some.indices.max() < len(there.shared)):
        yield f"{path}: it has words that are not there"
    if (np.diff(shelf.numbers) <= 0).any():
        yield f"{path}: the numbers of its documents do not rise"

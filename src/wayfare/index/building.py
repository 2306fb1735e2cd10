"""Build: everything under new names, then one rename that makes it the index, or the next one.

Texts go into the new catalogue as they stream by and are never all in memory; the numbers of the
documents are, until the segment is written.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.given import eta_of
from wayfare.index import facets, words
from wayfare.index.catalog import Catalog, stored
from wayfare.index.description import (
    arrays_of,
    describe_tokenizer,
    describe_vectors,
    describe_weighting,
)
from wayfare.index.files import HEAD, publish, remove, sync_file, sync_folder
from wayfare.index.lock import writing
from wayfare.index.segments import Segment
from wayfare.index.settings import Settings
from wayfare.index.shelving import Part, write_shelf
from wayfare.index.snapshot import FIT, VECTORS
from wayfare.index.writing import (
    is_ours,
    put_documents,
    put_segment,
    put_words,
    sweep,
    unchanged_on_failure,
)

__all__ = ["Defaults", "Keep", "build"]

BATCH = 1000  # texts that go to the catalogue together

Keep = Callable[[Iterable[str]], Iterator[str]]


@dataclass(frozen=True)
class Defaults:
    """What a search does unless it is told otherwise; whether texts and vectors are kept."""

    eta: float | None
    tol: float
    metric: str
    keep_texts: bool
    keep_vectors: bool


def build(
    folder: Path, read: Callable[[Keep], Corpus], defaults: Defaults, *, overwrite: bool
) -> Corpus:
    """Make an index of the corpus that `read` makes; texts that pass its argument are kept."""
    made = _make_room(folder, overwrite)
    try:
        with writing(folder):
            _refuse(folder, overwrite)  # another may have built one before the lock was ours
            return _build(folder, read, defaults)
    except BaseException:
        if made and not (folder / HEAD).exists():
            remove(path for path in folder.iterdir() if is_ours(path.name))
            if not any(folder.iterdir()):
                folder.rmdir()
        raise


def _build(folder: Path, read: Callable[[Keep], Corpus], defaults: Defaults) -> Corpus:
    token = secrets.token_hex(6)
    name = f"catalog-{token}.sqlite"
    with unchanged_on_failure(folder):
        catalog = Catalog.create(folder / name)
    try:
        corpus = read(lambda texts: _kept(texts, catalog) if defaults.keep_texts else iter(texts))
        with unchanged_on_failure(folder):
            segments = _fill(folder, catalog, corpus, defaults, token)
            catalog.finish()
            sync_file(folder / name)
            sync_folder(folder)
            publish(folder, name)
    except BaseException:
        catalog.close()
        remove(path for path in folder.iterdir() if path.name.startswith(name))
        raise
    sweep(folder, name, segments, token)
    return corpus


def _fill(
    folder: Path, catalog: Catalog, corpus: Corpus, defaults: Defaults, token: str
) -> list[str]:
    """Write what a corpus holds; returns the names of the segments."""
    columns = facets.columns_of(corpus.labels, corpus.metadata)
    coder = facets.Coder(None)
    codes = {name: coder.codes(name, column) for name, column in columns.items()}
    numbers = np.arange(len(corpus), dtype=np.int64)
    weighting, fit = describe_weighting(corpus.weighting)
    copy = arrays_of(corpus.vectors) if defaults.keep_vectors else {}

    def write() -> tuple[words.Growth, list[Segment]]:
        sync_file(catalog.path)  # the texts are in it by now
        grown = words.append(folder, token, 0, corpus.points)
        part = Part(corpus.indptr, corpus.indices, corpus.weights, numbers, codes)
        made = [write_shelf(folder, [part], len(corpus.points))] if len(corpus) else []
        for stem, arrays in ((FIT, fit), (VECTORS, copy)):
            if arrays:
                told = {label: (array.dtype, [array]) for label, array in arrays.items()}
                made.append(Segment.write(folder, f"{stem}{token}.segment", told))
        return grown, made

    # The one waits for the disk while the other is busy with ids and words.
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        texts = corpus.texts if defaults.keep_texts else None
        put_documents(catalog, numbers, corpus.ids.tolist(), texts)
        catalog.insert("facets", coder.new, 3)
        growth, segments = written.result()
    if len(corpus.points):
        put_words(catalog, growth, corpus.vocabulary)
    for position, segment in enumerate(segments):
        put_segment(catalog, position, segment)
    kind: Any = "int" if corpus.ids.dtype == np.int64 else "str"
    settings = Settings(
        eta=eta_of(defaults.eta, corpus.vectors),
        tol=defaults.tol,
        metric=defaults.metric,
        dim=corpus.dim,
        words=len(corpus.points),
        token=token,
        ids=kind,
        next_number=len(corpus),
        keep_texts=defaults.keep_texts,
        unknown=corpus.unknown,
        vocabulary=corpus.vocabulary is not None,
        vectors=describe_vectors(corpus.vectors),
        tokenizer=describe_tokenizer(corpus.tokenizer),
        weighting=weighting,
        generation=0,
    )
    catalog.put_settings(settings.kept())
    return [segment.name for segment in segments]


def _kept(texts: Iterable[str], catalog: Catalog) -> Iterator[str]:
    """Hand texts on, and keep those that are strings."""
    waiting: list[tuple[int, Any]] = []
    for number, text in enumerate(texts):
        if isinstance(text, str):
            waiting.append((number, stored(text)))
        if len(waiting) >= BATCH:
            catalog.insert("texts", waiting, 2)
            waiting.clear()
        yield text
    catalog.insert("texts", waiting, 2)


def _make_room(folder: Path, overwrite: bool) -> bool:
    """Whether the folder had to be made."""
    if folder.exists():
        _refuse(folder, overwrite)
        return False
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"path: {folder} cannot be made ({error.strerror})") from error
    return True


def _refuse(folder: Path, overwrite: bool) -> None:
    if not folder.is_dir():
        raise InputError(f"path: {folder} is a file; give a folder for the index")
    foreign = sorted(path.name for path in folder.iterdir() if not is_ours(path.name))
    if foreign:
        raise InputError(
            f"path: {folder} holds other things, such as {foreign[0]!r}; give a folder of its own"
        )
    if (folder / HEAD).exists() and not overwrite:
        raise InputError(
            f"path: {folder} holds an index already; open it and add to it, or pass overwrite=True"
        )

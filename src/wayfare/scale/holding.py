"""Shards that a worker holds: opened once, over one set of words, and searched as one.

They are the collections of one search, as the segments of an index are: what is found in one of them
bounds the others at once, and a query is compared with each word once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexFailure, ShardError
from wayfare.index.reading import Handed
from wayfare.index.snapshot import Snapshot
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.scale.storage import Place, Shard
from wayfare.scale.together import together
from wayfare.search import Hits, search_many

__all__ = ["Holding", "held"]

# A worker that dies leaves its shards to others until there is another: two shares are kept.
MOST_HELD = 2


class Holding:
    """Some shards, opened; those that cannot be read are known by name. Safe to share between threads."""

    def __init__(self, place: Place, shards: Sequence[Shard], batch: str) -> None:
        self.batch, self.lost = batch, dict[str, ShardError]()
        self._shards, self._there = shards, dict[str, Snapshot]()
        for shard in shards:
            with self._reading(shard, suppress=True):
                folder = place.open_folder(shard.folder)
                self._there[shard.name] = Snapshot.open(folder, Handed())
        at = [(shard, some) for shard, there in self._open() for some in there.collections]
        documents = together([some for _, some in at])
        self._documents: dict[str, list[Documents]] = {shard.name: [] for shard in shards}
        for (shard, _), some in zip(at, documents, strict=True):
            self._documents[shard.name].append(some)

    @contextmanager
    def _reading(self, shard: Shard, *, suppress: bool = False) -> Iterator[None]:
        """Say which shard it was that could not be read."""
        try:
            yield
        except (IndexFailure, OSError) as error:
            self.lost[shard.name] = ShardError(f"shard {shard.name} cannot be read: {error}")
            if not suppress:
                raise self.lost[shard.name] from error

    def _open(self) -> list[tuple[Shard, Snapshot]]:
        return [
            (shard, self._there[shard.name])
            for shard in self._shards
            if shard.name in self._there and shard.name not in self.lost
        ]

    @property
    def collections(self) -> list[Documents]:
        """All that is searched, over one set of words."""
        return [some for shard, _ in self._open() for some in self._documents[shard.name]]

    def search(
        self,
        queries: Sequence[Measure],
        limits: Sequence[float | None],
        settings: dict[str, Any],
        *,
        partial: bool,
    ) -> list[Hits]:
        """Search all of them on one thread, each query within its own limit.

        A shard that cannot be read is a `ShardError`; where a `partial` answer will do, the others
        answer, and `lost` says which they are not.
        """
        while True:
            for error in self.lost.values():
                if not partial:
                    raise error
            try:
                return self._search(queries, limits, dict(settings))
            except ShardError:
                if not partial:
                    raise

    def _search(
        self, queries: Sequence[Measure], limits: Sequence[float | None], settings: dict[str, Any]
    ) -> list[Hits]:
        wanted, where = settings.pop("ids", None), settings.pop("where", None)
        collections: list[Documents] = []
        masks: list[NDArray[np.bool_] | None] = []
        origin: list[tuple[Shard, Snapshot, int]] = []
        for shard, there in self._open():
            with self._reading(shard):
                masks += there.allowed(_numbers(there, wanted), where)
            collections += self._documents[shard.name]
            origin += [(shard, there, shelf) for shelf in range(len(there.shelves))]
        homes: dict[Any, int] = {}

        def names(number: int, rows: NDArray[np.int64]) -> list[Any]:
            shard, there, shelf = origin[number]
            with self._reading(shard):
                ids = there.names(shelf, rows)
            homes.update(dict.fromkeys(ids, number))
            return ids

        found = search_many(
            collections, queries, within=limits, n_jobs=1, allowed=masks, ids=names, **settings
        )
        return [self._with_texts(hits, homes, origin) for hits in found]

    def _with_texts(
        self, hits: Hits, homes: dict[Any, int], origin: list[tuple[Shard, Snapshot, int]]
    ) -> Hits:
        by_shard: dict[str, list[int]] = {}
        for at, id in enumerate(hits.ids):
            by_shard.setdefault(origin[homes[id]][0].name, []).append(at)
        texts: list[str | None] = [None] * len(hits)
        for shard, there in self._open():
            mine = by_shard.get(shard.name)
            if not mine or not there.settings.keep_texts:
                continue
            with self._reading(shard):
                numbers = there.catalog.numbers_of([hits.ids[at] for at in mine])
                kept = there.catalog.texts_of(np.array(numbers, np.int64))
            for at, text in zip(mine, kept, strict=True):
                texts[at] = text
        return hits if all(text is None for text in texts) else hits.with_texts(texts)

    def measures(self, ids: Sequence[Any]) -> dict[Any, Measure]:
        """Those of some documents that are here, as measures."""
        found: dict[Any, Measure] = {}
        for shard, there in self._open():
            with self._reading(shard):
                numbers = there.catalog.numbers_of(ids)
                for id, number in zip(ids, numbers, strict=True):
                    if number is not None:
                        shelf, row = there.place(number)
                        found[id] = shelf.documents.measure(row)
        return found


def _numbers(there: Snapshot, ids: Sequence[Any] | None) -> list[int] | None:
    if ids is None:
        return None
    return [number for number in there.catalog.numbers_of(ids) if number is not None]


_kept: OrderedDict[tuple[str, tuple[str, ...]], Holding] = OrderedDict()
_opening = threading.Lock()


def held(place: Place, shards: Sequence[Shard], batch: str) -> Holding:
    """Some shards, opened once in this process; what could not be read is tried anew by each batch."""
    key = (place.url, tuple(shard.folder for shard in shards))
    with _opening:
        found = _kept.get(key)
        if found is None or (found.lost and found.batch != batch):
            found = _kept[key] = Holding(place, shards, batch)
        _kept.move_to_end(key)
        while len(_kept) > MOST_HELD:
            _kept.popitem(last=False)
        return found

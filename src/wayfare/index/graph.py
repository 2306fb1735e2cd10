"""The graph of nearest neighbours of a whole index: a search for each document, here or on a cluster."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexFailure, InputError
from wayfare.index.answering import Asked, settings_of
from wayfare.index.reading import Handed
from wayfare.index.snapshot import Snapshot
from wayfare.oncluster import check_client
from wayfare.progress import Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["neighbors_graph"]

AT_ONCE = 256  # documents asked for together: a step of the bar, or a task


class Rows(NamedTuple):
    """Some consecutive rows of the graph: how many entries each has, and these."""

    start: int
    sizes: NDArray[np.int64]
    columns: NDArray[np.int64]
    distances: NDArray[np.float64]


class State(NamedTuple):
    """Which state of which index is searched."""

    folder: Path
    catalog: str
    generation: int

    @classmethod
    def of(cls, there: Snapshot) -> State:
        return cls(there.folder.resolve(), there.catalog.path.name, there.settings.generation)


def neighbors_graph(
    there: Snapshot, asked: Asked, client: Any, progress: bool | None
) -> csr_array[Any, Any]:
    """Search for each document, and leave it out of its own answer."""
    from scipy.sparse import csr_array

    from wayfare.search.door import check_k

    k = check_k(asked.k)
    if k is None:
        raise InputError("k: None came; give a number of neighbours")
    settings = settings_of(there, asked) | {"k": k + 1}
    count = len(there)
    starts = range(0, count, AT_ONCE)
    made: Iterator[Rows]
    if client is None:
        all_ = _All(there)
        made = (all_.rows(start, settings, asked.n_jobs) for start in starts)
    else:
        # A worker has as many tasks at once as it has threads.
        jobs = 1 if asked.n_jobs is None else asked.n_jobs
        made = _on_workers(check_client(client), State.of(there), starts, settings, jobs)
    found: dict[int, Rows] = {}
    with Progress("finding neighbours", total=count, unit="documents", show=progress) as bar:
        for rows in made:
            found[rows.start] = rows
            bar.advance(len(rows.sizes))
    parts = [found[start] for start in starts]
    sizes = np.concatenate([np.zeros(1, np.int64), *(part.sizes for part in parts)])
    columns = np.concatenate([np.zeros(0, np.int64), *(part.columns for part in parts)])
    distances = np.concatenate([np.zeros(0), *(part.distances for part in parts)])
    return csr_array((distances, columns, np.cumsum(sizes)), shape=(count, count))


class _All:
    """The documents of an index in their order, each asked for in turn."""

    def __init__(self, there: Snapshot) -> None:
        self._there = there

    @cached_property
    def _places(self) -> list[NDArray[np.int64]]:
        """For each shelf the place of each row among all documents; -1 for one that is gone."""
        places, start = [], 0
        for shelf, alive in zip(self._there.shelves, self._there.alive, strict=True):
            mask = np.ones(len(shelf), bool) if alive is None else alive
            place = np.where(mask, start + np.cumsum(mask) - 1, -1)
            places.append(place.astype(np.int64))
            start += int(mask.sum())
        return places

    @cached_property
    def _standing(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each document its shelf and its row there."""
        rows = [np.flatnonzero(place >= 0) for place in self._places]
        shelves = [np.full(len(some), n) for n, some in enumerate(rows)]
        nothing = np.zeros(0, np.int64)
        return np.concatenate([nothing, *shelves]), np.concatenate([nothing, *rows])

    def _names(self, shelf: int, rows: NDArray[np.int64]) -> Sequence[int]:
        return [int(n) for n in self._places[shelf][rows]]

    def rows(self, start: int, settings: dict[str, Any], n_jobs: int | None) -> Rows:
        """The rows of the graph from `start`."""
        from wayfare.search import search_many

        there, some = self._there, slice(start, start + AT_ONCE)
        shelves, rows = (array[some] for array in self._standing)
        queries = [
            there.shelves[shelf].documents.measure(int(row))
            for shelf, row in zip(shelves, rows, strict=True)
        ]
        found = search_many(
            there.collections,
            queries,
            n_jobs=n_jobs,
            allowed=there.alive,
            ids=self._names,
            **settings,
        )
        columns, distances = [np.zeros(0, np.int64)], [np.zeros(0)]
        for own, hits in enumerate(found, start):
            near = np.array(hits.ids, np.int64)
            # Among more than k copies of it a document may miss its own answer: the last goes.
            other = np.flatnonzero(near != own)[: settings["k"] - 1]
            other = other[np.argsort(near[other])]
            columns.append(near[other])
            distances.append(hits.distances[other])
        sizes = np.array([len(one) for one in columns[1:]], np.int64)
        return Rows(start, sizes, np.concatenate(columns), np.concatenate(distances))


# -- on the workers of a Dask cluster -------------------------------------------------------------


def _on_workers(
    client: Any, state: State, starts: Sequence[int], settings: dict[str, Any], n_jobs: int
) -> Iterator[Rows]:
    distributed: Any = import_module("distributed")
    tasks = [
        client.submit(_some_rows, state, start, settings, n_jobs, pure=False) for start in starts
    ]
    try:
        for task in distributed.as_completed(tasks):
            yield task.result()
            task.release()
    except distributed.KilledWorker as error:
        raise IndexFailure(
            f"{state.folder}: workers that searched it died one after another ({error}); look at "
            "their memory"
        ) from error
    finally:
        client.cancel(tasks)


_kept: dict[State, _All] = {}
_opening = threading.Lock()


def _some_rows(state: State, start: int, settings: dict[str, Any], n_jobs: int) -> Rows:
    return _opened(state).rows(start, settings, n_jobs)


def _opened(state: State) -> _All:
    """The index in that state, opened once in this process."""
    with _opening:
        if state not in _kept:
            there = Snapshot.open(state.folder, Handed())
            if State.of(there) != state:
                raise IndexFailure(
                    f"{state.folder}: it was written to since it was opened; refresh() it, and ask "
                    "again while nobody writes"
                )
            _kept.clear()
            _kept[state] = _All(there)
        return _kept[state]

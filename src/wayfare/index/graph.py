"""The graph of nearest neighbours of a whole index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError
from wayfare.index.answering import Asked, settings_of
from wayfare.index.snapshot import Snapshot
from wayfare.progress import Progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["neighbors_graph"]

AT_ONCE = 256  # documents asked for between two steps of the bar


def neighbors_graph(there: Snapshot, asked: Asked, progress: bool | None) -> csr_array[Any, Any]:
    """Search for each document, and leave it out of its own answer."""
    from scipy.sparse import csr_array

    from wayfare.search import search_many
    from wayfare.search.door import check_k

    count = len(there)
    k = check_k(asked.k)
    if k is None:
        raise InputError("k: None came; give a number of neighbours")
    settings = settings_of(there, asked) | {"k": k + 1}
    place = _places(there)
    indptr = np.zeros(count + 1, np.int64)
    columns: list[NDArray[np.int64]] = []
    distances: list[NDArray[np.float64]] = []

    def names(shelf: int, rows: NDArray[np.int64]) -> Sequence[int]:
        return [int(n) for n in place[shelf][rows]]

    queries = [
        (there.shelves[s].documents, int(row), int(n))
        for s, places in enumerate(place)
        for row, n in enumerate(places)
        if n >= 0
    ]
    with Progress("finding neighbours", total=count, unit="documents", show=progress) as bar:
        for start in range(0, count, AT_ONCE):
            some = queries[start : start + AT_ONCE]
            measures = [documents.measure(row) for documents, row, _ in some]
            found = search_many(
                there.collections,
                measures,
                n_jobs=asked.n_jobs,
                allowed=there.alive,
                ids=names,
                **settings,
            )
            for (_, _, own), hits in zip(some, found, strict=True):
                near = np.array(hits.ids, np.int64)
                # Among more than k copies of it a document may miss its own answer: the last goes.
                other = np.flatnonzero(near != own)[:k]
                other = other[np.argsort(near[other])]
                indptr[own + 1] = len(other)
                columns.append(near[other])
                distances.append(hits.distances[other])
            bar.advance(len(some))
    np.cumsum(indptr, out=indptr)
    indices = np.concatenate([np.zeros(0, np.int64), *columns])
    data = np.concatenate([np.zeros(0), *distances])
    return csr_array((data, indices, indptr), shape=(count, count))


def _places(there: Snapshot) -> list[NDArray[np.int64]]:
    """For each shelf the place of each row among all documents; -1 for one that is gone."""
    places, start = [], 0
    for shelf, alive in zip(there.shelves, there.alive, strict=True):
        mask = np.ones(len(shelf), bool) if alive is None else alive
        place = np.where(mask, start + np.cumsum(mask) - 1, -1)
        places.append(place.astype(np.int64))
        start += int(mask.sum())
    return places

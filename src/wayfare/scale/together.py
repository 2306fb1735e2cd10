"""Collections that were made apart, over one set of words: what a query needs of one is found once.

Each shard numbers its words as they first appear in it. Here equal points of all shards become one row,
and the entries of the documents are numbered anew: four bytes an entry that are not shared with the disk.
Points that come several times in one shard stay as many rows, so that no document has a row twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfare.many import Documents, Query, Told
from wayfare.points import Points, hashes_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Renumbered", "together"]

Rows = NDArray[np.int64]

AT_ONCE = 1 << 14  # points compared at a time


@dataclass(frozen=True)
class Renumbered(Documents):
    """Documents whose entries stand in the order of their first numbering, not of the rows they name.

    Bounds do not care; solves compare a document with the query entry by entry, and get theirs sorted.
    """

    @cached_property
    def root_matrix(self) -> csr_array[Any, Any]:
        """The square roots of the weights as a sparse matrix."""
        # SciPy sorts the entries in place; these arrays are no one's to change.
        arrays = self.indptr.copy(), self.indices.copy(), self.weights.copy()
        return Documents(self.shared, *arrays).root_matrix

    def take(self, picks: NDArray[np.int64], query: Query) -> tuple[Documents, Query]:
        """Some documents over their own points, each with its entries in the order of these."""
        some, there = super().take(picks, query)
        document = np.repeat(np.arange(len(some)), np.diff(some.indptr))
        order = np.lexsort((some.indices, document))
        sorted_ = replace(some, indices=some.indices[order], weights=some.weights[order])
        return sorted_, there


def together(collections: Sequence[Documents]) -> list[Documents]:
    """The same collections over one `Points`; a single set of words stays what it is.

    >>> apart = [Documents(Points(np.array(rows, np.float32)), *map(np.array, ([0, 1], [0], [1.0])))
    ...          for rows in ([[1, 2], [3, 4]], [[5, 6], [1, 2]])]
    >>> one, other = together(apart)
    >>> one.shared is other.shared, one.points.tolist(), other.indices.tolist()
    (True, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2])
    """
    words = list(
        {id(some.shared): some.shared for some in collections if len(some.points)}.values()
    )
    if len(words) < 2:
        return list(collections)
    union, rows = _union(words)
    row_of = {id(points): some.astype(np.int32) for points, some in zip(words, rows, strict=True)}
    return [_renumbered(some, union, row_of.get(id(some.shared))) for some in collections]


def _renumbered(some: Documents, union: Points, rows: NDArray[np.int32] | None) -> Documents:
    if rows is None:  # no words, so no entries
        return replace(some, shared=union)
    told = some.told
    if told is not None:
        points, masses = told.heaviest
        told = Told(
            told.masses, told.light_weights, (rows[points].astype(np.int64), masses), told.longest
        )
    indices = rows[some.indices]
    indices.flags.writeable = False
    return Renumbered(union, some.indptr, indices, some.weights, told)


def _union(words: Sequence[Points]) -> tuple[Points, list[Rows]]:
    """One of each point, in the order in which they come, and for each set the rows of its points."""
    hashes = [p.hashes if p.hashes is not None else hashes_of(p.array) for p in words]
    starts = np.cumsum([0, *map(len, words)])
    row_of, heads = _grouped(np.concatenate(hashes), np.concatenate([_turns(h) for h in hashes]))
    union = np.empty((len(heads), words[0].array.shape[1]), words[0].array.dtype)
    rows: list[Rows] = []
    strangers: list[NDArray[np.float32]] = []
    for points, start, stop in zip(words, starts, starts[1:], strict=False):
        mine = row_of[start:stop]
        first, last = np.searchsorted(heads, (start, stop))
        union[first:last] = points.array[heads[first:last] - start]
        odd = _unlike(points.array, union, mine)
        mine[odd] = len(heads) + sum(map(len, strangers)) + np.arange(len(odd))
        strangers.append(points.array[odd])
        rows.append(mine)
    if any(len(some) for some in strangers):
        union = np.concatenate([union, *strangers])
    kept = np.concatenate(hashes)[heads]
    kept = np.concatenate([kept, *map(hashes_of, strangers)])
    squared = np.einsum("ij,ij->i", union, union, dtype=np.float64).astype(np.float32)
    return Points(union, squared, kept), rows


def _turns(hashes: NDArray[np.uint64]) -> Rows:
    """How many equal hashes stand before each."""
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    first = np.searchsorted(ranked, ranked)
    turns = np.empty(len(hashes), np.int64)
    turns[order] = np.arange(len(hashes)) - first
    return turns


def _grouped(hashes: NDArray[np.uint64], turns: Rows) -> tuple[Rows, Rows]:
    """For each the number of its group of equal pairs, and where each group comes first, rising."""
    order = np.lexsort((turns, hashes))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(hashes[order]) != 0) | (np.diff(turns[order]) != 0)
    first = order[new]  # the sort is stable: the head of a group is the first of it to come
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    row_of = np.empty(len(order), np.int64)
    row_of[order] = number[np.cumsum(new) - 1]
    return row_of, np.sort(first)


def _unlike(points: NDArray[np.float32], union: NDArray[np.float32], rows: Rows) -> Rows:
    """Which points are not equal to their rows: different ones may have one hash."""
    return np.concatenate(
        [np.zeros(0, np.int64)]
        + [
            start
            + np.flatnonzero(
                (points[start : start + AT_ONCE] != union[rows[start : start + AT_ONCE]]).any(
                    axis=1
                )
            )
            for start in range(0, len(points), AT_ONCE)
        ]
    )

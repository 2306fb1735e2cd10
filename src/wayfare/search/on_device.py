"""Certified search for many queries at once on a GPU, under WFR.

    1  every document     lower bounds from what each word reaches, both ways       words
    2  the likeliest      solved: the first k upper bounds of each query            solves
    3  what is left       a few sweeps, which prove nearly all of it too far        sweeps
    4  what is left       solved to `tol`                                           solves
    5  the border         solved further, in float64
    6  the answer         chosen and proven on the CPU, as for one query there

The corpus stays on the device between searches; a group of queries goes in once, and bounds of the
candidates come back once. As on the CPU, a document is dropped only when its lower bound passes the
k-th smallest upper bound so far, or the radius. A corpus larger than the device passes by in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.kernels.cpu.batch import Spread
from wayfare.kernels.gpu import pairs, placed, torches
from wayfare.many import Documents, Narrow
from wayfare.measure import Measure
from wayfare.ondevice import Desk
from wayfare.ondevice.kept import KEPT, fitting
from wayfare.search.closed import search_from_nothing
from wayfare.search.hits import Hits, SearchWork
from wayfare.search.parts import Narrowed, Part
from wayfare.search.proof import prove
from wayfare.search.request import Budget, Ids, Request
from wayfare.search.rounds import Brought, Round

__all__ = ["Group", "search_batch"]

Array = NDArray[np.float64]
Tensor = Any
Masks = Sequence[NDArray[np.bool_] | None]

# Queries that are searched for together: what is started anew for each group is paid for by all of it.
MOST_QUERIES = 4096
SHARE_OF_MEMORY = 4
BYTES_A_PAIR, BYTES_A_COSINE = 128, 8
COUNTED = ("documents", "by_word", "started", "solved", "refined", "sweeps")


def search_batch(
    collections: Sequence[Documents],
    queries: Sequence[Measure],
    requests: Sequence[Request],
    allowed: Masks,
    ids: Ids,
    desk: Desk,
) -> list[Hits]:
    """The nearest documents of all collections to each query, proven; a request for each."""
    hits: dict[int, Hits] = {
        at: search_from_nothing(collections, requests[at], allowed, ids)
        for at, query in enumerate(queries)
        if not query.mass
    }
    speaking = [at for at in range(len(queries)) if at not in hits]

    def run(some: slice) -> None:
        picks = speaking[some]
        group = Group(
            collections,
            [queries[at] for at in picks],
            [requests[at] for at in picks],
            allowed,
            desk,
        )
        _pass_by(collections, desk, group.search)
        hits.update(zip(picks, group.answers(ids), strict=True))

    with torches.exact_products():
        together = _together(collections, [queries[at] for at in speaking], desk)
        pairs.in_blocks(run, len(speaking), together)
    return [hits[at] for at in range(len(queries))]


def _together(collections: Sequence[Documents], queries: Sequence[Measure], desk: Desk) -> int:
    """For how many queries the memory holds bounds of all documents and cosines of all words."""
    documents = sum(fitting(one, desk.device) for one in collections)
    points = sum({id(one.shared): len(one.points) for one in collections}.values())
    words = sum(map(len, queries)) // max(len(queries), 1) + 1
    one = BYTES_A_PAIR * documents + BYTES_A_COSINE * words * points
    return min(torches.free_bytes(desk.device) // (SHARE_OF_MEMORY * max(one, 1)), MOST_QUERIES)


def _pass_by(
    collections: Sequence[Documents], desk: Desk, look: Callable[[placed.Placed, int], None]
) -> None:
    """Show all documents on the device, with the number of the first: at once, or part after part."""
    whole = KEPT.of(collections, desk.device, desk.place_all)
    if whole is not None:
        look(whole, 0)
        return
    begin = 0
    for documents in collections:

        def part(some: slice, begin: int = begin, documents: Documents = documents) -> None:
            look(desk.place(documents.block(some.start, some.stop)), begin + some.start)

        pairs.in_blocks(part, len(documents), fitting(documents, desk.device))
        begin += len(documents)


class Group:
    """Queries that are searched for together: what is proven of each so far."""

    def __init__(
        self,
        collections: Sequence[Documents],
        measures: Sequence[Measure],
        requests: Sequence[Request],
        allowed: Masks,
        desk: Desk,
    ) -> None:
        t = torches.torch()
        self.collections, self.measures, self.requests = collections, measures, requests
        self.desk, self.k = desk, requests[0].k
        sizes = [len(one) for one in collections]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.cuts = np.array(
            [
                np.inf if one.within is None else 0.5 * (one.within / one.eta) ** 2
                for one in requests
            ]
        )
        more: list[NDArray[Any]] = [self.cuts]
        if any(one is not None for one in allowed):
            masks = zip(sizes, allowed, strict=True)
            more += [np.concatenate([np.ones(n, bool) if m is None else m for n, m in masks])]
        some, (self.cut, *mask) = desk.place_with([Documents.of_measures(measures)], more)
        self.queries = some.with_each_point_once()
        self.allowed = mask[0] if mask else None
        shape = len(measures), self.k or 0
        self.best = t.full(shape, np.inf, dtype=t.float64, device=desk.device)
        self.brought: list[Brought] = []

    def measure(self, row: int) -> Measure:
        """A document by its number among all."""
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.collections[number].measure(int(row - self.starts[number]))

    def search(self, documents: placed.Placed, begin: int) -> None:
        """Take some documents in; `begin` is the number of the first among all."""
        if len(documents):
            found = Round(self, documents, begin)
            self.brought.append(found.bring())
            self.best = found.best()

    def answers(self, ids: Ids) -> list[Hits]:
        """What each query finds among all documents that were taken in."""
        found = self.brought
        if not found:
            return [
                prove([], one, np.inf, np.inf, Budget(), ids, SearchWork()) for one in self.requests
            ]
        query, rows, lower, upper = (
            np.concatenate([getattr(one, name) for one in found])
            for name in ("queries", "rows", "lower", "upper")
        )
        outside = np.min([one.outside for one in found], axis=0)
        counts = np.sum([one.counts for one in found], axis=0).tolist()
        numbers = np.searchsorted(self.starts, rows, side="right") - 1
        # By query, then by collection: each such run is a `Narrowed` of its own.
        order = np.lexsort((rows, query))
        edges = np.diff(query[order], prepend=-1) != 0
        edges |= np.diff(numbers[order], prepend=-1) != 0
        picks = rows - self.starts[numbers]
        names = self._names(ids, numbers, picks)
        some: list[list[Narrowed]] = [[] for _ in self.measures]
        for run in np.split(order, np.flatnonzero(edges)[1:]) if len(order) else []:
            at, number = int(query[run[0]]), int(numbers[run[0]])
            documents = self.collections[number]
            part = Part(number, documents, documents.query(self.measures[at]), None, self.desk.eta)
            some[at].append(_FromDevice(part, picks[run], lower[run], upper[run]))

        def named(number: int, places: NDArray[np.int64]) -> list[Any]:
            return [names[number, place] for place in places.tolist()]

        return [
            prove(
                some[at],
                request,
                float(self.cuts[at]),
                float(outside[at]),
                Budget(),
                named,
                SearchWork(**dict(zip(COUNTED, counts[at], strict=True))),
            )
            for at, request in enumerate(self.requests)
        ]

    def _names(
        self, ids: Ids, numbers: NDArray[np.int64], places: NDArray[np.int64]
    ) -> dict[tuple[int, int], Any]:
        names: dict[tuple[int, int], Any] = {}
        for number in np.unique(numbers).tolist():
            rows = np.unique(places[numbers == number])
            found = zip(rows.tolist(), ids(number, rows), strict=True)
            names |= {(number, row): name for row, name in found}
        return names


class _FromDevice(Narrowed):
    """Documents whose bounds were narrowed on a device; what is still open goes on here."""

    def __init__(self, part: Part, picks: NDArray[np.int64], lower: Array, upper: Array) -> None:
        self.part, self.picks = part, picks
        nothing = np.zeros(len(picks), np.int32)
        self.spread = Spread(np.minimum(lower, upper), upper, nothing, nothing, nothing)
        there = part.documents
        starts, stops = there.indptr[picks], there.indptr[picks + 1]
        indptr = np.concatenate([[0], np.cumsum(stops - starts)]).astype(np.int64)
        entries = np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], stops - starts)
        self.documents = Documents(
            there.shared, indptr, there.indices[entries], there.weights[entries]
        )

    def work_on(self, order: NDArray[np.int64], goal: Narrow) -> int:
        """Narrow the bounds of some of them, over their own points."""
        some, query = self.part.documents.take(self.picks[order], self.part.query)
        spread, everyone = self.spread, np.arange(len(order))
        found = some.solve(query, everyone, eta=goal.eta, tol=goal.tol, atol=goal.atol)
        spread.upper[order] = np.minimum(spread.upper[order], found.upper)
        lower = np.maximum(spread.lower[order], found.lower)
        # Two bounds that meet were rounded on their own.
        spread.lower[order] = np.minimum(lower, spread.upper[order])
        return len(order)

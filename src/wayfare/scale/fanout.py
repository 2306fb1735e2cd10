"""One batch of queries over all shards: out to the workers, back, and merged.

Each worker has its own shards, which it keeps open, and is given one at a time for each of its threads.
Whatever has come back by then bounds what is given out next.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexFailure, ShardError
from wayfare.scale import workers
from wayfare.scale.merging import Found, merge, nearest_upper
from wayfare.scale.storage import Place
from wayfare.scale.workers import Shard
from wayfare.search import Hits

__all__ = ["Fanout"]

# A bound that travels is widened by this share: two sums of one document differ by their order.
ROUNDING = 1e-6


@dataclass
class Fanout:
    """How a batch is searched for: where, for what, and what happens to shards that cannot be read."""

    client: Any
    place: Place
    shards: Sequence[Shard]
    settings: dict[str, Any]
    k: int | None
    within: float | None
    allow_partial: bool
    share_bounds: bool
    _sorted: dict[Any, NDArray[np.float64]] = field(default_factory=dict)

    def search(self, payload: Any, count: int) -> list[Hits]:
        """The answers to the `count` queries of a payload, merged from all shards."""
        parts: list[dict[int, Hits]] = [{} for _ in range(count)]
        missing: list[str] = []
        for at, some, answers in self._answers(payload, count, parts):
            if isinstance(answers, ShardError):
                if not self.allow_partial:
                    raise answers
                if self.shards[at].name not in missing:
                    missing.append(self.shards[at].name)
                continue
            for n, hits in zip(range(some.start, some.stop), answers, strict=True):
                parts[n][at] = hits
        return [self._merged(payload, n, part, sorted(missing)) for n, part in enumerate(parts)]

    # -- out and back -------------------------------------------------------------------------

    def _answers(
        self, payload: Any, count: int, parts: list[dict[int, Hits]]
    ) -> Iterator[tuple[int, slice, Any]]:
        """What comes back, in the order in which it does: shard, queries, and answers or the error."""
        distributed: Any = import_module("distributed")
        threads = self.client.nthreads()
        waiting = self._shares(threads, count)
        sent: dict[Any, tuple[int, slice, str]] = {}
        coming = distributed.as_completed()

        def send(worker: str) -> None:
            if not waiting[worker]:
                return
            at, some = waiting[worker].popleft()
            future = self.client.submit(
                workers.search_shard,
                self.place,
                self.shards[at],
                payload,
                some,
                self.settings | {"k": self.k},
                [self._limit(parts[n]) for n in range(some.start, some.stop)],
                workers=[worker] if worker else None,
                allow_other_workers=bool(worker),
                pure=False,
            )
            sent[future] = (at, some, worker)
            coming.add(future)

        for worker in waiting:
            for _ in range(threads.get(worker, 1)):
                send(worker)
        try:
            for future in coming:
                at, some, worker = sent.pop(future)
                try:
                    answers: Any = future.result()
                except ShardError as error:
                    answers = error
                except distributed.KilledWorker as error:
                    answers = ShardError(
                        f"shard {self.shards[at].name}: the workers that searched it died one after "
                        f"another ({error})"
                    )
                yield at, some, answers
                send(worker)
        finally:
            self.client.cancel(list(sent))

    def _shares(self, threads: dict[str, int], count: int) -> dict[str, deque[tuple[int, slice]]]:
        """Which worker searches what, in its order; with few shards the queries are split too."""
        names = sorted(threads) or [""]
        total = max(sum(threads.values()), 1)
        groups = max(min(-(-total // max(len(self.shards), 1)), count), 1)
        edges = [count * n // groups for n in range(groups + 1)]
        spans = [slice(a, b) for a, b in itertools.pairwise(edges)]
        shares: dict[str, deque[tuple[int, slice]]] = {name: deque() for name in names}
        for at in range(len(self.shards)):
            for n, span in enumerate(spans):
                shares[names[(at + n) % len(names)]].append((at, span))
        return shares

    def _limit(self, part: dict[int, Hits]) -> float | None:
        """How far a shard need look for a query: its radius, or what others have found already."""
        # What nobody has proven bounds nothing: a budget may have run out before the nearest was seen,
        # but an upper bound holds all the same.
        best = nearest_upper(list(part.values()), self.k) if self.share_bounds else None
        if best is not None:
            best *= 1 + ROUNDING
        limits = [one for one in (best, self.within) if one is not None]
        return min(limits) if limits else None

    # -- merging ------------------------------------------------------------------------------

    def _merged(self, payload: Any, n: int, part: dict[int, Hits], missing: list[str]) -> Hits:
        def refine(border: Sequence[Found], tol: float) -> dict[Any, tuple[float, float]]:
            known: dict[Any, tuple[float, float]] = {}
            futures = []
            for at in sorted({one.shard for one in border}):
                ids = [one.id for one in border if one.shard == at]
                exact = {"mode": "exact", "milliseconds": None, "solves": None, "where": None}
                settings = self.settings | exact | {"k": len(ids), "tol": tol, "ids": ids}
                futures.append(self._ask(at, payload, n, settings))
            for hits in self.client.gather(futures):
                known |= {hit.id: (hit.lower, hit.upper) for hit in hits[0]}
            return known

        return merge(part, self.k, missing, refine, self._equal)

    def _ask(self, at: int, payload: Any, n: int, settings: dict[str, Any]) -> Any:
        return self.client.submit(
            workers.search_shard,
            self.place,
            self.shards[at],
            payload,
            slice(n, n + 1),
            settings,
            [None],
            pure=False,
        )

    def _equal(self, a: Found, b: Found) -> bool:
        """Whether two documents are one: the same points, and weights but for their rounding.

        A shard adds up a document's words in an order of its own, so that weights may differ in the
        last place, and distances by less than double precision tells.
        """
        mine, theirs = self._points(a), self._points(b)
        return mine.shape == theirs.shape and bool(
            np.array_equal(mine[:, 1:], theirs[:, 1:])
            and np.allclose(mine[:, 0], theirs[:, 0], rtol=1e-12, atol=0.0)
        )

    def _points(self, one: Found) -> NDArray[np.float64]:
        """The points of a document with their weights, in an order of their own."""
        if one.id not in self._sorted:
            try:
                (measure,) = self.client.submit(
                    workers.measures_of, self.place, self.shards[one.shard], [one.id], pure=False
                ).result()
            except IndexFailure as error:
                raise ShardError(str(error)) from error
            rows = np.column_stack([measure.weights, measure.points.astype(np.float64)])
            self._sorted[one.id] = rows[np.lexsort(rows.T)]
        return self._sorted[one.id]

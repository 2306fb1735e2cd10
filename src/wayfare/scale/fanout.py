"""One batch of queries over all shards: out to the workers, back, and merged.

The shards are shared out to machines, or to single workers, which keep them open and search them as one.
Queries travel in groups, and each share begins with another group than the others: whatever has come back
by then bounds what is given out next, so that the second to see a query need not look beyond what the
first has found.
"""

from __future__ import annotations

import itertools
import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexFailure, ShardError
from wayfare.measure import Measure
from wayfare.scale import workers
from wayfare.scale.merging import Found, merge, nearest_upper
from wayfare.scale.storage import Place, Shard
from wayfare.search import Hits
from wayfare.threads import in_threads

__all__ = ["Fanout"]

# A bound that travels is widened by this share: two sums of one document differ by their order.
ROUNDING = 1e-6
# Queries that travel together, as many as a search compares with the words in one product.
GROUP = 16
# With small batches groups are smaller, so that each share can begin with another; up to this many.
ROUNDS = 8
# Answers merged at once: most are at once done, and some wait for a worker to look closer.
MERGED_AT_ONCE = 16


@dataclass(frozen=True)
class Share:
    """Shards that are searched together, and the workers of which any may do so."""

    shards: tuple[Shard, ...]
    workers: tuple[str, ...]


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
    per_machine: bool
    batch: str = field(default_factory=lambda: secrets.token_hex(8))
    _sorted: dict[Any, NDArray[np.float64]] = field(default_factory=dict)

    def search(self, payload: Any, count: int) -> list[Hits]:
        """The answers to the `count` queries of a payload, merged from all shards."""
        threads = self._threads(payload)
        shares = self._shares(sorted(threads))
        parts: list[dict[int, Hits]] = [{} for _ in range(count)]
        missing: dict[str, ShardError] = {}
        for at, some, answers, lost in self._answers(payload, count, shares, threads, parts):
            missing |= lost
            for error in lost.values():
                if not self.allow_partial:
                    raise error
            for n, hits in zip(range(some.start, some.stop), answers, strict=bool(answers)):
                parts[n][at] = hits

        def merged(n: int) -> Hits:
            return self._merged(payload, n, parts[n], sorted(missing), shares)

        return list(in_threads(merged, range(count), MERGED_AT_ONCE))

    def _threads(self, payload: Any) -> dict[str, int]:
        """The workers and how many threads each has; a cluster may start its first for us."""
        threads: dict[str, int] = self.client.nthreads()
        if not threads:
            import_module("distributed").wait(payload)
            threads = self.client.nthreads()
        return threads

    def _shares(self, names: Sequence[str]) -> list[Share]:
        """A share for each machine or each worker; with fewer shards than these, a shard for several."""
        host_of = import_module("distributed.comm").get_address_host
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(host_of(name) if self.per_machine else name, []).append(name)
        count = max(min(len(groups), len(self.shards)), 1)
        return [
            Share(
                tuple(self.shards[n::count]),
                tuple(itertools.chain.from_iterable(list(groups.values())[n::count])),
            )
            for n in range(count)
        ]

    # -- out and back -------------------------------------------------------------------------

    def _answers(
        self,
        payload: Any,
        count: int,
        shares: Sequence[Share],
        threads: dict[str, int],
        parts: list[dict[int, Hits]],
    ) -> Iterator[tuple[int, slice, list[Hits], dict[str, ShardError]]]:
        """What comes back, in the order in which it does: share, queries, answers, and what is lost."""
        distributed: Any = import_module("distributed")
        waiting = [deque(turn) for turn in _turns(count, shares, threads)]
        sent: dict[Any, tuple[int, slice, str]] = {}
        coming = distributed.as_completed()

        def send(at: int, worker: str) -> None:
            if not waiting[at]:
                return
            some = waiting[at].popleft()
            future = self._submit(
                workers.search_share,
                shares[at],
                payload,
                some,
                self.settings | {"k": self.k},
                [self._limit(parts[n]) for n in range(some.start, some.stop)],
                self.allow_partial,
                worker=worker,
            )
            sent[future] = (at, some, worker)
            coming.add(future)

        for at, share in enumerate(shares):
            for worker in share.workers:
                for _ in range(threads[worker]):
                    send(at, worker)
        try:
            for future in coming:
                at, some, worker = sent.pop(future)
                try:
                    answers, lost = future.result()
                except ShardError as error:
                    answers, lost = [], {str(error): error}
                except distributed.KilledWorker as error:
                    answers, lost = [], _killed(shares[at], error)
                yield at, some, answers, lost
                send(at, worker)
        finally:
            self.client.cancel(list(sent))

    def _submit(self, task: Any, share: Share, *more: Any, worker: str | None = None) -> Any:
        """Have a worker that holds a share do something with it; another, where it has died."""
        names = list(share.workers) if worker is None else [worker]
        return self.client.submit(
            task,
            self.place,
            share.shards,
            self.batch,
            *more,
            workers=names or None,
            allow_other_workers=bool(names),
            pure=False,
        )

    def _limit(self, part: dict[int, Hits]) -> float | None:
        """How far a share need look for a query: its radius, or what others have found already."""
        # What nobody has proven bounds nothing: a budget may have run out before the nearest was seen,
        # but an upper bound holds all the same.
        best = nearest_upper(list(part.values()), self.k) if self.share_bounds else None
        if best is not None:
            best *= 1 + ROUNDING
        limits = [one for one in (best, self.within) if one is not None]
        return min(limits) if limits else None

    # -- merging ------------------------------------------------------------------------------

    def _merged(
        self,
        payload: Any,
        n: int,
        part: dict[int, Hits],
        missing: list[str],
        shares: Sequence[Share],
    ) -> Hits:
        def refine(border: Sequence[Found], tol: float) -> dict[Any, tuple[float, float]]:
            known: dict[Any, tuple[float, float]] = {}
            futures = []
            metric = {name: self.settings[name] for name in ("eta", "metric")}
            for at in sorted({one.share for one in border}):
                ids = [one.id for one in border if one.share == at]
                told = (payload, n, ids, metric | {"tol": tol})
                futures.append(self._submit(workers.narrow_some, shares[at], *told))
            for hits in self.client.gather(futures):
                known |= {hit.id: (hit.lower, hit.upper) for hit in hits}
            return known

        def equal(a: Found, b: Found) -> bool:
            """Whether two documents are one: the same points, and weights but for their rounding.

            A shard adds up a document's words in an order of its own, so that weights may differ in the
            last place, and distances by less than double precision tells.
            """
            mine, theirs = (self._points(one, shares[one.share]) for one in (a, b))
            return mine.shape == theirs.shape and bool(
                np.array_equal(mine[:, 1:], theirs[:, 1:])
                and np.allclose(mine[:, 0], theirs[:, 0], rtol=1e-12, atol=0.0)
            )

        return merge(part, self.k, missing, refine, equal)

    def _points(self, one: Found, share: Share) -> NDArray[np.float64]:
        """The points of a document with their weights, in an order of their own."""
        if one.id not in self._sorted:
            try:
                found: dict[Any, Measure] = self._submit(
                    workers.measures_in, share, [one.id]
                ).result()
            except IndexFailure as error:
                raise ShardError(str(error)) from error
            measure = found[one.id]
            rows = np.column_stack([measure.weights, measure.points.astype(np.float64)])
            self._sorted[one.id] = rows[np.lexsort(rows.T)]
        return self._sorted[one.id]


def _turns(count: int, shares: Sequence[Share], threads: dict[str, int]) -> list[list[slice]]:
    """For each share all groups of queries in its order; as far as they go, each begins with another."""
    at_work = max(sum(threads[name] for name in share.workers) for share in shares)
    wanted = max(min(len(shares), ROUNDS), at_work)
    size = min(max(-(-count // wanted), 1), GROUP)
    groups = [slice(start, min(start + size, count)) for start in range(0, count, size)]
    first = [len(groups) * n // len(shares) for n in range(len(shares))]
    return [list(itertools.chain(groups[n:], groups[:n])) for n in first]


def _killed(share: Share, error: Exception) -> dict[str, ShardError]:
    names = [shard.name for shard in share.shards]
    many = f"one of shards {', '.join(names)}" if len(names) > 1 else f"shard {names[0]}"
    said = ShardError(f"{many}: the workers that searched it died one after another ({error})")
    return dict.fromkeys(names, said)

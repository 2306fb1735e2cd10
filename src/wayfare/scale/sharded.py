"""`ShardedIndex`: many indexes on many machines, searched as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import InputError, ShardError
from wayfare.index import Index
from wayfare.measure import Measure
from wayfare.progress import Progress
from wayfare.scale import workers
from wayfare.scale.fanout import Fanout
from wayfare.scale.manifest import Manifest
from wayfare.scale.storage import Place, Shard

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from wayfare.search import Hits

__all__ = ["ShardedIndex", "ShardsInfo", "open_shards"]

NEAREST = 10
# Queries that travel together; documents of a graph that are asked for together.
AT_ONCE = 256


@dataclass(frozen=True)
class ShardsInfo:
    """What a sharded index holds."""

    path: str
    documents: int
    shards: tuple[Shard, ...]
    eta: float
    tol: float
    metric: str
    texts: bool


class ShardedIndex:
    """A sharded index and the Dask client whose workers search it; made by `build` and `open`.

    Answers are those of one index over all documents: the same ids, in certified intervals. Safe to
    use from many threads.
    """

    def __init__(
        self,
        place: Place,
        manifest: Manifest,
        client: Any,
        vectors: Any = None,
        tokenizer: Callable[[str], Sequence[str]] | None = None,
        weighting: Any = None,
        per_machine: bool | None = None,
    ) -> None:
        self._place, self._manifest, self._client = place, manifest, client
        self._per_machine = place.local if per_machine is None else per_machine
        self._reading = Index.open(
            place.open_folder(manifest.reading),
            vectors=vectors,
            tokenizer=tokenizer,
            weighting=weighting,
            read_only=True,
        )

    # -- searching ----------------------------------------------------------------------------

    def search(
        self,
        queries: Any,
        k: int | None = None,
        *,
        within: float | None = None,
        eta: float | None = None,
        tol: float | None = None,
        metric: str | None = None,
        mode: str = "exact",
        milliseconds: float | None = None,
        solves: int | None = None,
        ids: Iterable[Any] | None = None,
        where: Mapping[str, Any] | None = None,
        allow_partial: bool = False,
        share_bounds: bool = True,
        progress: bool | None = None,
    ) -> Hits | list[Hits]:
        """The nearest documents of all shards: `Index.search`, on the workers.

        Queries are given as to `Index.search`, and the settings of that name mean the same; a budget
        holds for each shard. The k-th best upper bound so far travels to the shards that are searched
        later, which need not look beyond it; `share_bounds=False` leaves that out, to measure it.

        A shard that cannot be read is a `ShardError` that names it. Under `allow_partial=True` the
        answer is that of the other shards, with `exact=False` and the names in `Hits.missing`.
        """
        one = isinstance(queries, str | Measure)
        measures = self._reading.encode([queries] if one else queries)
        wanted = None if ids is None else self._known(ids)
        settings = {
            "eta": self._manifest.eta if eta is None else eta,
            "tol": self._manifest.tol if tol is None else tol,
            "metric": self._manifest.metric if metric is None else metric,
            "mode": mode,
            "milliseconds": milliseconds,
            "solves": solves,
            "ids": wanted,
            "where": where,
        }
        k = NEAREST if k is None and within is None else k
        if within is not None and not (np.isfinite(within) and within >= 0):
            raise InputError(f"within: {within!r} came; give a distance of at least 0")
        fanout = self._fanout(settings, k, within, allow_partial, share_bounds)
        hits: list[Hits] = []
        with Progress("searching", total=len(measures), unit="queries", show=progress) as bar:
            for start in range(0, len(measures), AT_ONCE):
                some = measures[start : start + AT_ONCE]
                payload = self._client.submit(workers.same, some, pure=False)
                hits += fanout.search(payload, len(some))
                bar.advance(len(some))
        return hits[0] if one else hits

    def neighbors_graph(
        self,
        k: int = 10,
        *,
        eta: float | None = None,
        tol: float | None = None,
        metric: str | None = None,
        progress: bool | None = None,
    ) -> csr_array[Any, Any]:
        """The `k` nearest other documents of each: a CSR array of distances, rows and columns as `ids`.

        As `Index.neighbors_graph`: no document is its own neighbour, and a distance of 0 is there as an
        explicit zero.
        """
        from scipy.sparse import csr_array

        settings = {
            "eta": self._manifest.eta if eta is None else eta,
            "tol": self._manifest.tol if tol is None else tol,
            "metric": self._manifest.metric if metric is None else metric,
        }
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InputError(f"k: {k!r} came; give a whole number from 1")
        fanout = self._fanout(settings, k + 1, None, False, True)
        ids = self.ids.tolist()
        row_of = {id: row for row, id in enumerate(ids)}
        indptr, columns, distances = [0], [], []
        with Progress("searching", total=len(ids), unit="documents", show=progress) as bar:
            for shard, names in self._blocks():
                payload = self._client.submit(
                    workers.measures_of, self._place, shard, names, pure=False
                )
                for id, hits in zip(names, fanout.search(payload, len(names)), strict=True):
                    pairs = [
                        (row_of[other], float(far))
                        for other, far in zip(hits.ids, hits.distances, strict=True)
                        if other != id
                    ]
                    for row, far in sorted(pairs[:k]):
                        columns.append(row)
                        distances.append(far)
                    indptr.append(len(columns))
                bar.advance(len(names))
        return csr_array(
            (np.array(distances), np.array(columns, np.int64), np.array(indptr, np.int64)),
            shape=(len(ids), len(ids)),
        )

    def _blocks(self) -> Iterator[tuple[Shard, list[Any]]]:
        for shard in self._manifest.shards:
            ids = self._on(shard, workers.ids_of).tolist()
            for start in range(0, len(ids), AT_ONCE):
                yield shard, ids[start : start + AT_ONCE]

    def _fanout(
        self,
        settings: dict[str, Any],
        k: int | None,
        within: float | None,
        allow_partial: bool,
        share_bounds: bool,
    ) -> Fanout:
        return Fanout(
            self._client,
            self._place,
            self._manifest.shards,
            settings,
            k,
            within,
            allow_partial,
            share_bounds,
            self._per_machine,
        )

    # -- looking ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._manifest.documents

    def __repr__(self) -> str:
        count = f"{len(self):,} documents in {len(self._manifest.shards)} shards"
        return f"ShardedIndex({self._place.url!r}, {count})"

    @property
    def ids(self) -> NDArray[Any]:
        """The ids of all documents, in the order in which they came: int64 or str."""
        parts = [self._on(shard, workers.ids_of) for shard in self._manifest.shards]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def get(self, id: Any) -> Any:
        """One document: its text where texts are kept, label, metadata and measure."""
        futures = [
            self._client.submit(workers.get_from, self._place, shard, id, pure=False)
            for shard in self._manifest.shards
        ]
        for document in self._client.gather(futures):
            if document is not None:
                return document
        raise InputError(f"ids: {id!r} is not in the index")

    def info(self) -> ShardsInfo:
        """What it holds and how it was built."""
        m = self._manifest
        return ShardsInfo(
            self._place.url, m.documents, m.shards, m.eta, m.tol, m.metric, m.keep_texts
        )

    def verify(self, *, progress: bool | None = None) -> None:
        """Compare every shard with its checksums; `ShardError` names the first with a fault."""
        for shard in self._manifest.shards:
            self._on(shard, workers.verify_shard)

    def _known(self, ids: Iterable[Any]) -> list[Any]:
        if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
            raise InputError(f"ids: {ids!r:.60} came; give a list of ids")
        wanted = list(dict.fromkeys(ids))
        futures = [
            self._client.submit(workers.known_ids, self._place, shard, wanted, pure=False)
            for shard in self._manifest.shards
        ]
        there = {id for some in self._client.gather(futures) for id in some}
        missing = [id for id in wanted if id not in there]
        if missing:
            named = ", ".join(map(repr, missing[:5]))
            raise InputError(f"ids: {named}: not in the index ({len(missing)} of {len(wanted)})")
        return wanted

    def _on(self, shard: Shard, task: Callable[..., Any]) -> Any:
        from distributed import KilledWorker

        try:
            return self._client.submit(task, self._place, shard, pure=False).result()
        except KilledWorker as error:
            raise ShardError(f"shard {shard.name}: the workers that read it died") from error


def open_shards(
    path: str | PathLike[str],
    *,
    client: Any = None,
    vectors: Any = None,
    tokenizer: Callable[[str], Sequence[str]] | None = None,
    weighting: Any = None,
    per_machine: bool | None = None,
) -> ShardedIndex:
    """Open a sharded index; its shards are opened by the workers that search them.

    `client` None takes the Dask client that is active. The workers of one machine hold the same shards
    and divide the queries (`per_machine=True`), which is less work; or each holds shards of its own
    (`False`), which takes less memory where a machine has several. None: `True` for a folder, `False` for
    a URL, from which each would have to fetch them. `vectors`, `tokenizer` and `weighting` are those
    of the build where they cannot be stored, as for `Index.open`. Raises `IndexFailure` for a place
    that is no sharded index, and what `Index.open` raises.
    """
    client = workers.client_of(client)
    place = Place.of(path)
    manifest = Manifest.read(place)
    return ShardedIndex(place, manifest, client, vectors, tokenizer, weighting, per_machine)

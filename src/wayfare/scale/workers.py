"""What runs on the workers, and how a client is found: functions that Dask calls, nothing more.

A worker opens a shard once and keeps it. All state is in files: a task may run twice, or on another
worker than before.
"""

from __future__ import annotations

import hashlib
import secrets
import tempfile
import threading
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexFailure, InputError, ShardError
from wayfare.extras import require
from wayfare.index import Index
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.oncluster import check_client
from wayfare.scale.fitting import Census, count_words
from wayfare.scale.holding import held
from wayfare.scale.reading import Fields, Recipe, corpus_of, read_piece
from wayfare.scale.storage import Place, Shard, marker_name
from wayfare.search import search_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wayfare.search import Hits

__all__ = ["client_of"]


def client_of(client: Any) -> Any:
    """The Dask client that was given, or the one that is active here."""
    if client is not None:
        return check_client(client)
    distributed = require("distributed", extra="dask")
    try:
        return distributed.get_client()
    except ValueError:
        raise InputError(
            "client: none came and none is active; start one, such as "
            "client = dask.distributed.Client()"
        ) from None


# -- building -------------------------------------------------------------------------------------


def count_piece(piece: Any, recipe: Recipe) -> int:
    """How many documents a piece holds."""
    return len(read_piece(piece, recipe.names).texts)


def census_of_piece(piece: Any, recipe: Recipe) -> Census:
    """What a weighting is fitted to, of one piece."""
    fields = read_piece(piece, recipe.names)
    # Ids are looked at when the shard is made.
    return count_words(corpus_of(Fields(fields.texts), recipe))


def build_shard(
    place: Place,
    name: str,
    piece: Any,
    recipe: Recipe,
    first: int,
    census: Census | None,
    digest: str,
) -> dict[str, Any]:
    """Make one shard under a name of its own, then the marker that makes it count."""
    fields = read_piece(piece, recipe.names)
    corpus = corpus_of(fields, recipe, first=first, census=census)
    folder = f"{name}-{secrets.token_hex(4)}"
    settings = {
        "eta": recipe.eta,
        "tol": recipe.tol,
        "metric": recipe.metric,
        "keep_texts": recipe.keep_texts,
    }
    with written(place, folder) as path, Index.build(path, corpus, **settings) as index:
        marker = {
            "shard": name,
            "folder": folder,
            "documents": len(index),
            "skipped": fields.skipped,
            "digest": digest,
            "ids": "str" if corpus.ids.dtype == object else "int",
            "eta": index.info().eta,
        }
    place.write_json(marker_name(name), marker)
    return marker


@contextmanager
def written(place: Place, folder: str) -> Iterator[Path]:
    if place.local:
        yield Path(place.at(folder))
        return
    with tempfile.TemporaryDirectory(prefix="wayfare-shard-") as here:
        yield Path(here, folder)
        place.send(Path(here, folder), folder)


def bucketed_ids(place: Place, shard: Shard, buckets: int) -> list[NDArray[np.uint64]]:
    """Hashes of the ids of a shard, in buckets that are the same for every shard."""
    hashes = np.sort(_hashes(opened(place, shard).ids))
    which = hashes % np.uint64(buckets)
    return [hashes[which == bucket] for bucket in range(buckets)]


def repeated(parts: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Hashes that come more than once in a bucket."""
    values, counts = np.unique(np.concatenate(parts), return_counts=True)
    return values[counts > 1]


def ids_with_hashes(place: Place, shard: Shard, hashes: NDArray[np.uint64]) -> list[Any]:
    """The ids of a shard whose hashes are among these."""
    ids = opened(place, shard).ids
    return [ids[at] for at in np.flatnonzero(np.isin(_hashes(ids), hashes))]


def _hashes(ids: NDArray[Any]) -> NDArray[np.uint64]:
    def one(id: Any) -> int:
        data = str(id).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")

    return np.fromiter(map(one, ids.tolist()), np.uint64, len(ids))


# -- searching ------------------------------------------------------------------------------------

_kept: dict[tuple[str, str], Index] = {}
_opening = threading.Lock()


def opened(place: Place, shard: Shard) -> Index:
    """The index of a shard, opened once in this process."""
    key = (place.url, shard.folder)
    with _opening:
        if key not in _kept:
            try:
                _kept[key] = Index.open(place.open_folder(shard.folder), read_only=True)
            except (IndexFailure, OSError) as error:
                raise ShardError(f"shard {shard.name} cannot be read: {error}") from error
        return _kept[key]


def search_share(
    place: Place,
    shards: Sequence[Shard],
    batch: str,
    queries: Sequence[Measure],
    some: slice,
    settings: dict[str, Any],
    limits: Sequence[float | None],
    partial: bool,
) -> tuple[list[Hits], dict[str, ShardError]]:
    """Search the shards of one worker for some of the queries; also those that cannot be read."""
    there = held(place, shards, batch)
    found = there.search(list(queries[some]), limits, settings, partial=partial)
    return found, dict(there.lost)


def narrow_some(
    place: Place,
    shards: Sequence[Shard],
    batch: str,
    queries: Sequence[Measure],
    at: int,
    ids: Sequence[Any],
    settings: dict[str, Any],
) -> Hits:
    """The distances of one query to some documents, closer than a search had to look."""
    found = held(place, shards, batch).measures(ids)
    names, documents = list(found), Documents.of_measures(list(found.values()))
    (hits,) = search_many(
        [documents],
        [queries[at]],
        k=len(names),
        n_jobs=1,
        ids=lambda _, rows: [names[row] for row in rows],
        **settings,
    )
    return hits


def measures_in(
    place: Place, shards: Sequence[Shard], batch: str, ids: Sequence[Any]
) -> dict[Any, Measure]:
    """Those of some documents that the shards of a worker have."""
    return held(place, shards, batch).measures(ids)


def known_ids(place: Place, shard: Shard, ids: Sequence[Any]) -> list[Any]:
    """Those of some ids that a shard holds."""
    index = opened(place, shard)
    return [id for id in ids if id in index]


def measures_of(place: Place, shard: Shard, ids: Sequence[Any]) -> list[Measure]:
    """Documents of a shard as measures."""
    index = opened(place, shard)
    return [index.get(id).measure for id in ids]


def ids_of(place: Place, shard: Shard) -> NDArray[Any]:
    """The ids of a shard, in the order in which they came."""
    return opened(place, shard).ids


def get_from(place: Place, shard: Shard, id: Any) -> Any:
    """One document of a shard; None where it is elsewhere."""
    index = opened(place, shard)
    return index.get(id) if id in index else None


def verify_shard(place: Place, shard: Shard) -> None:
    """Compare everything in a shard with its checksums."""
    try:
        opened(place, shard).verify()
    except (IndexFailure, OSError) as error:
        raise ShardError(f"shard {shard.name} cannot be read: {error}") from error


def same(value: Any) -> Any:
    """What was given: a payload that Dask can make again when the worker that held it dies."""
    return value

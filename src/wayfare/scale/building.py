"""Build a sharded index: one task a shard, on any Dask cluster.

    1  cut        the source into pieces, one a shard
    2  census     where ids are counted or a weighting is fitted: one task a piece, added up
    3  shards     one task a piece: an ordinary index, then its marker; finished ones are kept
    4  ids        no id in two shards
    5  manifest   one small file makes it all visible

A task that dies leaves a folder that nothing names. Whoever builds again into the same folder from the
same source goes on with what is missing.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import Any

import numpy as np

from wayfare.corpus import Corpus
from wayfare.errors import DuplicateIdError, InputError, ShardError
from wayfare.extras import require
from wayfare.ground import check_eta, check_tol
from wayfare.index import Index
from wayfare.progress import Progress
from wayfare.readers import OnError
from wayfare.scale import workers
from wayfare.scale.fitting import Census, add_up, reweighted, unfitted
from wayfare.scale.manifest import MANIFEST, Manifest, is_ours
from wayfare.scale.pieces import cut, find_files
from wayfare.scale.reading import Names, Recipe
from wayfare.scale.sharded import ShardedIndex
from wayfare.scale.storage import Place, Shard, marker_name

__all__ = ["build"]

NAMED = 5  # repeated ids that a message lists
MERGED_AT_ONCE = 8  # censuses that one task adds up


def build(
    source: Any,
    path: str | PathLike[str],
    *,
    client: Any = None,
    shards: int | None = None,
    text: str = "text",
    id: str | None = None,
    label: str | None = None,
    metadata: Sequence[str] = (),
    on_error: OnError = "raise",
    format: str | None = None,
    encoding: str = "utf-8",
    vectors: Any = None,
    weighting: Any = "nbow",
    tokenizer: Callable[[str], Sequence[str]] | None = None,
    unknown: Any = "skip",
    eta: float | None = None,
    tol: float = 1e-3,
    metric: Any = "wfr",
    keep_texts: bool = True,
    overwrite: bool = False,
    progress: bool | None = None,
) -> ShardedIndex:
    """Make a sharded index in the folder or URL `path`, a shard to each task.

    `source` is a glob of files (or a list of globs) as `Corpus.from_file` reads them, a Dask bag of
    texts, word lists or records, or a Dask dataframe. `shards` (None: one a file or partition) is how
    many to make; compressed files are not cut. `text`, `id`, `label` and `metadata` name the columns;
    without `id` the documents are numbered from 0 in the order of the source. The other settings are
    those of `Index.build`; a weighting with a fit is fitted once, over all shards. `client` None takes
    the Dask client that is active.

    Workers must see the same files under the same names: a shared disk, or URLs that fsspec knows. A
    build that was cut off goes on when it is called again. Raises as `Index.build` does,
    `DuplicateIdError` for an id in two shards, and `ShardError` for a shard whose workers all died.
    """
    client = workers.client_of(client)
    place = Place.of(path)
    names = Names(text, id, label, _listed(metadata), on_error, format, encoding)
    recipe = Recipe(
        names,
        vectors,
        weighting,
        tokenizer,
        unknown,
        None if eta is None else check_eta(eta),
        check_tol(tol),
        metric,
        keep_texts,
    )
    fitting = unfitted(weighting)
    _make_room(place, overwrite)
    pieces, told = _pieces(client, source, shards)
    firsts, census = _survey(client, pieces, recipe, fitting is not None, progress)
    tasks = [
        (f"shard-{n:05d}", piece, firsts[n], recipe.digest(told[n], firsts[n], _told(census)))
        for n, piece in enumerate(pieces)
    ]
    markers = _build_shards(client, place, tasks, recipe, census, progress)
    made = tuple(Shard(m["shard"], m["folder"], m["documents"]) for m in markers)
    kinds = {m["ids"] for m in markers if m["documents"]}
    if len(kinds) > 1:
        raise InputError("id: integers in some shards and strings in others came; give one kind")
    if id is not None:
        _refuse_repeats(client, place, made)
    manifest = Manifest(
        made,
        _write_reading(place, recipe, census),
        kinds.pop() if kinds else "int",
        float(markers[0]["eta"]),
        recipe.tol,
        recipe.metric,
        keep_texts,
    )
    manifest.write(place)
    _sweep(place, manifest)
    return ShardedIndex(place, manifest, client, vectors, tokenizer)


def _listed(metadata: Any) -> tuple[str, ...]:
    if isinstance(metadata, str):
        raise InputError(f"metadata: {metadata!r} came; give a list of column names")
    return tuple(metadata)


def _make_room(place: Place, overwrite: bool) -> None:
    there = place.names()
    foreign = [name for name in there if not is_ours(name)]
    if foreign:
        raise InputError(
            f"path: {place.url} holds other things, such as {foreign[0]!r}; give a folder of its own"
        )
    if MANIFEST in there and not overwrite:
        raise InputError(
            f"path: {place.url} holds a sharded index already; open it, or pass overwrite=True"
        )
    place.make()


# -- what each shard is made of -------------------------------------------------------------------


def _pieces(client: Any, source: Any, shards: int | None) -> tuple[list[Any], list[Any]]:
    """The pieces, as tasks take them, and what tells each from others."""
    if shards is not None and (
        isinstance(shards, bool) or not isinstance(shards, int) or shards < 1
    ):
        raise InputError(f"shards: {shards!r} came; give a whole number from 1")
    if hasattr(source, "to_delayed") and hasattr(source, "npartitions"):
        if shards is not None and shards != source.npartitions:
            source = source.repartition(npartitions=shards)
        delayed = source.to_delayed()
        return client.compute(list(delayed)), [str(part.key) for part in delayed]
    if isinstance(source, str | PathLike) or (
        isinstance(source, Sequence) and all(isinstance(one, str | PathLike) for one in source)
    ):
        files = find_files(source)
        pieces = cut(files, len(files) if shards is None else shards)
        return list(pieces), [[asdict(span) for span in piece] for piece in pieces]
    raise InputError(
        f"source: {type(source).__name__} came; give a glob of files, a Dask bag or a Dask dataframe"
    )


def _survey(
    client: Any, pieces: list[Any], recipe: Recipe, fitted: bool, progress: bool | None
) -> tuple[list[int], Census | None]:
    """The number of the first document of each shard, and the census of all where it is wanted."""
    if not fitted and recipe.names.id is not None:
        return [0] * len(pieces), None
    task = workers.census_of_piece if fitted else workers.count_piece
    futures = [client.submit(task, piece, recipe, pure=False) for piece in pieces]
    with Progress("counting", total=len(futures), unit="shards", show=progress) as bar:
        for _ in _finished(client, futures, [f"piece {n}" for n in range(len(pieces))]):
            bar.advance()
    if not fitted:
        counts, census = client.gather(futures), None
    else:
        counts = client.gather([client.submit(_documents, f) for f in futures])
        while len(futures) > 1:
            groups = range(0, len(futures), MERGED_AT_ONCE)
            futures = [client.submit(add_up, futures[n : n + MERGED_AT_ONCE]) for n in groups]
        census = futures[0].result()
    return [0, *np.cumsum(counts)[:-1].tolist()], census


def _documents(census: Census) -> int:
    return census.documents


def _told(census: Census | None) -> Any:
    """What tells one census from another, in short."""
    if census is None:
        return None
    return [census.documents, len(census.holders), sum(census.holders.values())]


# -- the shards -----------------------------------------------------------------------------------


def _build_shards(
    client: Any,
    place: Place,
    tasks: list[tuple[str, Any, int, str]],
    recipe: Recipe,
    census: Census | None,
    progress: bool | None,
) -> list[dict[str, Any]]:
    """Make what is missing, and return the markers of all."""
    markers: dict[str, dict[str, Any]] = {}
    futures, names = [], []
    kept = client.submit(workers.same, census, pure=False) if census is not None else None
    there = set(place.names())
    for name, piece, first, digest in tasks:
        marker = place.read_json(marker_name(name)) if marker_name(name) in there else None
        if marker is not None and marker.get("digest") == digest and marker["folder"] in there:
            markers[name] = marker
            continue
        futures.append(
            client.submit(
                workers.build_shard, place, name, piece, recipe, first, kept, digest, pure=False
            )
        )
        names.append(name)
    with Progress("building", total=len(tasks), unit="shards", show=progress) as bar:
        bar.advance(len(markers))
        for marker in _finished(client, futures, names):
            markers[marker["shard"]] = marker
            bar.advance()
    return [markers[name] for name, *_ in tasks]


def _finished(client: Any, futures: list[Any], names: list[str]) -> Any:
    """The results as they come; the first failure calls the others off."""
    distributed = require("distributed", extra="dask")
    which = dict(zip(futures, names, strict=True))
    try:
        for future in distributed.as_completed(futures):
            try:
                yield future.result()
            except distributed.KilledWorker as error:
                raise ShardError(
                    f"{which[future]}: the workers that made it died one after another; look at their "
                    "memory, or make more, smaller shards"
                ) from error
    except BaseException:
        client.cancel(futures)
        raise


def _refuse_repeats(client: Any, place: Place, shards: Sequence[Shard]) -> None:
    """Raise for an id in two shards: hashes meet in buckets, and only those that repeat are looked at."""
    count = len(shards)
    parts = [client.submit(workers.bucketed_ids, place, s, count, pure=False) for s in shards]
    buckets = [
        client.submit(
            workers.repeated,
            [client.submit(_item, part, n, pure=False) for part in parts],
            pure=False,
        )
        for n in range(count)
    ]
    hashes = np.concatenate(client.gather(buckets))
    if not len(hashes):
        return
    found = client.gather(
        [client.submit(workers.ids_with_hashes, place, s, hashes, pure=False) for s in shards]
    )
    homes: dict[Any, list[str]] = {}
    for shard, ids in zip(shards, found, strict=True):
        for one in ids:
            homes.setdefault(one, []).append(shard.name)
    twice = [one for one, where in homes.items() if len(where) > 1]
    if twice:
        named = ", ".join(f"{one!r} in {' and '.join(homes[one])}" for one in twice[:NAMED])
        more = f" and {len(twice) - NAMED} more" if len(twice) > NAMED else ""
        raise DuplicateIdError(f"id: {named}{more}; give each document an id of its own")


def _item(parts: list[Any], n: int) -> Any:
    return parts[n]


def _write_reading(place: Place, recipe: Recipe, census: Census | None) -> str:
    """An index without documents that reads queries as the shards read theirs."""
    words = [] if census is None else [list(census.holders)]
    fitting = unfitted(recipe.weighting)
    settings = {"vectors": recipe.vectors, "unknown": recipe.unknown, "progress": False}
    weighting = "counts" if fitting is not None else recipe.weighting
    corpus = Corpus.from_tokens(words, weighting=weighting, **settings)
    if fitting is not None and census is not None:
        corpus = reweighted(corpus, fitting, census)
    # The tokeniser that reads texts where none was given is the one of a corpus from texts.
    reader = Corpus.from_texts([], tokenizer=recipe.tokenizer, **settings).tokenizer
    nothing = replace(
        corpus,
        indptr=np.zeros(1, np.int64),
        indices=corpus.indices[:0],
        weights=corpus.weights[:0],
        ids=np.zeros(0, np.int64),
        unknown_counts=np.zeros(0, np.int64),
        texts=None,
        tokenizer=reader,
        trusted=True,
    )
    folder = f"reading-{secrets.token_hex(4)}"
    with workers.written(place, folder) as path:
        Index.build(path, nothing, eta=recipe.eta, tol=recipe.tol, metric=recipe.metric).close()
    return folder


def _sweep(place: Place, manifest: Manifest) -> None:
    """Remove what tasks that died left, and what an older index was."""
    wanted = {MANIFEST, manifest.reading}
    for shard in manifest.shards:
        wanted |= {shard.folder, marker_name(shard.name)}
    for name in place.names():
        if is_ours(name) and name not in wanted:
            place.remove(name)

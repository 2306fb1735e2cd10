"""From what a caller of `Index` gives to what a search takes, and back to `Hits` with texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from wayfare.errors import InputError
from wayfare.ground import check_eta, check_tol
from wayfare.index.catalog import Id
from wayfare.index.snapshot import Snapshot
from wayfare.measure import Measure

if TYPE_CHECKING:
    from wayfare.corpus import Corpus
    from wayfare.index.building import Defaults, Keep
    from wayfare.search import Hits

__all__ = ["Asked", "answer", "as_corpus", "as_id", "defaults", "numbers_of", "settings_of"]

NEAREST = 10  # how many are found where neither a number nor a radius is asked for


@dataclass(frozen=True)
class Asked:
    """The arguments of a search; None leaves it to the index."""

    k: int | None = None
    within: float | Sequence[float | None] | None = None
    eta: float | None = None
    tol: float | None = None
    metric: str | None = None
    mode: str = "exact"
    milliseconds: float | None = None
    solves: int | None = None
    ids: Iterable[Id] | None = None
    where: Mapping[str, Any] | None = None
    n_jobs: int | None = None
    device: str = "cpu"


def answer(there: Snapshot, query: Any, asked: Asked) -> Hits | list[Hits]:
    """Search for one query or several."""
    from wayfare.search import search_many

    one = isinstance(query, str | Measure)
    measures = as_measures(there, [query] if one else query)
    numbers = None if asked.ids is None else numbers_of(there, asked.ids)
    found = search_many(
        there.collections,
        measures,
        n_jobs=1 if one else asked.n_jobs,
        device=asked.device,
        allowed=there.allowed(numbers, asked.where),
        ids=there.names,
        **settings_of(there, asked),
    )
    hits = [_with_texts(there, one) for one in found]
    return hits[0] if one else hits


def settings_of(there: Snapshot, asked: Asked) -> dict[str, Any]:
    """What a search is told: the caller's word, or else the index's."""
    s = there.settings
    k = NEAREST if asked.k is None and asked.within is None else asked.k
    return {
        "k": k,
        "within": asked.within,
        "eta": s.eta if asked.eta is None else check_eta(asked.eta),
        "tol": s.tol if asked.tol is None else check_tol(asked.tol),
        "metric": s.metric if asked.metric is None else asked.metric,
        "mode": asked.mode,
        "milliseconds": asked.milliseconds,
        "solves": asked.solves,
    }


def _with_texts(there: Snapshot, hits: Hits) -> Hits:
    if not there.settings.keep_texts or not len(hits):
        return hits
    numbers = there.catalog.numbers_of(hits.ids)
    return hits.with_texts(there.catalog.texts_of(np.array(numbers, np.int64)))


def as_measures(there: Snapshot, queries: Any) -> list[Measure]:
    """Each query as a measure; texts and word lists are read as the index reads them."""
    from wayfare.corpus import Corpus
    from wayfare.corpus.build import encode

    if isinstance(queries, Corpus):
        return list(queries)
    if isinstance(queries, Mapping | bytes) or not isinstance(queries, Iterable):
        raise InputError(
            f"query: {type(queries).__name__} came; give a text, a Measure, or a list of these or of "
            "lists of words"
        )
    given = list(queries)
    made: dict[int, Measure] = {n: q for n, q in enumerate(given) if isinstance(q, Measure)}
    texts = {n: q for n, q in enumerate(given) if n not in made}
    for n, query in texts.items():
        if not isinstance(query, str | Sequence):
            raise InputError(
                f"query[{n}]: {type(query).__name__} came; give a text, a list of words or a Measure"
            )
    if texts:
        if there.settings.vectors is None:
            raise InputError(
                "query: the index was built from points without vectors; give a Measure"
            )
        # Documents of a corpus that would check all arrays are not wanted here, only these few rows.
        parts = encode(there.reading, texts.values(), share=False, keep=False)
        points, indptr = parts["points"], parts["indptr"]
        for row, n in enumerate(texts):
            span = slice(indptr[row], indptr[row + 1])
            rows = parts["indices"][span]
            words = [parts["vocabulary"][w] for w in rows]
            made[n] = Measure(points[rows], parts["weights"][span], words)
    return [made[n] for n in range(len(given))]


def as_id(id: Any) -> Id:
    """An id as it is kept."""
    if isinstance(id, str):
        return id
    if isinstance(id, bool) or not isinstance(id, int | np.integer):
        raise InputError(f"ids: {id!r:.60} came, a {type(id).__name__}; give integers or strings")
    return int(id)


def numbers_of(there: Snapshot, ids: Iterable[Id], *, missing_ok: bool = False) -> list[int]:
    """The numbers of documents by id; `InputError` names those that are not there."""
    from wayfare.index.writing import named

    if isinstance(ids, str | bytes) or not isinstance(ids, Iterable):
        raise InputError(f"ids: {ids!r:.60} came; give a list of ids")
    wanted = list(dict.fromkeys(map(as_id, ids)))
    found = there.catalog.numbers_of(wanted)
    missing = [id for id, number in zip(wanted, found, strict=True) if number is None]
    if missing and not missing_ok:
        raise InputError(f"ids: {named(missing)} not in the index")
    return [number for number in found if number is not None]


# -- sources of a build ---------------------------------------------------------------------------


def defaults(
    eta: float | None, tol: float, metric: str, keep_texts: bool, keep_vectors: bool
) -> Defaults:
    """The defaults of an index, checked."""
    from wayfare.index.building import Defaults
    from wayfare.search import SearchMetric

    known = get_args(SearchMetric)
    if metric not in known:
        raise InputError(f"metric: {metric!r} came; search knows {', '.join(known)}")
    eta = None if eta is None else check_eta(eta)
    return Defaults(eta, check_tol(tol), metric, keep_texts, keep_vectors)


def as_corpus(source: Any, beside: Mapping[str, Any]) -> Corpus | None:
    """The source where it is a corpus, which then brings ids, labels and metadata itself."""
    from wayfare.corpus import Corpus

    if not isinstance(source, Corpus):
        return None
    for name, value in beside.items():
        if value is not None:
            raise InputError(f"{name}: a Corpus has its own; give it to the maker of the Corpus")
    return source


def reader(
    source: Any, beside: Mapping[str, Any], reading: Mapping[str, Any], progress: bool | None
) -> Callable[[Keep], Corpus]:
    """What makes a corpus of the source of a build, once there is a place for its texts."""
    from wayfare.corpus import Corpus

    fixed = {name: reading[name] for name in ("vectors", "tokenizer")}
    if (corpus := as_corpus(source, {**beside, **fixed})) is not None:
        return lambda keep: corpus
    if isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):
        raise InputError(
            f"source: {type(source).__name__} came; give a Corpus, or texts or lists of words, one a "
            "document; a file goes to Index.build_from_file"
        )
    first, items = _peeked(source)
    settings: dict[str, Any] = {**beside, **reading, "progress": progress}
    if first is not None and not isinstance(first, str):
        if settings.pop("tokenizer") is not None:
            raise InputError("tokenizer: the source is lists of words, which need none")
        return lambda keep: Corpus.from_tokens(items, **settings)
    return lambda keep: Corpus.from_texts(keep(items), keep_texts=False, **settings)


def _peeked(source: Iterable[Any]) -> tuple[Any, Iterable[Any]]:
    """The first item, and all of them; what has a length keeps it, for the progress bar."""
    if isinstance(source, Sequence):
        return (source[0] if len(source) else None), source
    items = iter(source)
    first = next(items, None)

    def again() -> Iterator[Any]:
        if first is not None:
            yield first
        yield from items

    return first, again()


def file_reader(
    file: Any, columns: Mapping[str, Any], reading: Mapping[str, Any], progress: bool | None
) -> Callable[[Keep], Corpus]:
    """What makes a corpus of a file."""
    from wayfare.corpus import Corpus
    from wayfare.corpus.files import Columns

    def read(keep: Keep) -> Corpus:
        found = Columns(file, **columns)
        corpus = Corpus.from_texts(
            keep(found.texts()),
            # These lists grow while the texts stream by, and are looked at after them.
            ids=found.ids,
            labels=found.labels,
            metadata=found.metadata,
            keep_texts=False,
            progress=progress,
            **reading,
        )
        found.skipped()
        return corpus

    return read

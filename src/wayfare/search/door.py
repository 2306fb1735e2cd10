"""Search by name: one query or many, by any metric that has a search of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wayfare.columns import columns_of
from wayfare.corpus import Corpus
from wayfare.errors import InputError
from wayfare.given import DEFAULT_ETA, Document, as_measures, eta_of
from wayfare.ground import check_eta, check_tol
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.search.balanced import search_wmd
from wayfare.search.cascade import search_wfr
from wayfare.search.closed import search_hellinger
from wayfare.search.hits import Hits
from wayfare.search.paper import search_paper
from wayfare.search.request import Budget, Ids, Request
from wayfare.search.spans import prepare_spans
from wayfare.threads import count_jobs, in_threads, one_blas_thread

__all__ = ["Mode", "SearchMetric", "check_k", "rank", "search", "search_many"]

Mode = Literal["exact", "fast", "paper"]
SearchMetric = Literal["wfr", "wmd", "hellinger"]

GROUP = 16  # queries whose words are compared with the corpus in one product

_BY_METRIC: dict[str, Callable[..., Hits]] = {
    "wfr": search_wfr,
    "wmd": search_wmd,
    "hellinger": search_hellinger,
}


def check_k(k: int | None) -> int | None:
    """Return `k` as an int, or say why it cannot be used."""
    if k is None:
        return None
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"k: {k!r} came; give a whole number from 1")
    return int(k)


def search(
    collections: Sequence[Documents],
    query: Measure,
    *,
    k: int | None = 10,
    within: float | None = None,
    eta: float = DEFAULT_ETA,
    tol: float = 1e-3,
    atol: float = 1e-12,
    metric: SearchMetric = "wfr",
    mode: Mode = "exact",
    milliseconds: float | None = None,
    solves: int | None = None,
    allowed: Sequence[NDArray[np.bool_] | None] | None = None,
    ids: Ids | None = None,
) -> Hits:
    """The documents of some collections that are nearest to a measure.

    `k` of them, or all `within` a distance, or the `k` nearest within it. `mode="exact"` proves its
    answer; `mode="fast"` stops after `milliseconds` or `solves` and says `exact=False` where it had to;
    `mode="paper"` is Algorithm 3 of the paper. `allowed` restricts each collection to a mask, inside the
    search. `ids(collection, rows)` names the documents; without it they count through all collections.

    >>> documents = Documents.of(Corpus.from_texts(["rain and wind", "a quiet evening", "wind"]))
    >>> hits = search([documents], Corpus.from_texts(["rain, wind"])[0], k=2)
    >>> hits.ids, hits.exact
    ([0, 2], True)
    """
    request = _request(k, within, eta, tol, atol)
    if metric not in _BY_METRIC:
        raise InputError(f"metric: {metric!r} came; search knows {', '.join(_BY_METRIC)}")
    if mode not in ("exact", "fast", "paper"):
        raise InputError(f'mode: {mode!r} came; give "exact", "fast" or "paper"')
    if mode == "fast" and milliseconds is None and solves is None:
        raise InputError('mode="fast": no budget came; give milliseconds= or solves=')
    if mode != "fast" and (milliseconds is not None or solves is not None):
        raise InputError('milliseconds, solves: a budget is for mode="fast"')
    _check_amount("milliseconds", milliseconds, "a number")
    if solves is not None and (not isinstance(solves, int | np.integer) or solves < 0):
        raise InputError(f"solves: {solves!r} came; give a whole number from 0")
    if mode == "paper" and (metric != "wfr" or within is not None):
        raise InputError(
            'mode="paper": the paper\'s algorithm finds k neighbours under metric="wfr"'
        )
    for documents in collections:
        _check_dimensions(documents, query)
    masks = _masks(collections, allowed)
    names = ids or _count_through(collections)
    if mode == "paper":
        return search_paper(collections, query, request, masks, names)
    run = _BY_METRIC[metric]
    return run(collections, query, request, Budget(milliseconds, solves), masks, names)


def _request(k: int | None, within: float | None, eta: float, tol: float, atol: float) -> Request:
    k = check_k(k)
    if k is None and within is None:
        raise InputError("k, within: neither came; give a number of neighbours or a radius")
    _check_amount("within", within, "a distance")
    return Request(k, within, check_eta(eta), check_tol(tol), check_tol(atol, "atol"))


def _check_amount(name: str, amount: Any, what: str) -> None:
    number = isinstance(amount, int | float | np.number) and np.isfinite(amount) and amount >= 0
    if amount is not None and not number:
        raise InputError(f"{name}: {amount!r} came; give {what} of at least 0")


def _check_dimensions(documents: Documents, query: Measure) -> None:
    dim = documents.points.shape[1]
    if len(query) and len(documents.points) and query.dim != dim:
        raise InputError(
            f"query: {query.dim} dimensions came for documents of {dim}; take the points of both "
            "from the same vectors"
        )


def _masks(
    collections: Sequence[Documents], allowed: Sequence[NDArray[np.bool_] | None] | None
) -> list[NDArray[np.bool_] | None]:
    """A mask for each collection, or None where all of it may be found."""
    if allowed is None:
        return [None] * len(collections)
    if len(allowed) != len(collections):
        raise InputError(
            f"allowed: {len(allowed)} masks for {len(collections)} collections; give one each, or None"
        )
    for documents, mask in zip(collections, allowed, strict=True):
        if mask is not None and mask.dtype != bool:
            raise InputError(f"allowed: {mask.dtype} came; give a mask of booleans")
        if mask is not None and mask.shape != (len(documents),):
            raise InputError(
                f"allowed: a mask of shape {mask.shape} for {len(documents)} documents"
            )
    return list(allowed)


def _count_through(collections: Sequence[Documents]) -> Ids:
    starts = np.concatenate([[0], np.cumsum([len(one) for one in collections])])
    return lambda number, rows: [int(row) for row in starts[number] + rows]


def search_many(
    collections: Sequence[Documents],
    queries: Sequence[Measure],
    *,
    within: float | Sequence[float | None] | None = None,
    n_jobs: int | None = None,
    device: str = "cpu",
    **settings: Any,
) -> list[Hits]:
    """`search` for many queries over a pool of threads; the settings of `search`.

    `within` is one radius for all, or a list of one for each. Queries are taken in groups whose words
    are compared with the corpus together. `device="cuda"` takes them to a GPU, for exact search under
    `wfr`; a corpus stays there as long as its `Documents` do, and what double precision cannot settle
    there comes back to the CPU.
    """
    if device != "cpu":
        jobs = count_jobs(n_jobs)
        return _search_on_device(collections, queries, jobs, device, within=within, **settings)
    radii = _one_each(within, len(queries))
    groups = [slice(start, start + GROUP) for start in range(0, len(queries), GROUP)]

    def answer(some: slice) -> list[Hits]:
        group = queries[some]
        metric = settings.get("metric", "wfr") if settings.get("mode") != "paper" else "paper"
        for documents in collections if metric in ("wfr", "wmd") else ():
            prepared = [documents.query(query) for query in group]
            if metric == "wfr":
                columns_of(documents).prepare(prepared, settings.get("eta", DEFAULT_ETA))
            else:
                prepare_spans(documents, prepared)
        return [
            search(collections, query, within=radius, **settings)
            for query, radius in zip(group, radii[some], strict=True)
        ]

    with one_blas_thread():
        return list(chain.from_iterable(in_threads(answer, groups, count_jobs(n_jobs))))


def _search_on_device(
    collections: Sequence[Documents],
    queries: Sequence[Measure],
    jobs: int,
    device: str,
    *,
    within: Any,
    k: int | None = 10,
    eta: float = DEFAULT_ETA,
    tol: float = 1e-3,
    atol: float = 1e-12,
    metric: str = "wfr",
    mode: str = "exact",
    milliseconds: float | None = None,
    solves: int | None = None,
    allowed: Sequence[NDArray[np.bool_] | None] | None = None,
    ids: Ids | None = None,
) -> list[Hits]:
    from wayfare.ondevice import Desk
    from wayfare.search.on_device import search_batch

    every = _request(k, 0.0, eta, tol, atol)
    desk = Desk.open(device, every.eta, every.tol, every.atol, jobs, metric=metric, mode=mode)
    if milliseconds is not None or solves is not None:
        raise InputError('milliseconds, solves: a budget is for mode="fast"')
    radii = _one_each(within, len(queries))
    requests = [_request(k, radius, eta, tol, atol) for radius in radii]
    for documents in collections:
        for query in queries:
            _check_dimensions(documents, query)
    names = ids or _count_through(collections)
    with one_blas_thread():
        return search_batch(
            collections, queries, requests, _masks(collections, allowed), names, desk
        )


def _one_each(within: Any, count: int) -> list[float | None]:
    if within is None or isinstance(within, int | float | np.number):
        radius: Any = within
        return [radius] * count
    radii = list(within)
    if len(radii) != count:
        raise InputError(
            f"within: {len(radii)} radii came for {count} queries; give one, or one each"
        )
    return radii


def rank(
    query: Document,
    texts: Sequence[Document] | Corpus,
    k: int | None = 10,
    *,
    ids: Sequence[Any] | None = None,
    vectors: Any = None,
    within: float | None = None,
    eta: float | None = None,
    tol: float = 1e-3,
    metric: SearchMetric = "wfr",
    device: str = "cpu",
    **settings: Any,
) -> Hits:
    """Re-rank what another retriever found: the `k` nearest of some texts, proven, without an index.

    `query` and `texts` are texts, lists of words or measures; or `texts` is a corpus, whose ids are then
    the answer's. Otherwise `ids` names them, and they count from 0 without it. `device="cuda"` ranks on
    a GPU, which pays for many long texts only.

    >>> hits = rank("rates rise again", ["rain tomorrow", "the bank lifts its rates", "a goal"], k=1)
    >>> hits.ids, hits.texts
    ([1], ['the bank lifts its rates'])
    """
    documents, measure, used, names, kept = as_measures(query, texts, vectors, ids)
    eta = eta_of(eta, used)

    def named(_: int, rows: NDArray[np.int64]) -> Sequence[Any]:
        return [names[row] for row in rows]

    settings |= {"k": k, "eta": eta, "tol": tol, "metric": metric, "ids": named}
    if device == "cpu":
        hits = search([documents], measure, within=within, **settings)
    else:
        (hits,) = search_many([documents], [measure], within=within, device=device, **settings)
    if kept is None:
        return hits
    places = {name: at for at, name in enumerate(names)}
    return hits.with_texts([kept[places[name]] for name in hits.ids])

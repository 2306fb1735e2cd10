"""What a query takes by brute force, by the paper's algorithm and by ours; and what a sweep takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare import wfr
from wayfare.errors import InputError, MissingExtraError
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.paper.cells import Cell, Job
from wayfare.paper.datasets import Dataset
from wayfare.paper.pruning import NEIGHBOURS, asked
from wayfare.paper.shelf import Shelf
from wayfare.paper.splits import Split, splits_of
from wayfare.search import search, search_many
from wayfare.threads import one_blas_thread

__all__ = ["balanced_or_free", "jobs", "table"]

TOL = 1e-3
SHORTEST = 10  # words of a cloud
DIM, EPS, SWEEPS = 100, 0.1, 100
GAPS = 100  # pairs whose gap is taken, at most

Array = NDArray[np.float64]


def jobs(shelf: Shelf) -> Iterator[Job]:
    """One cell a dataset, and one for the sweeps."""
    from wayfare import __version__

    for name in shelf.datasets:
        data = shelf.dataset(name)
        split = splits_of(data, shelf.scope)[0]
        key = shelf.key("timing", data, "timed", "pairs", k=NEIGHBOURS, vectors=shelf.first)
        cost = len(split.train) * data.distinct_words[0] ** 2
        yield Job(key, partial(_queries, shelf, data, split), cost)
    key = {"task": "timing", "dataset": "sinkhorn", "version": __version__}
    key |= shelf.scope.deciding("pairs", "longest")
    yield Job(key, partial(_sinkhorn, shelf), 1e5 * shelf.scope.pairs)


def _queries(shelf: Shelf, data: Dataset, split: Split) -> dict[str, Any]:
    documents, queries, eta = asked(shelf, data, split, shelf.scope.timed + 1)
    k, everyone = min(NEIGHBOURS, len(documents)), np.arange(len(documents))

    def brute(query: Measure) -> None:
        bounds = documents.solve(documents.query(query), everyone, eta=eta, tol=TOL, atol=1e-12)
        np.argsort(bounds.upper)[:k]

    def ours(query: Measure) -> None:
        search([documents], query, k=k, eta=eta, tol=TOL)

    def paper(query: Measure) -> None:
        search([documents], query, k=k, eta=eta, mode="paper")

    def gpu(query: Measure) -> None:
        search_many([documents], [query], k=k, eta=eta, tol=TOL, device="cuda")

    told: dict[str, Any] = {"documents": len(documents), "eta": eta, "queries": len(queries) - 1}
    with one_blas_thread():
        told["ours"] = _median(ours, queries)
        told["brute"] = _median(brute, queries)
        told["paper"] = _median(paper, queries)
        try:
            told["gpu"] = _median(gpu, queries)
        except (InputError, MissingExtraError):  # no GPU, or nothing that drives one
            told["gpu"] = None
        gaps = _gaps(shelf, documents, queries, eta)
    return told | {
        "mean_gap": float(gaps.mean()),
        "worst_gap": float(gaps.max()),
        "gaps": len(gaps),
    }


def _median(work: Callable[[Measure], None], queries: list[Measure]) -> float:
    """The first query compiles, and is not counted; no query comes twice."""
    seconds = []
    for query in queries:
        started = time.perf_counter()
        work(query)
        seconds.append(time.perf_counter() - started)
    return float(np.median(seconds[1:] or seconds))


def _gaps(shelf: Shelf, documents: Documents, queries: list[Measure], eta: float) -> Array:
    """Relative gaps between the proven bounds that the paper's schedule reaches, on seeded pairs."""
    rng = np.random.default_rng(shelf.scope.seed)
    some = rng.integers(len(documents), size=min(GAPS, shelf.scope.pairs))
    pairs = [(queries[n % len(queries)], documents.measure(int(row))) for n, row in enumerate(some)]
    answers = (wfr.solve(a, b, eta=eta, method="paper") for a, b in pairs)
    return np.array([answer.certificate.gap for answer in answers])


def balanced_or_free(kernel: Array, mu: Array, nu: Array, power: float, sweeps: int) -> Array:
    """The same sweeps for both metrics, `u = (mu / K v)^power`: the plan they end at.

    `power` is `1 / (1 + eps)` for WFR, `K = exp(-C / eps)` of its cost, and 1 for balanced transport.

    >>> plan = balanced_or_free(np.ones((2, 2)), np.array([0.5, 0.5]), np.array([0.2, 0.8]), 1.0, 10)
    >>> plan.sum(axis=0).round(6), plan.sum(axis=1).round(6)
    (array([0.2, 0.8]), array([0.5, 0.5]))
    """
    v = np.ones_like(nu)
    u = np.ones_like(mu)
    for _ in range(sweeps):
        u = (mu / (kernel @ v)) ** power
        v = (nu / (u @ kernel)) ** power
    return np.asarray(u[:, None] * kernel * v)


def _sinkhorn(shelf: Shelf) -> dict[str, Any]:
    """Clouds on the sphere under a cost that every pair can pay, so that both take all sweeps."""
    scope = shelf.scope
    rng = np.random.default_rng(scope.seed)
    sizes = np.linspace(SHORTEST, scope.longest, scope.pairs).astype(int)
    spent = {"wfr": 0.0, "wmd": 0.0}
    powers = {"wfr": 1 / (1 + EPS), "wmd": 1.0}
    with one_blas_thread():
        for number, size in enumerate(sizes):
            x, y = rng.normal(size=(2, size, DIM))
            x /= np.linalg.norm(x, axis=1, keepdims=True)
            y /= np.linalg.norm(y, axis=1, keepdims=True)
            far = np.sqrt(np.maximum(2 - 2 * x @ y.T, 0.0))
            # Clouds are sqrt(2) apart: at eta 1 their cosine is about 0.76, and a squared distance 2.
            costs = {"wfr": -2 * np.log(np.cos(far / 2)), "wmd": far**2 / 4}
            mu = nu = np.full(size, 1 / size)
            order = ("wfr", "wmd") if number % 2 else ("wmd", "wfr")
            for name in order:
                started = time.perf_counter()
                balanced_or_free(np.exp(-costs[name] / EPS), mu, nu, powers[name], SWEEPS)
                spent[name] += time.perf_counter() - started
    return spent | {
        "pairs": scope.pairs,
        "shortest": SHORTEST,
        "longest": scope.longest,
        "sweeps": SWEEPS,
    }


def table(cells: Sequence[Cell], timed: int) -> dict[str, Any]:
    """A line a dataset, and the sweeps (None while they are not finished)."""
    lines = [
        cell.result | {"dataset": cell.key["dataset"]}
        for cell in cells
        if cell.key["dataset"] != "sinkhorn"
    ]
    same = [cell.result for cell in cells if cell.key["dataset"] == "sinkhorn"]
    return {"queries": lines, "sinkhorn": same[0] if same else None, "timed": timed}

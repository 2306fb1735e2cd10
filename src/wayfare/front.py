"""The front door: the distance of two documents, and of all pairs of two corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare import oncluster, wfr
from wayfare.errors import InputError
from wayfare.given import Document, Many, eta_of, two_corpora, two_measures
from wayfare.ground import check_tol
from wayfare.many import Bounds, Documents, Scratch
from wayfare.metrics import MetricName, Settings, metric_named
from wayfare.progress import Progress
from wayfare.solution import Solution
from wayfare.threads import count_jobs, in_threads, one_blas_thread
from wayfare.vectors import WordVectors

__all__ = [
    "DistanceBounds",
    "distance",
    "pairwise",
    "pairwise_bounds",
]

Array = NDArray[np.float64]

# Documents a block: enough to share words in one table, few enough for the table to stay in cache.
BLOCK = 192
QUERIES_PER_TASK = 16


def distance(
    a: Document,
    b: Document,
    *,
    vectors: WordVectors | None = None,
    eta: float | None = None,
    metric: MetricName = "wfr",
    tol: float = 1e-3,
    atol: float = 1e-12,
    method: wfr.Method = "auto",
    weighting: Any = "nbow",
    tokenizer: Callable[[str], Sequence[str]] | None = None,
    unknown: Any = "skip",
) -> Solution:
    """How far apart two documents are, and the proof.

    `a` and `b` are texts, lists of words, or measures, in any mix. `eta` is in the unit of the points:
    nothing travels farther than `pi * eta`; None takes what suits the vectors. For `wfr` the answer
    is certified: `upper - lower <= tol * max(upper, atol * (|mu| + |nu|))`, both bounds on J, or
    `status` says that it could not be. An empty document is the zero measure, not an error. Raises
    `InputError` for settings and inputs that cannot be used.

    >>> answer = distance("Rain falls on the river", "Snow falls on the lake", tol=1e-6)
    >>> answer.status, round(answer.value, 3)
    (<Status.CERTIFIED: 'certified'>, 0.659)
    """
    solve = metric_named(metric)
    first, second, used = two_measures(a, b, vectors, weighting, tokenizer, unknown)
    settings = Settings(
        eta=eta_of(eta, used), tol=check_tol(tol), atol=check_tol(atol, "atol"), method=method
    )
    return solve(first, second, settings)


@dataclass(frozen=True)
class DistanceBounds:
    """Proven bounds on each distance of two corpora, in the unit of the distance."""

    lower: Array
    upper: Array


def pairwise(
    a: Many,
    b: Many | None = None,
    *,
    vectors: WordVectors | None = None,
    eta: float | None = None,
    metric: MetricName = "wfr",
    tol: float = 1e-3,
    atol: float = 1e-12,
    n_jobs: int | None = None,
    progress: bool | None = None,
    dtype: Any = None,
    device: str = "cpu",
    client: Any = None,
) -> Array:
    """The distances of all pairs, shape (len(a), len(b)); of `a` with itself where `b` is None.

    Corpora, lists of texts, of word lists, or of measures. For `wfr` each entry is the certified
    upper bound, within `tol` as in `distance`; `pairwise_bounds` gives both bounds. `n_jobs` is the
    number of threads (None: all cores); the result does not depend on it. `dtype` asks for float32
    or float64 tables alone; None uses float32 and goes on in float64 where that cannot certify.
    `device="cuda"` solves on a GPU, for `wfr` alone; it raises `MissingExtraError` without PyTorch
    and `InputError` without a GPU, each with the command to run. `client`, a Dask client, takes the
    work to the workers of its cluster.

    >>> d = pairwise(["rain and wind", "wind and rain", "a quiet evening"])
    >>> d.shape, bool(d[0, 1] == 0.0), bool(d[0, 2] == d[2, 0])
    ((3, 3), True, True)
    """
    if metric == "wfr":
        bounds = pairwise_bounds(
            a,
            b,
            vectors=vectors,
            eta=eta,
            tol=tol,
            atol=atol,
            n_jobs=n_jobs,
            progress=progress,
            dtype=dtype,
            device=device,
            client=client,
        )
        return bounds.upper
    metric_named(metric)
    if device != "cpu":
        from wayfare.kernels.gpu.torches import open_device

        open_device(device, metric=metric)
    first, second, used = two_corpora(a, b, vectors)
    settings = Settings(eta=eta_of(eta, used), tol=check_tol(tol), atol=check_tol(atol, "atol"))
    if client is None:
        out = _one_by_one(first, second, metric, settings, count_jobs(n_jobs), progress)
    else:
        task = partial(_tile_one_by_one, metric=metric, settings=settings)
        out = oncluster.all_pairs(client, first, second, task, progress)[1]
    return _mirrored(out) if second is None else out


def _one_by_one(
    first: Documents,
    second: Documents | None,
    metric: MetricName,
    settings: Settings,
    jobs: int,
    progress: bool | None,
) -> Array:
    """The distances by a solve a pair; of those above the diagonal only where `second` is None."""
    solve = metric_named(metric)
    rows = [first.measure(i) for i in range(len(first))]
    cols = rows if second is None else [second.measure(j) for j in range(len(second))]
    out = np.zeros((len(rows), len(cols)))

    def fill(i: int) -> int:
        start = i + 1 if second is None else 0
        for j in range(start, len(cols)):
            out[i, j] = solve(rows[i], cols[j], settings).value
        return len(cols) - start

    _run(fill, range(len(rows)), jobs, "solving", out.size, progress)
    return out


def _tile_one_by_one(
    first: Documents, second: Documents | None, metric: MetricName, settings: Settings
) -> tuple[Array, Array]:
    out = _one_by_one(first, second, metric, settings, 1, False)
    return out, out


def pairwise_bounds(
    a: Many,
    b: Many | None = None,
    *,
    vectors: WordVectors | None = None,
    eta: float | None = None,
    tol: float = 1e-3,
    atol: float = 1e-12,
    n_jobs: int | None = None,
    progress: bool | None = None,
    dtype: Any = None,
    device: str = "cpu",
    client: Any = None,
) -> DistanceBounds:
    """Proven bounds on the WFR distance of all pairs; the settings of `pairwise`.

    >>> bounds = pairwise_bounds(["rain and wind"], ["a quiet evening"])
    >>> bool(bounds.lower[0, 0] <= bounds.upper[0, 0] <= 1.001 * bounds.lower[0, 0])
    True
    """
    first, second, used = two_corpora(a, b, vectors)
    eta, tol, atol = eta_of(eta, used), check_tol(tol), check_tol(atol, "atol")
    precision = _precision(dtype)
    jobs = count_jobs(n_jobs)
    settings = (eta, tol, atol)
    if client is not None:
        if device != "cpu":
            raise InputError(f"client, device: {device!r} came with a client; give one of them")
        task = partial(_tile_on_threads, settings=settings, precision=precision)
        lower, upper = oncluster.all_pairs(client, first, second, task, progress)
    elif device == "cpu":
        lower, upper = _on_threads(first, second, settings, precision, jobs, progress)
    else:
        from wayfare import ondevice

        desk = ondevice.Desk.open(device, eta, tol, atol, jobs, precision)
        lower, upper = ondevice.all_pairs(first, second, desk, progress)
    for side in (lower, upper):
        np.sqrt(2.0 * side, out=side)
        side *= eta
    if second is None:
        lower, upper = _mirrored(lower), _mirrored(upper)
    return DistanceBounds(lower, upper)


def _on_threads(
    first: Documents,
    second: Documents | None,
    settings: tuple[float, float, float],
    precision: Any,
    jobs: int,
    progress: bool | None,
) -> tuple[Array, Array]:
    """Bounds on J of all pairs; of those above the diagonal only where `second` is None."""
    eta, tol, atol = settings
    columns = first if second is None else second
    lower, upper = (np.zeros((len(first), len(columns))) for _ in range(2))
    measures = [first.measure(i) for i in range(len(first))]

    def fill(task: tuple[Documents, int, range]) -> int:
        block, offset, queries = task
        widest = max((len(measures[i]) for i in queries), default=0)
        scratch = Scratch(widest, block.longest)
        done = 0
        for i in queries:
            start = 0 if second is not None else min(max(i + 1 - offset, 0), len(block))
            picks = np.arange(start, len(block))
            found = block.solve(
                block.query(measures[i]),
                picks,
                eta=eta,
                tol=tol,
                atol=atol,
                scratch=scratch,
                dtype=precision,
            )
            _put(found, lower[i], upper[i], offset + start)
            done += len(block)
        return done

    _run(fill, _tasks(columns, len(first)), jobs, "solving", upper.size, progress)
    return lower, upper


def _tile_on_threads(
    first: Documents,
    second: Documents | None,
    settings: tuple[float, float, float],
    precision: Any,
) -> tuple[Array, Array]:
    return _on_threads(first, second, settings, precision, 1, False)


def _put(found: Bounds, lower: Array, upper: Array, start: int) -> None:
    lower[start : start + len(found.lower)] = found.lower
    upper[start : start + len(found.upper)] = found.upper


def _tasks(columns: Documents, rows: int) -> Iterator[tuple[Documents, int, range]]:
    """Blocks of documents, each prepared once, against a few queries at a time."""
    for start in range(0, len(columns), BLOCK):
        block = columns.block(start, min(start + BLOCK, len(columns)))
        for first in range(0, rows, QUERIES_PER_TASK):
            yield block, start, range(first, min(first + QUERIES_PER_TASK, rows))


def _run(
    work: Callable[[Any], int], tasks: Any, jobs: int, what: str, total: int, show: bool | None
) -> None:
    with one_blas_thread(), Progress(what, total=total, unit="pairs", show=show) as progress:
        for done in in_threads(work, tasks, jobs):
            progress.advance(done)


def _mirrored(upper_triangle: Array) -> Array:
    return np.asarray(upper_triangle + upper_triangle.T)


def _precision(dtype: Any) -> Any:
    if dtype is None:
        return None
    for kind in (np.float32, np.float64):
        if dtype in (kind, kind.__name__, np.dtype(kind)):
            return kind
    raise InputError(f"dtype: {dtype!r} came; give float32, float64 or None")

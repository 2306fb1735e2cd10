"""Task 1: does a short concept match a long project? The distance is the score.

Every pair is scored without training. Projects repeat, so pairs are not independent: intervals come
from drawing projects, each with all of its pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.corpus import Corpus
from wayfare.errors import FormatError, InputError
from wayfare.metrics import METRICS, Settings
from wayfare.paper.cards import CARDS
from wayfare.paper.cells import Cell, Job
from wayfare.paper.datasets import Dataset, find
from wayfare.paper.published import TASK1
from wayfare.paper.shelf import Shelf
from wayfare.readers import read
from wayfare.threads import count_jobs, in_threads, one_blas_thread

__all__ = ["Curve", "all_positive_f1", "curve", "jobs", "table"]

ETAS = (0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
ABLATION_ETAS = (1.0, 4.0)  # of balanced transport under the cost of WFR
INSIDE = (2.5, 97.5)  # percentiles of the intervals

Array = NDArray[np.float64]


def jobs(shelf: Shelf) -> Iterator[Job]:
    """One cell a curve: the distances of all pairs."""
    data, projects = _pairs(shelf)
    curves: list[tuple[str, float | None]] = [("wmd", None), ("hellinger", None)]
    curves += [("wmd-wfr-cost", eta) for eta in ABLATION_ETAS]
    curves += [("wfr", eta) for eta in ETAS]
    for metric, eta in curves:
        row = metric if eta is None else f"{metric}-{eta:g}"
        key = shelf.key("task1", data, row=row, metric=metric, eta=eta, vectors=shelf.first)
        yield Job(key, partial(_run, shelf, data, projects, metric, eta), 3.0)


def _pairs(shelf: Shelf) -> tuple[Dataset, list[Any]]:
    """Concepts, then projects, and which project each pair is about."""
    card = CARDS["concept_project"]
    path = find(shelf.folder, card)
    if path is None:
        raise InputError(
            f"data: {shelf.folder} holds no concept_project.jsonl or .jsonl.gz; put it there"
        )
    rows = [one.fields for one in read(path, columns=("concept", "project", "label"))]
    if shelf.scope.documents is not None:
        rng = np.random.default_rng([shelf.scope.seed, len(rows)])
        rows = [rows[at] for at in sorted(rng.permutation(len(rows))[: shelf.scope.documents])]
    labels = [row["label"] for row in rows]
    if not set(labels) <= {0, 1} or len(set(labels)) < 2:
        raise FormatError(
            f"labels {sorted(set(labels), key=str)}; expected 0 and 1", path=str(path)
        )
    texts = [str(row[side]) for side in ("concept", "project") for row in rows]
    corpus = Corpus.from_texts(texts, vectors=shelf.names[shelf.first], progress=False)
    projects = [row.get("project_id", row["project"]) for row in rows]
    return Dataset(card, corpus, labels * 2, ()), projects


def _run(
    shelf: Shelf, data: Dataset, projects: list[Any], metric: str, eta: float | None
) -> dict[str, Any]:
    count = len(data) // 2
    settings = Settings() if eta is None else Settings(eta=eta)

    def far(at: int) -> float:
        return METRICS[metric](data.corpus[at], data.corpus[count + at], settings).value

    with one_blas_thread():
        distances = np.array(list(in_threads(far, range(count), count_jobs(shelf.n_jobs))))
    # JSON has no infinity; the order is all that a curve needs.
    reached = distances[np.isfinite(distances)]
    beyond = 2 * float(reached.max(initial=1.0))
    numbers = {project: number for number, project in enumerate(dict.fromkeys(projects))}
    return {
        "distances": np.where(np.isfinite(distances), distances, beyond).tolist(),
        "unreached": int(count - len(reached)),
        "labels": data.labels[:count],
        "groups": [numbers[project] for project in projects],
        "concept_words": float(np.diff(data.corpus.indptr)[:count].mean()),
        "project_words": float(np.diff(data.corpus.indptr)[count:].mean()),
    }


@dataclass(frozen=True)
class Curve:
    """Precision by recall, both over falling thresholds, and three numbers that sum it up."""

    recall: Array
    precision: Array
    average_precision: float
    best_f1: float
    area: float


def curve(distances: Array, labels: NDArray[np.int64], times: Array | None = None) -> Curve:
    """The curve of "a match is what is nearer than a threshold"; equal distances fall together.

    `average_precision` is `sum (r_n - r_{n-1}) p_n`, `area` the trapezoids below the same points; the
    curve starts at recall 0 with its first precision. `times` counts each pair so often.

    >>> found = curve(np.array([0.1, 0.2, 0.3, 0.4]), np.array([1, 0, 1, 0]))
    >>> round(found.average_precision, 3), round(found.best_f1, 3), round(found.area, 3)
    (0.833, 0.8, 0.792)
    """
    order = np.argsort(distances, kind="stable")
    weight = np.ones(len(order)) if times is None else times[order]
    hits, said = np.cumsum(weight * labels[order]), np.cumsum(weight)
    last = np.append(np.diff(distances[order]) > 0, True) & (said > 0)
    hits, said = hits[last], said[last]
    precision, recall = hits / said, hits / hits[-1]
    steps = np.diff(recall, prepend=0.0)
    before = np.concatenate([precision[:1], precision[:-1]])
    f1 = 2 * hits / (said + hits[-1])
    return Curve(
        recall,
        precision,
        float(steps @ precision),
        float(f1.max()),
        float(steps @ (precision + before) / 2),
    )


def all_positive_f1(labels: NDArray[np.int64]) -> float:
    """F1 of calling every pair a match: `2 p / (1 + p)` with `p` the share of matches."""
    share = float(np.mean(labels))
    return 2 * share / (1 + share)


def table(cells: Sequence[Cell], resamples: int, seed: int) -> list[dict[str, Any]]:
    """A line a curve, with intervals, and the difference of its average precision to WMD's."""
    groups = np.array(cells[0].result["groups"])
    labels = np.array(cells[0].result["labels"])
    draws = _draws(groups, labels, resamples, seed)
    lines: list[dict[str, Any]] = []
    first: Array | None = None
    for cell in cells:
        distances = np.array(cell.result["distances"])
        whole = curve(distances, labels)
        drawn = np.array([_numbers(curve(distances, labels, times)) for times in draws])
        first = drawn[:, 0] if first is None else first
        low, high = np.percentile(drawn, INSIDE, axis=0)
        names = ("average_precision", "best_f1", "area")
        line: dict[str, Any] = {"metric": cell.key["metric"], "eta": cell.key["eta"]}
        for name, value, a, b in zip(names, _numbers(whole), low, high, strict=True):
            line[name] = {"value": value, "low": float(a), "high": float(b)}
        apart = np.percentile(drawn[:, 0] - first, INSIDE)
        line["beyond_wmd"] = {"low": float(apart[0]), "high": float(apart[1])}
        line["curve"] = {"recall": whole.recall.tolist(), "precision": whole.precision.tolist()}
        line |= {"unreached": cell.result["unreached"], "seconds": cell.seconds}
        line |= {"all_positive_f1": all_positive_f1(labels), "printed": TASK1}
        lines.append(line)
    return lines


def _numbers(found: Curve) -> tuple[float, float, float]:
    return found.average_precision, found.best_f1, found.area


def _draws(
    groups: NDArray[np.int64], labels: NDArray[np.int64], resamples: int, seed: int
) -> list[Array]:
    """How often each pair is in each draw of as many projects, with repetition; some must match."""
    rng = np.random.default_rng(seed)
    count = int(groups.max()) + 1
    draws: list[Array] = []
    while len(draws) < resamples:
        times = np.bincount(rng.integers(count, size=count), minlength=count)[groups]
        if (times * labels).sum() > 0:
            draws.append(times.astype(np.float64))
    return draws

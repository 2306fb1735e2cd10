"""Table 2: the error of k-NN, everything chosen on training documents, beside what was printed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from wayfare.errors import InputError
from wayfare.paper.cells import Cell, Job
from wayfare.paper.datasets import Dataset
from wayfare.paper.lesson import Graphs, Lesson
from wayfare.paper.methods import ROWS, Row
from wayfare.paper.published import BAR, PREPRINT, PUBLISHED, SATO
from wayfare.paper.shelf import Shelf
from wayfare.paper.splits import Split, splits_of

__all__ = ["CHOICES", "best_choices", "check_rows", "jobs", "preferred", "table"]

CHOICES = ("wfr", "wfr-tfidf", "wfr-near", "wfr-tfidf-near")  # between which validation may choose
RIVALS = ("wmd", "wmd-near", "wmd-tfidf")  # which validation may choose for WMD as freely


def check_rows(rows: Sequence[str]) -> list[str]:
    """The rows asked for, in the order of the table."""
    unknown = [name for name in rows if name not in ROWS]
    if unknown:
        raise InputError(f"rows: {unknown[0]!r} came; give some of {', '.join(ROWS)}")
    return [name for name in ROWS if name in rows]


def jobs(
    shelf: Shelf, rows: Sequence[str], vectors: Mapping[str, str] | None = None
) -> Iterator[Job]:
    """A cell for each dataset, vectors, row and split; `vectors` are those of a dataset, None: all."""
    for name in shelf.datasets:
        for one in shelf.names if vectors is None else [vectors[name]]:
            data = shelf.dataset(name, one)
            splits = splits_of(data, shelf.scope)
            graphs = Graphs(data.corpus, splits, shelf.n_jobs, shelf.cells, data.fingerprint)
            for row in check_rows(rows):
                for number, split in enumerate(splits[: ROWS[row].splits]):
                    yield _job(shelf, data, one, ROWS[row], number, split, graphs)


def _job(
    shelf: Shelf, data: Dataset, vectors: str, row: Row, number: int, split: Split, graphs: Graphs
) -> Job:
    key = shelf.key("table2", data, *row.decided_by, row=row.name, split=number, vectors=vectors)
    pairs = len(split.train) * (4 * len(split.train) + len(split.test))
    words = data.distinct_words[0]
    return Job(key, partial(_run, shelf, data, row, split, graphs), row.cost * pairs * words)


def _run(shelf: Shelf, data: Dataset, row: Row, split: Split, graphs: Graphs) -> dict[str, Any]:
    labels = np.array([str(label) for label in data.labels])
    lesson = Lesson(data.corpus, labels, split, shelf.scope, graphs, shelf.n_jobs)
    sizes = {"train": len(split.train), "test": len(split.test), "given": bool(data.given)}
    started = time.process_time()
    found = sizes | row.run(lesson)
    return {"cpu_seconds": time.process_time() - started} | found


def preferred(shelf: Shelf, cells: Sequence[Cell | None]) -> dict[str, str]:
    """For each dataset the vectors with the least error of WFR in cross-validation.

    The mean over splits, of the better of plain and tf-idf weights. Where a cell is missing, or none was
    asked for, the first vectors.
    """
    errors: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell in cells:
        if cell is not None:
            at = cell.key["dataset"], cell.key["vectors"]
            found = errors.setdefault(at, {}).setdefault(cell.key["row"], [])
            found.append(cell.result["cv_error"])

    def least(name: str, vectors: str) -> float:
        return min(
            (float(np.mean(of)) for of in errors.get((name, vectors), {}).values()), default=np.inf
        )

    return {name: min(shelf.names, key=partial(least, name)) for name in shelf.datasets}


def table(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """The cells of each dataset, vectors and row as one line, beside the printed figures."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        at = cell.key["dataset"], cell.key["vectors"], cell.key["row"]
        groups.setdefault(at, []).append(cell)
    places = {name: n for n, name in enumerate(dict.fromkeys(name for name, _, _ in groups))}
    order = list(ROWS)
    found = sorted(groups.items(), key=lambda one: (places[one[0][0]], order.index(one[0][2])))
    return [_line(*at, group) for at, group in found]


def _line(dataset: str, vectors: str, row: str, cells: list[Cell]) -> dict[str, Any]:
    cells = sorted(cells, key=lambda cell: int(cell.key["split"]))
    results = [cell.result for cell in cells]
    errors = [one["error"] for one in results]
    leaks = [one["leaking"] for one in results if one["leaking"] is not None]
    return {
        "dataset": dataset,
        "vectors": vectors,
        "row": row,
        "title": ROWS[row].title.replace("512", str(cells[0].key.get("components"))),
        "splits": [cell.key["split"] for cell in cells],
        "train": results[0]["train"],
        "test": results[0]["test"],
        "given": results[0]["given"],
        "errors": errors,
        "error": float(np.mean(errors)),
        "deviation": float(np.std(errors)) if len(errors) > 1 else None,
        "cv_error": float(np.mean([one["cv_error"] for one in results])),
        "cv_errors": [one["cv_error"] for one in results],
        "leaking": float(np.mean(leaks)) if leaks else None,
        "k": [one["k"] for one in results],
        "eta": [one["eta"] for one in results],
        "preprint": PREPRINT.get(row, {}).get(dataset),
        "published": PUBLISHED.get(row, {}).get(dataset),
        "sato": SATO.get(row, {}).get(dataset),
        "asked": results[0].get("asked"),
        "seconds": sum(cell.seconds for cell in cells),
        "cpu_seconds": sum(one["cpu_seconds"] for one in results),
    }


def best_choices(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each dataset the WFR that validation prefers, split by split, beside the bar and our WMD.

    The choice is between plain and tf-idf weights and between the vectors, by the error in
    cross-validation on the training documents: the test documents decide nothing.
    """
    told = []
    for dataset in dict.fromkeys(line["dataset"] for line in lines):
        mine = [line for line in lines if line["dataset"] == dataset]
        whole = max((line["splits"] for line in mine), key=len)
        tries = [line for line in mine if line["row"] in CHOICES and line["splits"] == whole]
        rivals = [line for line in mine if line["row"] in RIVALS and line["splits"] == whole]
        if not tries:
            continue
        chosen = [
            min(tries, key=lambda line, at=at: line["cv_errors"][at])  # type: ignore[misc]
            for at in range(len(tries[0]["errors"]))
        ]
        error = float(np.mean([line["errors"][at] for at, line in enumerate(chosen)]))
        rival = min(rivals, key=lambda line: line["cv_error"], default=None)
        bar = BAR.get(dataset)
        told.append(
            {
                "dataset": dataset,
                "splits": len(whole),
                "error": error,
                "chosen": [f"{line['title']}, {line['vectors']}" for line in chosen],
                "tried": [f"{line['title']}, {line['vectors']}" for line in tries],
                "bar": bar,
                "passes_bar": None if bar is None else error <= bar,
                "wmd": None if rival is None else rival["error"],
                "below_wmd": None if rival is None else error < rival["error"],
            }
        )
    return told

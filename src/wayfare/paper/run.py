"""One command: make the cells of some tasks, and write what they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wayfare.errors import InputError
from wayfare.extras import require
from wayfare.paper import pruning, report, table1, task1, task2, timing
from wayfare.paper.cells import Cells, Job, finish
from wayfare.paper.methods import ROWS
from wayfare.paper.scope import Scope
from wayfare.paper.shelf import BUILT_IN, Shelf
from wayfare.paper.splits import splits_of
from wayfare.vectors import WordVectors

__all__ = ["TASKS", "reproduce"]

TASKS = ("table2", "table1", "task1", "pruning", "timing", "wme", "all")
EMBEDDED = ("wme-wmd", "wme-wfr")
ON_DATASETS = ("table2", "pruning", "timing")


def reproduce(
    task: str,
    data: str | Path,
    folder: str | Path,
    *,
    datasets: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    vectors: dict[str, Any] | None = None,
    clean: bool = False,
    scope: Scope | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    progress: bool | None = None,
    command: str = "wayfare.paper.reproduce",
) -> Path:
    """Run a task of `TASKS` on the files of `data`, and write report, results and figures to `folder`.

    `datasets` and `rows` of Table 2 cut it down; `vectors` maps names to `WordVectors` (None: the
    built-in ones), of which Table 2 uses all and the others the first. Finished cells stay in
    `folder/cells`: what was cut goes on where it was. `client` has the workers of a Dask cluster make
    the cells, except those that measure time; they must see `data` under the same path, and each cell
    takes one thread of a worker unless `n_jobs` says otherwise. Returns the path of the report. Raises
    `InputError` for names that are not known and data that are not there, before anything runs, and
    `MissingExtraError` without matplotlib.
    """
    if task not in TASKS:
        raise InputError(f"task: {task!r} came; give one of {', '.join(TASKS)}")
    require("matplotlib", extra="plot")
    names = {name: one or WordVectors.default() for name, one in (vectors or {}).items()}
    shelf = Shelf(
        Path(data),
        scope or Scope(),
        names or {BUILT_IN: WordVectors.default()},
        datasets,
        clean,
        1 if client is not None and n_jobs is None else n_jobs,
    )
    wanted = TASKS[:-2] if task == "all" else ("table2",) if task == "wme" else (task,)
    chosen = task2.check_rows(rows or (EMBEDDED if task == "wme" else list(ROWS)))
    plan = [(name, job) for name in wanted for job in _jobs(name, shelf, chosen)]
    Path(folder).mkdir(parents=True, exist_ok=True)
    kept = Cells(Path(folder, "cells"))
    if client is not None:
        # What is timed is timed here, once the others are done: a worker may be busy with more.
        finish([job for name, job in plan if name != "timing"], kept, client=client, show=progress)
    cells = finish([job for _, job in plan], kept, show=progress)
    found: dict[str, Any] = {}
    if any(name in ON_DATASETS for name in wanted):
        found["datasets"] = [_statistics(shelf, name) for name in shelf.datasets]
    for name in wanted:
        mine = [cell for (task_, _), cell in zip(plan, cells, strict=True) if task_ == name]
        if name == "table2":
            lines = task2.table(mine)
            found[name] = {"lines": lines, "chosen": task2.best_choices(lines)}
        elif name == "table1":
            found[name] = mine[0].result
        elif name == "task1":
            found[name] = task1.table(mine, shelf.scope.resamples, shelf.scope.seed)
        elif name == "pruning":
            found[name] = pruning.table(mine)
        else:
            found[name] = timing.table(mine, shelf.scope.timed)
    return report.write(Path(folder), shelf, found, command)


def _jobs(name: str, shelf: Shelf, rows: Sequence[str]) -> list[Job]:
    if name == "table2":
        return list(task2.jobs(shelf, rows))
    makers = {"table1": table1, "task1": task1, "pruning": pruning, "timing": timing}
    return list(makers[name].jobs(shelf))


def _statistics(shelf: Shelf, name: str) -> dict[str, Any]:
    data = shelf.dataset(name)
    mean, std = data.distinct_words
    split = splits_of(data, shelf.scope)[0]
    return {
        "dataset": name,
        "documents": len(data),
        "train": len(split.train),
        "test": len(split.test),
        "classes": len(set(data.labels)),
        "mean": mean,
        "std": std,
        "removed": data.removed,
    }

"""One command: make the cells of some tasks, and write what they say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wayfare.errors import InputError
from wayfare.extras import require
from wayfare.paper import pruning, report, table1, task1, task2, timing
from wayfare.paper.cells import Cell, Cells, Job, finish
from wayfare.paper.methods import ROWS
from wayfare.paper.scope import Scope
from wayfare.paper.shelf import BUILT_IN, Shelf
from wayfare.paper.splits import splits_of
from wayfare.vectors import WordVectors

__all__ = ["TASKS", "reproduce"]

TASKS = ("table2", "table1", "task1", "pruning", "timing", "wme", "all")
EMBEDDED = ("wme-wmd", "wme-wfr")
MAKERS: dict[str, Any] = {
    "table1": table1,
    "task1": task1,
    "pruning": pruning,
    "timing": timing,
}
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
    finished: bool = False,
    command: str = "wayfare.paper.reproduce",
) -> Path:
    """Run a task of `TASKS` on the files of `data`, and write report, results and figures to `folder`.

    `datasets` and `rows` of Table 2 cut it down; `vectors` maps names to `WordVectors` (None: the
    built-in ones), of which Table 2 uses all and the others the first. Finished cells stay in
    `folder/cells`: what was cut goes on where it was; with `finished` nothing runs, and the report tells
    what is there and names what is missing. `client` has the workers of a Dask cluster make
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
        Path(folder, "cells"),
    )
    wanted = TASKS[:-2] if task == "all" else ("table2",) if task == "wme" else (task,)
    chosen = task2.check_rows(rows or (EMBEDDED if task == "wme" else list(ROWS)))
    leading = [row for row in chosen if row in task2.CHOICES]
    rest = [row for row in chosen if row not in task2.CHOICES]
    plan = [
        (name, list(task2.jobs(shelf, leading) if name == "table2" else MAKERS[name].jobs(shelf)))
        for name in sorted(wanted, key=lambda name: name == "table2")  # which takes longest
    ]
    Path(folder).mkdir(parents=True, exist_ok=True)
    made = _Made(Cells(Path(folder, "cells")), not finished, client, progress)
    for name, jobs in plan:
        cells = made.add(name, jobs)
        if name == "table2":
            prefers = task2.preferred(shelf, cells) if leading else None
            made.add(name, list(task2.jobs(shelf, rest, prefers)))
    found: dict[str, Any] = {"missing": made.missing}
    if any(name in ON_DATASETS for name in wanted):
        found["datasets"] = [_statistics(shelf, name) for name in shelf.datasets]
    for name in wanted:
        done = made.cells[name]
        if name == "table2" and done:
            lines = task2.table(done)
            found[name] = {"lines": lines, "chosen": task2.best_choices(lines)}
        elif name == "table1" and done:
            found[name] = done[0].result
        elif name == "task1" and done and done[0].key["metric"] == "wmd":  # all are set beside it
            found[name] = task1.table(done, shelf.scope.resamples, shelf.scope.seed)
        elif name == "pruning" and done:
            found[name] = pruning.table(done)
        elif name == "timing" and done:
            found[name] = timing.table(done, shelf.scope.timed)
    return report.write(Path(folder), shelf, found, command)


class _Made:
    """The finished cells of each task, and the keys of those that are missing."""

    def __init__(self, kept: Cells, make: bool, client: Any, show: bool | None) -> None:
        self.kept, self.make, self.client, self.show = kept, make, client, show
        self.cells: dict[str, list[Cell]] = {}
        self.missing: list[dict[str, Any]] = []

    def add(self, task: str, jobs: list[Job]) -> list[Cell | None]:
        """Finish some jobs, where anything may run."""
        # What is timed is timed here, while no worker is asked: it may be busy with more.
        client = None if task == "timing" else self.client
        cells = finish(jobs, self.kept, make=self.make, client=client, show=self.show)
        self.cells.setdefault(task, []).extend(cell for cell in cells if cell is not None)
        self.missing += [job.key for job, cell in zip(jobs, cells, strict=True) if cell is None]
        return cells


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

"""report.md for people, results.json for machines, and the figures: written from finished cells."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wayfare.atomic import whole_file
from wayfare.paper import figures, sections, table1
from wayfare.paper.cards import CARDS
from wayfare.paper.shelf import Shelf

__all__ = ["machine", "write"]

DIFFERS = (
    "Vectors and splits differ from the paper's: its word2vec vectors and, where a dataset has no split, "
    "its five random splits are not those used here. Rows compare methods under one protocol; they do "
    "not repeat the paper's runs number by number."
)


def machine() -> dict[str, Any]:
    """What ran, in words that say nothing about whose it is."""
    import numpy as np

    from wayfare import __version__

    return {
        "wayfare": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    """The model, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def write(folder: Path, shelf: Shelf, found: Mapping[str, Any], command: str) -> Path:
    """The report of what was found, task by task; returns its path."""
    names = _draw(folder, shelf, found)
    today = datetime.date.today().isoformat()
    told = {
        "quick": shelf.scope.quick,
        "mark": shelf.scope.said,
        "clean": shelf.clean,
        "vectors": list(shelf.names),
        "seed": shelf.scope.seed,
        "command": command,
        "date": today,
        "machine": machine(),
        "figures": names,
    }
    with whole_file(folder / "results.json") as file:
        file.write(json.dumps(told | {"tasks": dict(found)}, indent=1, allow_nan=False).encode())
    with whole_file(folder / "report.md") as file:
        file.write(_report(shelf, found, told).encode())
    return folder / "report.md"


def _report(shelf: Shelf, found: Mapping[str, Any], told: dict[str, Any]) -> str:
    mark = shelf.scope.said
    ran = told["machine"]
    copies = "left out" if shelf.clean else "kept, as in the paper (`--clean` leaves them out)"
    head = [
        "# The paper, reproduced\n",
        f"{DIFFERS}\n",
        f"Vectors: {', '.join(shelf.names)}. Duplicate documents are {copies}.\n",
        f"`{told['command']}`, on {told['date']}: {ran['cores']} cores of {ran['processor']}, "
        f"{ran['system']}, "
        f"Python {ran['python']}, NumPy {ran['numpy']}, Wayfare {ran['wayfare']}.\n",
    ]
    parts = [sections.missing(found["missing"])] if found["missing"] else []
    if "datasets" in found:
        parts.append(sections.datasets(found["datasets"]))
    if "table2" in found:
        parts.append(sections.table2(found["table2"]["lines"], found["table2"]["chosen"]))
    if "table1" in found:
        parts.append(sections.table1(found["table1"]))
    if "task1" in found:
        parts.append(sections.task1(found["task1"]))
    if "pruning" in found:
        parts.append(sections.pruning(found["pruning"]))
    if "timing" in found:
        parts.append(sections.timing(found["timing"]))
    if mark:
        # Where a table is copied out of the report, the mark stands next to it.
        head.insert(1, f"**{mark}.** No number here compares with the paper's.\n")
        parts = [part.replace("\n", f"\n\n**{mark}**\n", 1) for part in parts]
    return "\n".join(head + parts)


def _draw(folder: Path, shelf: Shelf, found: Mapping[str, Any]) -> list[str]:
    mark, names = shelf.scope.said, []
    if "task1" in found:
        names += figures.save(figures.precision_recall(found["task1"], mark), folder, "task1")
    if "table1" in found:
        for name, solution in table1.plans(shelf).items():
            names += figures.save(solution.explain().figure(), folder, name)
    if "table2" in found:
        names += figures.save(_errors(found["table2"]["lines"], mark), folder, "table2")
    if "pruning" in found:
        names += figures.save(_left(found["pruning"], mark), folder, "pruning")
    if "timing" in found:
        names += figures.save(_seconds(found["timing"]["queries"], mark), folder, "timing")
    return names


def _errors(lines: list[dict[str, Any]], mark: str) -> Any:
    """Under the vectors that WFR prefers: the others have no other row."""
    panels = []
    for name in dict.fromkeys(line["dataset"] for line in lines):
        mine = [line for line in lines if line["dataset"] == name]
        used = [line["vectors"] for line in mine]
        vectors = max(dict.fromkeys(used), key=used.count)
        found = [
            figures.Dot(
                line["title"],
                line["error"],
                (line["preprint"] or (None,))[0],
                "wfr" in line["row"],
            )
            for line in mine
            if line["vectors"] == vectors
        ]
        panels.append((f"{CARDS[name].title}, {vectors}", found))
    return figures.dots(panels, "Errors of k-NN", "error, %", mark)


def _left(lines: list[dict[str, Any]], mark: str) -> Any:
    series: dict[str, list[float | None]] = {
        f"paper's algorithm, round {n + 1}": [100 * line["rounds"][n] for line in lines]
        for n in range(3)
    }
    series["ours, reach a sweep"] = [100 * line["ours"]["by_sweep"] for line in lines]
    series["ours, solved"] = [100 * line["ours"]["solved"] for line in lines]
    titles = [CARDS[line["dataset"]].title for line in lines]
    return figures.bars(titles, series, "What is left of the documents", "%", mark, log=True)


def _seconds(lines: list[dict[str, Any]], mark: str) -> Any:
    names = {
        "brute": "brute force",
        "paper": "paper's algorithm",
        "ours": "ours",
        "gpu": "ours, GPU",
    }
    series = {title: [line[name] for line in lines] for name, title in names.items()}
    series = {title: values for title, values in series.items() if any(values)}
    titles = [CARDS[line["dataset"]].title for line in lines]
    return figures.bars(titles, series, "One query for 20 neighbours", "seconds", mark, log=True)

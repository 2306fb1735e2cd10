"""What is finished is kept: one small JSON file a cell, so that a run can be cut and go on.

A cell's key holds everything that decides its result; its file has the key's digest in its name and
the key inside. It is written whole or not at all. A file that cannot be read is made again.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayfare.atomic import whole_file
from wayfare.paper.oncluster import on_workers
from wayfare.progress import Progress

__all__ = ["Cell", "Cells", "Job", "finish"]

Result = dict[str, Any]

SCHEME = 3  # rises when the meaning of a result changes


@dataclass(frozen=True)
class Job:
    """A cell to be made: its key, what makes it, and how much work that is, in any unit."""

    key: dict[str, Any]
    work: Callable[[], dict[str, Any]]
    cost: float = 1.0


@dataclass(frozen=True)
class Cell:
    """A finished cell, and the seconds that it took when it was made."""

    key: dict[str, Any]
    result: dict[str, Any]
    seconds: float


class Cells:
    """The finished cells of a folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     cells = Cells(Path(folder))
    ...     cells.put(Cell({"task": "sum"}, {"value": 3}, 0.1))
    ...     cells.get({"task": "sum"}).result, cells.get({"task": "other"})
    ({'value': 3}, None)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: dict[str, Any]) -> Cell | None:
        """The cell of this key, if it is finished."""
        try:
            kept = json.loads(self._path(key).read_bytes())
            if kept["key"] == json.loads(_plain(key)):
                return Cell(key, dict(kept["result"]), float(kept["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None

    def put(self, cell: Cell) -> None:
        """Keep a finished cell."""
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = {"key": json.loads(_plain(cell.key)), "result": cell.result, "seconds": cell.seconds}
        with whole_file(self._path(cell.key)) as file:
            file.write(json.dumps(kept, indent=1, allow_nan=False).encode())

    def _path(self, key: dict[str, Any]) -> Path:
        digest = hashlib.blake2b(_plain(key).encode(), digest_size=8).hexdigest()
        names = (str(key[name]) for name in ("task", "dataset", "row", "split") if name in key)
        name = re.sub(r"[^\w.-]+", "-", "-".join(names))
        return self.folder / f"{name}-{digest}.json"


def _plain(key: dict[str, Any]) -> str:
    return json.dumps(key | {"scheme": SCHEME}, sort_keys=True)


def finish(
    jobs: Sequence[Job],
    cells: Cells,
    *,
    make: bool = True,
    client: Any = None,
    show: bool | None = None,
) -> list[Cell | None]:
    """The cells of all jobs, in their order; only what is not there yet is made.

    Without `make` nothing is, and None stands for what is missing. `client` has the workers of a Dask
    cluster make them; each is kept as it comes.
    """
    found = [cells.get(job.key) for job in jobs]
    if not make:
        return found
    missing = [number for number, cell in enumerate(found) if cell is None]
    works = [jobs[number].work for number in missing]
    made = _here(works) if client is None else on_workers(client, works)
    cost = sum(jobs[number].cost for number in missing)
    # Whole thousandths of the work that is left: the bar's time left counts cells by their size.
    with Progress("reproducing", total=1000, unit="‰", show=show) as bar:
        if missing:
            bar.advance(0)
        spent = 0.0
        for at, result, seconds in made:
            job = jobs[missing[at]]
            cell = found[missing[at]] = Cell(job.key, result, seconds)
            cells.put(cell)
            spent += job.cost
            bar.advance(round(1000 * spent / cost) - bar.done)
    return found


def _here(works: Sequence[Callable[[], Result]]) -> Iterator[tuple[int, Result, float]]:
    for number, work in enumerate(works):
        started = time.perf_counter()
        result = work()
        yield number, result, time.perf_counter() - started

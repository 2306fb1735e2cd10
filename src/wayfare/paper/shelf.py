"""What the tasks of one run share: the folder of data, the vectors, and what was loaded of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayfare.errors import InputError
from wayfare.paper.cards import CARDS
from wayfare.paper.datasets import Dataset, find, load
from wayfare.paper.published import DATASETS
from wayfare.paper.scope import Scope
from wayfare.vectors import WordVectors

__all__ = ["BUILT_IN", "Shelf"]

BUILT_IN = "built-in"


@dataclass(eq=False)
class Shelf:
    """One run. `names` are vectors by what they are called in print, the first of them leads."""

    folder: Path
    scope: Scope
    names: dict[str, WordVectors]
    asked: Sequence[str] | None = None  # datasets; None: all that are there
    clean: bool = False
    n_jobs: int | None = None
    cells: Path | None = None  # where what is finished is kept
    _kept: dict[tuple[str, str], Dataset] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_kept": {}}  # datasets travel by themselves

    @property
    def first(self) -> str:
        """The vectors that every task but Table 2 uses."""
        return next(iter(self.names))

    @property
    def datasets(self) -> list[str]:
        """Those asked for, or all whose files are there, in the order of the paper."""
        if self.asked is None:
            there = [name for name in DATASETS if find(self.folder, CARDS[name])]
            if not there:
                raise InputError(
                    f"data: {self.folder} holds no dataset; put NAME.jsonl, .jsonl.gz or .mat there, "
                    f"NAME one of {', '.join(DATASETS)}"
                )
            return there
        unknown = [name for name in self.asked if name not in DATASETS]
        if unknown or not self.asked:
            came = unknown[0] if unknown else ""
            raise InputError(f"datasets: {came!r} came; give some of {', '.join(DATASETS)}")
        return [name for name in DATASETS if name in self.asked]

    def dataset(self, name: str, vectors: str | None = None) -> Dataset:
        """A dataset under some of the vectors, loaded once."""
        at = name, vectors or self.first
        if at not in self._kept:
            self._kept[at] = load(name, self.folder, vectors=self.names[at[1]], clean=self.clean)
        return self._kept[at]

    def key(self, task: str, data: Dataset, *scope: str, **more: Any) -> dict[str, Any]:
        """The key of a cell over a dataset: what decides it, and the names of its file."""
        from wayfare import __version__

        own = {
            "task": task,
            "dataset": data.card.name,
            "content": data.fingerprint,
            "clean": self.clean,
            "version": __version__,
        }
        return own | self.scope.deciding(*scope) | more

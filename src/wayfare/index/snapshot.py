"""An index as it was at one moment: what a search works on, whatever is written meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexCorruptError, IndexVersionError
from wayfare.index import facets, words
from wayfare.index.catalog import Catalog
from wayfare.index.files import read_head
from wayfare.index.reading import Handed, Reading
from wayfare.index.segments import Segment
from wayfare.index.settings import Settings
from wayfare.points import Points

if TYPE_CHECKING:
    from wayfare.many import Documents

__all__ = ["FIT", "SHELF", "VECTORS", "Shelf", "Snapshot"]

# How the names of segments begin: documents, what a weighting was fitted to, a copy of the vectors.
SHELF, FIT, VECTORS = "documents-", "fit-", "vectors-"

Masks = list[NDArray[np.bool_] | None]


@dataclass(frozen=True, eq=False)
class Shelf:
    """The documents of one segment: its arrays, over the words that all segments share."""

    segment: Segment
    arrays: Mapping[str, NDArray[Any]]
    shared: Points

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each document; they rise."""
        return self.arrays["numbers"]

    @cached_property
    def codes(self) -> dict[str, NDArray[np.int32]]:
        """The codes of each facet that any document here has."""
        return {
            label.removeprefix(facets.ARRAY): array
            for label, array in self.arrays.items()
            if label.startswith(facets.ARRAY)
        }

    @cached_property
    def documents(self) -> Documents:
        """What a search takes; nothing is read to make it."""
        from wayfare.many import Documents, Told

        a = self.arrays
        heaviest = a["heavy_points"], a["heavy_masses"]
        told = Told(a["masses"], a["light"], heaviest, int(a["longest"][0]))
        return Documents(self.shared, a["indptr"], a["indices"], a["weights"], told)

    def __len__(self) -> int:
        return len(self.numbers)

    def rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of those of some documents that are on this shelf."""
        at = np.minimum(np.searchsorted(self.numbers, numbers), max(len(self) - 1, 0))
        return at[self.numbers[at] == numbers] if len(self) else np.zeros(0, np.int64)


class Snapshot:
    """The committed state of an index at one moment; immutable, and safe to share between threads."""

    def __init__(self, folder: Path, catalog: Catalog, handed: Handed) -> None:
        self.folder, self.catalog = folder, catalog
        try:
            self.settings = Settings.of(catalog.settings())
        except (KeyError, ValueError) as error:
            raise IndexCorruptError(
                f"{catalog.path}: damaged (settings: {error!r}); restore it from a copy"
            ) from None
        s = self.settings
        shared = words.open_points(folder, s.token, s.words, s.dim)
        kept = catalog.execute("select name, size, layout from segments order by position")
        self.segments = [Segment.kept(*row) for row in kept]
        mapped = [(one, one.open(folder)) for one in self.segments]
        others: dict[str, dict[str, NDArray[Any]]] = {FIT: {}, VECTORS: {}}
        self.shelves: list[Shelf] = []
        for one, arrays in mapped:
            if one.name.startswith(SHELF):
                self.shelves.append(Shelf(one, arrays, shared))
            else:
                others[one.name[: one.name.index("-") + 1]] = arrays
        self.shared = shared
        self.handed = handed
        self.reading = Reading(s, handed, catalog, shared.array, others[FIT], others[VECTORS])
        self._making = threading.Lock()

    @classmethod
    def open(cls, folder: Path, handed: Handed) -> Snapshot:
        """The state as of now."""
        for attempt in range(5):
            name = read_head(folder)
            catalog = Catalog.read(folder / name)
            try:
                return cls(folder, catalog, handed)
            except IndexVersionError:
                raise
            except IndexCorruptError:
                stale = catalog
                seen = stale.one("select value from settings where name = 'generation'")
                stale.close()
                # A writer may have put other files in the place of these between two looks.
                if attempt == 4 or not _moved_on(folder, name, seen):
                    raise
            except BaseException:
                catalog.close()
                raise
        raise AssertionError("unreachable")

    # -- documents ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return sum(len(shelf) for shelf in self.shelves) - len(self._dead)

    @property
    def collections(self) -> list[Documents]:
        """What a search takes."""
        return [shelf.documents for shelf in self.shelves]

    @cached_property
    def _dead(self) -> NDArray[np.int64]:
        rows = self.catalog.execute("select number from deleted order by number")
        return np.array([n for (n,) in rows], np.int64)

    @cached_property
    def alive(self) -> Masks:
        """For each shelf which rows are there still; None where all are."""
        masks: Masks = []
        for shelf in self.shelves:
            rows = shelf.rows_of(self._dead)
            mask = np.ones(len(shelf), bool) if len(rows) else None
            if mask is not None:
                mask[rows] = False
            masks.append(mask)
        return masks

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The numbers of all documents, in the order of the shelves."""
        parts = [
            shelf.numbers if mask is None else shelf.numbers[mask]
            for shelf, mask in zip(self.shelves, self.alive, strict=True)
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def place(self, number: int) -> tuple[Shelf, int]:
        """The shelf and row of a document."""
        for shelf in self.shelves:
            rows = shelf.rows_of(np.array([number], np.int64))
            if len(rows):
                return shelf, int(rows[0])
        raise IndexCorruptError(
            f"{self.folder}: document {number} of the catalogue is in no segment; restore the index"
        )

    def names(self, shelf: int, rows: NDArray[np.int64]) -> list[Any]:
        """The ids of rows of a shelf."""
        return self.catalog.ids_of(self.shelves[shelf].numbers[rows])

    # -- restrictions -------------------------------------------------------------------------

    def allowed(self, numbers: Iterable[int] | None, where: Mapping[str, Any] | None) -> Masks:
        """For each shelf which rows may be found; None where all may."""
        if numbers is None and not where:
            return self.alive
        wanted = None if numbers is None else np.unique(np.fromiter(numbers, np.int64))
        codes = facets.wanted(self.catalog, where or {})
        masks: Masks = []
        for shelf, alive in zip(self.shelves, self.alive, strict=True):
            mask = np.ones(len(shelf), bool) if alive is None else alive.copy()
            if wanted is not None:
                chosen = np.zeros(len(shelf), bool)
                chosen[shelf.rows_of(wanted)] = True
                mask &= chosen
            for name, some in codes.items():
                mask &= facets.holds(shelf.codes.get(name), some, len(shelf))
            masks.append(mask)
        return masks


def _moved_on(folder: Path, name: str, generation: Any) -> bool:
    if read_head(folder) != name:
        return True
    catalog = Catalog.read(folder / name)
    try:
        now = catalog.one("select value from settings where name = 'generation'")
    finally:
        catalog.close()
    return bool(now != generation)

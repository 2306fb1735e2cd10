"""The exact nearest of a dataset's documents, found once, and read off for every split, fold and k.

A weighting that reads one document at a time makes distances that no split changes. So the nearest of a
document among all, in their order, hold its nearest among any part of them: those that belong to the
part, while there are enough of them.

    1  search deep enough that nearly every part finds its k        once a document and eta
    2  read off whom the part holds                                 every split, fold and k
    3  where they run out, search that document thrice as deep      until they suffice
    4  where intervals leave a vote open, solve further             until no vote is (ballot.py)

No list is ever cut short by a guess. Lists are kept in one file, so that a run can be cut and go on.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfare.atomic import whole_file
from wayfare.paper.ballot import ROUNDING, TOLS, Ballot

__all__ = ["Found", "Graph", "depth_for"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
# The places of neighbours, and an interval for the distance of each.
Found = tuple[Places, Array, Array]
# The nearest of some documents, as many as asked for, themselves among them where they are known.
Find = Callable[[Places, int], list[Found]]
# The interval of one distance, from a document to a place, at a tolerance.
Refine = Callable[[int, int, float], tuple[float, float]]

BATCH = 128  # documents between two looks at the clock
SAVE_SECONDS = 30.0
DEEPER = 3  # times as deep, where a list ended too soon
DEVIATIONS = 2.5  # by which a list is longer than it must be on average: 0.6 % of the lists run out
ARRAYS = ("places", "lower", "upper")


class Graph:
    """Lists of neighbours among the `known` documents, a list a document that was asked for.

    `find` searches, and `refine` solves further (None: distances are numbers already). `farthest` is how
    far documents are that have nothing in common, where there is such a distance: a list that ends there
    is completed without a search, since nobody can be farther. `path` is where lists are kept (None:
    nowhere) and `key` all that decides them: a file with another key, or one that cannot be read, is
    begun again.

    >>> def find(rows, depth):
    ...     far = np.abs(np.arange(4.0) - rows[:, None])
    ...     return [(n := np.argsort(one, kind="stable")[:depth], one[n], one[n]) for one in far]
    >>> graph = Graph(find, np.arange(4))
    >>> graph.nearest(np.array([0, 3]), np.array([-1, 1, -1, 0]), k=2, depth=1)
    (array([[ 1,  0],
           [ 1, -1]]), array([[ 1.,  3.],
           [ 2., inf]]))
    """

    def __init__(
        self,
        find: Find,
        known: Places,
        refine: Refine | None = None,
        farthest: float = np.inf,
        path: Path | None = None,
        key: dict[str, Any] | None = None,
    ) -> None:
        self._find, self._refine, self.known = find, refine, known
        self._farthest = farthest * (1 - 2 * ROUNDING)
        self._path, self._key = path, json.dumps(key or {}, sort_keys=True)
        self._lists: dict[int, Found] = {}
        self._depths: dict[int, int] = {}  # how deep a list was searched for
        self._whole: set[int] = set()  # whose lists hold all whom they can reach
        self.cpu = 0.0  # seconds of all threads that the lists took, since they were claimed
        self._changed = False
        self._load()

    def nearest(self, rows: Places, codes: Places, k: int, depth: int) -> tuple[Places, Array]:
        """The classes and distances of each row's `k` nearest in a part, as far as a vote can tell.

        `codes` are the classes of the part's documents, -1 outside of it; the row itself does not count.
        Returns -1, infinitely far, where nobody is left. Neighbours stand in an order that gives every
        majority of the first 1, 2, ..., k as the true order does; distances are upper bounds. Lists that
        are not there yet are searched for to `depth`, and deeper where that does not suffice.
        """
        self._extend(np.array([row for row in rows.tolist() if row not in self._lists]), depth)
        started = time.process_time()
        found, far = np.full((len(rows), k), -1), np.full((len(rows), k), np.inf)
        left = list(enumerate(rows.tolist()))
        while left:
            short = []
            for at, row in left:
                mine = self._read(row, codes, k)
                if mine is None and self._complete(row):
                    mine = self._read(row, codes, k)
                if mine is None:
                    short.append((at, row))
                else:
                    found[at, : len(mine[0])], far[at, : len(mine[0])] = mine
            self.cpu += time.process_time() - started
            for deep in {self._depths[row] for _, row in short}:
                again = [row for _, row in short if self._depths[row] == deep]
                self._extend(np.array(again), DEEPER * deep)
            started, left = time.process_time(), short
        if self._changed:
            self._save()
        return found, far

    def claim(self) -> float:
        """The seconds of searching since the last claim, also those of a run that was cut."""
        taken, self.cpu = self.cpu, 0.0
        if taken:
            self._save()
        return taken

    def _read(self, row: int, codes: Places, k: int) -> tuple[Places, Array] | None:
        """The neighbours of one row; None where its list ends too soon, or in the midst of a tie."""
        places, lower, upper = self._lists[row]
        inside = np.flatnonzero(codes[places] >= 0)
        if row not in self._whole and len(inside) < k:
            return None
        for tol in (*TOLS, None):
            ballot = Ballot.of(places[inside], lower[inside], upper[inside], codes, k)
            open_ = ballot.open()
            if self._refine is None or tol is None or not len(open_):
                break
            for at in inside[open_]:
                low, high = self._refine(row, int(places[at]), tol)
                lower[at], upper[at] = max(low, lower[at]), min(high, upper[at])
            self._changed = True
        if row not in self._whole and ballot.reach * (1 + 2 * ROUNDING) >= upper.max():
            return None
        return ballot.first()

    def _complete(self, row: int) -> bool:
        """Add all who are as far as can be to a list that ends among them."""
        places, lower, upper = self._lists[row]
        near = upper < self._farthest
        if not len(near) or near.all():
            return False
        rest = np.setdiff1d(self.known, np.append(places[near], row))
        far = np.full(len(rest), upper[~near][0])
        lower, upper = np.append(lower[near], far), np.append(upper[near], far)
        self._lists[row] = np.append(places[near], rest), lower, upper
        self._whole.add(row)
        return True

    def _extend(self, rows: Places, depth: int) -> None:
        saved = time.monotonic()
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            started = time.process_time()
            asked = min(depth + 1, len(self.known))
            for row, found in zip(some.tolist(), self._find(some, asked), strict=True):
                if len(found[0]) < asked or asked == len(self.known):
                    self._whole.add(row)
                others = found[0] != row
                places, lower, upper = (one[others][:depth] for one in found)
                self._lists[row] = places, lower.copy(), upper.copy()
                self._depths[row] = depth
            self.cpu += time.process_time() - started
            self._changed = True
            if time.monotonic() - saved > SAVE_SECONDS:
                self._save()
                saved = time.monotonic()

    def _save(self) -> None:
        self._changed = False
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        rows = list(self._lists)
        columns = zip(*(self._lists[row] for row in rows), strict=True) if rows else [[], [], []]
        arrays: dict[str, Any] = {
            name: np.concatenate([*column, np.empty(0)])
            for name, column in zip(ARRAYS, columns, strict=True)
        }
        arrays["places"] = arrays["places"].astype(np.int32)
        with whole_file(self._path) as file:
            np.savez_compressed(
                file,
                key=np.array(self._key),
                cpu=np.array(self.cpu),
                rows=np.array(rows, np.int64),
                depths=np.array([self._depths[row] for row in rows], np.int64),
                whole=np.array([row in self._whole for row in rows], np.bool_),
                counts=np.array([len(self._lists[row][0]) for row in rows], np.int64),
                **arrays,
            )

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            with np.load(self._path, allow_pickle=False) as file:
                kept = {name: file[name] for name in file.files}
            if str(kept["key"]) != self._key:
                return
            rows = kept["rows"].tolist()
            edges = np.cumsum(kept["counts"])[:-1]
            pieces = [np.split(kept[name], edges) for name in ARRAYS]
            lists = zip(*pieces, strict=True) if rows else []
            self._lists = {
                row: (places.astype(np.int64), lower, upper)
                for row, (places, lower, upper) in zip(rows, lists, strict=True)
            }
            self._depths = dict(zip(rows, kept["depths"].tolist(), strict=True))
            self._whole = {row for row, whole in zip(rows, kept["whole"], strict=True) if whole}
            self.cpu = float(kept["cpu"])
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            self._lists, self._depths, self._whole = {}, {}, set()


def depth_for(k: int, share: float) -> int:
    """How deep a list must be that `k` of it belong to a random part with this share of all.

    >>> depth_for(19, 1.0), depth_for(19, 0.8), depth_for(19, 0.56)
    (19, 31, 50)
    """
    depth = k
    while depth * share - DEVIATIONS * np.sqrt(depth * share * (1 - share)) < k:
        depth += 1
    return depth

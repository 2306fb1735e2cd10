"""The exact nearest of a dataset's documents, found once, and read off for every split, fold and k.

A weighting that reads one document at a time makes distances that no split changes. So the nearest of a
document among all, in their order, hold its nearest among any part of them: those that belong to the
part, while there are enough of them.

    1  search deep enough that nearly every part finds its k        once a document and eta
    2  read off whom the part holds                                 every split, fold and k
    3  where they run out, search that document twice as deep       until they suffice

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
from wayfare.learn.nearest import Neighbours

__all__ = ["Graph", "depth_for"]

Places = NDArray[np.int64]
# The nearest of some documents, as many as asked for, themselves among them where they are known.
Find = Callable[[Places, int], Neighbours]

BATCH = 128  # documents between two looks at the clock
SAVE_SECONDS = 30.0
DEVIATIONS = 2.5  # by which a list is longer than it must be on average: 0.6 % of the lists run out


class Graph:
    """Lists of neighbours among the `known` documents, a list a document that was asked for.

    `find` searches; `path` is where lists are kept (None: nowhere) and `key` all that decides them: a
    file with another key, or one that cannot be read, is begun again.

    >>> far = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    >>> from wayfare.learn.nearest import of_matrix
    >>> graph = Graph(lambda rows, depth: of_matrix(far[rows], depth), np.arange(4))
    >>> graph.nearest(np.array([0, 3]), np.array([False, True, False, True]), k=2, depth=1)
    array([[ 1,  3],
           [ 1, -1]])
    """

    def __init__(
        self,
        find: Find,
        known: Places,
        path: Path | None = None,
        key: dict[str, Any] | None = None,
    ) -> None:
        self._find, self.known = find, known
        self._path, self._key = path, json.dumps(key or {}, sort_keys=True)
        self._lists: dict[int, NDArray[np.int32]] = {}
        self._depths: dict[int, int] = {}  # how deep a list was searched for
        self._whole: set[int] = set()  # whose lists hold all whom they can reach
        self.cpu = 0.0  # seconds of all threads that the lists took, since they were claimed
        self._load()

    def nearest(self, rows: Places, among: NDArray[np.bool_], k: int, depth: int) -> Places:
        """The `k` nearest of each row among those of the known that `among` marks, nearest first.

        -1 where nobody is left. The row itself does not count. Lists that are not there yet are searched
        for to `depth`, and deeper where that does not suffice.
        """
        self._reach(rows, depth)
        found = np.full((len(rows), k), -1)
        left = np.arange(len(rows))
        while len(left):
            short = []
            for at in left:
                row = int(rows[at])
                mine = self._lists[row]
                mine = mine[among[mine]][:k]
                found[at, : len(mine)] = mine
                if len(mine) < k and row not in self._whole:
                    short.append(at)
            left = np.array(short, np.int64)
            for depth_ in {self._depths[int(row)] for row in rows[left]}:
                again = [row for row in rows[left] if self._depths[int(row)] == depth_]
                self._extend(np.array(again), 2 * depth_)
        return found

    def claim(self) -> float:
        """The seconds of searching since the last claim, also those of a run that was cut."""
        taken, self.cpu = self.cpu, 0.0
        if taken:
            self._save()
        return taken

    def _reach(self, rows: Places, depth: int) -> None:
        missing = [row for row in rows.tolist() if row not in self._lists]
        self._extend(np.array(missing, np.int64), depth)

    def _extend(self, rows: Places, depth: int) -> None:
        saved = time.monotonic()
        for start in range(0, len(rows), BATCH):
            some = rows[start : start + BATCH]
            started = time.process_time()
            asked = min(depth + 1, len(self.known))
            found = self._find(some, asked)
            for row, far, places in zip(some.tolist(), found.distances, found.places, strict=True):
                reached = places[np.isfinite(far)]
                if len(reached) < asked or asked == len(self.known):
                    self._whole.add(row)
                self._lists[row] = reached[reached != row][:depth].astype(np.int32)
                self._depths[row] = depth
            self.cpu += time.process_time() - started
            if time.monotonic() - saved > SAVE_SECONDS:
                self._save()
                saved = time.monotonic()
        if len(rows):
            self._save()

    def _save(self) -> None:
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        rows = list(self._lists)
        lists = [self._lists[row] for row in rows]
        with whole_file(self._path) as file:
            np.savez_compressed(
                file,
                key=np.array(self._key),
                cpu=np.array(self.cpu),
                rows=np.array(rows, np.int64),
                depths=np.array([self._depths[row] for row in rows], np.int64),
                whole=np.array([row in self._whole for row in rows], np.bool_),
                counts=np.array([len(one) for one in lists], np.int64),
                places=np.concatenate([*lists, np.empty(0, np.int32)]),
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
            pieces = np.split(kept["places"], np.cumsum(kept["counts"])[:-1])
            self._lists = dict(zip(rows, pieces, strict=True))
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

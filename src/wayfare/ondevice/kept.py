"""Collections that stay on a device between searches, and how much of one a device holds.

A batch of queries should not wait for a corpus that went there with the batch before. What is kept goes
when its documents go, such as when an index is closed or changed; when something else needs the room;
and, the oldest first, when all of it would take more than a share of the memory.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wayfare.kernels.gpu import torches
from wayfare.kernels.gpu.placed import Placed
from wayfare.many import Documents

__all__ = ["KEPT", "Kept", "bytes_of", "fitting"]

Key = tuple[str, tuple[int, ...]]

# Of the memory that is there, what may be kept for later, and what is placed for a while.
SHARE_KEPT, SHARE_PLACED = 2, 4
BYTES_AN_ENTRY, BYTES_A_DOCUMENT = 16, 32  # beside what comes from the host: shares, sizes


def bytes_of(collections: Sequence[Documents]) -> int:
    """What collections take on a device, about."""
    points = {id(one.shared): one.points.nbytes for one in collections}
    return sum(points.values()) + sum(
        one.indices.nbytes
        + one.weights.nbytes
        + BYTES_AN_ENTRY * len(one.indices)
        + BYTES_A_DOCUMENT * len(one)
        for one in collections
    )


def fitting(documents: Documents, device: Any) -> int:
    """How many documents may be placed at once; all, or so many that the memory holds them."""
    room, wanted = torches.free_bytes(device) // SHARE_PLACED, bytes_of([documents])
    return len(documents) if wanted <= room else max(len(documents) * room // wanted, 1)


@dataclass(frozen=True)
class _Entry:
    placed: Placed
    size: int
    owners: list[weakref.ref[Documents]]

    def is_of(self, collections: Sequence[Documents]) -> bool:
        """Whether it holds these very collections."""
        owners = [owner() for owner in self.owners]
        return all(one is owner for one, owner in zip(collections, owners, strict=True))


class Kept:
    """What is kept, by device and collections; safe to share between threads."""

    def __init__(self) -> None:
        self._entries: dict[Key, _Entry] = {}
        self._lock = threading.RLock()
        torches.RELIEFS.append(self.clear)

    def __len__(self) -> int:
        return len(self._entries)

    def of(
        self,
        collections: Sequence[Documents],
        device: Any,
        place: Callable[[Sequence[Documents]], Placed],
    ) -> Placed | None:
        """Some collections on a device, placed there once; None where it has no room for all of them."""
        key = (str(device), tuple(map(id, collections)))
        # Whoever asks meanwhile waits for the one transfer.
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry is None or not entry.is_of(collections):
                entry = self._made(key, collections, device, place)
            if entry is None:
                return None
            self._entries[key] = entry  # now the youngest
            return entry.placed

    def _made(
        self,
        key: Key,
        collections: Sequence[Documents],
        device: Any,
        place: Callable[[Sequence[Documents]], Placed],
    ) -> _Entry | None:
        size = bytes_of(collections)
        if not self._make_room(key[0], size, torches.free_bytes(device)):
            return None
        try:
            there = place(collections)
        except Exception as error:
            if not torches.is_out_of_memory(error):
                raise
            return None
        # No lock for what a collector calls: any thread may hold it. One `pop` of a dict needs none.
        owners = [
            weakref.ref(one, lambda _, entries=self._entries: entries.pop(key, None))  # type: ignore[misc]
            for one in collections
        ]
        return _Entry(there, size, owners)

    def _make_room(self, device: str, size: int, free: int) -> bool:
        """Let the oldest go until there is room; tells whether there is."""
        mine = {k: entry.size for k, entry in list(self._entries.items()) if k[0] == device}
        held = sum(mine.values())
        most = (free + held) // SHARE_KEPT
        if size > most:
            return False
        for key, one in mine.items():
            if held + size <= most:
                break
            self._entries.pop(key, None)
            held -= one
        return True

    def clear(self) -> bool:
        """Let all of it go; tells whether there was anything."""
        some = bool(self._entries)
        self._entries.clear()
        return some


KEPT = Kept()

"""The state that an `Index` shows: open while it is used, then the next; and whose turn it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wayfare.errors import IndexFailure
from wayfare.index.catalog import Catalog
from wayfare.index.files import read_head
from wayfare.index.lock import writing
from wayfare.index.reading import Handed
from wayfare.index.snapshot import Snapshot

__all__ = ["States"]


class States:
    """The snapshots of one `Index`, one after the other; any number of threads may use them."""

    def __init__(self, folder: Path, snapshot: Snapshot, handed: Handed, read_only: bool) -> None:
        self.folder, self.handed, self.read_only = folder, handed, read_only
        self.shown: Snapshot | None = snapshot
        self._users: dict[int, int] = {}
        self._swapping = threading.RLock()
        self._writing = threading.Lock()

    def refresh(self) -> None:
        """Show what other processes have committed since."""
        with self._swapping:
            self._swap(Snapshot.open(self.folder, self.handed))

    def close(self) -> None:
        """Show nothing any more; what is in use is closed by its last user."""
        with self._swapping:
            self._swap(None)

    @contextmanager
    def using(self) -> Iterator[Snapshot]:
        """The state as of now, kept open until the caller is done with it."""
        with self._swapping:
            snapshot = self._open()
            self._users[id(snapshot)] = self._users.get(id(snapshot), 0) + 1
        try:
            yield snapshot
        finally:
            with self._swapping:
                self._users[id(snapshot)] -= 1
                if snapshot is not self.shown:
                    self._retire(snapshot)

    @contextmanager
    def turn(self) -> Iterator[tuple[Snapshot, Catalog]]:
        """Be the writer, with the state as of now; afterwards show what was written."""
        from wayfare.index.writing import sweep

        self._open()
        if self.read_only:
            raise IndexFailure(f"{self.folder}: it was opened with read_only=True")
        read_head(self.folder)
        with self._writing, writing(self.folder):
            now = Snapshot.open(self.folder, self.handed)
            catalog = Catalog.write(now.catalog.path)
            try:
                yield now, catalog
                now.catalog.close()
                # While no reader here holds a state open, the log can be emptied.
                with self._swapping:
                    self._swap(None)
                    catalog.shrink_log()
                    new = Snapshot.open(self.folder, self.handed)
                    self._swap(new)
                names = [segment.name for segment in new.segments]
                sweep(self.folder, catalog.path.name, names, new.settings.token)
            finally:
                now.catalog.close()
                catalog.close()

    def _open(self) -> Snapshot:
        if self.shown is None:
            raise IndexFailure(f"{self.folder}: this Index was closed; open it again")
        return self.shown

    def _swap(self, new: Snapshot | None) -> None:
        old, self.shown = self.shown, new
        if old is not None:
            self._retire(old)

    def _retire(self, snapshot: Snapshot) -> None:
        if not self._users.get(id(snapshot)):
            self._users.pop(id(snapshot), None)
            snapshot.catalog.close()

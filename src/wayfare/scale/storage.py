"""Where shards lie: a folder of this machine, or any place that fsspec reaches.

A folder of this machine is used as it stands. Elsewhere a shard is made in a temporary folder, copied
there, and fetched once by each process that opens it. Names are never used twice for other content,
so a fetched copy is never stale.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wayfare.atomic import whole_file
from wayfare.errors import IndexCorruptError, IndexFailure, InputError
from wayfare.extras import require

__all__ = ["Place", "Shard", "marker_name"]

_fetching = threading.Lock()


@dataclass(frozen=True)
class Shard:
    """One shard as the manifest lists it."""

    name: str
    folder: str
    documents: int


def marker_name(name: str) -> str:
    """The file that says that a shard is finished, and which folder holds it."""
    return f"{name}.json"


@dataclass(frozen=True)
class Place:
    """A folder by its path or URL; small, and sent to workers as it is.

    >>> Place("memory://shards").local, Place("shards").local
    (False, True)
    """

    url: str

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Place:
        """The place of a path; one of this machine is made absolute, since workers stand elsewhere."""
        name = os.fspath(path)
        if not isinstance(name, str) or not name or "\0" in name:
            raise InputError(f"path: {name!r:.80} came; give a folder, or a URL that fsspec knows")
        here = cls(name)
        return cls(str(Path(here._root).resolve())) if here.local else here

    @cached_property
    def _there(self) -> tuple[Any, str]:
        fsspec = require("fsspec", extra="dask")
        try:
            system, root = fsspec.core.url_to_fs(self.url)
        except (ValueError, ImportError) as error:
            raise InputError(f"path: {self.url!r} cannot be reached ({error})") from None
        return system, str(root).rstrip("/")

    def __getstate__(self) -> dict[str, Any]:
        return {"url": self.url}  # a connection stays where it was made

    @property
    def _root(self) -> str:
        return self._there[1]

    @property
    def local(self) -> bool:
        """Whether it is a folder of this machine."""
        from fsspec.implementations.local import LocalFileSystem

        return isinstance(self._there[0], LocalFileSystem)

    def at(self, name: str) -> str:
        """The path of something in it, as its file system names it."""
        return f"{self._root}/{name}"

    def make(self) -> None:
        """Make the folder where it is not there."""
        try:
            self._there[0].makedirs(self._root, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(f"path: {self.url} is a file; give a folder for the shards") from None
        except OSError as error:
            raise InputError(f"path: {self.url} cannot be made ({error})") from error

    def names(self) -> list[str]:
        """The names of what is in it."""
        system = self._there[0]
        system.invalidate_cache()
        if not system.exists(self._root):
            return []
        paths = system.ls(self._root, detail=False)
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in paths)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """A small file of ours; None where it is not there."""
        system = self._there[0]
        system.invalidate_cache()
        try:
            kept = json.loads(system.cat_file(self.at(name)).decode("utf-8"))
        except FileNotFoundError:
            return None
        except ValueError:
            kept = None
        except OSError as error:
            raise IndexFailure(f"{self.at(name)}: it cannot be read ({error})") from error
        if not isinstance(kept, dict):
            raise IndexCorruptError(
                f"{self.at(name)}: damaged; restore it, or build the shards again"
            )
        return kept

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small file whole: by a rename here, by one put elsewhere."""
        data = (json.dumps(content, indent=1) + "\n").encode("utf-8")
        if not self.local:
            self._there[0].pipe_file(self.at(name), data)
            return
        with whole_file(Path(self.at(name))) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def send(self, folder: Path, name: str) -> None:
        """Copy a finished folder of this machine to a new name there."""
        self._there[0].put(str(folder), self.at(name), recursive=True)

    def remove(self, name: str) -> None:
        """Remove something in it."""
        self._there[0].rm(self.at(name), recursive=True)

    def open_folder(self, name: str) -> Path:
        """A folder in it as one of this machine: itself, or a copy that is fetched once a process."""
        if self.local:
            return Path(self.at(name))
        with _fetching:
            kept = _cache() / hashlib.blake2b(self.at(name).encode(), digest_size=12).hexdigest()
            if not kept.exists():
                part = Path(tempfile.mkdtemp(dir=_cache()))
                try:
                    self._there[0].get(self.at(name), str(part / name), recursive=True)
                except OSError as error:
                    raise IndexFailure(
                        f"{self.at(name)}: it cannot be fetched ({error})"
                    ) from error
                os.replace(part / name, kept)
                part.rmdir()
            return kept


_cached: Any = None


def _cache() -> Path:
    """A folder of this process, which goes with it."""
    global _cached
    if _cached is None:
        _cached = tempfile.TemporaryDirectory(prefix="wayfare-shards-", ignore_cleanup_errors=True)
    return Path(_cached.name)

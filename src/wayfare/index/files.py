"""Files that are whole or not there: written, synced, and made visible by one rename.

index.json names the catalogue that counts. A build writes everything under new names first, so that
replacing this one small file is the moment at which an index appears, or takes the place of another.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from wayfare.errors import IndexCorruptError, IndexFailure, IndexVersionError

__all__ = ["FORMAT", "HEAD", "publish", "read_head", "remove", "sync_file", "sync_folder"]

HEAD = "index.json"
FORMAT = 1
KIND = "wayfare index"


def sync_file(path: Path) -> None:
    """Return when the content of a file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Return when the names in a folder are on the disk."""
    if sys.platform == "win32":  # which opens no folders, and journals names itself
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def publish(folder: Path, catalog: str) -> None:
    """Make `catalog` the one that counts."""
    text = json.dumps({"kind": KIND, "format": FORMAT, "catalog": catalog}) + "\n"
    new = folder / f"{catalog}.head"
    new.write_text(text, encoding="utf-8")
    sync_file(new)
    sync_folder(folder)
    os.replace(new, folder / HEAD)
    sync_folder(folder)


def read_head(folder: Path) -> str:
    """The name of the catalogue that counts, or what keeps this folder from being an index."""
    try:
        text = (folder / HEAD).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise IndexFailure(_not_an_index(folder)) from None
    except OSError as error:
        raise IndexFailure(f"{folder / HEAD}: {error.strerror}; it cannot be read") from error
    except UnicodeDecodeError:
        raise _damaged(folder) from None
    try:
        head = json.loads(text)
        kind, version, catalog = head["kind"], head["format"], head["catalog"]
    except (ValueError, KeyError, TypeError):
        raise _damaged(folder) from None
    if kind != KIND or not isinstance(version, int):
        raise _damaged(folder)
    if version > FORMAT:
        raise IndexVersionError(
            f"{folder}: format {version} came, and this version of wayfare reads up to {FORMAT}; "
            "update wayfare"
        )
    if not isinstance(catalog, str) or Path(catalog).name != catalog:
        raise _damaged(folder)
    return catalog


def _not_an_index(folder: Path) -> str:
    if not folder.exists():
        return f"{folder}: there is nothing here; Index.build makes an index"
    if not folder.is_dir():
        return f"{folder}: a file, not an index; an index is a folder that Index.build made"
    return f"{folder}: not an index, or one whose build never ended: no {HEAD}; build it (again)"


def _damaged(folder: Path) -> IndexCorruptError:
    return IndexCorruptError(f"{folder / HEAD}: damaged; restore the index, or build it again")


def remove(paths: Iterable[Path]) -> None:
    """Remove files that nothing refers to any more; what Windows holds open stays for next time."""
    for path in paths:
        with suppress(OSError):
            path.unlink()

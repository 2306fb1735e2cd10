"""A course on disk: one .npz of plain arrays, written whole or not at all, never unpickled."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from wayfare.errors import FormatError, InputError
from wayfare.learn.supervised.descent import Course
from wayfare.learn.supervised.parameters import Parameters, Rows

__all__ = ["fingerprint", "load", "save"]

FORMAT = 1
ARRAYS = (
    "map",
    "log_weights",
    "best_map",
    "best_log_weights",
    "moment_0",
    "moment_1",
    "moment_2",
    "moment_3",
    "history",
    "scalars",
)


def fingerprint(rows: Rows, classes: Any, settings: dict[str, Any]) -> str:
    """A hash of the documents, their classes and whatever decides the course."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (rows.points, rows.indptr, rows.indices, rows.weights, classes):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(repr(sorted(settings.items())).encode())
    return digest.hexdigest()


def save(path: str | os.PathLike[str], stamp: str, course: Course) -> None:
    """Write the course beside `path` and move it there."""
    target = Path(path)
    moments = [moment for pair in course.moments for moment in pair]
    arrays: dict[str, Any] = {f"moment_{n}": moment for n, moment in enumerate(moments)}
    arrays |= {
        "map": course.at.map,
        "log_weights": course.at.log_weights,
        "best_map": course.best.map,
        "best_log_weights": course.best.log_weights,
        "history": course.history,
        "scalars": np.array(
            [course.step, course.best_step, course.best_loss, course.temperature], np.float64
        ),
        "format": np.array(FORMAT),
        "stamp": np.array(stamp),
    }
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **arrays)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str], start: Parameters, stamp: str) -> Course | None:
    """The course that was saved at `path`; None where there is no file.

    `start` says which shapes are wanted. Raises `FormatError` for a file that is none of ours, and
    `InputError` for one that was made with other documents, labels or settings.
    """
    if not Path(path).exists():
        return None
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            found = {name: file[name] for name in (*ARRAYS, "format", "stamp")}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise FormatError(f"no checkpoint of this library ({error})", path=str(path)) from None
    if int(found["format"]) != FORMAT or str(found["stamp"]) != stamp:
        raise InputError(
            f"checkpoint: {path} was written with other documents, labels or settings; "
            "remove it, or name another file"
        )
    at = Parameters(found["map"], found["log_weights"])
    best = Parameters(found["best_map"], found["best_log_weights"])
    moments = (found["moment_0"], found["moment_1"]), (found["moment_2"], found["moment_3"])
    maps = (at.map, best.map, *moments[0])
    weights = (at.log_weights, best.log_weights, *moments[1])
    for arrays, wanted in ((maps, start.map), (weights, start.log_weights)):
        if any(array.shape != wanted.shape for array in arrays):
            raise FormatError("the arrays do not have the shapes of this problem", path=str(path))
    step, best_step, best_loss, temperature = found["scalars"].tolist()
    return Course(
        at, moments, best, temperature, best_loss, int(best_step), int(step), found["history"]
    )

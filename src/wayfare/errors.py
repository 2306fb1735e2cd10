"""The exceptions that Wayfare raises::

    WayfareError
    ├── InputError (ValueError)          an argument that cannot be used
    │   ├── UnknownWordError             a word that the vectors do not have, under unknown="error"
    │   └── DuplicateIdError             an id that is there already
    ├── FormatError (ValueError)         a file whose content cannot be read: path, line, column
    ├── MissingExtraError (ImportError)  an optional dependency that is not installed
    └── IndexFailure                     an index on disk that cannot be used as asked
        ├── IndexLockedError             another process is writing to it
        ├── IndexCorruptError            a missing, truncated or altered file
        ├── IndexVersionError            written by a newer format
        ├── VectorsMismatchError         opened with other vectors than it was built with
        └── ShardError                   a shard that cannot be made or read

Every message says what came, what was wanted and what to do. Catch `WayfareError` to catch all.
"""

from __future__ import annotations

from pathlib import Path

__all__ = [
    "DuplicateIdError",
    "FormatError",
    "IndexCorruptError",
    "IndexFailure",
    "IndexLockedError",
    "IndexVersionError",
    "InputError",
    "MissingExtraError",
    "ShardError",
    "UnknownWordError",
    "VectorsMismatchError",
    "WayfareError",
]


class WayfareError(Exception):
    """The root of the family."""


class InputError(WayfareError, ValueError):
    """An argument that cannot be used; the message names it."""


class UnknownWordError(InputError):
    """A word that the vectors do not have, where the caller asked for an error."""


class DuplicateIdError(InputError):
    """An id that is there already."""


class FormatError(WayfareError, ValueError):
    """A file whose content cannot be read.

    >>> print(FormatError("expected 100 numbers, found 99", path="glove.txt", line=7))
    glove.txt, line 7: expected 100 numbers, found 99
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | str | None = None,
    ) -> None:
        self.path, self.line, self.column = path, line, column
        where = [] if path is None else [str(path)]
        if line is not None:
            where.append(f"line {line}")
        if column is not None:
            where.append(f"column {column}")
        super().__init__(f"{', '.join(where)}: {message}" if where else message)


class MissingExtraError(WayfareError, ImportError):
    """An optional dependency that is not installed; the message holds the command to run."""


class IndexFailure(WayfareError):
    """An index on disk that cannot be used as asked."""


class IndexLockedError(IndexFailure):
    """Another process is writing to the index."""


class IndexCorruptError(IndexFailure):
    """A file of the index is missing, truncated or altered."""


class IndexVersionError(IndexFailure):
    """The index was written by a newer format than this version reads."""


class VectorsMismatchError(IndexFailure):
    """The index was built with other word vectors."""


class ShardError(IndexFailure):
    """A shard of a sharded index that cannot be made or read; the message names it."""

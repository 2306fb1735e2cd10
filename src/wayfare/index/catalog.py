"""The catalogue: one SQLite file that says what an index holds.

A `Catalog` open for reading holds one read transaction from its first query to its end, so it sees
the index as it was opened, whatever is committed meanwhile. Its connection may be used from any
thread; a lock lets one in at a time. Every id and text is a bound parameter.

The journal is a write-ahead log: readers never wait for the writer, nor it for them. Where the folder
cannot be written, SQLite cannot keep the log's index beside it; then the file is read as one that
nobody changes, and each answer is checked against that.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from wayfare.errors import IndexCorruptError, IndexFailure

__all__ = ["Catalog", "Id", "plain", "stored"]

Id = int | str

# Every row ends with a checksum of the others, since SQLite keeps none of its own.
TABLES = """
create table settings (name text primary key, value text, sum integer);
create table segments (position integer primary key, name text, size integer, layout text, sum integer);
create table growths (
    start integer primary key, stop integer, points text, squared text, hashes text, sum integer);
create table words (row integer primary key, word, sum integer);
create table documents (number integer primary key, id, sum integer);
create table texts (number integer primary key, text, sum integer);
create table deleted (number integer primary key, sum integer);
create table facets (code integer primary key, name, value text, sum integer);
"""
INDEXES = """
create index words_by_word on words (word);
create unique index documents_by_id on documents (id);
create unique index facets_by_value on facets (name, value);
"""
PATIENCE = 60.0  # seconds to wait for the instant in which SQLite recovers or commits


def stored(text: Any) -> Any:
    """A string as SQLite keeps it: text, or bytes where it holds lone surrogates; others as they are."""
    if isinstance(text, str) and not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-8", "surrogatepass")
    return text


def plain(value: Any) -> Any:
    """What `stored` was given."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def row_sum(row: Sequence[Any]) -> int:
    """A checksum of the values of a row, as they are kept."""
    total = 0
    for value in row:
        total = crc32(value if isinstance(value, bytes) else str(value).encode(), total)
    return total


class Catalog:
    """A connection to the catalogue, for one reader or one writer."""

    def __init__(self, path: Path, connection: sqlite3.Connection, *, frozen: bool = False) -> None:
        self.path, self._connection = path, connection
        self._lock = threading.RLock()
        self._looks = _looks(path) if frozen else None

    # -- opening ------------------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path) -> Catalog:
        """A new one, which counts for nothing until it is finished and published."""
        made = cls(path, _connect(path, "mode=rwc"))
        try:
            made.execute("pragma journal_mode = off")
            made.execute("pragma synchronous = off")
            with made._wrapped():
                made._connection.executescript(TABLES)
            made.execute("begin")
        except BaseException:
            made.close()
            raise
        return made

    def finish(self) -> None:
        """End a new catalogue: its indexes, its journal; close it."""
        with self._wrapped():
            self._connection.commit()
            self._connection.executescript(INDEXES)
            self._connection.execute("pragma journal_mode = wal").fetchall()
        self.close()

    @classmethod
    def read(cls, path: Path) -> Catalog:
        """The state as of now, until it is closed."""
        if not path.exists():
            raise IndexCorruptError(f"{path}: it is missing; restore it from a copy")
        writable = os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)
        frozen = not writable and not path.with_name(f"{path.name}-wal").exists()
        how = "mode=ro&immutable=1" if frozen else "mode=rw" if writable else "mode=ro"
        opened = cls(path, _connect(path, how), frozen=frozen)
        try:
            opened.execute("pragma query_only = on")
            opened.execute("begin")
            opened.one("select count(*) from settings")
        except BaseException:
            opened.close()
            raise
        return opened

    @classmethod
    def write(cls, path: Path) -> Catalog:
        """For a writer, who holds the lock of the index."""
        opened = cls(path, _connect(path, "mode=rw"))
        opened.execute("pragma synchronous = full")
        return opened

    def close(self) -> None:
        """Let go of the connection, and of the state that it kept."""
        with self._lock:
            self._connection.close()

    # -- asking -------------------------------------------------------------------------------

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and fetch all that it gives."""
        with self._wrapped():
            rows: list[tuple[Any, ...]] = self._connection.execute(statement, values).fetchall()
            return rows

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The first value of the first row, or None."""
        rows = self.execute(statement, values)
        return rows[0][0] if rows else None

    def insert(
        self, table: str, rows: Iterable[Sequence[Any]], width: int, *, over: bool = False
    ) -> None:
        """Insert rows of `width` values; `over` those of the same key, or not at all."""
        verb = "insert or replace" if over else "insert"
        marks = ", ".join("?" * (width + 1))
        with self._wrapped():
            self._connection.executemany(
                f"{verb} into {table} values ({marks})",
                ((*row, row_sum(row)) for row in rows),
            )

    def remove(self, table: str, numbers: Iterable[int]) -> None:
        """Delete the rows of these numbers."""
        with self._wrapped():
            self._connection.executemany(
                f"delete from {table} where number = ?", ((int(n),) for n in numbers)
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: what is done inside is committed at the end, or was never done."""
        with self._lock:
            self.execute("begin immediate")
            try:
                yield
                self.commit()
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.rollback()
                raise

    def commit(self) -> None:
        """Make what was done count."""
        with self._wrapped():
            self._connection.commit()

    def shrink_log(self) -> None:
        """Bring what was committed from the log into the file, as far as readers and the disk allow."""
        with suppress(IndexFailure):
            self.execute("pragma busy_timeout = 0")
            self.execute("pragma wal_checkpoint(truncate)")

    # -- what stands in it --------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """All settings by name."""
        rows = self.execute("select name, value from settings")
        return {name: json.loads(value) for name, value in rows}

    def put_settings(self, settings: dict[str, Any]) -> None:
        """Replace settings."""
        rows = ((name, json.dumps(value)) for name, value in settings.items())
        self.insert("settings", rows, 2, over=True)

    def faults(self) -> Iterator[str]:
        """Say what SQLite finds wrong, and which tables hold rows that are not what was written."""
        for (said,) in self.execute("pragma integrity_check"):
            if said != "ok":
                yield f"{self.path}: {said}"
        for (table,) in self.execute("select name from sqlite_schema where type = 'table'"):
            with self._wrapped():
                rows = self._connection.execute(f"select * from {table}")
                altered = sum(row_sum(row[:-1]) != row[-1] for row in rows)
            if altered:
                yield f"{self.path}: {altered} rows of {table!r} were altered"

    def ids_of(self, numbers: NDArray[np.int64]) -> list[Id]:
        """The ids of documents by number, in order."""
        return self._by_number("documents", "id", numbers)

    def texts_of(self, numbers: NDArray[np.int64]) -> list[str | None]:
        """The texts of documents by number; None for one that was not kept."""
        return self._by_number("texts", "text", numbers)

    def _by_number(self, table: str, column: str, numbers: NDArray[np.int64]) -> list[Any]:
        found = self.execute(
            f"select t.{column} from json_each(?) j left join {table} t on t.number = j.value "
            "order by j.key",
            (json.dumps(numbers.tolist()),),
        )
        return [plain(value) for (value,) in found]

    def numbers_of(self, ids: Iterable[Id]) -> list[int | None]:
        """The numbers of documents by id; None where there is none of that id."""
        ask = "select number from documents where id = ?"
        with self._wrapped():
            look = self._connection.execute
            rows = (look(ask, (stored(id),)).fetchone() for id in ids)
            return [row[0] if row else None for row in rows]

    # -- what can go wrong ----------------------------------------------------------------------

    @contextmanager
    def _wrapped(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.OperationalError as error:
                raise self._failure(error) from error
            except sqlite3.IntegrityError:
                raise
            except sqlite3.DatabaseError as error:
                raise IndexCorruptError(
                    f"{self.path}: damaged ({error}); restore it from a copy, or build the index "
                    "again"
                ) from error
            if self._looks is not None and _looks(self.path) != self._looks:
                raise IndexFailure(
                    f"{self.path}: it was opened as one that nobody changes, and was changed; open "
                    "the index again"
                )

    def _failure(self, error: sqlite3.OperationalError) -> IndexFailure:
        what = str(error)
        if "no such table" in what or "no such column" in what:
            return IndexCorruptError(f"{self.path}: not the catalogue of an index ({what})")
        if "unable to open" in what and self.path.with_name(f"{self.path.name}-wal").exists():
            what += "; its last writes stand in a log, which needs a folder that can be written"
        return IndexFailure(f"{self.path}: {what}")


def _connect(path: Path, how: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.resolve()))}?{how}"
    try:
        return sqlite3.connect(
            uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
    except sqlite3.OperationalError as error:
        raise IndexFailure(f"{path}: {error}") from error


def _looks(path: Path) -> tuple[int, int, int]:
    seen = path.stat()
    return seen.st_ino, seen.st_size, seen.st_mtime_ns

"""Which reader reads what, and the one function that reads."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Self

from wayfare.errors import FormatError, InputError
from wayfare.readers.delimited import read_csv, read_tsv
from wayfare.readers.folder import read_folder
from wayfare.readers.lines import read_jsonl, read_txt
from wayfare.readers.parquet import read_parquet
from wayfare.readers.skipped import OnError, Skipped
from wayfare.readers.source import LIMIT, PACKED, STDIN, Record, Source

__all__ = ["FORMATS", "Format", "Records", "read", "register"]

Reader = Callable[[Source], Iterator[Record]]


@dataclass(frozen=True)
class Format:
    """A format: its name, the ends of file names that mean it, and what reads it."""

    name: str
    suffixes: tuple[str, ...]
    reader: Reader


FORMATS: dict[str, Format] = {}


def register(name: str, suffixes: Sequence[str], reader: Reader) -> None:
    """Enter a format, or replace the one of that name.

    `suffixes` are lower-case and start with a dot; `.gz` and `.zst` after them are understood.

    >>> register("lines", [".lines"], read_txt)
    >>> FORMATS.pop("lines").suffixes
    ('.lines',)
    """
    FORMATS[name] = Format(name, tuple(suffixes), reader)


register("jsonl", [".jsonl", ".ndjson"], read_jsonl)
register("csv", [".csv"], read_csv)
register("tsv", [".tsv", ".tab"], read_tsv)
register("parquet", [".parquet", ".pq"], read_parquet)
register("txt", [".txt", ".text"], read_txt)
register("folder", [], read_folder)


class Records:
    """The records of a file, one by one; `skipped` grows while they are read.

    A caller who finds fault with a record gives its error to `reject`, which raises or counts as
    `on_error` says.
    """

    def __init__(self, source: Source, reader: Reader, skipped: Skipped) -> None:
        self.source, self.skipped = source, skipped
        self._records, self._any = reader(source), False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Record:
        try:
            record = next(self._records)
        except StopIteration:
            self._close()
            raise
        self._any = True
        return record

    def reject(self, message: str, *, line: int, column: str) -> None:
        """Raise or count an error in a record that was handed out."""
        self.source.bad(self.source.error(message, line=line, column=column))

    def _close(self) -> None:
        if self._any:
            return
        if self.skipped:
            raise FormatError(f"nothing could be read: {self.skipped}")
        raise self.source.error("it holds no documents")


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    columns: Sequence[str] = (),
    on_error: OnError = "raise",
    limit: int = LIMIT,
) -> Records:
    """Stream the records of a file, a folder, or standard input (`"-"`).

    `format` is told by the name where it is None, looking below `.gz` and `.zst`; standard input
    needs it said. Every record has the wanted `columns`. `limit` bounds the bytes of one document,
    128 MiB unless told otherwise, and with it the memory that reading takes. Raises `FormatError`
    with file, line and column for what cannot be read, or under `on_error="skip"` counts it in
    `Records.skipped`; a missing column of a table, an empty file, or one where nothing could be
    read, raise in any case. Raises `InputError` for a path, format or encoding that is not there.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "news.csv")
    ...     _ = path.write_text("id,text\\n7,rates rise\\n")
    ...     for record in read(path): print(record.line, record.fields)
    2 {'id': '7', 'text': 'rates rise'}
    """
    name = fspath(path)
    if not isinstance(name, str):
        raise InputError(f"path: {name!r} came; give a string or a Path")
    if on_error not in ("raise", "skip"):
        raise InputError(f"on_error: {on_error!r} came; give 'raise' or 'skip'")
    if limit < 1:
        raise InputError(f"limit: {limit!r} came; give a number of bytes above 0")
    skipped = Skipped()

    def bad(error: FormatError) -> None:
        if on_error == "raise":
            raise error
        skipped.add(error)

    source = Source(name, _encoding(encoding), tuple(columns), bad, limit)
    return Records(source, _format(name, format).reader, skipped)


def _encoding(name: str) -> str:
    try:
        known = codecs.lookup(name).name
        "\n".encode(known)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise InputError(f"encoding: {name!r} is not known; give one such as 'utf-8'") from None
    return known


def _format(path: str, name: str | None) -> Format:
    names = ", ".join(map(repr, FORMATS))
    if name is not None:
        if name not in FORMATS:
            raise InputError(f"format: {name!r} came; give one of {names}")
        return FORMATS[name]
    if path == STDIN:
        raise InputError(f"format: standard input has no name to tell it by; give one of {names}")
    if "\0" not in path and Path(path).is_dir():
        return FORMATS["folder"]
    stem = path.lower()
    for suffix in PACKED:
        stem = stem.removesuffix(suffix)
    for candidate in FORMATS.values():
        if candidate.suffixes and stem.endswith(candidate.suffixes):
            return candidate
    raise InputError(f"format: {path!r} does not tell it; give one of {names}")

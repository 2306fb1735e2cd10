"""Tables in text: comma- and tab-separated values with a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from wayfare.readers.source import Record, Source

__all__ = ["read_csv", "read_tsv"]


def read_csv(source: Source) -> Iterator[Record]:
    """Comma-separated, quoted as RFC 4180 has it; every value is a string."""
    return _read(source, ",")


def read_tsv(source: Source) -> Iterator[Record]:
    """Tab-separated, quoted like CSV; every value is a string."""
    return _read(source, "\t")


class _Numbered:
    """The lines of a source, remembering the number of the last one handed out."""

    def __init__(self, source: Source) -> None:
        self._lines, self.last = source.lines(), 0

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            self.last = number
            yield line


def _read(source: Source, delimiter: str) -> Iterator[Record]:
    # The csv module refuses fields beyond a limit that belongs to the whole process; raise it
    # to ours, and never lower what somebody else set.
    csv.field_size_limit(max(csv.field_size_limit(), source.limit))
    lines = _Numbered(source)
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        start = lines.last + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            end = f" (it runs to line {lines.last})" if lines.last > start else ""
            source.bad(source.error(f"malformed row: {error}{end}", line=start))
            continue
        if row is None:
            return
        if not row:
            continue
        if header is None:
            header = _header(source, row, start)
        elif len(row) != len(header):
            message = f"expected {len(header)} fields as in the header, found {len(row)}"
            missing = header[len(row)] if len(row) < len(header) else None
            source.bad(source.error(message, line=start, column=missing))
        else:
            fields: dict[str, Any] = dict(zip(header, row, strict=True))
            yield Record(start, fields)


def _header(source: Source, row: list[str], line: int) -> list[str]:
    # Without its header the whole table is unreadable: this is never skipped.
    if error := source.lacks(row, line=line):
        raise error
    twice = {name for name in row if row.count(name) > 1}
    if twice & set(source.columns) or (twice and not source.columns):
        raise source.error(f"column {sorted(twice)[0]!r} is there twice; rename one", line=line)
    return row

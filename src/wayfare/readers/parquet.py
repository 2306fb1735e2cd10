"""Parquet files, a few rows at a time.

Parquet is read from its end, so what comes packed or through a pipe is copied to a temporary file
first.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from wayfare.readers.source import Record, Source

__all__ = ["read_parquet"]

ROWS = 1024  # rows turned into Python objects at once
COPIED = 1 << 20  # bytes of a pipe held at once


def read_parquet(source: Source) -> Iterator[Record]:
    """Rows with the wanted columns, or all of them; a `line` is the number of the row."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    # The file is opened by us first: its errors are then the same as everywhere else.
    with source.open() as stream, _seekable(stream) as file:
        try:
            table = ParquetFile(file)
            names = list(table.schema_arrow.names)
        except (pyarrow.ArrowException, OSError, ValueError, MemoryError) as error:
            raise source.error(f"not a readable Parquet file ({_first_line(error)})") from None
        if missing := source.lacks(names):
            raise missing
        row = 0
        batches = table.iter_batches(batch_size=ROWS, columns=list(source.columns) or None)
        while True:
            try:
                batch = next(batches, None)
                columns: dict[str, list[Any]] = {} if batch is None else batch.to_pydict()
            except (pyarrow.ArrowException, OSError, ValueError, MemoryError) as error:
                message = f"damaged from here on ({_first_line(error)})"
                source.bad(source.error(message, line=row + 1))
                return
            if batch is None:
                return
            for values in zip(*columns.values(), strict=True):
                row += 1
                yield Record(row, dict(zip(columns, values, strict=True)))


@contextmanager
def _seekable(stream: BinaryIO) -> Iterator[BinaryIO]:
    if stream.seekable():
        yield stream
        return
    with TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy, COPIED)
        copy.seek(0)
        yield copy


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]

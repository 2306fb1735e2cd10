"""Files of documents as streams of records, in bounded memory.

    source.py     bytes of a file, unpacked; lines of bounded length; where errors go
    packed.py     gzip members, Zstandard frames
    lines.py      JSON lines, plain text
    delimited.py  CSV, TSV
    parquet.py    Parquet
    folder.py     a folder of text files
    formats.py    which reader reads what; `read`
    skipped.py    what was left out, and why

A format is one function from `Source` to an iterator of `Record`, entered with `register`.
"""

from __future__ import annotations

from wayfare.readers.formats import FORMATS, Format, Records, read, register
from wayfare.readers.skipped import OnError, Skipped
from wayfare.readers.source import LIMIT, STDIN, Record, Source

__all__ = [
    "FORMATS",
    "LIMIT",
    "STDIN",
    "Format",
    "OnError",
    "Record",
    "Records",
    "Skipped",
    "Source",
    "read",
    "register",
]

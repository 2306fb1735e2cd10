"""A folder of text files, one document a file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wayfare.errors import FormatError, InputError
from wayfare.readers.source import Record, Source

__all__ = ["read_folder"]

TEXTS = (".txt", ".txt.gz", ".txt.zst")

log = logging.getLogger("wayfare")


def read_folder(source: Source) -> Iterator[Record]:
    """Each `.txt` file below the folder, packed or not, in order of path.

    Fields: "text"; "id", the path below the folder; "label", the first folder on that path, or
    None. Other files are counted in a line of the log.
    """
    root = Path(source.path)
    if not root.is_dir():
        raise InputError(f"path: {source.path!r} is no folder; give one, or another format")
    if error := source.lacks(["text", "id", "label"]):
        raise error
    files = sorted(f for f in root.rglob("*") if f.is_file())
    texts = [f for f in files if f.name.lower().endswith(TEXTS)]
    if not texts:
        raise source.error(
            f"no .txt file is below this folder, and {len(files)} others; give a folder of texts, "
            "or one of its files"
        )
    if len(texts) < len(files):
        log.info("%s: %d files are not .txt and were left", source.path, len(files) - len(texts))
    for number, file in enumerate(texts, start=1):
        text = _read(replace(source, path=str(file)))
        if isinstance(text, FormatError):
            source.bad(text)
            continue
        below = file.relative_to(root)
        label = below.parts[0] if len(below.parts) > 1 else None
        yield Record(number, {"text": text, "id": below.as_posix(), "label": label})


def _read(source: Source) -> str | FormatError:
    if not Path(source.path).stat().st_size:
        return ""  # an empty file is an empty document here
    try:
        with source.open() as stream:
            content = stream.read(source.limit + 1)
    except FormatError as error:
        return error
    if len(content) > source.limit:
        return source.too_long()
    try:
        return content.decode("utf-8-sig" if source.encoding == "utf-8" else source.encoding)
    except UnicodeError as error:
        return source.not_decodable(error)

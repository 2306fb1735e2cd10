"""Formats of one document a line: JSON lines and plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from wayfare.errors import FormatError
from wayfare.readers.source import Record, Source

__all__ = ["read_jsonl", "read_txt"]


def read_jsonl(source: Source) -> Iterator[Record]:
    """One JSON object a line; blank lines are nothing, as JSON lines has it."""
    wanted = frozenset(source.columns)
    for number, line in source.lines():
        if not line.strip():
            continue
        found = _parse(source, number, line)
        if isinstance(found, FormatError):
            source.bad(found)
        elif wanted <= found.keys():
            yield Record(number, found)
        elif error := source.lacks(found, line=number):
            source.bad(error)


def _parse(source: Source, number: int, line: str) -> dict[str, Any] | FormatError:
    try:
        found = json.loads(line.rstrip("\r\n"))
    except json.JSONDecodeError as error:
        # "Expecting value" and the like: the parser says what it wanted, and where.
        message = f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        return source.error(message, line=number, column=error.colno)
    except (ValueError, RecursionError) as error:
        return source.error(f"not usable JSON: {error}", line=number)
    if not isinstance(found, dict):
        return source.error(
            f"expected a JSON object {{...}}, found {type(found).__name__}", line=number
        )
    return found


def read_txt(source: Source) -> Iterator[Record]:
    """One document a line, named "text"; an empty line is an empty document."""
    if error := source.lacks(["text"]):
        raise error
    for number, line in source.lines():
        yield Record(number, {"text": line.rstrip("\r\n")})

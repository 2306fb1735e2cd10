"""Arguments of `WordVectors`, checked at its door."""

from __future__ import annotations

import os
from pathlib import Path

from wayfare.errors import InputError

__all__ = ["as_limit", "as_path", "as_word", "check_unit"]


def check_unit(unit: object) -> None:
    """Refuse what is neither True nor False: 0 and 1 read like something else."""
    if not isinstance(unit, bool):
        raise InputError(f"unit: {unit!r} came; give True (unit length) or False (raw)")


def as_word(word: object) -> str:
    """A word as a plain `str`."""
    if not isinstance(word, str):
        raise InputError(f"words: {word!r} is of type {type(word).__name__}; give words as str")
    return str(word)


def as_path(argument: str, given: object) -> Path:
    """A path, of a string or of what stands for one."""
    if not isinstance(given, (str, os.PathLike)) or not str(given) or "\0" in str(given):
        raise InputError(
            f"{argument}: {given!r:.80} came; give a path; what is live in memory goes to "
            "WordVectors.from_gensim or from_arrays"
        )
    return Path(given)


def as_limit(limit: object) -> int | None:
    """A positive number of words, or None for all."""
    if limit is None or (isinstance(limit, int) and not isinstance(limit, bool) and limit > 0):
        return limit
    raise InputError(f"limit: {limit!r} came; give a positive number of words, or None for all")

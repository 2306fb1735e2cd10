"""What one request may ask for, and how many may ask at once."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from wayfare.errors import InputError
from wayfare.threads import count_jobs

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """The limits of a server; each error that one of them causes names it and its value.

    `request_bytes` of a body; `words`: distinct known words of one text; `k` documents of one answer;
    `text`: characters of each document that an answer shows; `running` solves at once, and `waiting`
    more for at most `patience` milliseconds; `milliseconds` of work for one request, after which the
    answer is what is proven by then, with `exact: false`. Raises `InputError` for anything that is no
    whole number from 1 (`waiting`: from 0).

    >>> Limits(k=20).k
    20
    >>> Limits(k=0)
    Traceback (most recent call last):
        ...
    wayfare.errors.InputError: k: 0 came; give a whole number from 1
    """

    request_bytes: int = 1 << 20
    words: int = 2_000
    k: int = 100
    text: int = 100_000
    running: int = field(default_factory=lambda: count_jobs(None))
    waiting: int = 200
    patience: int = 30_000
    milliseconds: int = 5_000

    def __post_init__(self) -> None:
        for one in fields(self):
            value, least = getattr(self, one.name), 0 if one.name == "waiting" else 1
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{one.name}: {value!r} came; give a whole number from {least}")

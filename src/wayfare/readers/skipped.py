"""What a reader left out, and why."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Literal

from wayfare.errors import FormatError

__all__ = ["OnError", "Skipped"]

OnError = Literal["raise", "skip"]

REMEMBERED = 20  # errors kept word for word; the rest is counted

log = logging.getLogger("wayfare")


@dataclass
class Skipped:
    """How many records were skipped, and the first twenty reasons.

    >>> skipped = Skipped()
    >>> skipped.add(FormatError("expected a JSON object, found a list", path="a.jsonl", line=3))
    >>> print(skipped)
    1 record skipped; first: a.jsonl, line 3: expected a JSON object, found a list
    """

    count: int = 0
    errors: list[FormatError] = field(default_factory=list)

    def add(self, error: FormatError) -> None:
        """Count a record, and remember why it was skipped."""
        self.count += 1
        if len(self.errors) < REMEMBERED:
            self.errors.append(error)

    def report(self) -> None:
        """Log one warning line, if anything was skipped."""
        if self.count:
            log.warning("%s", self)

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        if not self.count:
            return "nothing skipped"
        records = "record" if self.count == 1 else "records"
        return f"{self.count} {records} skipped; first: {self.errors[0]}"

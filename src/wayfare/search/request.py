"""What is searched for, and how long it may take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Budget", "Ids", "Request"]

# The names of some documents of a collection, by its number.
Ids = Callable[[int, NDArray[np.int64]], Sequence[Any]]


@dataclass(frozen=True)
class Request:
    """What is searched for: the `k` nearest, or all `within` a distance, or both at once."""

    k: int | None
    within: float | None
    eta: float
    tol: float
    atol: float


@dataclass
class Budget:
    """A limit on time or on solves; a search that meets it stops and says `exact=False`."""

    milliseconds: float | None = None
    solves: int | None = None
    started: float = field(default_factory=time.perf_counter)
    solved: int = 0

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self.milliseconds is not None or self.solves is not None

    @property
    def solves_left(self) -> int:
        """How many solves may follow; without a limit, more than there are."""
        return sys.maxsize if self.solves is None else max(self.solves - self.solved, 0)

    @property
    def spent(self) -> bool:
        """Whether a limit is reached."""
        late = self.milliseconds is not None and (
            1e3 * (time.perf_counter() - self.started) >= self.milliseconds
        )
        return late or (self.solves is not None and self.solved >= self.solves)

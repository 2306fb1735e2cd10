"""Progress of long work: a bar on a terminal, silence in a pipe, nothing under a second."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any, Self

__all__ = ["Progress"]

PATIENCE = 1.0  # seconds before a bar appears

# One bar at a time: what is slow inside of something slow does not draw over it.
_place = threading.Lock()


class Progress:
    """Counts `total` units of work (None: unknown) and shows them when the wait is worth it.

    Without a `unit` there is nothing to count, and the time that went by is shown.

    `show` forces the bar on or off; None shows it only when standard error is a terminal. The bar comes
    by the clock, not by the first unit, which may be the one that takes long.

    >>> with Progress("reading", total=2, show=False) as progress:
    ...     progress.advance(); progress.advance()
    >>> progress.done
    2
    """

    def __init__(
        self, what: str, *, total: int | None = None, unit: str = "", show: bool | None = None
    ) -> None:
        self.what, self.total, self.unit, self.done = what, total, unit, 0
        self._show = sys.stderr.isatty() if show is None else show
        self._changing = threading.Lock()
        self._ended = False
        self._clock: threading.Timer | None = None
        self._bar: Any = None
        self._task: Any = None

    def advance(self, by: int = 1) -> None:
        """Count `by` more units as done."""
        self.done += by
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done)

    def _start(self) -> None:
        with self._changing:
            if self._ended:
                return
            bar = self._new_bar()
            self._task = bar.add_task(self.what, total=self.total, completed=self.done)
            bar.start()
            self._bar = bar

    def _new_bar(self) -> Any:
        # rich costs a tenth of a second to import: only long work on a terminal pays it.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bar

        counted: tuple[Any, ...] = (TimeElapsedColumn(),)
        if self.unit:
            unit = TextColumn(self.unit, markup=False)
            counted = (MofNCompleteColumn(), unit, TimeRemainingColumn())
        return Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            *counted,
            console=Console(stderr=True),
            transient=True,
        )

    def __enter__(self) -> Self:
        if self._show and _place.acquire(blocking=False):
            self._clock = threading.Timer(PATIENCE, self._start)
            self._clock.daemon = True
            self._clock.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._clock is None:
            return
        self._clock.cancel()
        with self._changing:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
        self._clock = None
        _place.release()

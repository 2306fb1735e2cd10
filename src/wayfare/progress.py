"""Progress of long work: a bar on a terminal, silence in a pipe, nothing under a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

__all__ = ["Progress"]

PATIENCE = 1.0  # seconds before a bar appears


class Progress:
    """Counts `total` units of work (None: unknown) and shows them when the wait is worth it.

    `show` forces the bar on or off; None shows it only when standard error is a terminal.

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
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def advance(self, by: int = 1) -> None:
        """Count `by` more units as done."""
        self.done += by
        if not self._show:
            return
        if self._bar is None:
            if time.monotonic() - self._started < PATIENCE:
                return
            self._start()
        self._bar.update(self._task, completed=self.done)

    def _start(self) -> None:
        # rich costs a tenth of a second to import: only long work on a terminal pays it.
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(self.unit),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(self.what, total=self.total, completed=self.done)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

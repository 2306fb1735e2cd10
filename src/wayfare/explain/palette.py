"""Colours of a drawing: Okabe and Ito's, told apart by colour-blind eyes, on light and on dark.

Nothing is told by colour alone: what was destroyed stands on the left, is hatched and marked with a
minus; what was created stands on the right, is dotted and marked with a plus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wayfare.errors import InputError

__all__ = ["DARK", "LIGHT", "Palette", "Theme", "check_theme"]

Theme = Literal["light", "dark", "auto"]


@dataclass(frozen=True)
class Palette:
    """The colours of one theme."""

    paper: str
    ink: str
    muted: str
    carried: str
    destroyed: str
    created: str


LIGHT = Palette("#ffffff", "#1b1f24", "#5d6673", "#0072b2", "#d55e00", "#009e73")
DARK = Palette("#11161d", "#e8edf2", "#9aa6b2", "#56b4e9", "#e69f00", "#1fbf92")


def check_theme(theme: str, *, auto: bool = True) -> None:
    """Refuse a theme that is not there."""
    names = ("light", "dark", "auto") if auto else ("light", "dark")
    if theme not in names:
        raise InputError(f"theme: {theme!r} came; give one of {', '.join(names)}")

"""Tables in Markdown, and numbers as they stand in them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["number", "plus_minus", "table"]


def table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; what stands in a cell cannot end it.

    >>> print(table(["a", "b"], [["1", "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    """
    lines = [names, *rows]
    drawn = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    drawn.insert(1, "|" + "---|" * len(names))
    return "\n".join(drawn)


def number(value: float | None, digits: int = 1) -> str:
    """A number, or nothing where there is none.

    >>> number(2.345), number(None)
    ('2.3', '')
    """
    return "" if value is None else f"{value:.{digits}f}"


def plus_minus(pair: Sequence[float | None] | None, digits: int = 1) -> str:
    """A mean and its deviation, if it has one.

    >>> plus_minus((4.6, 0.7)), plus_minus((44.5, None)), plus_minus(None)
    ('4.6 ± 0.7', '44.5', '')
    """
    if pair is None:
        return ""
    mean, deviation = pair
    return number(mean, digits) + ("" if deviation is None else f" ± {number(deviation, digits)}")

"""What a command prints: a table for people, JSON or CSV for machines."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import typer

__all__ = [
    "Form",
    "console",
    "flat",
    "form_of",
    "note",
    "print_csv",
    "print_json",
    "print_table",
    "show",
    "size",
]

Form = Literal["table", "json", "csv"]

UNBROKEN = 10_000  # columns in a pipe: no line is folded for a width that nobody has


def form_of(as_json: bool, as_csv: bool) -> Form:
    """Which form was asked for; both is wrong usage."""
    if as_json and as_csv:
        raise typer.BadParameter("--json and --csv exclude each other; give one")
    return "json" if as_json else "csv" if as_csv else "table"


def show(
    form: Form,
    *,
    document: Any,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    table: Callable[[], None],
) -> None:
    """Print one answer in the form that was asked for."""
    if form == "json":
        print_json(document)
    elif form == "csv":
        print_csv(rows, columns)
    else:
        table()


def print_json(document: Any) -> None:
    """One JSON document; what JSON has no number for is null."""
    typer.echo(json.dumps(_plain(document), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def flat(document: Any, name: str = "") -> list[dict[str, Any]]:
    """All numbers and words of a nested answer as rows of `name` and `value`.

    >>> flat({"bounds": [0.5, 0.6]})
    [{'name': 'bounds.0', 'value': 0.5}, {'name': 'bounds.1', 'value': 0.6}]
    """
    if isinstance(document, Mapping):
        parts = [(str(key), one) for key, one in document.items()]
    elif isinstance(document, list | tuple):
        parts = [(str(at), one) for at, one in enumerate(document)]
    else:
        return [{"name": name, "value": document}]
    return [row for key, one in parts for row in flat(one, f"{name}.{key}" if name else key)]


def print_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """A header and a line a row, quoted as RFC 4180 says, ended as lines are here."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if row.get(name) is None else row[name] for name in columns])
    sys.stdout.flush()


def console(*, stderr: bool = False) -> Any:
    """A rich console: colours and folding on a terminal, neither in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else UNBROKEN
    return Console(file=stream, width=width, highlight=False, emoji=False)


def print_table(
    columns: Sequence[tuple[str, Literal["left", "right"]]],
    rows: Sequence[Sequence[Any]],
    *,
    title: str | None = None,
    after: str | None = None,
) -> None:
    """A table of strings, which are shown as they are: no word of a document is markup."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    if title:
        out.print(Text(title, style="bold"))
    table = Table(
        box=None,
        pad_edge=False,
        header_style="dim",
        padding=(0, 2, 0, 0),
        show_header=any(name for name, _ in columns),
    )
    for at, (name, justify) in enumerate(columns):
        last = at == len(columns) - 1
        table.add_column(name, justify=justify, no_wrap=not last, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row))
    if out.is_terminal:
        out.print(table)
    else:  # nobody wants the spaces that fill the last column
        with out.capture() as drawn:
            out.print(table)
        typer.echo("\n".join(line.rstrip() for line in drawn.get().splitlines()))
    if after:
        out.print(Text(after, style="dim"))


def note(message: str) -> None:
    """A line for people on standard error, beside an answer on standard output."""
    typer.echo(f"wayfare: {message}", err=True)


def size(count: int | None) -> str:
    """A number of bytes for people.

    >>> size(86_300_000), size(312), size(None)
    ('86.3 MB', '312 B', '')
    """
    if count is None:
        return ""
    amount, units = float(count), ["B", "kB", "MB", "GB"]
    while amount >= 1000 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{amount:,.0f} {units[0]}" if units[0] == "B" else f"{amount:,.1f} {units[0]}"

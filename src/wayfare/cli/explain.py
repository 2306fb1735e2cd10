"""`wayfare explain`: why two texts are as far apart as they are, word by word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wayfare.cli import options as opt
from wayfare.cli.distance import solve
from wayfare.cli.documents import texts_of
from wayfare.cli.output import console, form_of, note, show
from wayfare.errors import InputError

if TYPE_CHECKING:
    from wayfare.explain import Explanation

__all__ = ["add_to"]

COLUMNS = ["kind", "word", "to", "sent", "received", "closeness", "price"]
FIGURES = ("png", "pdf", "svg")
_PICTURE = "Picture"


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(
        epilog=opt.example(
            'wayfare explain "Obama speaks in Illinois" "The president in Chicago" --svg plan.svg'
        )
    )(explain)


def explain(
    first: opt.First,
    second: opt.Second,
    files: opt.Files = False,
    most: Annotated[
        int, typer.Option(min=2, help="Lines of the table, words of the picture.")
    ] = 20,
    svg: Annotated[
        Path | None, typer.Option(help="Write the picture here.", rich_help_panel=_PICTURE)
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(help="Write picture and table as a page.", rich_help_panel=_PICTURE),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Write the picture as .png or .pdf, by matplotlib.", rich_help_panel=_PICTURE
        ),
    ] = None,
    theme: Annotated[
        Literal["light", "dark", "auto"],
        typer.Option(help="Auto follows whoever looks.", rich_help_panel=_PICTURE),
    ] = "auto",
    metric: Annotated[
        Literal["wfr", "wmd", "wmd-wfr-cost"],
        typer.Option(help="Which distance; these have a plan.", rich_help_panel="Distance"),
    ] = "wfr",
    eta: opt.Eta = None,
    tol: opt.Tol = 1e-3,
    vectors: opt.Vectors = None,
    weighting: opt.Weighting = "nbow",
    stop_words: opt.StopWords = "english",
    unknown: opt.Unknown = "skip",
    encoding: opt.Encoding = "utf-8",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Why two texts are as far apart as they are: what each word carried to which, at what price."""
    form = form_of(as_json, as_csv)
    texts = texts_of(first, second, files=files, encoding=encoding)
    why = solve(*texts, metric, eta, tol, vectors, weighting, stop_words, unknown).explain()
    # Before the table: where nothing can be written, nothing is printed either.
    written = _pictures(why, svg, html, figure, theme, most)
    show(
        form,
        document=json.loads(why.to_json()) if form == "json" else None,
        rows=why.to_rows() if form == "csv" else [],
        columns=COLUMNS,
        table=lambda: _table(why, most),
    )
    for path in written:
        note(f"wrote {path}")


def _table(why: Explanation, most: int) -> None:
    out = console()
    if out.is_terminal:
        out.print(why.to_table(most=most))
    else:
        typer.echo(why.to_text(most=most))


def _pictures(
    why: Explanation,
    svg: Path | None,
    html: Path | None,
    figure: Path | None,
    theme: Any,
    most: int,
) -> list[Path]:
    from wayfare.atomic import whole_file

    if svg is not None:
        with whole_file(svg) as file:
            file.write(why.to_svg(most=most, theme=theme).encode())
    if html is not None:
        with whole_file(html) as file:
            file.write(why.to_html(most=most, theme=theme).encode())
    if figure is not None:
        kind = figure.suffix.removeprefix(".").lower()
        if kind not in FIGURES:
            raise InputError(
                f"--figure: {figure} came; give a name that ends in .{', .'.join(FIGURES)}"
            )
        shown: Any = "light" if theme == "auto" else theme
        drawn = why.figure(most=most, theme=shown)
        with whole_file(figure) as file:
            drawn.savefig(file, format=kind)
    return [path for path in (svg, html, figure) if path is not None]

"""`wayfare reproduce`: the tables of the paper, beside ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wayfare.cli import options as opt
from wayfare.cli.output import flat, form_of, note, show

__all__ = ["add_to"]


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(epilog=opt.example("wayfare reproduce table1 --data . -o paper"))(reproduce)


def reproduce(
    task: Annotated[
        Literal["table2", "table1", "task1", "pruning", "timing", "wme", "all"],
        typer.Argument(
            help="What of the paper: table2, table1, task1, pruning, timing, wme (the embeddings' "
            "rows of table2), or all.",
            metavar="TASK",
        ),
    ],
    data: Annotated[
        Path, typer.Option(help="Folder of NAME.jsonl, NAME.jsonl.gz or the authors' .mat files.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Folder for report.md, results.json, figures and cells."
        ),
    ],
    datasets: Annotated[
        str | None, typer.Option(help="Names with commas between. Default: all that are there.")
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(help="Rows of table2, with commas between, such as wfr,wmd. Default: all."),
    ] = None,
    vectors: Annotated[
        list[str] | None,
        typer.Option(
            help="A file, a folder or a name, 'default' for the built-in ones. Repeat it: "
            "validation chooses between them.",
            metavar="NAME_OR_PATH",
            rich_help_panel="Words",
        ),
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Leave out duplicates, test documents first.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A seeded sample, in minutes; marked as one everywhere.")
    ] = False,
    finished: Annotated[
        bool,
        typer.Option(
            "--finished", help="Run nothing: report what is finished, and what is missing."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of splits, samples and what is drawn.")] = 0,
    jobs: opt.Jobs = None,
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Run the paper's experiments on your copy of its data, and print its numbers beside ours.

    What is finished is kept: the same command goes on where it was cut, and shows the time left.
    """
    from wayfare.paper import Scope, reproduce

    form = form_of(as_json, as_csv)
    report = reproduce(
        task,
        data,
        output,
        datasets=_listed(datasets),
        rows=_listed(rows),
        vectors=_vectors(vectors),
        clean=clean,
        scope=Scope.small(seed) if quick else Scope(seed=seed),
        n_jobs=jobs,
        finished=finished,
        command=_said(task, datasets, rows, vectors, clean, quick, seed),
    )
    results = report.with_name("results.json")
    told = {"report": str(report), "results": str(results)}
    if form != "table":
        told |= json.loads(results.read_text(encoding="utf-8"))
    show(
        form,
        document=told,
        rows=flat(told),
        columns=["name", "value"],
        table=lambda: typer.echo(report.read_text(encoding="utf-8")),
    )
    note(f"wrote {report}")


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


def _vectors(names: list[str] | None) -> dict[str, Any] | None:
    from wayfare.cli.documents import vectors_of

    if not names:
        return None
    found: dict[str, Any] = {}
    for name in names:
        title = first = "built-in" if name == "default" else Path(name).name
        while title in found:  # two files of one name in two folders
            title = f"{first} ({len(found) + 1})"
        found[title] = vectors_of(None if name == "default" else name)
    return found


def _said(
    task: str,
    datasets: str | None,
    rows: str | None,
    vectors: list[str] | None,
    clean: bool,
    quick: bool,
    seed: int,
) -> str:
    """The command without paths, which are nobody else's."""
    parts = ["wayfare reproduce", task, "--data DIR -o FOLDER"]
    parts += [f"--datasets {datasets}"] if datasets else []
    parts += [f"--rows {rows}"] if rows else []
    parts += [f"--vectors {Path(name).name}" for name in vectors or []]
    parts += ["--clean"] if clean else []
    parts += ["--quick"] if quick else []
    return " ".join([*parts, f"--seed {seed}"])

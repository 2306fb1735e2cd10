"""`wayfare index`: a corpus on disk, built once and searched many times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import read_texts, text_of, tokenizer_of, vectors_of
from wayfare.cli.output import Form, form_of, note, print_table, show, size
from wayfare.progress import Progress

if TYPE_CHECKING:
    from wayfare.index import Index

__all__ = ["add_to"]

index = typer.Typer(
    help="An index: a corpus on disk, built once and searched many times.",
    epilog=opt.example("wayfare index build news.index news.jsonl --id-column id"),
    no_args_is_help=True,
)

Folder = Annotated[Path, typer.Argument(help="The folder of the index.", metavar="INDEX")]
Source = Annotated[
    str,
    typer.Argument(
        help="A file or folder of documents, or '-' for standard input.", metavar="SOURCE"
    ),
]


def add_to(app: typer.Typer) -> None:
    """Enter the group."""
    app.add_typer(index, name="index")


@index.command(
    epilog=opt.example(
        "wayfare index build news.index news.jsonl --id-column id --label-column label --overwrite"
    )
)
def build(
    folder: Folder,
    source: Source,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace an index that is there, once this is whole."),
    ] = False,
    keep_texts: Annotated[
        bool, typer.Option(help="Keep the texts, so that answers can show them.")
    ] = True,
    metric: Annotated[
        Literal["wfr", "wmd", "hellinger"],
        typer.Option(help="The default of its searches.", rich_help_panel="Distance"),
    ] = "wfr",
    eta: opt.Eta = None,
    tol: opt.Tol = 1e-3,
    vectors: opt.Vectors = None,
    weighting: opt.Weighting = "nbow",
    stop_words: opt.StopWords = "english",
    unknown: opt.Unknown = "skip",
    text_column: opt.TextColumn = "text",
    id_column: opt.IdColumn = None,
    label_column: opt.LabelColumn = None,
    metadata: opt.Metadata = None,
    format: opt.FileFormat = None,
    encoding: opt.Encoding = "utf-8",
    on_error: opt.OnError = "raise",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Make an index of a file, which streams by and need not fit in memory."""
    import wayfare as wf

    form = form_of(as_json, as_csv)
    made = wf.Index.build_from_file(
        folder,
        source,
        text=text_column,
        id=id_column,
        label=label_column,
        metadata=metadata or [],
        on_error=on_error,
        format=format,
        encoding=encoding,
        vectors=vectors_of(vectors),
        weighting=weighting,
        tokenizer=tokenizer_of(stop_words),
        unknown=unknown,
        eta=eta,
        tol=tol,
        metric=metric,
        keep_texts=keep_texts,
        overwrite=overwrite,
    )
    _close(made, "built", form)


@index.command(
    epilog=opt.example("wayfare index add news.index other.jsonl --id-column id --replace")
)
def add(
    folder: Folder,
    source: Source,
    replace: Annotated[
        bool, typer.Option("--replace", help="A document whose id is there takes its place.")
    ] = False,
    vectors: opt.Vectors = None,
    text_column: opt.TextColumn = "text",
    id_column: opt.IdColumn = None,
    label_column: opt.LabelColumn = None,
    metadata: opt.Metadata = None,
    format: opt.FileFormat = None,
    encoding: opt.Encoding = "utf-8",
    on_error: opt.OnError = "raise",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Add the documents of a file: all of them or none. They are read as those of the build were."""
    form = form_of(as_json, as_csv)
    new = read_texts(
        source,
        text=text_column,
        id=id_column,
        label=label_column,
        metadata=metadata or [],
        format=format,
        encoding=encoding,
        on_error=on_error,
    )
    there = _open(folder, vectors)
    with Progress("adding"):
        there.add(
            new.texts,
            ids=None if id_column is None else new.ids,
            labels=new.labels,
            metadata=new.metadata or None,
            replace=replace,
        )
    _close(there, f"added {len(new.texts):,}", form)


@index.command(
    epilog=opt.example("wayfare index delete news.index weather-1 weather-2 --missing-ok")
)
def delete(
    folder: Folder,
    ids: Annotated[
        list[str],
        typer.Argument(
            help="Ids of documents, or '-' for one a line of standard input.", metavar="ID..."
        ),
    ],
    missing_ok: Annotated[
        bool, typer.Option("--missing-ok", help="Ids that are not there are no error.")
    ] = False,
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Delete documents by their ids: all of them or none."""
    form = form_of(as_json, as_csv)
    names = text_of("-", files=False).splitlines() if ids == ["-"] else ids
    there = _open(folder)
    with Progress("deleting"):
        there.delete([_id(there, name) for name in names], missing_ok=missing_ok)
    _close(there, "deleted", form)


def _id(there: Index, name: str) -> int | str:
    """Ids on a command line are text; those of an index may be numbers."""
    if name not in there and name.removeprefix("-").isdecimal() and int(name) in there:
        return int(name)
    return name


@index.command(epilog=opt.example("wayfare index compact news.index"))
def compact(folder: Folder, as_json: opt.JSON = False, as_csv: opt.CSV = False) -> None:
    """Write the index anew in one piece, without what was deleted."""
    form = form_of(as_json, as_csv)
    there = _open(folder)
    with Progress("compacting"):
        there.compact()
    _close(there, "compacted", form)


@index.command(epilog=opt.example("wayfare index verify news.index"))
def verify(folder: Folder, as_json: opt.JSON = False, as_csv: opt.CSV = False) -> None:
    """Read everything, and compare it with the checksums of when it was written."""
    form = form_of(as_json, as_csv)
    with _open(folder, read_only=True) as there, Progress("reading everything"):
        there.verify()
        told = {"path": str(folder), "sound": True, "documents": len(there)}
    said = f"{folder}: {told['documents']:,} documents, every file as it was written"
    _show(form, told, lambda: typer.echo(said))


@index.command(epilog=opt.example("wayfare index info news.index"))
def info(folder: Folder, as_json: opt.JSON = False, as_csv: opt.CSV = False) -> None:
    """What an index holds, and how it was built."""
    form = form_of(as_json, as_csv)
    with _open(folder, read_only=True) as there:
        told = _told(there)
    shown = told | {"bytes": size(told["bytes"]), "facets": ", ".join(told["facets"]) or "none"}
    rows = [(name, "none" if value is None else value) for name, value in shown.items()]
    _show(form, told, lambda: print_table([("", "left"), ("", "left")], rows))


def _open(folder: Path, vectors: str | None = None, *, read_only: bool = False) -> Index:
    import wayfare as wf

    return wf.Index.open(folder, vectors=vectors_of(vectors), read_only=read_only)


def _told(there: Index) -> dict[str, Any]:
    return asdict(there.info()) | {"path": str(there.path)}


def _show(form: Form, told: dict[str, Any], table: Callable[[], None]) -> None:
    row = told | {"facets": " ".join(told["facets"])} if "facets" in told else told
    show(form, document=told, rows=[row], columns=list(told), table=table)


def _close(there: Index, done: str, form: Form) -> None:
    """Say what the index is now, and let go of it."""
    told = _told(there)
    there.close()
    holds = f"{told['path']} holds {told['documents']:,} documents, {size(told['bytes'])}"
    _show(form, told, lambda: note(f"{done}; {holds}"))

"""`wayfare index`: a corpus on disk, built once and searched many times."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import read_texts, tokenizer_of, vectors_of
from wayfare.cli.output import note, print_json, print_table, size

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
    str, typer.Argument(help="A file or folder of documents, or '-' for standard input.")
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
) -> None:
    """Make an index of a file, which streams by and need not fit in memory."""
    import wayfare as wf

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
    _close(made, "built", as_json)


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
) -> None:
    """Add the documents of a file: all of them or none. They are read as those of the build were."""
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
    there.add(
        new.texts,
        ids=None if id_column is None else new.ids,
        labels=new.labels,
        metadata=new.metadata or None,
        replace=replace,
    )
    _close(there, f"added {len(new.texts):,}", as_json)


@index.command(
    epilog=opt.example("wayfare index delete news.index weather-1 weather-2 --missing-ok")
)
def delete(
    folder: Folder,
    ids: Annotated[list[str], typer.Argument(help="Ids of documents.")],
    missing_ok: Annotated[
        bool, typer.Option("--missing-ok", help="Ids that are not there are no error.")
    ] = False,
    as_json: opt.JSON = False,
) -> None:
    """Delete documents by their ids: all of them or none."""
    there = _open(folder)
    there.delete([_id(there, name) for name in ids], missing_ok=missing_ok)
    _close(there, "deleted", as_json)


def _id(there: Index, name: str) -> int | str:
    """Ids on a command line are text; those of an index may be numbers."""
    if name not in there and name.removeprefix("-").isdecimal() and int(name) in there:
        return int(name)
    return name


@index.command(epilog=opt.example("wayfare index compact news.index"))
def compact(folder: Folder, as_json: opt.JSON = False) -> None:
    """Write the index anew in one piece, without what was deleted."""
    there = _open(folder)
    there.compact()
    _close(there, "compacted", as_json)


@index.command(epilog=opt.example("wayfare index verify news.index"))
def verify(folder: Folder, as_json: opt.JSON = False) -> None:
    """Read everything, and compare it with the checksums of when it was written."""
    with _open(folder, read_only=True) as there:
        there.verify()
        if as_json:
            print_json({"path": str(folder), "sound": True, "documents": len(there)})
        else:
            typer.echo(f"{folder}: {len(there):,} documents, every file as it was written")


@index.command(epilog=opt.example("wayfare index info news.index"))
def info(folder: Folder, as_json: opt.JSON = False) -> None:
    """What an index holds, and how it was built."""
    with _open(folder, read_only=True) as there:
        told = _told(there)
    if as_json:
        print_json(told)
        return
    told["bytes"] = size(told["bytes"])
    told["facets"] = ", ".join(told["facets"]) or "none"
    rows = [(name, "none" if value is None else value) for name, value in told.items()]
    print_table([("", "left"), ("", "left")], rows)


def _open(folder: Path, vectors: str | None = None, *, read_only: bool = False) -> Index:
    import wayfare as wf

    return wf.Index.open(folder, vectors=vectors_of(vectors), read_only=read_only)


def _told(there: Index) -> dict[str, Any]:
    return asdict(there.info()) | {"path": str(there.path)}


def _close(there: Index, done: str, as_json: bool) -> None:
    """Say what the index is now, and let go of it."""
    told = _told(there)
    there.close()
    if as_json:
        print_json(told)
    else:
        note(f"{done}; {told['path']} holds {told['documents']:,} documents, {size(told['bytes'])}")

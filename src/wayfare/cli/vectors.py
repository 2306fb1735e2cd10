"""`wayfare vectors`: which word vectors there are, what they are, and in which format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import text_in
from wayfare.cli.output import form_of, note, print_table, show, size

if TYPE_CHECKING:
    from wayfare.vectors import WordVectors

__all__ = ["add_to"]

vectors = typer.Typer(
    help="Word vectors: what is there, in which format, and what is cached.",
    epilog=opt.example("wayfare vectors list"),
    no_args_is_help=True,
)


def add_to(app: typer.Typer) -> None:
    """Enter the group."""
    app.add_typer(vectors, name="vectors")


Source = Annotated[
    str,
    typer.Argument(
        help="A file, a folder, a name on the hub, or 'default' for the built-in ones.",
        metavar="NAME_OR_PATH",
    ),
]


@vectors.command("list", epilog=opt.example("wayfare vectors list"))
def list_(as_json: opt.JSON = False, as_csv: opt.CSV = False) -> None:
    """The built-in vectors, and those that were read once and are cached."""
    from wayfare.vectors import WordVectors, cache_info

    form = form_of(as_json, as_csv)
    built_in, cache = WordVectors.default(), cache_info()
    rows: list[dict[str, Any]] = [
        {"source": "default", "entries": len(built_in), "dim": built_in.dim, "bytes": None}
    ]
    rows += [
        {"source": e.source, "entries": e.words, "dim": e.dim, "bytes": e.bytes}
        for e in cache.entries
    ]
    show(
        form,
        document={"cache": str(cache.directory), "bytes": cache.bytes, "vectors": rows},
        rows=rows,
        columns=["source", "entries", "dim", "bytes"],
        table=lambda: print_table(
            [("vectors", "left"), ("entries", "right"), ("dim", "right"), ("cached", "right")],
            [(r["source"], f"{r['entries']:,}", r["dim"], size(r["bytes"])) for r in rows],
            after=f"cache: {cache.directory}, {size(cache.bytes)}",
        ),
    )


@vectors.command(epilog=opt.example("wayfare vectors info default"))
def info(source: Source, as_json: opt.JSON = False, as_csv: opt.CSV = False) -> None:
    """What these vectors are: how many, how wide, and what reading them met."""
    form = form_of(as_json, as_csv)
    found = _load(source)
    told: dict[str, Any] = {
        "name": found.name,
        "entries": len(found),
        "dim": found.dim,
        "unit": found.unit,
        "default_eta": found.default_eta,
        "repeated": found.report.repeated,
        "zero": found.report.zero,
        "skipped": found.report.skipped,
        "fingerprint": found.fingerprint,
    }
    show(
        form,
        document=told,
        rows=[told],
        columns=list(told),
        table=lambda: print_table([("", "left"), ("", "left")], list(told.items())),
    )


@vectors.command(
    epilog=opt.example("wayfare vectors convert glove.txt small.npy --words words.txt")
)
def convert(
    source: Source,
    target: Annotated[
        Path,
        typer.Argument(
            help="Where to: .txt, .vec, .bin or .npy, and .gz after any of them.", metavar="TARGET"
        ),
    ],
    words: Annotated[
        Path | None, typer.Option(help="A file of the words to keep, one a line. Default: all.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Read only the first so many.")] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Read gensim's own files, which are pickles.")
    ] = False,
    on_error: opt.OnError = "raise",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Write vectors in another format; their numbers stay the same."""
    form = form_of(as_json, as_csv)
    kept = None if words is None else text_in(words, "--words", "give one of words").split()
    found = _load(source, limit=limit, trust=trust, on_error=on_error)
    paths = found.save(target, words=kept)
    rows = [{"path": str(path), "bytes": path.stat().st_size} for path in paths]
    show(form, document=rows, rows=rows, columns=["path", "bytes"], table=lambda: None)
    for path in paths:
        note(f"wrote {path}")


@vectors.command(epilog=opt.example("wayfare vectors clear"))
def clear(as_json: opt.JSON = False, as_csv: opt.CSV = False) -> None:
    """Delete the cache of vectors that were read; the files they came from stay."""
    from wayfare.vectors import clear_cache

    form = form_of(as_json, as_csv)
    was = clear_cache()
    told = {"cache": str(was.directory), "bytes": was.bytes, "tables": len(was.entries)}
    tables = "1 table" if len(was.entries) == 1 else f"{len(was.entries)} tables"
    said = f"cleared {tables}, {size(was.bytes)}, from {was.directory}"
    show(form, document=told, rows=[told], columns=list(told), table=lambda: typer.echo(said))


def _load(source: str, **settings: Any) -> WordVectors:
    from wayfare.vectors import WordVectors

    if source == "default":
        return WordVectors.default()
    return WordVectors.load(source, **settings)

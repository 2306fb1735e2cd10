"""`wayfare embed`: documents as vectors, for whatever takes vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import Read, read_texts, tokenizer_of, vectors_of
from wayfare.cli.output import form_of, note, print_csv, print_json
from wayfare.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["add_to"]

SUFFIXES = (".npy", ".npz", ".jsonl", ".csv")


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(
        epilog=opt.example("wayfare embed news.jsonl -o news.npz --dimensions 8 --id-column id")
    )(embed)


def embed(
    source: Annotated[
        str,
        typer.Argument(
            help="Documents: a file, a folder, or '-' for standard input.", metavar="FILE"
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=".npy (vectors), .npz (ids and vectors), .jsonl or .csv.",
            rich_help_panel="Output",
        ),
    ] = None,
    method: Annotated[
        Literal["linear", "wme"],
        typer.Option(help="Linearised WFR, or Word Mover's Embedding under WFR."),
    ] = "linear",
    dimensions: Annotated[
        int | None,
        typer.Option(min=1, help="Numbers a document. Default: all of linear, 512 of wme."),
    ] = None,
    fit: Annotated[str | None, typer.Option(help="Fit on these documents instead of FILE.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn at random.")] = 0,
    eta: opt.Eta = None,
    jobs: opt.Jobs = None,
    vectors: opt.Vectors = None,
    weighting: opt.Weighting = "nbow",
    stop_words: opt.StopWords = "english",
    text_column: opt.TextColumn = "text",
    id_column: opt.IdColumn = None,
    format: opt.FileFormat = None,
    encoding: opt.Encoding = "utf-8",
    on_error: opt.OnError = "raise",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Turn documents into vectors whose Euclidean distances follow the WFR distance.

    They are approximations without a certificate: fetch by them, then order by wayfare search.
    """
    form = form_of(as_json, as_csv)
    if output is None and form == "table":
        raise typer.BadParameter("give --output, --json or --csv: vectors are not for reading")
    if output is not None and output.suffix not in SUFFIXES:
        raise InputError(f"--output: {output} came; give a name that ends in {', '.join(SUFFIXES)}")
    if output is not None and not output.parent.is_dir():
        raise InputError(f"--output: there is no folder {str(output.parent)!r}; make it first")
    reading: dict[str, Any] = {
        "text": text_column,
        "id": id_column,
        "format": format,
        "encoding": encoding,
        "on_error": on_error,
    }
    documents = read_texts(source, **reading)
    known = documents if fit is None else read_texts(fit, **reading)
    settings: dict[str, Any] = {
        "eta": eta,
        "weighting": weighting,
        "vectors": vectors_of(vectors),
        "tokenizer": tokenizer_of(stop_words),
        "random_state": seed,
        "n_jobs": jobs,
    }
    model = _model(method, dimensions, settings).fit(known.texts)
    points = model.transform(documents.texts)
    if output is not None:
        _write(output, documents, points)
        note(f"wrote {output}: {points.shape[0]:,} vectors of {points.shape[1]:,} numbers")
    if form == "json":
        print_json({"ids": documents.ids, "vectors": points})
    elif form == "csv":
        print_csv(*_rows(documents, points))


def _model(method: str, dimensions: int | None, settings: dict[str, Any]) -> Any:
    from wayfare.learn import LinearWFREmbedding, WordMoversEmbedding

    if method == "linear":
        return LinearWFREmbedding(n_components=dimensions, **settings)
    return WordMoversEmbedding(dimensions or 512, **settings)


def _rows(documents: Read, points: NDArray[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    names = [f"x{n}" for n in range(points.shape[1])]
    rows = [
        {"id": name} | dict(zip(names, point.tolist(), strict=True))
        for name, point in zip(documents.ids, points, strict=True)
    ]
    return rows, ["id", *names]


def _write(path: Path, documents: Read, points: NDArray[Any]) -> None:
    """The file, whole or not at all."""
    from wayfare.atomic import whole_file

    with whole_file(path) as file:
        _put(file, path.suffix, documents, points)


def _put(file: IO[bytes], suffix: str, documents: Read, points: NDArray[Any]) -> None:
    import csv
    import io

    import numpy as np

    if suffix == ".npy":
        np.save(file, points)
    elif suffix == ".npz":
        np.savez(file, ids=np.asarray(documents.ids), vectors=points)
    elif suffix == ".jsonl":
        for name, point in zip(documents.ids, points, strict=True):
            file.write((json.dumps({"id": name, "vector": point.tolist()}) + "\n").encode())
    else:
        rows, names = _rows(documents, points)
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text.detach()

"""Options that commands share: spelled, typed and explained once."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

__all__ = [
    "CSV",
    "JSON",
    "Encoding",
    "Eta",
    "FileFormat",
    "Files",
    "First",
    "IdColumn",
    "Jobs",
    "LabelColumn",
    "Metadata",
    "Metric",
    "OnError",
    "Second",
    "StopWords",
    "TextColumn",
    "Tol",
    "Unknown",
    "Vectors",
    "Weighting",
    "example",
]

_WORDS, _MEASURE, _FILES, _OUTPUT = "Words", "Distance", "Files", "Output"


def example(*commands: str) -> str:
    """The end of a help page: examples that run as they stand."""
    return "Example: " + "   or: ".join(commands)


Eta = Annotated[
    float | None,
    typer.Option(
        help="How far mass travels: at most pi times this. Default: what suits the vectors.",
        rich_help_panel=_MEASURE,
    ),
]
Tol = Annotated[
    float, typer.Option(help="Relative gap of the proven bounds.", rich_help_panel=_MEASURE)
]
Metric = Annotated[
    Literal["wfr", "wmd", "wmd-wfr-cost", "rwmd", "wcd", "hellinger"],
    typer.Option(help="Which distance.", rich_help_panel=_MEASURE),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", help="Threads. Default: all cores.", rich_help_panel=_MEASURE),
]

Vectors = Annotated[
    str | None,
    typer.Option(
        help="Word vectors: a file, a folder, or a name on the Hugging Face hub. "
        "Default: the built-in ones.",
        metavar="NAME_OR_PATH",
        rich_help_panel=_WORDS,
    ),
]
Weighting = Annotated[
    Literal["nbow", "tfidf", "sif", "counts"],
    typer.Option(help="How much mass a word carries.", rich_help_panel=_WORDS),
]
StopWords = Annotated[
    str,
    typer.Option(
        help="'english', 'none', or a file with one word a line: words to leave out.",
        rich_help_panel=_WORDS,
    ),
]
Unknown = Annotated[
    Literal["skip", "error", "subword"],
    typer.Option(help="What becomes of words without a vector.", rich_help_panel=_WORDS),
]

First = Annotated[str, typer.Argument(help="A text, or '-' for standard input.", metavar="FIRST")]
Second = Annotated[str, typer.Argument(help="Another.", metavar="SECOND")]
Files = Annotated[
    bool,
    typer.Option("--files", "-f", help="The arguments are paths of files that hold the texts."),
]
TextColumn = Annotated[
    str, typer.Option(help="Column or key that holds the text.", rich_help_panel=_FILES)
]
IdColumn = Annotated[
    str | None,
    typer.Option(help="Column of ids. Default: count from 0.", rich_help_panel=_FILES),
]
LabelColumn = Annotated[str | None, typer.Option(help="Column of labels.", rich_help_panel=_FILES)]
Metadata = Annotated[
    list[str] | None,
    typer.Option(help="Column to keep beside the text. Repeat for more.", rich_help_panel=_FILES),
]
FileFormat = Annotated[
    Literal["jsonl", "csv", "tsv", "parquet", "txt", "folder"] | None,
    typer.Option(
        "--format",
        help="Format of the input, where its name does not tell (standard input).",
        rich_help_panel=_FILES,
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of the input.", rich_help_panel=_FILES)]
OnError = Annotated[
    Literal["raise", "skip"],
    typer.Option(
        help="What becomes of records that cannot be read; skipped ones are counted.",
        rich_help_panel=_FILES,
    ),
]

JSON = Annotated[
    bool, typer.Option("--json", help="Print JSON, for machines.", rich_help_panel=_OUTPUT)
]
CSV = Annotated[bool, typer.Option("--csv", help="Print CSV.", rich_help_panel=_OUTPUT)]

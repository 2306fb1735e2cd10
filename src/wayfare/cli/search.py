"""`wayfare search`: the nearest documents of an index or of a file, proven."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import (
    corpus_of,
    query_lines,
    refuse,
    tell_of_unknown,
    vectors_of,
)
from wayfare.cli.output import form_of, print_csv, print_json, print_table
from wayfare.errors import InputError

if TYPE_CHECKING:
    from wayfare.corpus import Corpus
    from wayfare.search import Hits

__all__ = ["add_to", "is_index", "print_hits", "search_corpus", "where_of"]

COLUMNS = ["query", "rank", "id", "distance", "lower", "upper", "text"]
TURN = 128  # queries that are searched for together
OF_FILES = {
    "weighting": "--weighting",
    "stop_words": "--stop-words",
    "unknown": "--unknown",
    "text_column": "--text-column",
    "id_column": "--id-column",
    "format": "--format",
    "on_error": "--on-error",
}
SHOWN = 300  # characters of a text in a table


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(epilog=opt.example('wayfare search news.jsonl "rates rise again" --id-column id'))(
        search
    )


def search(
    context: typer.Context,
    collection: Annotated[
        str,
        typer.Argument(help="An index, or a file or folder of documents.", metavar="COLLECTION"),
    ],
    query: Annotated[
        str,
        typer.Argument(
            help="A text, or '-' for one query a line of standard input.", metavar="QUERY"
        ),
    ] = "-",
    queries: Annotated[
        Path | None, typer.Option(help="A file with one query a line, instead of QUERY.")
    ] = None,
    k: Annotated[int | None, typer.Option("-k", "--k", min=1, help="How many documents.")] = None,
    within: Annotated[
        float | None, typer.Option(help="All documents up to this distance, or K of them.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE: only such documents of an index. Repeat for more."),
    ] = None,
    milliseconds: Annotated[
        float | None, typer.Option(help="Stop then, and say what is proven by then.")
    ] = None,
    metric: Annotated[
        Literal["wfr", "wmd", "hellinger"] | None,
        typer.Option(help="Default: wfr, or that of the index.", rich_help_panel="Distance"),
    ] = None,
    eta: opt.Eta = None,
    tol: Annotated[
        float | None,
        typer.Option(
            help="Relative gap of the proven bounds. Default: 0.001, or that of the index.",
            rich_help_panel="Distance",
        ),
    ] = None,
    jobs: opt.Jobs = None,
    vectors: opt.Vectors = None,
    weighting: opt.Weighting = "nbow",
    stop_words: opt.StopWords = "english",
    unknown: opt.Unknown = "skip",
    text_column: opt.TextColumn = "text",
    id_column: opt.IdColumn = None,
    format: opt.FileFormat = None,
    encoding: opt.Encoding = "utf-8",
    on_error: opt.OnError = "raise",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """The nearest documents to a query: an exact answer, with proven distances.

    An index has its own words and weighting; the options about them are for files.
    """
    form = form_of(as_json, as_csv)
    if collection == "-" and (queries is None and query == "-"):
        raise InputError("QUERY: the documents come from standard input already; give the query")
    if collection != "-" and not Path(collection).exists():
        raise InputError(
            f"COLLECTION: there is no index, file or folder {collection!r}; give one that is there, or "
            "'-' for standard input"
        )
    if queries is not None and query != "-":
        raise typer.BadParameter("QUERY and --queries came; give one of them")
    asked = query_lines(query, queries, encoding)
    settings: dict[str, Any] = {
        "k": 10 if k is None and within is None else k,
        "within": within,
        "mode": "exact" if milliseconds is None else "fast",
        "milliseconds": milliseconds,
        "n_jobs": jobs,
    }
    if is_index(collection):
        refuse(context, OF_FILES, "is for files; an index was built with its own")
        settings |= {"metric": metric, "eta": eta, "tol": tol, "where": where_of(where)}
        found = _search_index(collection, asked, vectors, settings)
    elif where:
        raise InputError("--where: only an index can be restricted; build one with: wayfare index")
    else:
        corpus = corpus_of(
            collection,
            text=text_column,
            id=id_column,
            format=format,
            encoding=encoding,
            on_error=on_error,
            vectors=vectors_of(vectors),
            weighting=weighting,
            stop_words=stop_words,
            unknown=unknown,
        )
        settings |= {"metric": metric or "wfr", "tol": 1e-3 if tol is None else tol}
        found = search_corpus(corpus, asked, eta=eta, **settings)
    print_hits(asked, found, form)


def is_index(collection: str) -> bool:
    """Whether this is a folder that `wayfare index build` made."""
    return Path(collection, "index.json").is_file()


def _search_index(
    path: str, asked: list[str], vectors: str | None, settings: dict[str, Any]
) -> list[Hits]:
    import wayfare as wf

    with wf.Index.open(path, vectors=vectors_of(vectors), read_only=True) as index:

        def answer(some: list[str]) -> list[Hits]:
            measures = index.encode(some)
            for text, measure in zip(some, measures, strict=True):
                tell_of_unknown("the query", text, measure)
            return list(index.search(measures, **settings))

        return _in_turns(asked, answer)


def _in_turns(asked: Sequence[str], answer: Callable[[list[str]], list[Hits]]) -> list[Hits]:
    """The answers, some queries at a time, so that a bar can tell how far they are."""
    from wayfare.progress import Progress

    found: list[Hits] = []
    with Progress("searching", total=len(asked), unit="queries") as progress:
        for start in range(0, len(asked), TURN):
            found += answer(list(asked[start : start + TURN]))
            progress.advance(len(found) - start)
    return found


def search_corpus(
    corpus: Corpus, asked: Sequence[str], *, eta: float | None = None, **settings: Any
) -> list[Hits]:
    """The answers to some queries in a corpus that is in memory."""
    from wayfare.given import eta_of
    from wayfare.many import Documents
    from wayfare.search.door import search_many

    names, texts = corpus.ids.tolist(), corpus.texts
    places = {name: at for at, name in enumerate(names)}
    settings |= {
        "eta": eta_of(eta, corpus.vectors),
        "ids": lambda _, rows: [names[row] for row in rows],
    }
    documents = [Documents.of(corpus)]

    def answer(some: list[str]) -> list[Hits]:
        measures = list(corpus.encode(some, share=False))
        for text, measure in zip(some, measures, strict=True):
            tell_of_unknown("the query", text, measure)
        return search_many(documents, measures, **settings)

    answers = _in_turns(asked, answer)
    if texts is None:
        return answers
    return [hits.with_texts([texts[places[name]] for name in hits.ids]) for hits in answers]


def where_of(given: list[str] | None) -> dict[str, list[Any]] | None:
    """What NAME=VALUE asks for: the value as text, or as what JSON makes of it; any of several.

    >>> where_of(["year=1987", "year=1988", "label=earn"])
    {'year': ['1987', 1987, '1988', 1988], 'label': ['earn']}
    """
    allowed: dict[str, list[Any]] = {}
    for name, equals, value in (one.partition("=") for one in given or []):
        if not (name and equals):
            raise typer.BadParameter(f"--where: {name!r} came; give NAME=VALUE")
        values = allowed.setdefault(name, [])
        values.append(value)
        with suppress(ValueError):
            values.append(json.loads(value))
    return allowed or None


def print_hits(asked: Sequence[str], found: Sequence[Hits], form: str) -> None:
    """The answers in the form that was asked for; a table a query on a terminal."""
    if form == "json":
        print_json([_told(query, hits) for query, hits in zip(asked, found, strict=True)])
    elif form == "csv":
        print_csv(
            [
                {"query": query, "rank": rank, **hit._asdict()}
                for query, hits in zip(asked, found, strict=True)
                for rank, hit in enumerate(hits, start=1)
            ],
            COLUMNS,
        )
    else:
        for query, hits in zip(asked, found, strict=True):
            _table(query if len(asked) > 1 else None, hits)


def _told(query: str, hits: Hits) -> dict[str, Any]:
    return {
        "query": query,
        "hits": [hit._asdict() for hit in hits],
        "exact": hits.exact,
        "ordered": hits.ordered,
        "tied": hits.tied,
        "work": {name: getattr(hits.work, name) for name in hits.work.__dataclass_fields__},
    }


def _table(query: str | None, hits: Hits) -> None:
    from wayfare.explain.wording import visible

    rows = [
        (
            rank,
            f"{hit.distance:.4f}",
            f"[{hit.lower:.4f}, {hit.upper:.4f}]",
            visible(str(hit.id)),
            visible(hit.text or "", SHOWN),
        )
        for rank, hit in enumerate(hits, start=1)
    ]
    print_table(
        [
            ("", "right"),
            ("distance", "right"),
            ("proven", "left"),
            ("id", "left"),
            ("text", "left"),
        ],
        rows,
        title=query and visible(query),
        after=_proof(hits),
    )


def _proof(hits: Hits) -> str:
    seen = f"{hits.work.solved:,} of {hits.work.documents:,} documents were solved to the tolerance"
    if hits.exact:
        return f"exact: no other document is nearer; {seen}"
    return f"not proven exact: another document may be nearer; {seen}"

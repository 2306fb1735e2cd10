"""`wayfare search`: the nearest documents of an index or of a file, proven."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import corpus_of, eta_of, query_lines, vectors_of
from wayfare.cli.output import form_of, print_csv, print_json, print_table
from wayfare.errors import InputError

if TYPE_CHECKING:
    from wayfare.corpus import Corpus
    from wayfare.search import Hits

__all__ = ["add_to", "is_index", "print_hits", "search_corpus"]

COLUMNS = ["query", "rank", "id", "distance", "lower", "upper", "text"]
SHOWN = 300  # characters of a text in a table


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(epilog=opt.example('wayfare search news.jsonl "rates rise again" --id-column id'))(
        search
    )


def search(
    collection: Annotated[
        str,
        typer.Argument(help="An index, or a file or folder of documents.", metavar="COLLECTION"),
    ],
    query: Annotated[
        str, typer.Argument(help="A text, or '-' for one query a line of standard input.")
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
    metric: opt.SearchMetric = "wfr",
    eta: opt.Eta = None,
    tol: opt.Tol = 1e-3,
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
    asked = query_lines(query, queries, encoding)
    settings: dict[str, Any] = {
        "k": 10 if k is None and within is None else k,
        "within": within,
        "metric": metric,
        "mode": "exact" if milliseconds is None else "fast",
        "milliseconds": milliseconds,
        "n_jobs": jobs,
    }
    if is_index(collection):
        found = _search_index(collection, asked, vectors, _where(where), eta, tol, settings)
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
        found = search_corpus(corpus, asked, eta=eta, tol=tol, **settings)
    print_hits(asked, found, form)


def is_index(collection: str) -> bool:
    """Whether this is a folder that `wayfare index build` made."""
    return Path(collection, "index.json").is_file()


def _search_index(
    path: str,
    asked: list[str],
    vectors: str | None,
    where: dict[str, str] | None,
    eta: float | None,
    tol: float,
    settings: dict[str, Any],
) -> list[Hits]:
    import wayfare as wf

    index = wf.Index.open(path, vectors=vectors_of(vectors))
    return list(index.search(asked, eta=eta, tol=tol, where=where, **settings))


def search_corpus(
    corpus: Corpus, asked: Sequence[str], *, eta: float | None = None, **settings: Any
) -> list[Hits]:
    """The answers to some queries in a corpus that is in memory."""
    from wayfare.many import Documents
    from wayfare.search.door import search_many

    names, texts = corpus.ids.tolist(), corpus.texts
    places = {name: at for at, name in enumerate(names)}
    answers = search_many(
        [Documents.of(corpus)],
        list(corpus.encode(asked, share=False)),
        eta=eta_of(eta, corpus),
        ids=lambda _, rows: [names[row] for row in rows],
        **settings,
    )
    if texts is None:
        return answers
    return [hits.with_texts([texts[places[name]] for name in hits.ids]) for hits in answers]


def _where(given: list[str] | None) -> dict[str, str] | None:
    if not given:
        return None
    pairs = [one.partition("=") for one in given]
    for name, equals, _ in pairs:
        if not (name and equals):
            raise typer.BadParameter(f"--where: {name!r} came; give NAME=VALUE")
    return {name: value for name, _, value in pairs}


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

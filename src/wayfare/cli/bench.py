"""`wayfare bench`: how fast this machine is, measured now."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wayfare.cli import options as opt
from wayfare.cli.output import form_of, print_table, show
from wayfare.cli.sample import sample
from wayfare.progress import Progress

if TYPE_CHECKING:
    from wayfare.corpus import Corpus

__all__ = ["add_to"]

ETAS = (1.0, 0.5, 0.25)
COLUMNS = ["what", "eta", "number", "seconds", "each_us", "a_second"]


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(epilog=opt.example("wayfare bench --documents 300"))(bench)


def bench(
    documents: Annotated[
        int, typer.Option(min=60, help="How many documents, mixed from the sample, to search.")
    ] = 5000,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Threads.")] = 1,
    vectors: opt.Vectors = None,
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Distances and searches a second on this machine, in some seconds.

    All pairs of the sixty texts of the sample, certified to 1e-3; and exact searches for ten texts
    among documents that are each put together from two of them. Nothing is reused between runs but
    compiled code, which is warmed up before.
    """
    form = form_of(as_json, as_csv)
    from wayfare.cli.documents import vectors_of
    from wayfare.corpus import Corpus

    texts = [text["text"] for text in sample()]
    used = vectors_of(vectors)
    small = Corpus.from_texts(texts, vectors=used)
    large = Corpus.from_texts(_mixed(texts, documents), vectors=used, progress=False)
    rows: list[dict[str, Any]] = []
    with Progress("measuring", total=2 * len(ETAS), unit="rows") as progress:
        for eta in ETAS:
            rows.append(_pairs(small, eta, jobs))
            progress.advance()
        for eta in ETAS:
            rows.append(_searches(large, texts, eta, jobs))
            progress.advance()
    show(form, document=rows, rows=rows, columns=COLUMNS, table=lambda: _table(rows, jobs))


def _mixed(texts: list[str], count: int) -> list[str]:
    """Documents of two sentences each: different ones, as many as there are pairs."""
    import random

    rng = random.Random(0)
    return [" ".join(rng.sample(texts, 2)) for _ in range(count)]


def _pairs(corpus: Corpus, eta: float, jobs: int) -> dict[str, Any]:
    import wayfare as wf

    def work() -> None:
        wf.pairwise(corpus, eta=eta, n_jobs=jobs, progress=False)

    number = len(corpus) * (len(corpus) - 1) // 2
    return _row("distances of pairs", eta, number, _best_of_three(work))


def _searches(corpus: Corpus, texts: list[str], eta: float, jobs: int) -> dict[str, Any]:
    from wayfare.cli.search import search_corpus

    asked = texts[::6]

    def work() -> None:
        search_corpus(corpus, asked, eta=eta, k=10, n_jobs=jobs)

    what = f"exact top 10 of {len(corpus):,}"
    return _row(what, eta, len(asked), _best_of_three(work))


def _best_of_three(work: Callable[[], None]) -> float:
    work()  # compiles, and is not counted
    times = []
    for _ in range(3):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def _row(what: str, eta: float, number: int, seconds: float) -> dict[str, Any]:
    each = seconds / number
    values = (what, eta, number, seconds, each * 1e6, 1 / each)
    return dict(zip(COLUMNS, values, strict=True))


def _table(rows: list[dict[str, Any]], jobs: int) -> None:
    print_table(
        [
            ("what", "left"),
            ("eta", "right"),
            ("number", "right"),
            ("µs each", "right"),
            ("a second", "right"),
        ],
        [
            (
                row["what"],
                f"{row['eta']:g}",
                f"{row['number']:,}",
                f"{row['each_us']:,.1f}",
                f"{row['a_second']:,.0f}",
            )
            for row in rows
        ],
        after=f"the fastest of three runs, {jobs} thread{'s' if jobs > 1 else ''}",
    )

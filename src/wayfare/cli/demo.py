"""`wayfare demo`: what Wayfare does, in a few seconds, on sixty short texts."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wayfare.cli import options as opt
from wayfare.cli.output import console, flat, form_of, note, show
from wayfare.cli.sample import sample, write_sample
from wayfare.cli.search import print_hits, search_corpus

if TYPE_CHECKING:
    from wayfare.corpus import Corpus

__all__ = ["add_to"]

FIRST = "Obama speaks to the media in Illinois"
SECOND = "The president greets the press in Chicago"
QUERY = "interest rates go up again, says the bank"


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(epilog=opt.example("wayfare demo", "wayfare demo --sample news.jsonl"))(demo)


def demo(
    query: Annotated[str, typer.Option(help="What to look for in the sample.")] = QUERY,
    sample_path: Annotated[
        Path | None,
        typer.Option("--sample", help="Only write the sample corpus here, to play with."),
    ] = None,
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """A distance with its proof, an explanation, an exact search: a tour on sixty short texts."""
    form = form_of(as_json, as_csv)
    if sample_path is not None:
        write_sample(sample_path)
        told = {"sample": str(sample_path), "documents": len(sample())}
        show(form, document=told, rows=[told], columns=list(told), table=lambda: None)
        note(f'wrote {sample_path}; try: wayfare search {sample_path} "{QUERY}" --id-column id')
        return
    from wayfare.corpus import Corpus
    from wayfare.kernels.cpu.batch import solve_one
    from wayfare.kernels.cpu.jit import is_compiled

    # On a terminal the solver says so itself.
    if not (is_compiled(solve_one) or sys.stderr.isatty()):
        note("compiling kernels for this machine, once (about half a minute) ...")
    texts = sample()
    corpus = Corpus.from_texts([t["text"] for t in texts], ids=[t["id"] for t in texts])
    if form == "table":
        _tour(corpus, query)
        return
    told = _numbers(corpus, query)
    show(form, document=told, rows=flat(told), columns=["name", "value"], table=lambda: None)


def _tour(corpus: Corpus, query: str) -> None:
    import wayfare as wf

    out = console()

    def say(text: str = "", style: str | None = None) -> None:
        out.print(text, style=style, markup=False)

    say("Wayfare: how far apart two texts are, how sure that is, and why.", "bold")
    say()
    say("1  A distance, with its proof", "bold cyan")
    say(f"   {FIRST}\n   {SECOND}", "dim")
    loose = wf.distance(FIRST, SECOND)
    wf.distance(FIRST, SECOND, tol=1e-10)  # what the first call loads is not counted
    tight, seconds = _timed(lambda: wf.distance(FIRST, SECOND, tol=1e-10))
    for answer in (loose, tight):
        low, high = answer.bounds
        say(f"   tol {answer.tol:g}:  between {low:.12f} and {high:.12f}, both proven")
    say(f"   The second took {seconds * 1e3:.1f} ms on this machine.", "dim")
    say()
    say("2  Why: every line has its price, and the prices add up to J", "bold cyan")
    why = loose.explain()
    out.print(why.to_table() if out.is_terminal else why.to_text(), markup=False)
    say()
    say(f"3  The nearest of {len(corpus)} texts, exactly", "bold cyan")
    say(f"   {query}", "dim")
    hits = search_corpus(corpus, [query], k=3)
    print_hits([query], hits, "table")
    say()
    say("4  How fast, here and now", "bold cyan")
    pairs, seconds = _all_pairs(corpus)
    say(
        f"   {pairs:,} distances between all texts, each with its proof, in {seconds * 1e3:.0f} ms: "
        f"{pairs / seconds:,.0f} a second."
    )
    say()
    say("Next", "bold cyan")
    say(f'   wayfare explain "{FIRST}" \\\n       "{SECOND}" --html plan.html')
    say("   wayfare demo --sample news.jsonl")
    say('   wayfare search news.jsonl "a rocket lands" --id-column id')
    say("   wayfare --help")


def _numbers(corpus: Corpus, query: str) -> dict[str, Any]:
    import wayfare as wf

    answer = wf.distance(FIRST, SECOND)
    hits = search_corpus(corpus, [query], k=3)[0]
    pairs, seconds = _all_pairs(corpus)
    return {
        "distance": {"value": answer.value, "lower": answer.bounds[0], "upper": answer.bounds[1]},
        "explanation": answer.explain().to_dict(),
        "search": {
            "query": query,
            "hits": [hit._asdict() for hit in hits],
            "exact": hits.exact,
        },
        "pairs": {"count": pairs, "seconds": seconds},
    }


def _all_pairs(corpus: Corpus) -> tuple[int, float]:
    """How many distances there are, and how long all of them take once everything is compiled."""
    import wayfare as wf

    wf.pairwise(corpus.select(slice(0, 4)), progress=False)
    _, seconds = _timed(lambda: wf.pairwise(corpus, progress=False))
    return len(corpus) * (len(corpus) - 1) // 2, seconds


def _timed(work: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    answer = work()
    return answer, time.perf_counter() - started

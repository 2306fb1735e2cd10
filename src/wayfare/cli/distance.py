"""`wayfare distance`: how far apart two texts are, and the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import tell_of_unknown, texts_of, tokenizer_of, vectors_of
from wayfare.cli.output import form_of, print_table, show

if TYPE_CHECKING:
    from wayfare.solution import Solution

__all__ = ["add_to", "solve"]

COLUMNS = [
    "metric",
    "eta",
    "value",
    "lower",
    "upper",
    "objective",
    "objective_lower",
    "objective_upper",
    "similarity",
    "status",
]


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(
        epilog=opt.example('wayfare distance "Rates rise again" "The bank lifts its rates"')
    )(distance)


def distance(
    first: opt.First,
    second: opt.Second,
    files: opt.Files = False,
    metric: opt.Metric = "wfr",
    eta: opt.Eta = None,
    tol: opt.Tol = 1e-3,
    vectors: opt.Vectors = None,
    weighting: opt.Weighting = "nbow",
    stop_words: opt.StopWords = "english",
    unknown: opt.Unknown = "skip",
    encoding: opt.Encoding = "utf-8",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """How far apart two texts are, with proven bounds."""
    form = form_of(as_json, as_csv)
    texts = texts_of(first, second, files=files, encoding=encoding)
    answer = solve(*texts, metric, eta, tol, vectors, weighting, stop_words, unknown)
    told = _told(answer)
    show(form, document=told, rows=[told], columns=COLUMNS, table=lambda: _table(told, answer))


def solve(
    first: str,
    second: str,
    metric: Any,
    eta: float | None,
    tol: float,
    vectors: str | None,
    weighting: str,
    stop_words: str,
    unknown: Any,
) -> Solution:
    """The answer to what the options ask."""
    import wayfare as wf

    answer = wf.distance(
        first,
        second,
        vectors=vectors_of(vectors),
        eta=eta,
        metric=metric,
        tol=tol,
        weighting=weighting,
        tokenizer=tokenizer_of(stop_words),
        unknown=unknown,
    )
    tell_of_unknown("the text", first, answer.first)
    tell_of_unknown("the text", second, answer.second)
    return answer


def _told(answer: Solution) -> dict[str, Any]:
    bounds = answer.certificate
    lower, upper = answer.bounds
    return {
        "metric": answer.metric,
        "eta": answer.eta,
        "value": answer.value,
        "lower": lower,
        "upper": upper,
        "objective": answer.objective,
        "objective_lower": bounds.lower,
        "objective_upper": bounds.upper,
        "similarity": answer.similarity if answer.metric in ("wfr", "hellinger") else None,
        "status": answer.status.value,
        "words": [len(answer.first), len(answer.second)],
    }


def _table(told: dict[str, Any], answer: Solution) -> None:
    from wayfare.explain.wording import bounds

    rows = [
        ("distance", f"{told['value']:.6g}"),
        ("proven", bounds(told["lower"], told["upper"])),
        ("objective", f"{told['objective']:.6g}"),
    ]
    if told["eta"] is not None:
        rows.append(("eta", f"{told['eta']:g}"))
    if told["similarity"] is not None:
        rows.append(("similarity", f"{told['similarity']:.1%}"))
    rows.append(("status", f"{told['status']}: {answer.status.remedy}"))
    print_table([(told["metric"], "left"), ("", "left")], rows)

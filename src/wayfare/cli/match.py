"""`wayfare match`: scores of pairs, and the threshold that tells matches from others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import corpus_of, refuse, vectors_of
from wayfare.cli.output import form_of, note, print_csv, print_json, print_table
from wayfare.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Curve", "add_to", "curve_of"]

TRUE = {"1", "1.0", "true", "yes", "y", "match"}
FALSE = {"0", "0.0", "false", "no", "n", ""}
OF_PAIRS = {"first_column": "--first-column", "second_column": "--second-column"}
SHOWN = 12  # points of the curve in a table
COLUMNS = ["first", "second", "distance", "lower", "upper", "label"]


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(
        epilog=opt.example(
            "wayfare match pairs.csv --label-column label --precision 0.9",
            "wayfare match news.jsonl other.jsonl --id-column id",
        )
    )(match)


def match(
    context: typer.Context,
    first: Annotated[
        str,
        typer.Argument(
            help="A file of pairs; or documents, each to be matched in SECOND. '-' is standard input.",
            metavar="FIRST",
        ),
    ],
    second: Annotated[
        str | None, typer.Argument(help="The documents to match with.", metavar="SECOND")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Of two files: matches each.")] = 1,
    first_column: Annotated[
        str, typer.Option(help="Of a file of pairs: the column of the first text.")
    ] = "first",
    second_column: Annotated[
        str, typer.Option(help="Of a file of pairs: the column of the second text.")
    ] = "second",
    precision: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Choose the threshold that keeps this precision."),
    ] = None,
    metric: Annotated[
        Literal["wfr", "wmd", "hellinger"],
        typer.Option(help="Which distance.", rich_help_panel="Distance"),
    ] = "wfr",
    eta: opt.Eta = None,
    tol: opt.Tol = 1e-3,
    jobs: opt.Jobs = None,
    vectors: opt.Vectors = None,
    weighting: opt.Weighting = "nbow",
    stop_words: opt.StopWords = "english",
    unknown: opt.Unknown = "skip",
    text_column: opt.TextColumn = "text",
    id_column: opt.IdColumn = None,
    label_column: opt.LabelColumn = None,
    format: opt.FileFormat = None,
    encoding: opt.Encoding = "utf-8",
    on_error: opt.OnError = "raise",
    as_json: opt.JSON = False,
    as_csv: opt.CSV = False,
) -> None:
    """Score pairs of texts, and choose the distance up to which they match.

    One file: a pair a row. Two files: each document of the first with its K nearest of the second.
    With labels (1 or 0 for a pair; of two files, the same label on both sides) the precision-recall
    curve is printed; --precision chooses a threshold on it, for these very pairs.
    """
    form = form_of(as_json, as_csv)
    if precision is not None and label_column is None:
        raise typer.BadParameter("--precision needs labels; name their column by --label-column")
    how: dict[str, Any] = {"metric": metric, "tol": tol}
    if second is None:
        refuse(context, {"k": "-k", "text_column": "--text-column"}, "is for two files")
    else:
        refuse(context, OF_PAIRS, "is for one file of pairs")
    reading = {
        "label": label_column,
        "format": format,
        "encoding": encoding,
        "on_error": on_error,
        "vectors": vectors_of(vectors),
        "weighting": weighting,
        "stop_words": stop_words,
        "unknown": unknown,
    }
    if second is None:
        pairs = _of_one_file(first, first_column, second_column, id_column, reading, eta, how, jobs)
    else:
        reading |= {"text": text_column, "id": id_column}
        pairs = _of_two_files(first, second, k, reading, eta, how, jobs)
    curve = None if label_column is None else _curve(pairs)
    chosen = None if curve is None else curve.best(precision)
    if form == "json":
        print_json({"pairs": pairs, "curve": curve and curve.told(), "threshold": chosen})
    elif form == "csv":
        print_csv(pairs, COLUMNS)
    else:
        _tables(pairs, curve, chosen)
    if precision is not None and chosen is None:
        note(f"no threshold keeps a precision of {precision:g} on these pairs")


def _of_one_file(
    path: str,
    first: str,
    second: str,
    id: str | None,
    reading: dict[str, Any],
    eta: float | None,
    how: dict[str, Any],
    jobs: int | None,
) -> list[dict[str, Any]]:
    """The pairs of a file of pairs, a row each."""
    import wayfare as wf
    from wayfare.given import eta_of
    from wayfare.progress import Progress
    from wayfare.threads import count_jobs, in_threads, one_blas_thread

    left = corpus_of(path, text=first, id=id, metadata=(second,), **reading)
    others = left.metadata[second]
    for at, text in enumerate(others):
        if not isinstance(text, str):
            raise InputError(f"{path}: {second!r} of pair {at + 1} is not text; give a text")
    right = left.encode(others)
    labels = left.labels or [None] * len(left)
    eta = eta_of(eta, left.vectors)

    def score(at: int) -> dict[str, Any]:
        answer = wf.distance(left[at], right[at], eta=eta, **how)
        name = left.ids[at]
        return _pair(name, name, answer.value, *answer.bounds, labels[at])

    pairs = []
    with one_blas_thread(), Progress("scoring", total=len(left), unit="pairs") as progress:
        for pair in in_threads(score, range(len(left)), count_jobs(jobs)):
            pairs.append(pair)
            progress.advance()
    return pairs


def _of_two_files(
    first: str,
    second: str,
    k: int,
    reading: dict[str, Any],
    eta: float | None,
    how: dict[str, Any],
    jobs: int | None,
) -> list[dict[str, Any]]:
    """Each document of the first file with its nearest of the second, by exact search."""
    from wayfare.cli.search import search_corpus

    home = corpus_of(second, **reading)
    asked = corpus_of(first, **reading)
    found = search_corpus(home, asked.texts or [], eta=eta, k=k, n_jobs=jobs, **how)
    there = dict(zip(home.ids.tolist(), home.labels or [None] * len(home), strict=True))
    pairs = []
    for at, hits in enumerate(found):
        for hit in hits:
            same = None if asked.labels is None else asked.labels[at] == there[hit.id]
            name = asked.ids[at]
            pairs.append(_pair(name, hit.id, hit.distance, hit.lower, hit.upper, same))
    return pairs


def _pair(
    first: Any, second: Any, distance: float, lower: float, upper: float, label: Any
) -> dict[str, Any]:
    first, second = (one.item() if hasattr(one, "item") else one for one in (first, second))
    values = (first, second, distance, lower, upper, label)
    return dict(zip(COLUMNS, values, strict=True))


@dataclass(frozen=True, eq=False)
class Curve:
    """Precision and recall at each threshold: pairs up to that distance are called matches."""

    thresholds: NDArray[Any]
    precision: NDArray[Any]
    recall: NDArray[Any]
    matches: int
    pairs: int

    @property
    def average_precision(self) -> float:
        """The area under the curve, as a sum of steps."""
        import numpy as np

        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))

    def best(self, precision: float | None) -> dict[str, float] | None:
        """The threshold of the highest recall at that precision; without one, of the highest F1."""
        import numpy as np

        f1 = 2 * self.precision * self.recall / np.maximum(self.precision + self.recall, 1e-300)
        if precision is None:
            at = int(np.argmax(f1))
        else:
            good = np.flatnonzero(self.precision >= precision)
            if not len(good):
                return None
            at = int(good[-1])
        return {
            "distance": float(self.thresholds[at]),
            "precision": float(self.precision[at]),
            "recall": float(self.recall[at]),
            "f1": float(f1[at]),
        }

    def told(self) -> dict[str, Any]:
        """The curve in plain lists."""
        return {
            "thresholds": self.thresholds.tolist(),
            "precision": self.precision.tolist(),
            "recall": self.recall.tolist(),
            "average_precision": self.average_precision,
            "matches": self.matches,
            "pairs": self.pairs,
        }


def curve_of(distances: Any, truth: Any) -> Curve:
    """The curve of some distances whose pairs match or do not; equal distances stand together.

    >>> curve = curve_of([0.1, 0.2, 0.3], [True, False, True])
    >>> curve.precision.round(2).tolist(), curve.recall.tolist()
    ([1.0, 0.5, 0.67], [0.5, 0.5, 1.0])
    """
    import numpy as np

    far, right = np.asarray(distances, np.float64), np.asarray(truth, np.bool_)
    order = np.argsort(far, kind="stable")
    far, right = far[order], right[order]
    last = np.flatnonzero(np.append(far[1:] != far[:-1], True))
    hits = np.cumsum(right)[last]
    total = int(right.sum())
    return Curve(far[last], hits / (last + 1), hits / max(total, 1), total, len(far))


def _curve(pairs: list[dict[str, Any]]) -> Curve:
    truth = [_truth(pair["label"], at) for at, pair in enumerate(pairs, start=1)]
    if not any(truth) or all(truth):
        raise InputError("labels: all pairs have the same one; a curve needs matches and others")
    return curve_of([pair["distance"] for pair in pairs], truth)


def _truth(label: Any, at: int) -> bool:
    word = str(label).strip().lower()
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise InputError(f"label of pair {at}: {label!r} came; give 1 for a match and 0 for none")


def _tables(
    pairs: list[dict[str, Any]], curve: Curve | None, chosen: dict[str, float] | None
) -> None:
    from wayfare.explain.wording import visible

    titles = [("first", "left"), ("second", "left"), ("distance", "right"), ("proven", "left")]
    rows = []
    for pair in sorted(pairs, key=lambda pair: pair["distance"]):
        row = [visible(str(pair["first"])), visible(str(pair["second"])), f"{pair['distance']:.4f}"]
        row.append(f"[{pair['lower']:.4f}, {pair['upper']:.4f}]")
        if curve is not None:
            row.append(str(int(_truth(pair["label"], 0))))
        rows.append(row)
    labelled = [*titles, ("label", "right")] if curve is not None else titles
    print_table(labelled, rows)  # type: ignore[arg-type]
    if curve is None:
        return
    step = max(1, -(-len(curve.thresholds) // SHOWN))
    points = list(range(step - 1, len(curve.thresholds), step))
    typer.echo()
    print_table(
        [("up to", "right"), ("precision", "right"), ("recall", "right")],
        [
            (f"{curve.thresholds[i]:.4f}", f"{curve.precision[i]:.3f}", f"{curve.recall[i]:.3f}")
            for i in points
        ],
        title="Pairs up to this distance called matches",
        after=f"average precision {curve.average_precision:.3f} over {curve.pairs:,} pairs, "
        f"{curve.matches:,} of them matches",
    )
    if chosen is not None:
        typer.echo(
            f"\nthreshold {chosen['distance']:.6g}: precision {chosen['precision']:.3f}, "
            f"recall {chosen['recall']:.3f}, F1 {chosen['f1']:.3f}, on these pairs"
        )

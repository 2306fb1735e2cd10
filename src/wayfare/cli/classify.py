"""`wayfare classify`: labels for texts, by the vote of their nearest neighbours."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wayfare.cli import options as opt
from wayfare.cli.documents import read_texts, refuse, tokenizer_of, vectors_of
from wayfare.cli.output import form_of, print_table, show
from wayfare.errors import InputError

__all__ = ["add_to"]

COLUMNS = ["id", "label", "share", "truth"]


def add_to(app: typer.Typer) -> None:
    """Enter the command."""
    app.command(
        epilog=opt.example("wayfare classify train.jsonl test.jsonl --label-column label --score")
    )(classify)


def classify(
    context: typer.Context,
    train: Annotated[
        str,
        typer.Argument(
            help="Documents with labels: a file, a folder, or '-' for standard input.",
            metavar="TRAIN",
        ),
    ],
    test: Annotated[
        str | None,
        typer.Argument(
            help="Documents to label. Default: only cross-validate TRAIN.", metavar="TEST"
        ),
    ] = None,
    label_column: Annotated[
        str, typer.Option(help="Column of labels.", rich_help_panel="Files")
    ] = "label",
    score: Annotated[
        bool, typer.Option("--score", help="TEST has labels too: say how many are right.")
    ] = False,
    k: Annotated[
        int | None,
        typer.Option("-k", "--k", min=1, help="Neighbours. Default: chosen with eta on TRAIN."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Of the cross-validation on TRAIN.")] = 5,
    metric: opt.Metric = "wfr",
    eta: opt.Eta = None,
    tol: opt.Tol = 1e-3,
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
    """Label texts by the vote of their nearest neighbours, found exactly.

    Without -k, the number of neighbours and eta are chosen by cross-validation on TRAIN alone; what
    TEST holds never decides anything.
    """
    form = form_of(as_json, as_csv)
    if test is None and k is not None:
        raise typer.BadParameter("-k chooses nothing without TEST; give documents to label")
    if k is not None:
        refuse(context, {"folds": "--folds"}, "chooses k; leave it out, or -k")
    if test is None and score:
        raise typer.BadParameter("--score is about TEST; give documents with labels")
    reading: dict[str, Any] = {
        "text": text_column,
        "id": id_column,
        "format": format,
        "encoding": encoding,
        "on_error": on_error,
    }
    known = read_texts(train, label=label_column, **reading)
    settings: dict[str, Any] = {
        "metric": metric,
        "tol": tol,
        "weighting": weighting,
        "vectors": vectors_of(vectors),
        "tokenizer": tokenizer_of(stop_words),
        "n_jobs": jobs,
    }
    model, told = _fitted(known.texts, known.labels or [], k, eta, folds, settings)
    rows: list[dict[str, Any]] = []
    if test is not None:
        asked = read_texts(test, label=label_column if score else None, **reading)
        rows = _labelled(model, asked.texts, asked.ids, asked.labels)
        if score:
            told["accuracy"] = sum(row["label"] == row["truth"] for row in rows) / len(rows)
    show(
        form,
        document=told | {"documents": rows},
        rows=rows,
        columns=COLUMNS if score else COLUMNS[:-1],
        table=lambda: _table(rows, told, score),
    )


def _fitted(
    texts: list[str],
    labels: list[Any],
    k: int | None,
    eta: float | None,
    folds: int,
    settings: dict[str, Any],
) -> tuple[Any, dict[str, Any]]:
    """The classifier, and how it was chosen."""
    from wayfare.learn import WFRNeighborsClassifier, WFRNeighborsClassifierCV

    if any(label is None for label in labels):
        raise InputError("labels: some are missing; give every training document one")
    if k is not None:
        model = WFRNeighborsClassifier(k, eta=eta, **settings).fit(texts, labels)
        return model, {"k": k, "eta": model.eta_, "cross_validation": None}
    etas = None if eta is None else [eta]
    chosen = WFRNeighborsClassifierCV(etas=etas, cv=folds, **settings).fit(texts, labels)
    return chosen, {
        "k": int(chosen.best_params_["k"]),
        "eta": chosen.eta_,
        "cross_validation": float(chosen.best_score_),
    }


def _labelled(
    model: Any, texts: list[str], ids: list[Any], truth: list[Any] | None
) -> list[dict[str, Any]]:
    shares = model.predict_proba(texts)
    best = shares.argmax(axis=1)
    rows = []
    for at, name in enumerate(ids):
        label = model.classes_[best[at]]
        row = {
            "id": name,
            "label": label.item() if hasattr(label, "item") else label,
            "share": float(shares[at, best[at]]),
        }
        rows.append(row if truth is None else row | {"truth": truth[at]})
    return rows


def _table(rows: list[dict[str, Any]], told: dict[str, Any], score: bool) -> None:
    from wayfare.explain.wording import visible

    said = [f"k {told['k']}, eta {told['eta']:g}"]
    if told["cross_validation"] is not None:
        said.append(
            f"right in cross-validation on the training data: {told['cross_validation']:.1%}"
        )
    if score:
        said.append(f"right on the {len(rows):,} documents: {told['accuracy']:.1%}")
    if not rows:
        typer.echo("; ".join(said))
        return
    names = ["id", "label", "share", *(["truth"] if score else [])]
    print_table(
        [(name, "right" if name == "share" else "left") for name in names],
        [
            [f"{row[name]:.0%}" if name == "share" else visible(str(row[name])) for name in names]
            for row in rows
        ],
        after="; ".join(said),
    )

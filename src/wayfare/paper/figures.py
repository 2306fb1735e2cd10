"""The figures, each as PNG and SVG; matplotlib's global state is not touched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wayfare.atomic import whole_file
from wayfare.extras import require

__all__ = ["bars", "precision_recall", "save"]

FORMATS = ("png", "svg")


def _empty(title: str, mark: str, width: float = 7.2) -> tuple[Any, Any]:
    require("matplotlib", extra="plot")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 4.4), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(f"{title}\n{mark}" if mark else title, fontsize=10)
    return figure, axes


def save(figure: Any, folder: Path, name: str) -> list[str]:
    """Both files, whole or not at all; returns their names."""
    for kind in FORMATS:
        with whole_file(folder / f"{name}.{kind}") as file:
            figure.savefig(file, format=kind)
    return [f"{name}.{kind}" for kind in FORMATS]


def precision_recall(lines: Sequence[dict[str, Any]], mark: str) -> Any:
    """Task 1: a curve for each distance, and the level of calling every pair a match."""
    figure, axes = _empty("Concept and project: precision by recall", mark)
    for line in lines:
        name = line["metric"] + ("" if line["eta"] is None else f", eta {line['eta']:g}")
        style = {"wmd": "-", "wfr": "-"}.get(line["metric"], "--")
        wide = 2.4 if line["metric"] == "wmd" else 1.2
        points = line["curve"]
        axes.plot(points["recall"], points["precision"], style, linewidth=wide, label=name)
    share = lines[0]["all_positive_f1"] / (2 - lines[0]["all_positive_f1"])
    axes.axhline(share, color="grey", linewidth=0.8, linestyle=":", label="all are matches")
    axes.set_xlabel("recall")
    axes.set_ylabel("precision")
    axes.set_xlim(0, 1)
    axes.set_ylim(0.4, 1.02)
    axes.legend(fontsize=7, ncols=2)
    return figure


def bars(
    groups: Sequence[str],
    series: dict[str, list[float | None]],
    title: str,
    unit: str,
    mark: str,
    *,
    log: bool = False,
) -> Any:
    """A group of bars for each dataset, one a series; nothing where there is no number."""
    figure, axes = _empty(title, mark, width=max(7.2, 1.1 * len(groups)))
    width = 0.84 / max(len(series), 1)
    for at, (name, values) in enumerate(series.items()):
        places = [n + width * (at - (len(series) - 1) / 2) for n in range(len(groups))]
        kept = [(x, value) for x, value in zip(places, values, strict=True) if value is not None]
        if kept:
            axes.bar([x for x, _ in kept], [value for _, value in kept], width, label=name)
    if log:
        axes.set_yscale("log")
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(unit)
    axes.legend(fontsize=7, ncols=2)
    return figure

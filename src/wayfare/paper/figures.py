"""The figures, each as PNG and SVG; matplotlib's global state is not touched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wayfare.atomic import whole_file
from wayfare.extras import require

__all__ = ["Dot", "bars", "dots", "precision_recall", "save"]

FORMATS = ("png", "svg")
ACROSS = 4  # panels beside each other
STYLES: dict[str, tuple[str, str | None]] = {
    "wmd": ("-", "black"),
    "hellinger": ("--", "#d55e00"),
    "wmd-wfr-cost": (":", "#7a8794"),
}


class Dot(NamedTuple):
    """One error, what was printed for it, and whether it is what the figure is about."""

    row: str
    ours: float
    printed: float | None
    strong: bool


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
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    # WFR in shades of one scale, from small eta to large; its rivals apart from it.
    etas = [line["eta"] for line in lines if line["metric"] == "wfr"]
    for line in lines:
        name = line["metric"] + ("" if line["eta"] is None else f", eta {line['eta']:g}")
        style, colour = STYLES.get(line["metric"], ("-", None))
        if line["metric"] == "wfr":
            shade = 0.9 * etas.index(line["eta"]) / max(len(etas) - 1, 1)
            colour = to_hex(colormaps["viridis"](shade))
        wide = 2.2 if line["metric"] == "wmd" else 1.3
        points = line["curve"]
        axes.plot(
            points["recall"], points["precision"], style, color=colour, linewidth=wide, label=name
        )
    share = lines[0]["all_positive_f1"] / (2 - lines[0]["all_positive_f1"])
    axes.axhline(share, color="grey", linewidth=0.8, linestyle=":", label="all are matches")
    axes.set_xlabel("recall")
    axes.set_ylabel("precision")
    axes.set_xlim(0, 1)
    axes.set_ylim(0.5, 1.01)
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
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(unit)
    # Beside the bars, never over them.
    figure.legend(loc="outside lower center", fontsize=8, ncols=3, frameon=False)
    return figure


def dots(panels: Sequence[tuple[str, Sequence[Dot]]], title: str, unit: str, mark: str) -> Any:
    """A panel for each dataset, a line in it for each row: ours as a dot, what was printed as a ring."""
    require("matplotlib", extra="plot")
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(dot.row for _, dots in panels for dot in dots))
    wide = min(len(panels), ACROSS)
    deep = -(-len(panels) // wide)
    size = (2.2 + 2.1 * wide, 1.2 + deep * (0.7 + 0.2 * len(rows)))
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    figure.suptitle(f"{title}\n{mark}" if mark else title, fontsize=11)
    grid = figure.subplots(deep, wide, squeeze=False, sharey=True).ravel()
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    ours = theirs = None
    for axes, (name, found) in zip(grid, panels, strict=False):
        at = [rows.index(dot.row) for dot in found]
        axes.set_title(name, fontsize=9)
        axes.hlines(at, 0, [dot.ours for dot in found], color="#d8dde3", linewidth=1, zorder=1)
        colours = ["#0072b2" if dot.strong else "#7a8794" for dot in found]
        ours = axes.scatter([dot.ours for dot in found], at, s=26, c=colours, zorder=3)
        rings = [(dot.printed, y) for dot, y in zip(found, at, strict=True) if dot.printed]
        theirs = axes.scatter(
            [x for x, _ in rings],
            [y for _, y in rings],
            s=34,
            facecolors="none",
            edgecolors="#d55e00",
            linewidths=1.2,
            zorder=2,
        )
        axes.set_xlim(left=0)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
        axes.tick_params(axis="x", labelsize=7)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.supxlabel(unit, fontsize=9)
    if ours is not None and theirs is not None:
        names = ["ours (blue: WFR)", "the preprint"]
        figure.legend(
            [ours, theirs], names, loc="outside lower right", ncols=2, fontsize=8, frameon=False
        )
    return figure

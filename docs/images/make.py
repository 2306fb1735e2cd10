"""The pictures of README.md and docs/how_it_works.md, made by the library itself.

    python docs/images/make.py

Writes cost.svg (what the ground cost looks like), eta.svg (one pair of texts from eta 0.1 to 4, between
its two limits) and three transport plans, beside this file. page.png is the page of `wayfare serve` in a
browser that is 900 pixels wide.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import wayfare as wf
from wayfare.explain.palette import LIGHT

HERE = Path(__file__).resolve().parent
A = "Obama speaks to the media in Illinois"
B = "The president greets the press in Chicago"
GREY = "#8a94a0"


def _axes(width: float = 6.4, height: float = 3.4) -> tuple[Figure, object]:
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Figure, name: str) -> None:
    # Without a date and with text as paths: the same picture on every machine.
    figure.savefig(HERE / name, metadata={"Date": None})


def cost() -> None:
    """The kernel and the price of one pair of unit masses, by their distance."""
    eta = 0.5
    figure, axes = _axes()
    apart = np.linspace(0, 2.4, 121)
    here = wf.Measure([[0.0]], [1.0])
    pairs = [wf.distance(here, wf.Measure([[d]], [1.0]), eta=eta, tol=1e-9) for d in apart]
    axes.plot(apart, [pair.objective for pair in pairs], color=LIGHT.carried, lw=2.2)
    axes.plot(apart, apart**2 / (4 * eta**2), color=GREY, ls="--", lw=1.4)
    axes.axvline(np.pi * eta, color=LIGHT.destroyed, ls=":", lw=1.6)
    axes.annotate(
        "πη: nothing travels farther", (np.pi * eta, 0.35), (1.62, 0.35), color=LIGHT.destroyed
    )
    axes.annotate("J of two words", (1.05, 1.0), (1.1, 0.75), color=LIGHT.carried)
    axes.annotate("d² / 4η²", (1.3, 1.75), (1.12, 2.05), color=GREY)
    axes.set(
        xlabel="distance d of two words of mass 1 (η = 0.5)",
        ylabel="J",
        ylim=(0, 2.4),
        xlim=(0, 2.4),
    )
    _save(figure, "cost.svg")


def eta() -> None:
    """One pair of texts under every eta, and what it comes to at both ends."""
    figure, axes = _axes()
    etas = np.geomspace(0.1, 4.0, 120)
    found = [wf.distance(A, B, eta=float(one), tol=1e-6) for one in etas]
    # 1 - J/2 of two documents of mass 1.
    axes.plot(etas, [one.similarity for one in found], color=LIGHT.carried, lw=2.2)
    same = wf.distance(A, B, metric="hellinger").similarity
    axes.axhline(same, color=GREY, ls="--", lw=1.4)
    axes.annotate("equal words only", (0.11, same + 0.03), color=GREY)
    axes.axvline(0.5, color=LIGHT.created, ls=":", lw=1.6)
    axes.annotate("η = 0.5, the default", (0.47, 0.8), color=LIGHT.created, ha="right")
    axes.set(
        xscale="log", xlabel="η", ylabel="similarity, 1 − J / 2", ylim=(-0.02, 1), xlim=(0.1, 4)
    )
    axes.set_xticks([0.1, 0.25, 0.5, 1, 2, 4], ["0.1", "0.25", "0.5", "1", "2", "4"])
    axes.minorticks_off()
    _save(figure, "eta.svg")


def plans() -> None:
    """The same two texts at a small and at a large eta."""
    for name, one in (("plan-small-eta.svg", 0.4), ("plan-large-eta.svg", 2.0)):
        why = wf.distance(A, B, eta=one, tol=1e-6).explain()
        (HERE / name).write_text(why.to_svg(theme="light"), encoding="utf-8")
    # With something carried, destroyed and created: the pair of docs/explain.md.
    why = wf.distance(A, f"{B} after a night of rain", eta=0.4).explain()
    (HERE / "plan.svg").write_text(why.to_svg(), encoding="utf-8")


if __name__ == "__main__":
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = "wayfare"
    cost()
    eta()
    plans()

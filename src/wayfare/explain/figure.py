"""A drawing as a matplotlib figure, for papers and notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from wayfare.explain.layout import Bar, Drawing, Ribbon
from wayfare.explain.palette import DARK, LIGHT, Palette, Theme, check_theme
from wayfare.explain.wording import short, visible
from wayfare.extras import require

__all__ = ["draw"]

WIDTH, INCH = 760.0, 100.0
NAMES, BAR, MARGIN = 220.0, 9.0, 18.0
HEAD, FOOT = 74.0, 46.0
STEPS = 64  # along a ribbon
STUB = 0.3  # of the space between the columns: how far what is alone fades
THINNEST = 0.1
LETTERS = 23


def draw(drawing: Drawing, theme: Theme = "light") -> Any:
    """The drawing on a figure of its own; matplotlib's global state is not touched."""
    check_theme(theme, auto=False)
    require("matplotlib", extra="plot")
    from matplotlib.figure import Figure

    colours = DARK if theme == "dark" else LIGHT
    height = HEAD + drawing.height + FOOT
    figure = Figure(figsize=(WIDTH / INCH, height / INCH), dpi=2 * INCH, facecolor=colours.paper)
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    # Words are words: a dollar sign must not start mathematics.
    plain = {"parse_math": False, "color": colours.ink}
    axes.text(MARGIN, 30 - HEAD, drawing.title, size=12.5, weight="bold", **plain)
    axes.text(MARGIN, 50 - HEAD, drawing.subtitle, size=9, **plain | {"color": colours.muted})
    for ribbon in drawing.ribbons:
        if max(ribbon.left_height, ribbon.right_height) >= THINNEST:
            ends = (drawing.left[ribbon.source], drawing.right[ribbon.target])
            _ribbon(axes, ribbon, colours, rest=max(bar.words for bar in ends) > 1)
    for bar in drawing.left:
        _bar(axes, bar, colours, left=True)
    for bar in drawing.right:
        _bar(axes, bar, colours, left=False)
    _legend(axes, drawing, colours, drawing.height + 28)
    # Last: every image would set them anew.
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height - HEAD, -HEAD)
    return figure


def _ribbon(axes: Any, ribbon: Ribbon, colours: Palette, *, rest: bool) -> None:
    x0, x1 = NAMES + BAR, WIDTH - NAMES - BAR
    along = np.linspace(0.0, 1.0, STEPS)
    xs, ease = x0 + (x1 - x0) * along, along**2 * (3 - 2 * along)
    top = ribbon.left_top + (ribbon.right_top - ribbon.left_top) * ease
    height = ribbon.left_height + (ribbon.right_height - ribbon.left_height) * ease
    middle = 0.04 + 0.5 * ribbon.strength
    fade = middle + (0.62 - middle) * np.abs(2 * along - 1)
    _fading(axes, xs, top, top + height, fade * (0.55 if rest else 1.0), colours.carried)


def _fading(axes: Any, xs: Any, top: Any, low: Any, fade: Any, colour: str) -> Any:
    """A shape between two curves whose opacity runs along it; returns its outline."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Polygon

    outline = np.concatenate([np.c_[xs, top], np.c_[xs, low][::-1]])
    shape = Polygon(outline, closed=True, facecolor="none", linewidth=0)
    axes.add_patch(shape)
    image = np.empty((1, len(fade), 4))
    image[..., :3], image[..., 3] = to_rgb(colour), fade
    extent = (xs.min(), xs.max(), low.max(), top.min())
    image = image if xs[0] <= xs[-1] else image[:, ::-1]
    drawn = axes.imshow(image, extent=extent, aspect="auto", interpolation="bilinear")
    drawn.set_clip_path(shape)
    return outline


def _bar(axes: Any, bar: Bar, colours: Palette, *, left: bool) -> None:
    from matplotlib.patches import Rectangle

    x = NAMES if left else WIDTH - NAMES - BAR
    colour = colours.destroyed if left else colours.created
    moved = bar.height - bar.alone_height
    for top, height, fill in (
        (bar.top, moved, colours.carried),
        (bar.top + moved, bar.alone_height, colour),
    ):
        if height > 0 or (fill == colours.carried and bar.alone == 0):
            axes.add_patch(Rectangle((x, top), BAR, max(height, 0.8), facecolor=fill, linewidth=0))
    if bar.alone > 0:
        _alone(axes, bar, colours, left=left)
    mark = ("− " if left else "+ ") if bar.alone > 0.5 * bar.mass else ""
    edge, side = (x - 6, "right") if left else (x + BAR + 6, "left")
    axes.annotate(
        mark + visible(bar.name, LETTERS),
        (edge, bar.middle),
        ha=side,
        va="center",
        size=9,
        color=colours.ink,
        parse_math=False,
    )
    far, other = (MARGIN, "left") if left else (WIDTH - MARGIN, "right")
    axes.text(
        far, bar.middle, short(bar.mass), ha=other, va="center", size=7.5, color=colours.muted
    )


def _alone(axes: Any, bar: Bar, colours: Palette, *, left: bool) -> None:
    from matplotlib.patches import Polygon

    near, far = NAMES + BAR, NAMES + BAR + STUB * (WIDTH - 2 * NAMES)
    if not left:
        near, far = WIDTH - near, WIDTH - far
    along = np.linspace(0.0, 1.0, STEPS)
    xs = near + (far - near) * along
    top = bar.top + bar.height - bar.alone_height
    inset = 0.25 * bar.alone_height * along
    colour = colours.destroyed if left else colours.created
    outline = _fading(
        axes, xs, top + inset, top + bar.alone_height - inset, 0.85 * (1 - along), colour
    )
    # In the colour of the paper, so that the pattern fades with what it is cut from.
    hatch = "////" if left else "..."
    axes.add_patch(
        Polygon(outline, facecolor="none", edgecolor=colours.paper, hatch=hatch, linewidth=0)
    )


def _legend(axes: Any, drawing: Drawing, colours: Palette, y: float) -> None:
    from matplotlib.patches import Rectangle

    entries = []
    if drawing.ribbons:
        entries.append((colours.carried, "carried, paler where it costs more"))
    if any(bar.alone > 0 for bar in drawing.left):
        entries.append((colours.destroyed, "− destroyed"))
    if any(bar.alone > 0 for bar in drawing.right):
        entries.append((colours.created, "+ created"))
    x = MARGIN
    for colour, words in entries:
        axes.add_patch(Rectangle((x, y - 9), 26, 10, facecolor=colour, alpha=0.55, linewidth=0))
        axes.text(x + 32, y, words, size=7.5, color=colours.muted)
        x += 32 + 5.6 * len(words) + 22

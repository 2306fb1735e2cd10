"""A drawing as SVG, without any library: text, paths, and a style sheet of its own."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape

from wayfare.explain.layout import Bar, Drawing, Ribbon
from wayfare.explain.palette import DARK, LIGHT, Palette, Theme, check_theme
from wayfare.explain.wording import short

__all__ = ["WIDTH", "style", "to_svg"]

WIDTH = 760
HEAD, FOOT, MARGIN = 74.0, 46.0, 18.0
BAR = 9.0
LETTER = 7.0  # pixels of an average letter at 13 pixels
LEVELS = 12  # strengths of a ribbon that can be told apart
THINNEST = 0.1  # pixels of a ribbon that is drawn
STUB = 0.3  # of the space between the columns: how far what is alone fades


@dataclass(frozen=True)
class _Columns:
    """Where the columns stand; `key` makes the ids of this drawing its own."""

    width: float
    key: str

    @property
    def roomy(self) -> bool:
        """Whether masses fit beside the names."""
        return self.width >= 520

    @property
    def names(self) -> float:
        return min((0.29 if self.roomy else 0.33) * self.width, 220.0)

    @property
    def left(self) -> float:
        return self.names + BAR

    @property
    def right(self) -> float:
        return self.width - self.left

    @property
    def letters(self) -> int:
        # Beside the name stands its mass, in small figures, where there is room.
        return int((self.names - (MARGIN + 40 if self.roomy else 20)) / LETTER)


def to_svg(drawing: Drawing, theme: Theme = "auto", width: float = WIDTH) -> str:
    """The drawing as one `<svg>` element, `width` pixels wide or as wide as there is room."""
    check_theme(theme)
    key = "w" + hashlib.blake2b(repr((drawing, width)).encode(), digest_size=5).hexdigest()
    at = _Columns(float(width), key)
    legend = list(_legend(drawing, at))
    rows = max((row for _, row, _, _ in legend), default=0)
    height = HEAD + drawing.height + FOOT + 18 * rows
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wayfare {key}" role="img" '
        f'viewBox="0 0 {width:g} {height:.0f}" width="{width:g}" height="{height:.0f}" '
        f'style="max-width:100%;height:auto" aria-labelledby="{key}-t {key}-d">',
        f'<title id="{key}-t">{_text(drawing.title)}</title>',
        f'<desc id="{key}-d">{_text(_description(drawing))}</desc>',
        f"<style>{style(f'.{key}', theme)}</style>",
        *_definitions(key),
        f'<rect class="paper" width="{width:g}" height="{height:.0f}" rx="8"/>',
        f'<text class="title" x="{MARGIN:g}" y="30">{_text(drawing.title)}</text>',
        f'<text class="muted" x="{MARGIN:g}" y="50">{_text(_cut(drawing.subtitle, width - 36))}</text>',
        f'<g transform="translate(0 {HEAD:g})">',
        *(_ribbon(ribbon, drawing, at) for ribbon in drawing.ribbons if _seen(ribbon)),
        *(line for bar in drawing.left for line in _bar(bar, at, left=True)),
        *(line for bar in drawing.right for line in _bar(bar, at, left=False)),
        "</g>",
        *(_entry(one, HEAD + drawing.height + 28) for one in legend),
        "</svg>",
    ]
    return "\n".join(parts)


def style(scope: str, theme: Theme) -> str:
    """The style sheet of drawings below the selector `scope`."""
    if theme == "auto":
        colours = (
            f"{_colours(scope, LIGHT)}@media (prefers-color-scheme:dark){{{_colours(scope, DARK)}}}"
        )
    else:
        colours = _colours(scope, DARK if theme == "dark" else LIGHT)
    rules = (
        " text{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
        "fill:var(--ink)}",
        " .title{font-size:17px;font-weight:600}",
        " .muted,{0} .number{fill:var(--muted)}",
        " .number{font-size:11px;font-variant-numeric:tabular-nums}",
        " .paper{fill:var(--paper)}",
        " .carried,{0} .bar{fill:var(--carried)}",
        " .destroyed{fill:var(--destroyed)}",
        " .created{fill:var(--created)}",
        " .ribbon{stroke:var(--carried);stroke-opacity:.25;stroke-width:.5}",
        " .rest{stroke:none;opacity:.55}",
        " .ribbon:hover{stroke:var(--carried);opacity:1;stroke-opacity:1;stroke-width:1.6}",
        " stop{stop-color:var(--carried)}",
    )
    return colours + "".join(scope + rule.replace("{0}", scope) for rule in rules)


def _colours(scope: str, palette: Palette) -> str:
    return scope + "{" + ";".join(f"--{k}:{v}" for k, v in asdict(palette).items()) + "}"


def _definitions(key: str) -> Iterator[str]:
    """Gradients of ribbons by strength, the masks that fade, and the two patterns."""
    yield "<defs>"
    for level in range(LEVELS + 1):
        strength = level / LEVELS
        middle = 0.04 + 0.5 * strength
        yield (
            f'<linearGradient id="{key}-r{level}"><stop offset="0" stop-opacity=".62"/>'
            f'<stop offset=".5" stop-opacity="{middle:.3f}"/>'
            '<stop offset="1" stop-opacity=".62"/></linearGradient>'
        )
    for name, start, end in (("out", 1, 0), ("in", 0, 1)):
        yield (
            f'<linearGradient id="{key}-g{name}">'
            f'<stop offset="0" style="stop-color:#fff" stop-opacity="{start}"/>'
            f'<stop offset="1" style="stop-color:#fff" stop-opacity="{end}"/></linearGradient>'
            f'<mask id="{key}-{name}" maskContentUnits="objectBoundingBox">'
            f'<rect width="1" height="1" fill="url(#{key}-g{name})"/></mask>'
        )
    yield (
        f'<pattern id="{key}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><rect class="destroyed" width="6" height="6" opacity=".35"/>'
        '<rect class="destroyed" width="2.6" height="6"/></pattern>'
        f'<pattern id="{key}-dots" width="6" height="6" patternUnits="userSpaceOnUse">'
        '<rect class="created" width="6" height="6" opacity=".35"/>'
        '<circle class="created" cx="3" cy="3" r="1.7"/></pattern>'
    )
    yield "</defs>"


def _seen(ribbon: Ribbon) -> bool:
    return max(ribbon.left_height, ribbon.right_height) >= THINNEST


def _ribbon(ribbon: Ribbon, drawing: Drawing, at: _Columns) -> str:
    x0, x1 = at.left, at.right
    middle = (x0 + x1) / 2
    a, b = ribbon.left_top, ribbon.right_top
    c, d = b + ribbon.right_height, a + ribbon.left_height
    path = (
        f"M{x0:.1f} {a:.2f}C{middle:.1f} {a:.2f} {middle:.1f} {b:.2f} {x1:.1f} {b:.2f}"
        f"V{c:.2f}C{middle:.1f} {c:.2f} {middle:.1f} {d:.2f} {x0:.1f} {d:.2f}Z"
    )
    fill = f"url(#{at.key}-r{round(ribbon.strength * LEVELS)})"
    source, target = drawing.left[ribbon.source], drawing.right[ribbon.target]
    tip = f"{source.name} → {target.name}: {_carried(ribbon)}"
    # What belongs to a group is told apart from nothing: it stays in the background.
    rest = " rest" if max(source.words, target.words) > 1 else ""
    return f'<path class="ribbon{rest}" d="{path}" fill="{fill}"><title>{_text(tip)}</title></path>'


def _carried(ribbon: Ribbon) -> str:
    sent, received = short(ribbon.sent), short(ribbon.received)
    mass = sent if sent == received else f"{sent} arrives as {received}"
    return f"{mass}, cost {short(ribbon.cost)}"


def _bar(bar: Bar, at: _Columns, *, left: bool) -> Iterator[str]:
    x = at.names if left else at.right
    lone = bar.alone_height
    tip = f"{bar.name}: mass {short(bar.mass)}, price {short(bar.price)}"
    # A bar is never thinner than what can be seen.
    thick = max(bar.height - lone, 0.8 if lone == 0 else 0.0)
    if thick > 0:
        yield (
            f'<rect class="bar" x="{x:.1f}" y="{bar.top:.2f}" width="{BAR:g}" '
            f'height="{thick:.2f}"><title>{_text(tip)}</title></rect>'
        )
    if lone > 0:
        yield from _alone(bar, at, left=left)
    mark = ("−" if left else "+") if bar.alone > 0.5 * bar.mass else ""
    kind = "destroyed" if left else "created"
    name = _text(_cut(bar.name, (at.letters - (2 if mark else 0)) * LETTER))
    number = f'<tspan class="number">{short(bar.mass)}</tspan>' if at.roomy else ""
    sign = f'<tspan class="{kind}" font-weight="700">{mark}</tspan>' if mark else ""
    words = [number, name, sign] if left else [sign, name, number]
    spaced = "\N{NO-BREAK SPACE} ".join(word for word in words if word)
    edge, anchor = (x - 6, "end") if left else (x + BAR + 6, "start")
    yield (
        f'<text x="{edge:.1f}" y="{bar.middle + 4.5:.1f}" text-anchor="{anchor}">{spaced}'
        f"<title>{_text(tip)}</title></text>"
    )


def _alone(bar: Bar, at: _Columns, *, left: bool) -> Iterator[str]:
    """What was destroyed fades out of its bar, what was created fades into it, ever narrower."""
    kind, word = ("destroyed", "destroyed") if left else ("created", "created")
    pattern, mask = ("hatch", "out") if left else ("dots", "in")
    top = bar.top + bar.height - bar.alone_height
    height = bar.alone_height
    near, far = (at.left, at.left + STUB * (at.right - at.left))
    if not left:
        near, far = at.right, at.right - STUB * (at.right - at.left)
    inset = 0.25 * height
    shape = (
        f"M{near:.1f} {top:.2f}L{far:.1f} {top + inset:.2f}V{top + height - inset:.2f}"
        f"L{near:.1f} {top + height:.2f}Z"
    )
    tip = f"<title>{_text(f'{bar.name}: {short(bar.alone)} {word}, at the price of its mass')}</title>"
    x = at.names if left else at.right
    yield (
        f'<rect class="{kind}" x="{x:.1f}" y="{top:.2f}" width="{BAR:g}" '
        f'height="{max(height, 0.8):.2f}">{tip}</rect>'
    )
    yield f'<path d="{shape}" fill="url(#{at.key}-{pattern})" mask="url(#{at.key}-{mask})">{tip}</path>'


_Entry = tuple[float, int, str, str]  # where it starts, its row, its look, its words


def _legend(drawing: Drawing, at: _Columns) -> Iterator[_Entry]:
    """What the three looks mean, those only that are there, in as many rows as they need."""
    entries = []
    if drawing.ribbons:
        entries.append((f"url(#{at.key}-r4)", "carried, paler where it costs more"))
    if any(bar.alone > 0 for bar in drawing.left):
        entries.append((f"url(#{at.key}-hatch)", "− destroyed"))
    if any(bar.alone > 0 for bar in drawing.right):
        entries.append((f"url(#{at.key}-dots)", "+ created"))
    x, row = MARGIN, 0
    for look, words in entries:
        width = 32 + 6.2 * len(words)
        if x > MARGIN and x + width > at.width - 10:
            x, row = MARGIN, row + 1
        yield x, row, look, words
        x += width + 22


def _entry(entry: _Entry, top: float) -> str:
    x, row, look, words = entry
    y = top + 18 * row
    return (
        f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="26" height="10" fill="{look}"/>'
        f'<text class="number" x="{x + 32:.1f}" y="{y:.1f}">{_text(words)}</text>'
    )


def _description(drawing: Drawing) -> str:
    return (
        f"{drawing.subtitle}. {sum(bar.words for bar in drawing.left)} words on the left, "
        f"{sum(bar.words for bar in drawing.right)} on the right, joined by ribbons as wide as the mass."
    )


def _cut(text: str, pixels: float) -> str:
    """`text`, or as much of it as fits; characters of East Asia are twice as wide."""
    widths = [2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text]
    if sum(widths) * LETTER <= pixels:
        return text
    room, kept = pixels / LETTER - 1, 0
    for kept, width in enumerate(widths):  # noqa: B007 (how far it came is the answer)
        room -= width
        if room < 0:
            break
    return text[:kept] + "…"


def _text(words: str) -> str:
    return escape(words, quote=True)

"""Where the bars and ribbons of an explanation stand, whatever draws them.

Heights are in units of a medium's own choice (pixels, points); one mass has one height on both sides.
Bars stand at `top` below the top of the drawing, far enough apart for a line of text each. The order of
words is the one that lets ribbons cross little: good matches first, what is alone last, and what was
grouped at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from wayfare.errors import InputError
from wayfare.explain.wording import subtitle, title, visible

if TYPE_CHECKING:
    from wayfare.explain.explanation import Explanation, Transfer, Word

__all__ = ["Bar", "Drawing", "Ribbon", "lay_out"]

ROW = 19.0  # a line of text
GAP = 6.0  # between bars that need no more
SHORTEST, TALLEST = 200.0, 560.0  # what the heavier side's mass is drawn as
A_WORD = 15.0
SWEEPS = 6  # passes over the order of words


@dataclass(frozen=True)
class Bar:
    """A word, or the `words` grouped in one bar: its mass as a height, of which `alone` is in no pair."""

    name: str
    words: int
    mass: float
    price: float
    alone: float
    top: float = 0.0
    height: float = 0.0
    alone_height: float = 0.0

    @property
    def middle(self) -> float:
        """Where its name stands."""
        return self.top + self.height / 2


@dataclass(frozen=True)
class Ribbon:
    """Mass from bar `source` on the left to bar `target` on the right.

    It leaves as wide as what was sent and arrives as wide as what was received. `strength` in [0, 1] is
    how well the two agree: for `wfr` the share of the mass that meets, for a balanced metric 1 for a
    free ride, towards 0 for the dearest.
    """

    source: int
    target: int
    sent: float
    received: float
    cost: float
    strength: float
    left_top: float = 0.0
    left_height: float = 0.0
    right_top: float = 0.0
    right_height: float = 0.0


@dataclass(frozen=True)
class Drawing:
    """Two columns of bars, ribbons between them, and the two lines above."""

    title: str
    subtitle: str
    left: tuple[Bar, ...]
    right: tuple[Bar, ...]
    ribbons: tuple[Ribbon, ...]
    height: float

    def to_dict(self) -> dict[str, Any]:
        """The same in plain lists, dicts, strings and numbers."""
        return asdict(self)


def lay_out(found: Explanation, most: int) -> Drawing:
    """The drawing of an explanation with at most `most` bars a side."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 2:
        raise InputError(f"most: {most!r} came; give a whole number of words a side, from 2")
    left_of, left = _grouped(found.first, most)
    right_of, right = _grouped(found.second, most)
    flows = _flows(found.transfers, left_of, right_of, found.metric)
    order_left, order_right = _orders(left, right, flows)
    flows = [
        replace(f, source=order_left.index(f.source), target=order_right.index(f.target))
        for f in flows
    ]
    heaviest = max(found.first_mass, found.second_mass)
    rows = max(len(left), len(right))
    scale = min(max(A_WORD * rows, SHORTEST), TALLEST) / heaviest if heaviest > 0 else 0.0
    placed_left, end_left = _stacked([left[i] for i in order_left], scale)
    placed_right, end_right = _stacked([right[i] for i in order_right], scale)
    height = max(end_left, end_right)
    placed_left = _lowered(placed_left, (height - end_left) / 2)
    placed_right = _lowered(placed_right, (height - end_right) / 2)
    return Drawing(
        title(found),
        subtitle(found),
        placed_left,
        placed_right,
        _attached(flows, placed_left, placed_right, scale),
        height,
    )


def _grouped(words: Sequence[Word], most: int) -> tuple[dict[int, int], list[Bar]]:
    """The bar of each word, and the bars: a word each, or the tail in one."""
    kept = words if len(words) <= most else _chosen(words, most - 1)
    bars = [Bar(visible(w.name), 1, w.mass, w.price, w.alone) for w in kept]
    bar_of = {word.at: place for place, word in enumerate(kept)}
    rest = [word for word in words if word.at not in bar_of]
    if rest:
        mass, price, alone = (
            math.fsum(getattr(word, key) for word in rest) for key in ("mass", "price", "alone")
        )
        bar_of |= {word.at: len(bars) for word in rest}
        bars.append(Bar(f"{len(rest)} more words", len(rest), mass, price, alone))
    return bar_of, bars


def _chosen(words: Sequence[Word], count: int) -> list[Word]:
    """Half the room for words that cost the most, half for those that agree the most.

    By price alone the words that two documents share, which cost nothing, would all vanish.
    """

    def agreement(word: Word) -> float:
        return math.fsum(p.sent + p.received - p.cost for p in word.transfers)

    by_price = sorted(words, key=lambda w: (-w.price, -w.mass, w.at))
    by_agreement = sorted(words, key=lambda w: (-agreement(w), -w.mass, w.at))
    chosen: dict[int, Word] = {}
    for pair in zip(by_price, by_agreement, strict=True):
        for word in pair:
            if len(chosen) < count:
                chosen[word.at] = word
    return list(chosen.values())


def _flows(
    transfers: Iterable[Transfer], left_of: dict[int, int], right_of: dict[int, int], metric: str
) -> list[Ribbon]:
    """One ribbon for each pair of bars that share anything."""
    sums: dict[tuple[int, int], list[float]] = {}
    for pair in transfers:
        total = sums.setdefault((left_of[pair.source], right_of[pair.target]), [0.0, 0.0, 0.0])
        total[0] += pair.sent
        total[1] += pair.received
        total[2] += pair.cost
    # A balanced metric has no share that agrees: a ride is free, or dear beside the dearest.
    dearest = max((cost / sent for sent, _, cost in sums.values() if sent > 0), default=0.0)
    flows = []
    for (source, target), (sent, received, cost) in sums.items():
        if metric == "wfr":
            strength = 1.0 - cost / (sent + received)
        else:
            strength = 1.0 - 0.8 * (cost / sent) / dearest if dearest > 0 else 1.0
        strength = min(max(strength, 0.0), 1.0)
        flows.append(Ribbon(source, target, sent, received, cost, strength))
    return flows


def _orders(
    left: Sequence[Bar], right: Sequence[Bar], flows: Sequence[Ribbon]
) -> tuple[list[int], list[int]]:
    """Orders under which ribbons cross little: each bar near the middle of its partners."""
    best = [0.0] * len(left)
    for flow in flows:
        best[flow.source] += flow.strength * (flow.sent + flow.received)
    order_left = sorted(range(len(left)), key=lambda i: (_late(left[i]), -best[i]))
    order_right = list(range(len(right)))
    for _ in range(SWEEPS):
        place = {bar: at for at, bar in enumerate(order_left)}
        pulls = [(f.target, place[f.source], f.received * f.strength) for f in flows]
        order_right = _by_middle(right, pulls, order_right)
        place = {bar: at for at, bar in enumerate(order_right)}
        pulls = [(f.source, place[f.target], f.sent * f.strength) for f in flows]
        order_left = _by_middle(left, pulls, order_left)
    return order_left, order_right


def _by_middle(
    bars: Sequence[Bar], pulls: Iterable[tuple[int, int, float]], order: Sequence[int]
) -> list[int]:
    sums, weights = [0.0] * len(bars), [0.0] * len(bars)
    for bar, place, weight in pulls:
        sums[bar] += place * weight
        weights[bar] += weight
    now = {bar: at for at, bar in enumerate(order)}
    middles = {b: sums[b] / weights[b] if weights[b] > 0 else float(now[b]) for b in now}
    return sorted(now, key=lambda b: (_late(bars[b]), middles[b], now[b]))


def _late(bar: Bar) -> int:
    """What is alone stands below what is not, and the group below everything."""
    return 2 if bar.words > 1 else int(bar.alone > 0.5 * bar.mass)


def _stacked(bars: Sequence[Bar], scale: float) -> tuple[tuple[Bar, ...], float]:
    """Each bar below the one before, with room for its name; and where the last one ends."""
    out, at = [], 0.0
    for bar in bars:
        height = bar.mass * scale
        room = max(height + GAP, ROW)
        top = at + (room - height) / 2
        out.append(replace(bar, top=top, height=height, alone_height=bar.alone * scale))
        at += room
    return tuple(out), at


def _lowered(bars: Sequence[Bar], by: float) -> tuple[Bar, ...]:
    return tuple(replace(bar, top=bar.top + by) for bar in bars)


def _attached(
    flows: Sequence[Ribbon], left: Sequence[Bar], right: Sequence[Bar], scale: float
) -> tuple[Ribbon, ...]:
    """Ribbons fill their bars from the top, in the order of the bars at their other ends."""
    left_top, right_top = {}, {}
    free = [bar.top for bar in left]
    for flow in sorted(flows, key=lambda f: (f.source, f.target)):
        left_top[flow.source, flow.target] = free[flow.source]
        free[flow.source] += flow.sent * scale
    free = [bar.top for bar in right]
    for flow in sorted(flows, key=lambda f: (f.target, f.source)):
        right_top[flow.source, flow.target] = free[flow.target]
        free[flow.target] += flow.received * scale
    placed = [
        replace(
            f,
            left_top=left_top[f.source, f.target],
            left_height=f.sent * scale,
            right_top=right_top[f.source, f.target],
            right_height=f.received * scale,
        )
        for f in flows
    ]
    # The heaviest first: thin ones are drawn over them and stay visible.
    return tuple(sorted(placed, key=lambda f: (-f.sent - f.received, f.source, f.target)))

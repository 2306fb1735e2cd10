"""Numbers and sentences that every form shares."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wayfare.explain.explanation import Explanation

__all__ = ["bounds", "column", "interval", "proof", "short", "subtitle", "title", "visible"]

METRIC_NAMES = {
    "wfr": "WFR distance",
    "wmd": "Word Mover's Distance",
    "wmd-wfr-cost": "Word Mover's Distance under the WFR cost",
}
PROOFS = {
    "certified": "proven",
    "exact": "exact",
    "stalled": "proven, wider than asked for",
    "uncertified": "proven, no tolerance asked for",
}
JOINERS = "\u200c\u200d"  # invisible, but part of the spelling of Persian and Indic words


def visible(word: str, most: int = 0) -> str:
    """`word` in characters that can be seen, cut after `most` of them where that is not 0.

    >>> visible("a\\x00\\u202eb"), visible("incomprehensibilities", 12)
    ('a��b', 'incomprehen…')
    """
    clean = "".join(
        c if c in JOINERS or unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}"
        for c in word.replace("\n", " ").replace("\t", " ")
    )
    clean = clean if clean.strip() else "(empty)"
    return clean if not most or len(clean) <= most else clean[: most - 1] + "…"


def short(value: float) -> str:
    """Three significant digits, without needless zeros.

    >>> short(0.25), short(1 / 3), short(12345.6)
    ('0.25', '0.333', '12,346')
    """
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.3g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{_decimals(abs(value), 3)}f}".rstrip("0").rstrip(".") if value else "0"


def column(values: Sequence[float]) -> list[str]:
    """Numbers to stand below each other: as many decimals as the largest needs for four digits.

    >>> column([0.25, 0.0101, 0.0])
    ['0.2500', '0.0101', '0.0000']
    """
    largest = max(map(abs, values), default=0.0)
    if largest and not 1e-4 <= largest < 1e7:
        return [f"{value:.3e}" for value in values]
    decimals = _decimals(largest, 4) if largest else 4
    return [f"{value:,.{decimals}f}" for value in values]


def interval(lower: float, upper: float) -> str:
    """The interval in as many digits as tell its ends apart, rounded outwards.

    >>> interval(0.802841, 0.803119)
    '[0.80284, 0.80312]'
    >>> interval(1.0, 1.0)
    '[1, 1]'
    """
    if lower == upper or upper - lower < 1e-14 * abs(upper):
        return f"[{short(lower)}, {short(upper)}]"
    decimals = min(max(1 - math.floor(math.log10((upper - lower) * 2)), 0), 15)
    unit = 10.0**decimals
    low, high = math.floor(lower * unit) / unit, math.ceil(upper * unit) / unit
    return f"[{max(low, 0.0):.{decimals}f}, {high:.{decimals}f}]"


def proof(found: Explanation) -> str:
    """How much is proven: "proven to lie in [0.80284, 0.80312]", or "exact"."""
    how = PROOFS.get(found.status, found.status)
    if found.status == "exact":
        return how
    how, _, rest = how.partition(", ")
    rest = rest and f" ({rest})"
    return f"{how} {bounds(found.lower, found.upper)}{rest}"


def bounds(lower: float, upper: float) -> str:
    """What two bounds prove: an interval, or how many digits where they hardly differ.

    >>> bounds(0.802841, 0.803119), bounds(0.5, 0.5)
    ('to lie in [0.80284, 0.80312]', 'to 15 digits')
    """
    digits = _agreeing(lower, upper)
    return f"to {digits} digits" if digits > 8 else f"to lie in {interval(lower, upper)}"


def title(found: Explanation) -> str:
    """What was measured, and the number."""
    return f"{METRIC_NAMES.get(found.metric, found.metric)} {short(found.value)}"


def subtitle(found: Explanation) -> str:
    """The certified interval, and the settings."""
    parts = [proof(found)]
    if found.eta is not None:
        parts.append(f"eta {short(found.eta)}")
    if found.similarity is not None:
        parts.append(f"similarity {found.similarity:.0%}")
    return " · ".join(parts)


def _agreeing(lower: float, upper: float) -> int:
    """How many digits two bounds have in common, at most what double precision has."""
    if upper <= lower:
        return 15
    return min(15, math.floor(-math.log10((upper - lower) / upper)))


def _decimals(value: float, digits: int) -> int:
    return max(digits - 1 - math.floor(math.log10(value)), 0)

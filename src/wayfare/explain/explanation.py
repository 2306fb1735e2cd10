"""`Explanation`: what each word carried to which, in lines that add up to the objective."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from wayfare.explain.layout import Drawing
    from wayfare.explain.palette import Theme

__all__ = ["Explanation", "Side", "Transfer", "Word"]

Side = Literal["first", "second"]


@dataclass(frozen=True)
class Transfer:
    """What one word gave to another: `sent` left, `received` arrived, at the price `cost`.

    For `wfr` mass may shrink or grow on its way, and `cost = sent + received - 2 h sqrt(sent received)`,
    where `h` is `closeness`: 1 for words at one place, 0 for words out of reach. `met` is the share of
    the pair that agrees, `1 - cost / (sent + received)`. A balanced metric has `sent == received`,
    `cost` is mass times distance, and neither `closeness` nor `met` exists.
    """

    source: int
    target: int
    sent: float
    received: float
    cost: float
    closeness: float | None

    @property
    def met(self) -> float | None:
        """The share of the pair's mass that agrees, in [0, 1]; None for a balanced metric."""
        if self.closeness is None:
            return None
        return min(max(1.0 - self.cost / (self.sent + self.received), 0.0), 1.0)


@dataclass(frozen=True)
class Word:
    """One word of one document: its mass, where it went or came from, and what that cost.

    `transfers` are its pairs, the heaviest first. `alone` is the mass in no pair: destroyed in the
    first document, created in the second, at a price of exactly that mass. `price` is the cost of
    its pairs and of what is alone: what the word has to do with the distance.
    """

    side: Side
    at: int
    name: str
    mass: float
    transfers: tuple[Transfer, ...]
    alone: float
    price: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why two documents are as far apart as they are.

    `first` and `second` hold the words of both documents, those that matter most first: by `price`,
    then by mass. Every pair stands with both of its words, so the objective is the price of all words
    of `first` and what was created of `second`:

        objective = sum(w.price for w in first) + sum(w.alone for w in second)

    and as well the other way round. `value`, `lower` and `upper` are in the unit of the distance,
    `objective` and its two bounds in the unit of J. Words without a name are called "point 3".

    >>> import wayfare as wf
    >>> why = wf.distance("sad music", "gloomy music in Chicago", eta=0.4).explain()
    >>> [word.name for word in why.first], [word.name for word in why.second]
    (['sad', 'music'], ['gloomy', 'chicago', 'music'])
    >>> total = sum(w.price for w in why.first) + sum(w.alone for w in why.second)
    >>> abs(total - why.objective) < 1e-12
    True
    """

    metric: str
    eta: float | None
    value: float
    lower: float
    upper: float
    objective: float
    objective_lower: float
    objective_upper: float
    status: str
    first: tuple[Word, ...]
    second: tuple[Word, ...]
    first_mass: float
    second_mass: float
    names: dict[tuple[Side, int], str] = field(repr=False)

    def name(self, side: Side, at: int) -> str:
        """What point `at` of a document is called."""
        return self.names[side, at]

    @cached_property
    def transfers(self) -> tuple[Transfer, ...]:
        """All pairs, the dearest first."""
        pairs = (pair for word in self.first for pair in word.transfers)
        return tuple(sorted(pairs, key=lambda p: (-p.cost, -p.sent, p.source, p.target)))

    @property
    def destroyed(self) -> float:
        """The mass of the first document that went nowhere."""
        return math.fsum(word.alone for word in self.first)

    @property
    def created(self) -> float:
        """The mass of the second document that came from nowhere."""
        return math.fsum(word.alone for word in self.second)

    @property
    def similarity(self) -> float | None:
        """`1 - J / (|mu| + |nu|)`, in [0, 1], for `wfr`; None for a balanced metric."""
        if self.metric != "wfr":
            return None
        total = self.first_mass + self.second_mass
        return 1.0 - self.objective / total if total else 1.0

    # -- forms ------------------------------------------------------------------------------

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return (
            f"Explanation({self.metric} {self.value:.6g}: {len(self.first)} words to "
            f"{len(self.second)}, {self.destroyed:.3g} destroyed, {self.created:.3g} created)"
        )

    def __rich__(self) -> Any:
        return self.to_table()

    def to_table(self, *, most: int | None = 20) -> Any:
        """The table as rich draws it in a terminal: what `rich.print` shows."""
        from wayfare.explain.table import rich_table

        return rich_table(self, most)

    def to_text(self, *, most: int | None = 20) -> str:
        """A table of at most `most` lines in plain text; the others are summed in one."""
        from wayfare.explain.table import plain_text

        return plain_text(self, most)

    def to_dict(self, *, most: int | None = None) -> dict[str, Any]:
        """What `to_json` writes, as a dict."""
        from wayfare.explain.export import as_dict

        return as_dict(self, most)

    def to_json(self, *, most: int | None = None, indent: int | None = None) -> str:
        """The ledger as JSON; its keys are listed in docs/explain.md and stay.

        `most` keeps the heaviest so many pairs of each word, and sums the others under `"others"`,
        so that every word still adds up. Infinity and NaN do not occur.
        """
        from wayfare.explain.export import as_json

        return as_json(self, most, indent)

    def to_rows(self) -> list[dict[str, Any]]:
        """A row a pair and a row a word that is alone, dearest first; `price` sums to `objective`."""
        from wayfare.explain.export import as_rows

        return as_rows(self)

    def to_frame(self) -> Any:
        """`to_rows` as a pandas frame.

        Raises `MissingExtraError` where pandas is not installed.
        """
        from wayfare.explain.export import as_frame

        return as_frame(self)

    def drawing(self, *, most: int = 30) -> Drawing:
        """Where bars and ribbons stand, for whatever draws them; at most `most` words a side.

        The others are grouped in one bar a side. Raises `InputError` for less than 2.
        """
        from wayfare.explain.layout import lay_out

        return lay_out(self, most)

    def to_svg(self, *, most: int = 30, theme: Theme = "auto", width: float = 760) -> str:
        """The plan as an SVG of its own: two columns of words, and ribbons as wide as the mass.

        `theme` is "light", "dark", or "auto", which follows whoever looks at it. `width` is in pixels;
        names are cut to it.
        """
        from wayfare.explain.svg import to_svg

        return to_svg(self.drawing(most=most), theme, width)

    def to_html(self, *, most: int = 30, theme: Theme = "auto", page: bool = True) -> str:
        """The drawing and the table as a page of its own, or with `page=False` as a part of one.

        Nothing in it is fetched from elsewhere, and no word can add markup to it.
        """
        from wayfare.explain.page import to_html

        return to_html(self, most, theme, page)

    def _repr_html_(self) -> str:
        return self.to_html(page=False)

    def figure(self, *, most: int = 30, theme: Theme = "light") -> Any:
        """The drawing as a matplotlib `Figure`, which no window shows until it is asked to.

        Raises `MissingExtraError` where matplotlib is not installed (`pip install 'wayfare[plot]'`).
        """
        from wayfare.explain.figure import draw

        return draw(self.drawing(most=most), theme)

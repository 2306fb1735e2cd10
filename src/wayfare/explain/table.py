"""An explanation as a table: in the terminal with colours, elsewhere as plain text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wayfare.explain.wording import column, short, subtitle, title, visible

if TYPE_CHECKING:
    from wayfare.explain.explanation import Explanation, Transfer, Word

__all__ = ["Line", "lines", "plain_text", "rich_table"]

PARTNERS = 3  # pairs of a word that a line names
CRUMB = 0.01  # of a word's mass or price: less is counted in the columns and not told
NAME = 24  # characters of a word that a line shows


@dataclass(frozen=True)
class Line:
    """One line: a word of the first document, or one that was created; prices sum to J."""

    kind: str
    name: str
    mass: float
    price: float
    became: str


def lines(found: Explanation, most: int | None) -> list[Line]:
    """The lines in the order in which they matter; what goes beyond `most` is one line."""
    out = [_first(found, word) for word in found.first]
    out += [_second(word) for word in found.second if word.alone > 0]
    out.sort(key=lambda line: -line.price)
    if most is None or len(out) <= most:
        return out
    kept, rest = out[: max(most - 1, 0)], out[max(most - 1, 0) :]
    mass, price = (math.fsum(getattr(x, key) for x in rest) for key in ("mass", "price"))
    words = "word" if len(rest) == 1 else "words"
    return [*kept, Line("others", f"{len(rest)} more {words}", mass, price, "")]


def _first(found: Explanation, word: Word) -> Line:
    shown = [p for p in word.transfers[:PARTNERS] if p.sent >= CRUMB * word.mass]
    parts = [_pair(found, pair) for pair in shown]
    rest = word.transfers[len(shown) :]
    sent, cost = math.fsum(p.sent for p in rest), math.fsum(p.cost for p in rest)
    if sent >= CRUMB * word.mass or cost >= CRUMB * word.price > 0:
        parts.append(f"→ {len(rest)} more {short(sent)} at {short(cost)}")
    if word.alone > 0:
        parts.append(f"destroyed {short(word.alone)}")
    kind = "destroyed" if not word.transfers else "carried"
    return Line(kind, visible(word.name, NAME), word.mass, word.price, ", ".join(parts))


def _pair(found: Explanation, pair: Transfer) -> str:
    sent, received = short(pair.sent), short(pair.received)
    text = f"→ {visible(found.name('second', pair.target), NAME)} {sent}"
    # "as" only where the two differ in what is shown
    text += f" as {received}" if sent != received else ""
    text += f" at {short(pair.cost)}"
    return text if pair.met is None else f"{text} ({pair.met:.0%} met)"


def _second(word: Word) -> Line:
    became = f"created {short(word.alone)}"
    return Line("created", visible(word.name, NAME), word.alone, word.alone, became)


def plain_text(found: Explanation, most: int | None) -> str:
    """The table without colours or escape codes, as wide as it needs to be."""
    body = lines(found, most)
    marks = {"destroyed": "-", "created": "+"}
    prices = column([*(line.price for line in body), found.objective])
    masses = column([line.mass for line in body])
    names = [f"{marks.get(line.kind, ' ')} {line.name}" for line in body]
    wide = max([len("  word"), *map(len, names)])
    price_width, mass_width = (max(map(len, [*texts, "price"])) for texts in (prices, masses))
    rows = [
        f"{'price':>{price_width}}  {'mass':>{mass_width}}  {'  word':<{wide}}  what became of it"
    ]
    for line, price, mass, name in zip(body, prices[:-1], masses, names, strict=True):
        row = f"{price:>{price_width}}  {mass:>{mass_width}}  {name:<{wide}}  {line.became}"
        rows.append(row.rstrip())
    rows.append(f"{prices[-1]:>{price_width}}  {_sum_name(found)}")
    return "\n".join([title(found), subtitle(found), "", *rows])


def _sum_name(found: Explanation) -> str:
    return (
        "the objective J, of which the distance is eta √(2 J)"
        if found.metric == "wfr"
        else "in all"
    )


def rich_table(found: Explanation, most: int | None) -> Any:
    """The table as rich draws it."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    body = lines(found, most)
    prices = column([*(line.price for line in body), found.objective])
    masses = column([line.mass for line in body])
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name, justify in (("price", "right"), ("", "left"), ("mass", "right"), ("", "right")):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("word", no_wrap=True)
    table.add_column("what became of it")
    look = {"destroyed": ("−", "red"), "created": ("+", "green"), "others": ("", "dim")}
    highest = max([line.price for line in body], default=0.0)
    for line, price, mass in zip(body, prices[:-1], masses, strict=True):
        mark, style = look.get(line.kind, ("", ""))
        table.add_row(
            Text(price),
            Text(_bar(line.price / highest if highest else 0.0), style="cyan"),
            Text(mass, style="dim"),
            Text(mark, style=style),
            Text(line.name, style=style or "bold"),
            Text(line.became, style=style),
        )
    total = Text.assemble((prices[-1], "bold"), "  ", (_sum_name(found), "dim"))
    head = Text.assemble((title(found), "bold"), "\n", (subtitle(found), "dim"), "\n")
    return Group(head, table, total)


def _bar(share: float, width: int = 8) -> str:
    eighths = round(share * width * 8)
    full, part = divmod(eighths, 8)
    return "█" * full + (" ▏▎▍▌▋▊▉"[part] if part else "")

"""An explanation as HTML: the drawing, and the ledger below it, with nothing fetched from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from wayfare.explain.palette import DARK, LIGHT, Palette, Theme, check_theme
from wayfare.explain.svg import to_svg
from wayfare.explain.table import lines
from wayfare.explain.wording import column, title

if TYPE_CHECKING:
    from wayfare.explain.explanation import Explanation

__all__ = ["to_html"]

ROWS = 200  # a table beyond this is for a machine: to_json and to_frame have all of it


def to_html(found: Explanation, most: int, theme: Theme, page: bool) -> str:
    """The drawing and the ledger; a whole page, or an element to stand in one."""
    check_theme(theme)
    figure = "\n".join(
        [
            '<figure class="wayfare-why">',
            f"<style>{_style(theme)}</style>",
            to_svg(found.drawing(most=most), theme),
            _table(found),
            "</figure>",
        ]
    )
    if not page:
        return figure
    paper = (DARK if theme == "dark" else LIGHT).paper
    dark = f"@media (prefers-color-scheme:dark){{body{{background:{DARK.paper}}}}}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            # No word can run anything, even if the escaping had a hole.
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
            "style-src 'unsafe-inline'\">",
            f"<title>{escape(title(found))}</title>",
            f"<style>body{{margin:24px auto;max-width:840px;padding:0 12px;background:{paper}}}"
            f"{dark if theme == 'auto' else ''}</style>",
            f"</head><body>{figure}</body></html>",
        ]
    )


def _style(theme: Theme) -> str:
    light, dark = _colours(LIGHT), _colours(DARK)
    media = f"@media (prefers-color-scheme:dark){{{dark}}}"
    colours = dark if theme == "dark" else light + (media if theme == "auto" else "")
    rules = (
        "{margin:0;padding:0 0 4px;max-width:800px;background:var(--paper);color:var(--ink);"
        "border-radius:8px;font:13px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}",
        " details{padding:0 18px 12px}",
        " summary{cursor:pointer;color:var(--muted)}",
        " .ledger{overflow-x:auto}",
        " table{border-collapse:collapse;margin:8px 0;background:transparent;color:inherit}",
        " th,.wayfare-why td{padding:3px 12px 3px 0;text-align:left;vertical-align:top;border:0;"
        "background:transparent}",
        " th{color:var(--muted);font-weight:400}",
        " .n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}",
        " .w{font-weight:600;white-space:nowrap}",
        " .destroyed .w::before{content:'−\\a0';color:var(--destroyed)}",
        " .created .w::before{content:'+\\a0';color:var(--created)}",
        " tfoot td{border-top:1px solid var(--muted)}",
    )
    return colours + "".join(".wayfare-why" + rule for rule in rules)


def _colours(palette: Palette) -> str:
    return (
        f".wayfare-why{{--paper:{palette.paper};--ink:{palette.ink};--muted:{palette.muted};"
        f"--destroyed:{palette.destroyed};--created:{palette.created}}}"
    )


def _table(found: Explanation) -> str:
    body = lines(found, ROWS)
    prices = column([*(line.price for line in body), found.objective])
    masses = column([line.mass for line in body])
    rows = "".join(
        f'<tr class="{line.kind}"><td class="n">{price}</td><td class="n">{mass}</td>'
        f'<td class="w">{escape(line.name)}</td><td>{escape(line.became)}</td></tr>'
        for line, price, mass in zip(body, prices[:-1], masses, strict=True)
    )
    return (
        f"<details><summary>The ledger: {len(body)} lines that add up to {prices[-1]}</summary>"
        f'<div class="ledger"><table><thead><tr>'
        '<th class="n">price</th><th class="n">mass</th><th>word</th><th>what became of it</th>'
        f'</tr></thead><tbody>{rows}</tbody><tfoot><tr><td class="n">{prices[-1]}</td>'
        f"<td></td><td></td><td>in all</td></tr></tfoot></table></div></details>"
    )

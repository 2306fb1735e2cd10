"""Why a distance is what it is: what each word carried to which, and what was destroyed or created.

explanation.py   Explanation: what each word carried to which, in lines that add up
ledger.py        from a solution to its explanation, and the proof that it adds up
wording.py       numbers and sentences, the same in every form
table.py         a table in the terminal, and as plain text
export.py        JSON and a pandas frame

layout.py        Drawing: where bars and ribbons stand, whatever draws them
palette.py       colours, light and dark
svg.py           a Drawing as SVG
page.py          the same with its table, as HTML
figure.py        a Drawing as a matplotlib figure
"""

from __future__ import annotations

from wayfare.explain.explanation import Explanation, Transfer, Word
from wayfare.explain.layout import Bar, Drawing, Ribbon
from wayfare.explain.ledger import explain

__all__ = ["Bar", "Drawing", "Explanation", "Ribbon", "Transfer", "Word", "explain"]

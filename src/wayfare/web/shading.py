"""Which words of a text carry mass, and the passage that carries the most."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wayfare.solution import Solution

__all__ = ["Carried", "carried", "passage", "spans"]

PASSAGE = 320  # characters of a passage
LEAD = 60  # of them before the first word that carries
# What no tokeniser of whole words joins; each piece is given to the tokeniser by itself.
_PIECES = re.compile(r"[^\s\-_/\\|,;:()\[\]{}<>\"“”«»…–—]+")


@dataclass(frozen=True)
class Carried:
    """A word of a document: its mass, how much of it the query carries there, and mostly from where."""

    word: str
    source: str
    mass: float
    carried: float


def carried(solution: Solution) -> dict[str, Carried]:
    """For each word of the second document what the plan carries to it, `sum_i R_ij`.

    >>> import wayfare as wf
    >>> found = carried(wf.distance("rain", "rain and a concert", eta=0.4))
    >>> {word: round(one.carried, 3) for word, one in found.items()}
    {'rain': 0.707}
    """
    plan, first, second = solution.plan, solution.first.words, solution.second.words
    if plan is None or first is None or second is None or not plan.carried.size:
        return {}
    arriving, sources = plan.carried.sum(axis=0), plan.carried.argmax(axis=0)
    return {
        second[j]: Carried(
            second[j], first[sources[j]], float(solution.second.weights[j]), float(arriving[j])
        )
        for j in range(len(second))
        if arriving[j] > 0
    }


def spans(
    text: str, tokenizer: Callable[[str], Sequence[str]], found: dict[str, Carried]
) -> list[dict[str, Any]]:
    """Where the words that carry stand in a text, as they are written there.

    >>> one = Carried("rain", "rain", 0.5, 0.5)
    >>> [(s["start"], s["end"]) for s in spans("Rain? More rain.", str.split, {"rain": one})]
    [(11, 15)]
    """
    out = []
    for start, end in _pieces(text):
        known = [found[word] for word in tokenizer(text[start:end]) if word in found]
        if known:
            best = max(known, key=lambda one: one.carried)
            out.append({"start": start, "end": end, **asdict(best)})
    return out


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    for piece in _PIECES.finditer(text):
        start, end = piece.span()
        while start < end and not _of_a_word(text[start]):
            start += 1
        while end > start and not _of_a_word(text[end - 1]):
            end -= 1
        if start < end:
            yield start, end


def _of_a_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"


def passage(text: str, found: list[dict[str, Any]], most: int = PASSAGE) -> tuple[int, int]:
    """The stretch of at most about `most` characters that carries the most, cut between words.

    >>> text = "nothing " * 100 + "rain" + " nothing" * 100
    >>> start, end = passage(text, [{"start": 800, "end": 804, "carried": 1.0}], 100)
    >>> text[start:end].strip().index("rain")
    56
    """
    if len(text) <= most:
        return 0, len(text)
    best, at, last, total = 0.0, 0, 0, 0.0
    for first, span in enumerate(found):
        while last < len(found) and found[last]["end"] <= span["start"] + most - LEAD:
            total += found[last]["carried"]
            last += 1
        if total > best:
            best, at = total, span["start"]
        if last > first:
            total -= span["carried"]
        else:  # one word longer than a passage
            last = first + 1
    start = max(min(at - LEAD, len(text) - most), 0)
    end = min(start + most, len(text))
    if start:
        start = next((n + 1 for n in range(start, at) if text[n].isspace()), start)
    if end < len(text):
        end = next((n for n in range(end, max(start, at), -1) if text[n].isspace()), end)
    return start, end

"""The sample corpus: sixty short texts on six subjects, written for this project."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

from wayfare.atomic import whole_file

__all__ = ["sample", "write_sample"]


def _content() -> str:
    return files("wayfare.cli").joinpath("sample.jsonl").read_text(encoding="utf-8")


def sample() -> list[dict[str, str]]:
    """The texts, each with `id`, `label` and `text`.

    >>> texts = sample()
    >>> len(texts), texts[0]["id"], sorted({text["label"] for text in texts})
    (60, 'markets-1', ['football', 'health', 'kitchen', 'markets', 'space', 'weather'])
    """
    return [json.loads(line) for line in _content().splitlines()]


def write_sample(path: Path) -> None:
    """Write the corpus as JSON lines, for a first try of the other commands."""
    with whole_file(path) as file:
        file.write(_content().encode())

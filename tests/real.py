"""Real documents for tests: small texts of our own, and samples of the shared collections."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np

from wayfare import Corpus, Measure

TEXTS = (
    "The bank raises its rates again as prices climb",
    "Rates rise again, and borrowers pay",
    "Rain falls on the river and the fields",
    "A storm brings rain and wind to the coast",
    "The striker scores twice in the final minutes",
    "The keeper saves a penalty and the match ends level",
    "Parliament votes on the budget tonight",
    "The minister resigns after the vote",
    "A quiet evening by the fire with a book",
    "",
    "The bank raises its rates again as prices climb",
    "Doctors test a vaccine against the virus",
    "The virus spreads through the region",
    "Oil prices fall while gold climbs",
    "A new telescope sees the oldest galaxies",
    "Astronomers count stars in a distant galaxy",
    "zzzxqj qqqzzj",
    "Rain",
    "The river floods the town after days of rain",
    "Wind and rain and wind and rain",
)
QUESTIONS = ("Rates rise again", "rain and wind", "a vote in parliament", "galaxies", "", "Rain")


@cache
def small_corpus(weighting: str = "nbow") -> Corpus:
    """Texts of our own, with an empty one, an equal pair and near copies."""
    return Corpus.from_texts(list(TEXTS), weighting=weighting)


def small_queries(weighting: str = "nbow") -> list[Measure]:
    """Questions to them."""
    return list(small_corpus(weighting).encode(list(QUESTIONS), share=False))


@cache
def random_picks(
    shared: Path, name: str, documents: int, queries: int, weighting: str = "nbow"
) -> tuple[Corpus, list[Measure]]:
    """A seeded sample of a collection, and queries from the rest of it."""
    with gzip.open(shared / "data" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    order = np.random.default_rng(7).permutation(len(texts))[: documents + queries]
    corpus = Corpus.from_texts([texts[at] for at in order[:documents]], weighting=weighting)
    asked = corpus.encode([texts[at] for at in order[documents:]], share=False)
    return corpus, list(asked)

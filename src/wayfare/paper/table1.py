"""Table 1 and Figure 1: one mood, another, and a mood among other things."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from wayfare import wfr, wmd
from wayfare.corpus import Corpus
from wayfare.ground import distances
from wayfare.paper.cells import Job
from wayfare.paper.shelf import Shelf
from wayfare.vectors import WordVectors

if TYPE_CHECKING:
    from wayfare.solution import Solution

__all__ = ["ETA_NOTE", "WORDS", "jobs", "plans"]

# What is left of the paper's three sentences once stop words are gone.
WORDS = {"A": ["happy"], "B": ["awful"], "C": ["sad", "lost", "key", "evening", "restaurant"]}
TOL = 1e-6
ETA_NOTE = "vectors at the length that they came with, as in the paper; eta is what suits them"


def jobs(shelf: Shelf) -> list[Job]:
    """One cell."""
    vectors = _raw(shelf)
    from wayfare import __version__

    key = {"task": "table1", "vectors": vectors.fingerprint, "words": WORDS, "version": __version__}
    return [Job(key, partial(_run, vectors), 0.01)]


def _raw(shelf: Shelf) -> WordVectors:
    """The built-in vectors at their own length; others as they were loaded."""
    used = shelf.names[shelf.first]
    raw = WordVectors.default(unit=False)
    return raw if used.name == raw.name else used


def _documents(vectors: WordVectors) -> Corpus:
    return Corpus.from_tokens(list(WORDS.values()), vectors=vectors, unknown="error")


def plans(shelf: Shelf) -> dict[str, Solution]:
    """The solutions to draw: B to A and B to C, under both metrics."""
    vectors = _raw(shelf)
    happy, awful, evening = _documents(vectors)
    eta = float(vectors.default_eta)
    return {
        "wmd-b-a": wmd.wmd(awful, happy),
        "wmd-b-c": wmd.wmd(awful, evening),
        "wfr-b-a": wfr.solve(awful, happy, eta=eta, tol=TOL),
        "wfr-b-c": wfr.solve(awful, evening, eta=eta, tol=TOL),
    }


def _run(vectors: WordVectors) -> dict[str, Any]:
    happy, awful, evening = _documents(vectors)
    eta = float(vectors.default_eta)
    told: dict[str, Any] = {"eta": eta, "vectors": vectors.name, "words": []}
    for name, other in (("A", happy), ("C", evening)):
        balanced = wmd.wmd(awful, other)
        free = wfr.solve(awful, other, eta=eta, tol=TOL)
        told[name] = {
            "wmd": balanced.value,
            "wfr": free.value,
            "lower": wfr.wfr_value(free.certificate.lower, eta),
            "upper": wfr.wfr_value(free.certificate.upper, eta),
        }
        far = distances(awful.points, other.points)[0]
        pieces = free.explain().second
        ends = balanced.explain().second
        for at, word in enumerate(WORDS[name]):
            told["words"].append(
                {
                    "document": name,
                    "word": word,
                    "distance": float(far[at]),
                    "wmd_mass": ends[at].mass,
                    "wmd_price": ends[at].price,
                    "wfr_carried": sum(pair.sent for pair in pieces[at].transfers),
                    "wfr_created": pieces[at].alone,
                    "wfr_price": pieces[at].price,
                }
            )
    return told

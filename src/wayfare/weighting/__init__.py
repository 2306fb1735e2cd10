"""How much mass a word of a document carries: one small class a weighting.

    weighting.fit(counts) -> fitted          reads a corpus once
    fitted.apply(counts)  -> weights         weighs it, or another corpus with the same numbering

Each document is weighed by itself, so a caller may apply a fitted weighting to a few documents at
a time. Terms are numbered as in the corpus of the fit; higher numbers are words it never saw, and
every fitted weighting has an answer for them.

    counts.py    Counts: documents as CSR rows of counts
    schemes.py   the weightings, a small class each
"""

from __future__ import annotations

from wayfare.weighting.counts import Counts, segment_sums
from wayfare.weighting.schemes import (
    WEIGHTINGS,
    Custom,
    Fitted,
    FittedSif,
    FittedTfidf,
    Nbow,
    RawCounts,
    Sif,
    Tfidf,
    Weighting,
    resolve,
    weigh,
)

__all__ = [
    "WEIGHTINGS",
    "Counts",
    "Custom",
    "Fitted",
    "FittedSif",
    "FittedTfidf",
    "Nbow",
    "RawCounts",
    "Sif",
    "Tfidf",
    "Weighting",
    "resolve",
    "segment_sums",
    "weigh",
]

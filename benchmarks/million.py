"""A corpus of any size from the sentences of the shared data: the same for the same seed, on any machine.

    python benchmarks/million.py [--documents 1000000] [--seed 0] [--shared ../shared]  prints its make-up

    from million import queries, texts
    texts(1_000_000)        an iterator of documents; the first 10,000 are those of texts(10_000)
    queries(500)            documents of another seed, so of no corpus

A document is a run of sentences, drawn one by one from all collections until it has enough words that
are no function words; 40 distinct ones on average. Collections without punctuation (R8, 20NEWS, Twitter)
are cut every `RUN` words instead. Nothing is written to disk.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from wayfare.text import DEFAULT_TOKENIZER

COLLECTIONS = ("20news", "amazon", "bbcsport", "classic", "ohsumed", "reuters", "twitter")
RUN, LEAST = 14, 4  # words of a sentence that has no end, and of the shortest that counts
ENOUGH = 36  # words after which a document ends; 40 distinct ones on average
QUERY_SEED = 1_000_003

_end = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


def default_shared() -> Path:
    """The third-party data beside the checkout, or where WAYFARE_SHARED says."""
    return Path(os.environ.get("WAYFARE_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@cache
def sentences(shared: Path | None = None) -> tuple[list[str], list[int]]:
    """Every sentence of the collections, and how many of its words are no function words."""
    found: list[str] = []
    for name in COLLECTIONS:
        path = (shared or default_shared()) / "data" / f"{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                found += cut(json.loads(line)["text"])
    counts = [len(set(DEFAULT_TOKENIZER(sentence))) for sentence in found]
    return found, counts


def cut(text: str) -> Iterator[str]:
    """The sentences of a text; what has no end for long is cut into runs."""
    for sentence in _end.split(text):
        words = sentence.split()
        for start in range(0, len(words), RUN) if len(words) > 3 * RUN else [0]:
            run = words[start : start + RUN] if len(words) > 3 * RUN else words
            if len(run) >= LEAST:
                yield " ".join(run)


def texts(count: int, seed: int = 0, shared: Path | None = None) -> Iterator[str]:
    """So many documents, one after the other."""
    pool, counts = sentences(shared)
    rng = random.Random(seed)
    for _ in range(count):
        document, words = [], 0
        while words < ENOUGH:
            drawn = int(rng.random() * len(pool))
            document.append(pool[drawn])
            words += counts[drawn]
        yield " ".join(document)


def queries(count: int, shared: Path | None = None) -> list[str]:
    """Documents made alike that are in no corpus of another seed."""
    return list(texts(count, QUERY_SEED, shared))


def main() -> None:
    parser = argparse.ArgumentParser(description="What the made-up corpus is made of.")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shared", type=Path, default=None)
    asked = parser.parse_args()
    pool, counts = sentences(asked.shared)
    print(f"{len(pool):,} sentences, {sum(counts) / len(counts):.1f} distinct words each")
    sample = islice(texts(asked.documents, asked.seed, asked.shared), 10_000)
    sizes = [len(set(DEFAULT_TOKENIZER(text))) for text in sample]
    print(f"{asked.documents:,} documents, {sum(sizes) / len(sizes):.1f} distinct words each")


if __name__ == "__main__":
    main()

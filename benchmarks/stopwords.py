"""Should stop words be dropped by default? k-NN error with and without, on three collections.

    python benchmarks/stopwords.py [--shared ../shared] [--weighting nbow] [--eta 0.5]

Seeded samples of training and test documents of R8 (within its own split), BBCSPORT and Twitter
(seeded 70/30 splits). Nothing is tuned: the error in percent is shown for several k, as the mean of
three samples, and the spread is that of the samples.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from collections import Counter
from pathlib import Path

import numpy as np

from wayfare import Corpus, pairwise
from wayfare.text import Tokenizer

COLLECTIONS = {"R8": "reuters", "BBCSPORT": "bbcsport", "Twitter": "twitter"}
TRAIN, TEST, SEEDS = 1500, 600, (0, 1, 2)
NEIGHBOURS = (1, 5, 11, 19)

Documents = list[tuple[str, str]]  # text, label


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="k-NN error with and without stop words.")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--weighting", default="nbow")
    parser.add_argument("--eta", type=float, default=0.5)
    asked = parser.parse_args()
    errors = "".join(f"{f'k={k}':>7}" for k in NEIGHBOURS)
    print(f"{'documents':10} {'stop words':12}{errors} {'mean':>6} {'spread':>6} {'seconds':>8}")
    for name, file in COLLECTIONS.items():
        path = Path(asked.shared) / f"data/{file}.jsonl.gz"
        for said, stop_words in [("kept", None), ("dropped", "english")]:
            start = time.perf_counter()
            tokenizer = Tokenizer(stop_words=stop_words)
            found = np.array(
                [errors_of(*sample(path, s), tokenizer, asked.weighting, asked.eta) for s in SEEDS]
            )
            shown = "".join(f"{e:7.1f}" for e in found.mean(axis=0))
            spread = found.mean(axis=1).std(ddof=1)
            seconds = time.perf_counter() - start
            print(
                f"{name:10} {said:12}{shown} {found.mean():6.1f} {spread:6.1f} {seconds:8.1f}",
                flush=True,
            )


def sample(path: Path, seed: int) -> tuple[Documents, Documents]:
    """Training and test documents: of the file's split, or of a seeded one."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(seed).shuffle(rows)
    if rows[0]["split"] is None:
        for number, row in enumerate(rows):
            row["split"] = "train" if number < 0.7 * len(rows) else "test"
    sides = ([r for r in rows if r["split"] == side] for side in ("train", "test"))
    train, test = ([(r["text"], r["label"]) for r in side] for side in sides)
    return train[:TRAIN], test[:TEST]


def errors_of(
    train: Documents, test: Documents, tokenizer: Tokenizer, weighting: str, eta: float
) -> list[float]:
    """The error in percent, for each number of neighbours."""
    known = Corpus.from_texts(
        [text for text, _ in train],
        labels=[label for _, label in train],
        tokenizer=tokenizer,
        weighting=weighting,
    )
    # To the zero measure J is 1, to a document with nothing in common 2: a training document that
    # lost all its words would be everybody's neighbour.
    known = known.select(known.masses > 0)
    asking = known.encode([text for text, _ in test])
    distances = pairwise(asking, known, eta=eta, tol=1e-3)
    truth = [label for _, label in test]
    return [100 * wrong(distances, known.labels or [], truth, k) for k in NEIGHBOURS]


def wrong(distances: np.ndarray, labels: list[str], truth: list[str], k: int) -> float:
    """The share of test documents whose k nearest neighbours vote for another label."""
    misses = 0
    for row, label in zip(distances, truth, strict=True):
        nearest = np.argsort(row, kind="stable")[:k]
        # Of labels with equally many votes, Counter keeps the one that came first: the nearer.
        misses += Counter(labels[n] for n in nearest).most_common(1)[0][0] != label
    return misses / len(truth)


if __name__ == "__main__":
    main()

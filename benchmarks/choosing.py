"""What eta and the weighting do to k-NN errors, on training documents alone.

    python benchmarks/choosing.py [--shared ../shared] [--documents 600] [--only R8]

The error in percent of 5-fold cross-validation inside a seeded sample of the training documents of each
collection (70% of it where it has no split), at the best k of 1..19. No test document is read. With so
few documents two cells differ by chance alone by about the number in brackets, a standard error.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from pathlib import Path

import numpy as np

from wayfare.learn import WFRNeighborsClassifierCV

COLLECTIONS = {"R8": "reuters", "BBCSPORT": "bbcsport", "Twitter": "twitter", "classic": "classic"}
ETAS = (0.25, 1 / 3, 0.5, 0.7, 1.0)
WEIGHTINGS = ("nbow", "tfidf", "sif")
SEED = 0


def main() -> None:
    """Print the table."""
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="Errors by eta and weighting.")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--documents", type=int, default=600)
    parser.add_argument("--only", choices=list(COLLECTIONS))
    asked = parser.parse_args()
    heads = "".join(f"{f'eta {eta:.2f}':>10}" for eta in ETAS)
    print(f"{'documents':10} {'weighting':9} {heads}   (se)", flush=True)
    for name in [asked.only] if asked.only else COLLECTIONS:
        path = asked.shared / "data" / f"{COLLECTIONS[name]}.jsonl.gz"
        texts, labels = training(path, asked.documents)
        for weighting in WEIGHTINGS:
            errors = [error(texts, labels, weighting, eta) for eta in ETAS]
            spread = 100 * np.sqrt(min(errors) / 100 * (1 - min(errors) / 100) / len(texts))
            row = "".join(f"{one:10.1f}" for one in errors)
            print(f"{name:10} {weighting:9} {row}  ({spread:.1f})", flush=True)


def training(path: Path, most: int) -> tuple[list[str], list[str]]:
    """A sample of the training documents."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(SEED).shuffle(rows)
    if rows[0]["split"] is None:
        rows = rows[: int(0.7 * len(rows))]
    rows = [row for row in rows if row["split"] in (None, "train")][:most]
    return [row["text"] for row in rows], [row["label"] for row in rows]


def error(texts: list[str], labels: list[str], weighting: str, eta: float) -> float:
    """The error at the best k, in percent."""
    model = WFRNeighborsClassifierCV(etas=[eta], weighting=weighting)
    return 100 * (1 - float(model.fit(texts, labels).best_score_))


if __name__ == "__main__":
    main()

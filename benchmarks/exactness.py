"""Is search exact? Its answers against brute force over certified distances.

    python benchmarks/exactness.py [--queries 200] [--documents N] [--collections r8 bbcsport]

R8 is searched in its training part with queries from its test part, BBCSPORT in a seeded 70 % of it with
queries from the rest. Every pair is also solved by `pairwise_bounds` to tol = 1e-3. A mismatch is a
document outside an answer that is proven nearer than one inside, an interval that misses the one of brute
force, or an answer that is neither proven exact nor names the documents that are tied.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from pathlib import Path

import numpy as np

import wayfare as wf
from million import default_shared
from wayfare.many import Documents
from wayfare.search import Hits, search_many

ETAS = (1.0, 1 / 2, 1 / 3, 1 / 4, 0.1)
K = 20
# Both sides round bounds in float64; near J = 0 the root enlarges that.
ROUNDING = 1e-7


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare search with brute force.")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--documents", type=int, default=None, help="at most so many")
    parser.add_argument("--collections", nargs="+", default=["r8", "bbcsport"])
    parser.add_argument("--shared", type=Path, default=default_shared())
    asked = parser.parse_args()
    heads = (
        f"{'collection':11}{'weighting':10}{'eta':>6}{'documents':>10}{'queries':>8}{'exact':>6}"
    )
    print(f"{heads}{'tied':>6}{'mismatches':>11}{'search s':>9}{'brute s':>9}")
    wrong = 0
    for name in asked.collections:
        train, test = texts_of(name, asked.shared)
        for weighting in ("nbow", "tfidf", "counts"):
            corpus = wf.Corpus.from_texts(train[: asked.documents], weighting=weighting)
            encoded = corpus.encode(random.Random(0).sample(test, asked.queries), share=False)
            for eta in ETAS:
                wrong += compare(name, weighting, corpus, encoded, eta)
    print(f"mismatches in all: {wrong}")


def texts_of(name: str, shared: Path) -> tuple[list[str], list[str]]:
    """What is searched, and what queries are drawn from."""
    file = shared / "data" / f"{'reuters' if name == 'r8' else name}.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    if records[0]["split"] is None:
        random.Random(0).shuffle(records)
        for at, record in enumerate(records):
            record["split"] = "train" if at < 0.7 * len(records) else "test"
    parts = ([r["text"] for r in records if r["split"] == part] for part in ("train", "test"))
    return next(parts), next(parts)


def compare(name: str, weighting: str, corpus: wf.Corpus, encoded: wf.Corpus, eta: float) -> int:
    queries = list(encoded)
    start = time.perf_counter()
    answers = search_many([Documents.of(corpus)], queries, k=K, eta=eta)
    searched = time.perf_counter()
    truth = wf.pairwise_bounds(queries, corpus, eta=eta, tol=1e-3, progress=False)
    solved = time.perf_counter()
    wrong = sum(map(mismatches, answers, truth.lower, truth.upper))
    exact, tied = sum(h.exact for h in answers), sum(bool(h.tied) for h in answers)
    print(
        f"{name:11}{weighting:10}{eta:6.3f}{len(corpus):10,}{len(queries):8}{exact:6}{tied:6}"
        f"{wrong:11}{searched - start:9.1f}{solved - searched:9.1f}",
        flush=True,
    )
    return wrong


def mismatches(hits: Hits, lower: np.ndarray, upper: np.ndarray) -> int:
    """How many statements of an answer brute force contradicts."""
    inside = np.array(hits.ids, np.int64)
    outside = np.setdiff1d(np.arange(len(lower)), inside)
    nearer = int((upper[outside] + ROUNDING < lower[inside].max()).sum())
    missed = (hits.lower > upper[inside] + ROUNDING) | (lower[inside] > hits.upper + ROUNDING)
    unproven = not hits.exact and not hits.tied
    short = len(inside) != min(K, len(lower))
    return nearer + int(missed.sum()) + int(unproven) + int(short)


if __name__ == "__main__":
    main()

"""Exact search under WMD, beside prefetch and prune (Kusner et al. 2015) with POT's `emd`.

    python benchmarks/wmd.py [--collections bbcsport r8 20news] [--queries 100] [--few 5] [--k 20]
                             [--weighting nbow] [--shared ../shared]

BBCSPORT by one seeded 80/20 split, the others by their own. "one" is the mean wall-clock time of queries
one at a time, "cpu" its processor time, "batch" that of all of them over two threads, with nothing kept
from before. "solved" counts exact transports, "narrowed" documents that got potentials of their own, both
a query. Prefetch and prune bounds all documents by relaxed WMD from both sides, in float64 NumPy from one
table of distances, then calls `ot.emd2` nearest first; it is timed on `--few` of the same queries, and
"times" compares processor time on these.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from pathlib import Path

import numpy as np
from ot.lp import emd2

from wayfare import Corpus, Measure
from wayfare.ground import distances
from wayfare.many import Documents
from wayfare.search import Hits, search, search_many
from wayfare.threads import one_blas_thread

FILES = {"bbcsport": "bbcsport", "r8": "reuters", "20news": "20news"}


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="Exact search under WMD.")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--collections", nargs="+", default=list(FILES), choices=FILES)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--few", type=int, default=5)
    parser.add_argument("--k", type=int, default=20)
    parser.add_argument("--weighting", default="nbow")
    asked = parser.parse_args()
    print(
        f"{'documents':9} {'count':>6} {'words':>6} {'one ms':>7} {'cpu ms':>7} {'batch ms':>8} "
        f"{'narrowed':>8} {'solved':>7} {'pruning cpu ms':>14} {'solved':>7} {'times':>6}"
    )
    for name in asked.collections:
        corpus, queries = sides(Path(asked.shared), name, asked.queries, asked.weighting)
        show(name, corpus, queries, asked.k, asked.few)


def sides(shared: Path, name: str, count: int, weighting: str) -> tuple[Corpus, list[Measure]]:
    with gzip.open(shared / f"data/{FILES[name]}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(0).shuffle(rows)
    for number, row in enumerate(rows):
        row["split"] = row["split"] or ("train" if number < 0.8 * len(rows) else "test")
    train, test = ([row["text"] for row in rows if row["split"] == s] for s in ("train", "test"))
    corpus = Corpus.from_texts(train, weighting=weighting, progress=False)
    asked = corpus.encode(test[: count + 1], share=False)
    return corpus, [one for one in asked if one.mass]


def show(name: str, corpus: Corpus, queries: list[Measure], k: int, few: int) -> None:
    with one_blas_thread():
        documents = Documents.of(corpus)
        search([documents], queries.pop(), k=k, metric="wmd")  # compiles, and prepares the words
        wall, cpu, hits = time.perf_counter(), time.process_time(), []
        for query in queries:
            hits.append(search([documents], query, k=k, metric="wmd"))
        one, used = (1e3 * (now - then) / len(queries) for now, then in (
            (time.perf_counter(), wall), (time.process_time(), cpu)))  # fmt: skip
        start = time.process_time()
        pruned = [prefetch(documents, query, k) for query in queries[:few]]
        by_pruning = 1e3 * (time.process_time() - start) / few
        fresh = Documents.of(corpus)
        start = time.process_time()
        again = [search([fresh], query, k=k, metric="wmd") for query in queries[:few]]
        mine = 1e3 * (time.process_time() - start) / few
    for found, (values, _) in zip(again, pruned, strict=True):
        np.testing.assert_allclose(found.distances, values, rtol=1e-9)
    fresh = Documents.of(corpus)
    start = time.perf_counter()
    search_many([fresh], queries, k=k, metric="wmd", n_jobs=2)
    batch = 1e3 * (time.perf_counter() - start) / len(queries)
    words = len(corpus.indices) / len(corpus)
    print(
        f"{name:9} {len(corpus):6,} {words:6.1f} {one:7.1f} {used:7.1f} {batch:8.1f} "
        f"{mean(hits, 'by_sweep'):8.1f} {mean(hits, 'solved'):7.1f} {by_pruning:14.1f} "
        f"{np.mean([solved for _, solved in pruned]):7.1f} {by_pruning / mine:6.1f}",
        flush=True,
    )


def mean(hits: list[Hits], what: str) -> float:
    return float(np.mean([getattr(found.work, what) for found in hits]))


def prefetch(documents: Documents, query: Measure, k: int) -> tuple[list[float], int]:
    """Relaxed WMD for all, exact transport nearest first until no bound is below the k-th."""
    far = distances(documents.points, query.points)
    bound = documents.matrix @ far.min(axis=1)
    starts, found, solved = documents.indptr, [np.inf] * k, 0
    for at in range(len(documents)):
        if starts[at] < starts[at + 1]:
            mine = documents.indices[starts[at] : starts[at + 1]]
            bound[at] = max(bound[at], far[mine].min(axis=0) @ query.weights)
    for at in np.argsort(bound, kind="stable"):
        if bound[at] > found[-1]:
            break
        span = slice(starts[at], starts[at + 1])
        if span.start < span.stop:
            mass, cost = documents.weights[span], far[documents.indices[span]]
            found = sorted([*found, float(emd2(mass / mass.sum(), query.weights, cost))])[:k]
            solved += 1
    return found, solved


if __name__ == "__main__":
    main()

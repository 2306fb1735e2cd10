"""What learning a distance brings: test error of k-NN before and after, and what it takes.

    python benchmarks/supervised.py [--collections bbcsport twitter r8] [--metrics wmd wfr]
                                    [--steps 200] [--pool 200] [--sample 1500] [--seed 0]

BBCSPORT and Twitter: one seeded 70/30 split, all documents. R8: a seeded sample of `--sample` training
documents, and two fifths as many of its own test documents. Errors in percent on the test part, which
nothing else sees: "plain" before anything is learnt, "centroids" after the word-centroid learner,
"learnt" at the end; each with the k in brackets that errs least on a fifth of the training documents.
That fifth also decides when learning stops. "fit s" is wall-clock time of the last fit on all cores,
"cpu s" its processor time, "steps" which step was kept, of how many.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from wayfare import Corpus
from wayfare.learn import SupervisedWFR, SupervisedWMD

COLLECTIONS = {"bbcsport": "BBCSPORT", "twitter": "Twitter", "r8": "R8"}
METRICS = {"wmd": SupervisedWMD, "wfr": SupervisedWFR}
TRAINING_SHARE = 0.7

Rows = list[dict[str, Any]]


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="k-NN error before and after learning a distance.")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS), choices=COLLECTIONS)
    parser.add_argument("--metrics", nargs="+", default=list(METRICS), choices=METRICS)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--pool", type=int, default=200)
    parser.add_argument("--sample", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(
        f"{'documents':9} {'train':>6} {'test':>5} {'metric':6} {'plain':>10} {'centroids':>10} "
        f"{'learnt':>10} {'steps':>9} {'fit s':>6} {'cpu s':>6}"
    )
    compile_kernels(asked.metrics)
    for name in asked.collections:
        train, test = divided(Path(asked.shared) / "data", name, asked.sample, asked.seed)
        corpus = Corpus.from_texts(text_of(train), progress=False)
        for metric in asked.metrics:
            show(name, metric, corpus, train, test, asked)


def compile_kernels(metrics: Iterable[str]) -> None:
    """Once a machine; not what is measured here."""
    texts, labels = ["rain", "rain and wind", "a goal", "a late goal"] * 5, ["w", "w", "s", "s"] * 5
    for metric in metrics:
        METRICS[metric](max_iter=1, random_state=0).fit(texts, labels)


def divided(folder: Path, name: str, sample: int, seed: int) -> tuple[Rows, Rows]:
    """Training and test documents."""
    file = "reuters" if name == "r8" else name
    with gzip.open(folder / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(seed).shuffle(rows)
    if rows[0]["split"] is None:
        border = round(TRAINING_SHARE * len(rows))
        return rows[:border], rows[border:]
    train, test = ([row for row in rows if row["split"] == side] for side in ("train", "test"))
    return train[:sample], test[: round(0.4 * sample)]


def text_of(rows: Rows) -> list[str]:
    return [row["text"] for row in rows]


def show(
    name: str, metric: str, corpus: Corpus, train: Rows, test: Rows, asked: argparse.Namespace
) -> None:
    labels = [row["label"] for row in train]
    truth = np.array([row["label"] for row in test])
    told = []
    for settings in (
        {"init": "identity", "max_iter": 0},
        {"init": "centroids", "max_iter": 0},
        {"init": "centroids", "max_iter": asked.steps},
    ):
        model = METRICS[metric](random_state=asked.seed, pool=asked.pool, **settings)
        start, used = time.perf_counter(), time.process_time()
        model.fit(corpus, labels)
        seconds, processor = time.perf_counter() - start, time.process_time() - used
        error = 100 * np.mean(model.predict(text_of(test)) != truth)
        told.append(f"{error:.1f} ({model.k_})")
    print(
        f"{COLLECTIONS[name]:9} {len(train):6,} {len(test):5,} {metric:6} {told[0]:>10} {told[1]:>10} "
        f"{told[2]:>10} {f'{model.best_iter_}/{model.n_iter_}':>9} {seconds:6.0f} {processor:6.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()

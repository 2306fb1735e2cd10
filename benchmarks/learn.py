"""k-NN with every choice made on the training data: errors of the metrics and of plain rivals.

    python benchmarks/learn.py [--shared ../shared] [--train 2000] [--test 800] [--only R8]

R8 by its own split, the others by one seeded 70/30 split; `--train` and `--test` draw seeded samples of
them. k in 1..19, and eta in {1, 1/2, 1/3, 1/4} for WFR, are chosen by 5-fold cross-validation inside the
training documents; the test documents are scored once. "choice" is the time of that, "test" that of
classifying the test documents. L1/L1 is the L1 distance of weights that sum to one (Sato et al. 2022).
Words are those of the built-in vectors, English function words left out, in every row alike.
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
from sklearn.metrics.pairwise import manhattan_distances

from wayfare import Corpus
from wayfare.learn import WFRNeighborsClassifierCV

COLLECTIONS = {"R8": "reuters", "BBCSPORT": "bbcsport", "Twitter": "twitter"}
SEED = 0
ROWS = [
    ("bag of words L1/L1", "l1", "nbow"),
    ("tf-idf L1/L1", "l1", "tfidf"),
    ("WFR", "wfr", "nbow"),
    ("WFR tf-idf", "wfr", "tfidf"),
    ("WFR, chosen", "wfr", ["nbow", "tfidf"]),
    ("WMD", "wmd", "nbow"),
    ("WMD tf-idf", "wmd", "tfidf"),
]

Side = tuple[list[str], list[str]]  # texts, labels


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="k-NN errors, chosen on the training data.")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--train", type=int, default=10**9)
    parser.add_argument("--test", type=int, default=10**9)
    parser.add_argument("--only", choices=list(COLLECTIONS))
    parser.add_argument("--without", nargs="*", default=[], help="metrics to leave out")
    asked = parser.parse_args()
    head = f"{'documents':9} {'train':>6} {'test':>5} {'method':22} {'error %':>8} {'in cv %':>8}"
    print(f"{head} {'k':>3} {'eta':>5} {'choice s':>9} {'test s':>7}", flush=True)
    for name in [asked.only] if asked.only else COLLECTIONS:
        path = Path(asked.shared) / f"data/{COLLECTIONS[name]}.jsonl.gz"
        train, test = sides(path, asked.train, asked.test)
        for row in ROWS:
            if row[1] not in asked.without:
                said = told(*row, train, test)
                print(f"{name:9} {len(train[0]):6} {len(test[0]):5} {said}", flush=True)


def sides(path: Path, most_train: int, most_test: int) -> tuple[Side, Side]:
    """Training and test documents: of the file's split, or of a seeded one."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(SEED).shuffle(rows)
    if rows[0]["split"] is None:
        for number, row in enumerate(rows):
            row["split"] = "train" if number < 0.7 * len(rows) else "test"
    found = []
    for side, most in (("train", most_train), ("test", most_test)):
        some = [row for row in rows if row["split"] == side][:most]
        found.append(([row["text"] for row in some], [row["label"] for row in some]))
    return found[0], found[1]


def told(method: str, metric: str, weighting: str | list[str], train: Side, test: Side) -> str:
    """One row: choose on the training documents, score the test documents once."""
    start = time.perf_counter()
    asking: object
    if metric == "l1":
        known = Corpus.from_texts(train[0], weighting=weighting, progress=False)
        new = known.encode(test[0]).matrix
        rows, asking = known.matrix, new[:, : known.matrix.shape[1]]
        elsewhere = np.asarray(new[:, known.matrix.shape[1] :].sum(axis=1)).reshape(-1, 1)
        model = WFRNeighborsClassifierCV(metric="precomputed").fit(
            manhattan_distances(rows), train[1]
        )
        chosen = time.perf_counter()
        asking = manhattan_distances(asking, rows) + elsewhere
    else:
        model = WFRNeighborsClassifierCV(metric=metric, weighting=weighting).fit(*train)
        chosen, asking = time.perf_counter(), test[0]
    error = 100 * (1 - model.score(asking, test[1]))
    ended = time.perf_counter()
    eta = model.best_params_["eta"]
    method += f" ({model.best_params_['weighting']})" if isinstance(weighting, list) else ""
    numbers = f"{error:8.2f} {100 * (1 - model.best_score_):8.2f} {model.k_:3}"
    spent = f"{chosen - start:9.1f} {ended - chosen:7.1f}"
    return f"{method[:22]:22} {numbers} {'' if eta is None else format(eta, '.3f'):>5} {spent}"


if __name__ == "__main__":
    main()

"""Vectors of documents: what they cost and what they keep, on R8.

    python benchmarks/embedding.py [--shared ../shared] [--part cost|linear|errors]

cost     512 random features for all 7,674 documents, under WFR and, for a sample, under WMD
linear   linearised WFR: milliseconds a document, the correlation of Euclidean with exact WFR distances
         over all pairs of a seeded sample of test documents, and how many of a document's 10 nearest by
         WFR in the sample are among its 10 (50) nearest by vector
errors   logistic regression on the vectors of R8's training documents (settings by cross-validation
         inside them), scored once on its test documents
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wayfare import Corpus, pairwise
from wayfare.learn import LinearWFREmbedding, WordMoversEmbedding, WordMoversEmbeddingCV

SAMPLE = 300  # documents whose exact distances are all found
WMD_SAMPLE = 300


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="Embeddings of documents on R8.")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--part", choices=["cost", "linear", "errors"])
    asked = parser.parse_args()
    with gzip.open(Path(asked.shared) / "data/reuters.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for name, part in (("cost", cost), ("linear", linear), ("errors", errors)):
        if asked.part in (None, name):
            part(rows)


def sides(rows: list[dict]) -> tuple[Corpus, Corpus, list[str], list[str]]:
    train, test = ([row for row in rows if row["split"] == side] for side in ("train", "test"))
    known = Corpus.from_texts([row["text"] for row in train], progress=False)
    new = known.encode([row["text"] for row in test])
    return known, new, [row["label"] for row in train], [row["label"] for row in test]


def cost(rows: list[dict]) -> None:
    corpus = Corpus.from_texts([row["text"] for row in rows], progress=False)
    print(f"{'512 features':28} {'documents':>9} {'seconds':>8} {'us a distance':>14}")
    wfr = [("WFR", eta, len(corpus)) for eta in (1 / 3, 0.5, 1.0)]
    for metric, eta, count in [*wfr, ("WMD", None, WMD_SAMPLE)]:
        some = corpus.select(np.random.default_rng(0).permutation(len(corpus))[:count])
        model = WordMoversEmbedding(512, metric=metric.lower(), eta=eta).fit(corpus)
        model.transform(some.select(slice(8)))  # kernels are compiled once an installation
        start = time.perf_counter()
        model.transform(some)
        seconds = time.perf_counter() - start
        name = metric if eta is None else f"{metric}, eta {eta:.3f}"
        each = 1e6 * seconds / count / 512
        print(f"{name:28} {count:9} {seconds:8.1f} {each:14.1f}", flush=True)


def linear(rows: list[dict]) -> None:
    known, new, _, _ = sides(rows)
    sample = new.select(np.random.default_rng(0).permutation(len(new))[:SAMPLE])
    above = np.triu_indices(len(sample), 1)
    head = f"{'linearised WFR':32} {'ms/doc':>7} {'Pearson':>8} {'Spearman':>9} {'length':>7}"
    print(f"{head} {'in 10':>6} {'in 50':>6}")
    for eta in (1 / 3, 0.5, 1.0):
        exact = pairwise(sample, eta=eta, progress=False)
        for count, kept in ((16, None), (64, None), (64, 256), (128, 256)):
            model = LinearWFREmbedding(count, n_components=kept, eta=eta).fit(known)
            start = time.perf_counter()
            vectors = model.transform(sample)
            spent = 1e3 * (time.perf_counter() - start) / len(sample)
            squared = (vectors**2).sum(axis=1)
            far = np.sqrt(np.maximum(squared[:, None] + squared - 2 * vectors @ vectors.T, 0))
            shown = f"eta {eta:.3f}, {count} points, {kept or vectors.shape[1]} numbers"
            agree = pearsonr(far[above], exact[above])[0], spearmanr(far[above], exact[above])[0]
            length = np.median(far[above] / exact[above])
            found = [recall(exact, far, most) for most in (10, 50)]
            print(
                f"{shown:32} {spent:7.2f} {agree[0]:8.3f} {agree[1]:9.3f} {length:7.3f} "
                f"{found[0]:6.2f} {found[1]:6.2f}",
                flush=True,
            )


def recall(exact: np.ndarray, far: np.ndarray, most: int) -> float:
    """The share of the 10 nearest by `exact` among the `most` nearest by `far`, oneself left out."""
    truth, found = (
        np.argsort(one + np.diag(np.full(len(one), np.inf)), axis=1) for one in (exact, far)
    )
    both = zip(truth[:, :10], found[:, :most], strict=True)
    return float(np.mean([len(set(a) & set(b)) / 10 for a, b in both]))


def errors(rows: list[dict]) -> None:
    known, new, labels, truth = sides(rows)
    print(f"{'logistic regression on':44} {'error %':>8} {'fit s':>7}  chosen")
    for name, model in (
        (
            "512 random features, WFR",
            WordMoversEmbeddingCV(512, d_maxs=[6, 12], gammas=[1.0, 10.0]),
        ),
        ("linearised WFR, 64 points, 256 numbers", LinearWFREmbedding(64, n_components=256)),
    ):
        start = time.perf_counter()
        features = model.fit_transform(known, labels)
        last = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        last.fit(features, labels)
        seconds = time.perf_counter() - start
        error = 100 * (1 - last.score(model.transform(new), truth))
        chosen = getattr(model, "best_params_", "")
        print(f"{name:44} {error:8.2f} {seconds:7.1f}  {chosen}", flush=True)


if __name__ == "__main__":
    main()

"""What each round of a search leaves: of the paper's algorithm, and of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from wayfare.learn.documents import eta_of, reweigh
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.paper.cells import Cell, Job
from wayfare.paper.datasets import Dataset
from wayfare.paper.published import PRUNING
from wayfare.paper.shelf import Shelf
from wayfare.paper.splits import Split, splits_of
from wayfare.search import search
from wayfare.threads import one_blas_thread

__all__ = ["NEIGHBOURS", "asked", "jobs", "table"]

NEIGHBOURS = 20
STEPS = ("by_word", "by_rows", "by_middle", "by_sweep", "started", "solved", "refined")


def jobs(shelf: Shelf) -> Iterator[Job]:
    """One cell a dataset: a few test documents, asked among the training documents."""
    for name in shelf.datasets:
        data = shelf.dataset(name)
        split = splits_of(data, shelf.scope)[0]
        key = shelf.key("pruning", data, "queries", k=NEIGHBOURS, vectors=shelf.first)
        cost = len(split.train) * data.distinct_words[0] ** 2
        yield Job(key, partial(_run, shelf, data, split), cost)


def asked(
    shelf: Shelf, data: Dataset, split: Split, count: int
) -> tuple[Documents, list[Measure], float]:
    """The training documents, seeded queries of the test documents that have words, and eta."""
    corpus = reweigh(data.corpus, "nbow", split.train)
    speaking = split.test[corpus.masses[split.test] > 0]
    picks = np.random.default_rng(shelf.scope.seed).permutation(speaking)[:count]
    documents = Documents.of(corpus.select(split.train[corpus.masses[split.train] > 0]))
    return documents, [corpus[int(row)] for row in picks], eta_of(None, corpus)


def _run(shelf: Shelf, data: Dataset, split: Split) -> dict[str, Any]:
    documents, queries, eta = asked(shelf, data, split, shelf.scope.queries)
    k = min(NEIGHBOURS, len(documents))
    shares = {name: 0.0 for name in STEPS}
    rounds = []
    with one_blas_thread():
        for query in queries:
            work = search([documents], query, k=k, eta=eta).work
            for name in STEPS:
                shares[name] += getattr(work, name) / work.documents / len(queries)
            theirs = search([documents], query, k=k, eta=eta, mode="paper").work
            rounds.append(theirs.rounds)
    return {
        "documents": len(documents),
        "queries": len(queries),
        "eta": eta,
        "rounds": np.mean(rounds, axis=0).tolist(),
        "ours": shares,
    }


def table(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """A line a dataset, beside the paper's table."""
    return [
        cell.result
        | {
            "dataset": cell.key["dataset"],
            "printed": PRUNING.get(cell.key["dataset"]),
            "seconds": cell.seconds,
        }
        for cell in cells
    ]

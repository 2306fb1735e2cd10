"""Exact search: how long a query takes, what it proves, and what others take for theirs.

    python benchmarks/search.py --part r8|20news|million|growth [--documents N] [--queries N]

Default vectors, eta = 0.5, tol = 1e-3, through `wf.Index`, from the text of a query to its hits. Queries
are timed one after the other and then, with the index opened anew, as one batch over two threads; each
is new to the index when it is timed first ("cold"), and the same batch again is "warm".

    r8, 20news   the training part indexed, 500 seeded test documents as queries, k = 20
    million      documents of benchmarks/million.py, k = 10; build, open, memory of a process of its own
    growth       the same at 10^4, 10^5 and so on up to `--documents`
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import wayfare as wf
from million import default_shared, queries, texts
from wayfare.search import Hits
from wayfare.text import DEFAULT_TOKENIZER

ETA, PAIRS = 0.5, 30
MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time exact search.")
    parser.add_argument("--part", choices=["r8", "20news", "million", "growth"], default="r8")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=None)
    parser.add_argument("--shared", type=Path, default=default_shared())
    parser.add_argument("--process", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.process:
        in_a_process(Path(asked.process[0]), int(asked.process[1]), asked.shared)
        return
    with tempfile.TemporaryDirectory() as folder:
        if asked.part in ("r8", "20news"):
            labelled(asked.part, asked.queries or 500, asked.shared, Path(folder))
        elif asked.part == "million":
            made(asked.documents, asked.queries or 100, asked.shared, Path(folder))
        else:
            growth(asked.documents, asked.queries or 50, asked.shared, Path(folder))


def row(what: str, figure: float, unit: str, target: str = "") -> None:
    shown = f"{figure:12,.0f}" if abs(figure) >= 1000 else f"{figure:12.3g}"
    print(f"{what:<58}{shown} {unit:<12}{target}".rstrip(), flush=True)


# ---- R8 and 20NEWS ----------------------------------------------------------------------------------


def labelled(name: str, count: int, shared: Path, folder: Path) -> None:
    train, test = split(shared / "data" / f"{'reuters' if name == 'r8' else name}.jsonl.gz")
    asked = random.Random(0).sample(test, count)
    wf.Index.build(folder / "index", train, eta=ETA, progress=False)
    print(f"{name}: {len(train):,} documents, {count} test queries, k = 20, exact")
    one, batch, _ = measure(folder / "index", asked, 20, "5 ms" if name == "r8" else "25 ms")
    if name == "r8":
        against_pot(train, asked, one, batch)
        against_gensim(train, asked, one)
    against_bm25s(train, asked)
    sentence_embedding()


def split(path: Path) -> tuple[list[str], list[str]]:
    parts: dict[str, list[str]] = {"train": [], "test": []}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            parts[record["split"]].append(record["text"])
    return parts["train"], parts["test"]


def measure(path: Path, asked: list[str], k: int, target: str) -> tuple[float, float, list[Hits]]:
    """Queries one by one, as a batch, and again; seconds a query of either kind, and the answers."""
    settle(path)
    with wf.Index.open(path) as index:
        taken, hits = [], []
        for query in asked:
            start = time.perf_counter()
            hits.append(index.search(query, k=k))
            taken.append(time.perf_counter() - start)
    with wf.Index.open(path) as index:
        start = time.perf_counter()
        index.search(asked, k=k, n_jobs=2)
        batch = (time.perf_counter() - start) / len(asked)
        start = time.perf_counter()
        index.search(asked, k=k, n_jobs=2)
        warm = (time.perf_counter() - start) / len(asked)
    reading = read_seconds(path)
    ms = 1e3 * np.array(taken)
    row("one query at a time, cold: mean", float(ms.mean()), "ms a query", target)
    row("  half of them below", float(np.median(ms)), "ms")
    row("  one in twenty above", float(np.percentile(ms, 95)), "ms")
    row("a batch over two threads, cold: mean", 1e3 * batch, "ms a query", target)
    row("  the same batch again, warm", 1e3 * warm, "ms a query")
    row("one read of the segment arrays (numpy.sum)", 1e3 * reading, "ms")
    row("  a query over that, one at a time", float(ms.mean()) / (1e3 * reading), "times")
    row("proven exact", sum(h.exact for h in hits), f"of {len(hits)}")
    show_work(hits)
    return float(ms.mean()) / 1e3, batch, hits


def settle(path: Path) -> None:
    """Compile and load what every process needs once, on words that no query has."""
    with wf.Index.open(path) as index:
        index.search("zyzzyva quokka", k=1)


def show_work(hits: list[Hits]) -> None:
    total = sum((h.work for h in hits[1:]), hits[0].work)
    left = {
        "bounded by their own words": total.by_rows,
        "  by the second step": total.by_middle,
        "  by a sweep": total.by_sweep,
        "worked on by the solver": total.started,
    }
    for what, number in left.items():
        row(what, 100 * number / total.documents, "% of all")
    row("solved to tol", total.solved / sum(map(len, hits)), "a hit", "at most 2")


def read_seconds(path: Path) -> float:
    """The time of one pass over the arrays of all segments, already in memory; the best of three."""
    arrays = [np.memmap(file, np.uint8, "r") for file in path.glob("documents-*.segment")]
    whole = [a[: a.size // 8 * 8].view(np.uint64) for a in arrays]
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        for array in whole:
            array.sum()
        best = min(best, time.perf_counter() - start)
    return best


# ---- beside others ----------------------------------------------------------------------------------


def against_pot(train: list[str], asked: list[str], one: float, batch: float) -> None:
    from ot.unbalanced import mm_unbalanced
    from scipy.spatial.distance import cdist

    corpus = wf.Corpus.from_texts(train)
    measures = list(corpus.encode(asked[:PAIRS], share=False))
    picks = np.random.default_rng(0).integers(0, len(corpus), PAIRS)
    taken = 0.0
    for query, at in zip(measures, picks, strict=True):
        document = corpus[int(at)]
        angle = cdist(query.points, document.points) / (2 * ETA)
        with np.errstate(divide="ignore"):
            cost = -2 * np.log(np.where(angle < np.pi / 2, np.cos(angle), 0.0))
        start = time.perf_counter()
        mm_unbalanced(query.weights, document.weights, cost, 1.0, div="kl")
        taken += time.perf_counter() - start
    every = taken / PAIRS * len(corpus)
    row(f"POT mm_unbalanced, mean of {PAIRS} pairs", 1e3 * taken / PAIRS, "ms a pair")
    row("  solving all documents so, over a query of ours", every / one, "times", "20,000 times")
    row("  over a query of a batch, two threads", every / batch, "times", "20,000 times")


def against_gensim(train: list[str], asked: list[str], one: float) -> None:
    if find_spec("gensim") is None:
        print("gensim WmdSimilarity: not installed (pip install 'wayfare[bench]')")
        return
    from gensim.models import KeyedVectors
    from gensim.similarities import WmdSimilarity

    words = [DEFAULT_TOKENIZER(text) for text in train]
    corpus = wf.Corpus.from_texts(train)
    vectors = KeyedVectors(corpus.dim)
    vectors.add_vectors(list(corpus.vocabulary or ()), corpus.points)
    similar = WmdSimilarity(words, vectors, num_best=20)
    few = asked[:3]
    start = time.perf_counter()
    for query in few:
        similar[DEFAULT_TOKENIZER(query)]
    every = (time.perf_counter() - start) / len(few)
    row(f"gensim WmdSimilarity, mean of {len(few)} queries", 1e3 * every, "ms a query")
    row("  over a query of ours", every / one, "times", "100 times")


def against_bm25s(documents: list[str], asked: list[str]) -> None:
    if find_spec("bm25s") is None:
        print("bm25s (lexical search): not installed (pip install 'wayfare[bench]')")
        return
    import bm25s

    words = [DEFAULT_TOKENIZER(text) for text in documents]
    retriever = bm25s.BM25()
    retriever.index(words, show_progress=False)
    start = time.perf_counter()
    for query in asked:
        retriever.retrieve([DEFAULT_TOKENIZER(query)], k=20, show_progress=False)
    row("bm25s (lexical search)", 1e3 * (time.perf_counter() - start) / len(asked), "ms a query")


def sentence_embedding() -> None:
    """What an embedding of sentences and brute-force cosine takes, where its weights are at hand."""
    if find_spec("sentence_transformers") is None:
        print("MiniLM and brute-force cosine: not available: the model cannot be fetched")
        return
    from sentence_transformers import SentenceTransformer

    try:
        SentenceTransformer(MODEL, local_files_only=True)
    except OSError:
        print("MiniLM and brute-force cosine: not available: the model cannot be fetched")


# ---- a million --------------------------------------------------------------------------------------


def build(count: int, shared: Path, path: Path) -> float:
    """Documents a second from their texts, all there beforehand, to an index on disk."""
    source = list(texts(count, shared=shared))
    start = time.perf_counter()
    wf.Index.build(path, source, eta=ETA, keep_texts=False, progress=False).close()
    return count / (time.perf_counter() - start)


def made(count: int, asked: int, shared: Path, folder: Path) -> None:
    path = folder / "index"
    print(f"{count:,} documents of resampled sentences, {asked} queries, k = 10, exact")
    row("build", build(count, shared, path), "docs a s", "20,000")
    alone = process(path, asked, shared)
    size = sum(file.stat().st_size for file in path.glob("*.segment"))
    words = sum(file.stat().st_size for file in path.glob("words-*"))
    row("segment files", size / 1e6, "MB")
    row("  and the words as points", words / 1e6, "MB")
    row("open", 1e3 * alone["open"], "ms", "50 ms")
    row("resident memory of a query process", alone["resident"] / 1e6, "MB")
    row(
        "  over the segment files and their words",
        alone["resident"] / (size + words),
        "times",
        "below 1.5",
    )
    row("  over the segment files alone", alone["resident"] / size, "times")
    measure(path, queries(asked, shared), 10, "200 ms")
    sample = list(texts(count, shared=shared))
    against_bm25s(sample, queries(min(asked, 20), shared))
    sentence_embedding()


def process(path: Path, asked: int, shared: Path) -> dict[str, float]:
    """Open and query in a process of its own, which imports nothing else."""
    command = [
        sys.executable,
        __file__,
        "--process",
        str(path),
        str(asked),
        "--shared",
        str(shared),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def in_a_process(path: Path, asked: int, shared: Path) -> None:
    questions = subprocess.run(
        [sys.executable, "-c", _QUESTIONS, str(asked), str(shared)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
    ).stdout
    start = time.perf_counter()
    index = wf.Index.open(path)
    opened = time.perf_counter() - start
    for query in json.loads(questions):
        index.search(query, k=10)
    print(json.dumps({"open": opened, "resident": resident()}))


_QUESTIONS = """import json, sys; from pathlib import Path; from million import queries
print(json.dumps(queries(int(sys.argv[1]), Path(sys.argv[2]))))"""


def resident() -> float:
    """The high-water mark of this process's memory, mapped files included."""
    import resource

    status = Path("/proc/self/status")
    if (
        status.exists()
    ):  # on Linux `ru_maxrss` begins at the size of the process that started this one
        line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return 1024 * float(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)


def growth(most: int, asked: int, shared: Path, folder: Path) -> None:
    """The slope of the logarithm of the time of a query over that of the number of documents."""
    sizes = [size for size in (10**4, 10**5, 10**6) if size <= most]
    print(f"{asked} queries, k = 10, exact, one at a time; the first of each batch cold")
    seconds = []
    for size in sizes:
        path = folder / str(size)
        build(size, shared, path)
        settle(path)
        with wf.Index.open(path) as index:
            taken: list[float] = []
            for query in queries(asked, shared):
                taken.append(clocked(lambda query=query: index.search(query, k=10)))  # type: ignore[misc]
        seconds.append(float(np.mean(taken)))
        row(f"{size:,} documents", 1e3 * seconds[-1], "ms a query")
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    row("exponent of growth", float(slope), "", "below 1")


def clocked(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

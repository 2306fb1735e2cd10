"""How fast, and in how little memory, a corpus is built from a file.

    python benchmarks/corpus.py [--documents 1000000] [--shared ../shared]

Reads 20NEWS, repeated to so many documents, from one gzip file of JSON lines: as it is, and cut to
40 words a document, which is what "short" means here. Each row is a process of its own. "words" are
distinct words a document that are no function words. "cpu s" is processor time, which other work on
the machine changes less. "peak" is the largest resident memory above what stood before the first
document (interpreter, libraries, built-in word vectors).
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

SHORT = 40  # words of a short document
MB = 1e6


class Row(NamedTuple):
    name: str
    documents: int
    words: float
    seconds: float
    processor: float
    peak: float
    finished: float


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="Build a corpus of repeated 20NEWS from a file.")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    asked = parser.parse_args()
    source = Path(asked.shared) / "data/20news.jsonl.gz"
    heads = f"{'documents':26} {'number':>9} {'words':>6} {'seconds':>7} {'docs/s':>7} {'cpu s':>6}"
    print(f"{heads} {'peak MB':>8} {'arrays MB':>9} {'ratio':>5}")
    with tempfile.TemporaryDirectory() as folder:
        for name, words in [("20NEWS, 40 words of each", SHORT), ("20NEWS", None)]:
            path = repeated(source, Path(folder), words, asked.documents)
            # A fresh process each: the high-water mark of memory never falls.
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                show(pool.apply(build, (name, str(path))))


def repeated(source: Path, folder: Path, words: int | None, documents: int) -> Path:
    """The file over and over; members of gzip may follow each other."""
    once, many = folder / "once.jsonl.gz", folder / "many.jsonl.gz"
    count = 0
    with (
        gzip.open(source, "rt", encoding="utf-8") as lines,
        gzip.open(once, "wt", 1, encoding="utf-8") as out,
    ):
        for line in lines:
            text = json.loads(line)["text"]
            cut = text if words is None else " ".join(text.split()[:words])
            out.write(json.dumps({"text": cut}) + "\n")
            count += 1
    with many.open("wb") as target:
        for _ in range(max(1, round(documents / count))):
            with once.open("rb") as member:
                shutil.copyfileobj(member, target)
    return many


def build(name: str, path: str) -> Row:
    from wayfare import Corpus, WordVectors

    vectors = WordVectors.default()
    Corpus.from_texts(["warm the tokenizer and the vectors up"], vectors=vectors)
    before = peak_bytes()
    start, used = time.perf_counter(), time.process_time()
    corpus = Corpus.from_file(path, vectors=vectors)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    arrays = [corpus.points, corpus.indptr, corpus.indices, corpus.weights]
    finished = sum(a.nbytes for a in [*arrays, corpus.ids, corpus.unknown_counts])
    words = len(corpus.indices) / len(corpus)
    peak = peak_bytes() - before
    return Row(name, len(corpus), words, seconds, processor, peak, finished)


def peak_bytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)


def show(row: Row) -> None:
    rate = row.documents / row.seconds
    print(
        f"{row.name:26} {row.documents:9,} {row.words:6.1f} {row.seconds:7.1f} {rate:7,.0f} "
        f"{row.processor:6.1f} "
        f"{row.peak / MB:8.0f} {row.finished / MB:9.0f} {row.peak / row.finished:5.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()

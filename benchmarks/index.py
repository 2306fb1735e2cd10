"""An index on disk: how fast it is built and opened, how large it is, and what a query process holds.

    python benchmarks/index.py [--documents 10000 100000 1000000] [--queries 20] [--shared ../shared]

The documents are those of million.py, read from a file of JSON lines, tokenised, and kept with their
texts. Each number is taken in a process of its own. "cpu s" is processor time, which other work on the
machine changes less. "open" is the first `Index.open` of a process that has imported wayfare, with all
that this imports; "again" the median of nine more. "resident" is what a process holds after it was
asked the queries, one after another, k = 10; "files" are the segments and words that it maps.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from million import default_shared, queries, texts

MB = 1e6


class Built(NamedTuple):
    documents: int
    seconds: float
    processor: float
    peak: float


class Asked(NamedTuple):
    open_ms: float
    again_ms: float
    bare: float
    resident: float
    first_ms: float
    mean_ms: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Build, open and query indexes of growing size.")
    parser.add_argument("--documents", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--shared", type=Path, default=default_shared())
    asked = parser.parse_args()
    head = (
        f"{'documents':>9} {'build s':>7} {'docs/s':>7} {'cpu s':>6} {'peak MB':>8} {'disk MB':>8}"
    )
    head += f" {'files MB':>8} {'open ms':>7} {'again':>6} {'resident':>8} {'ratio':>5}"
    print(f"{head} {'first ms':>8} {'query ms':>8}")
    questions = queries(asked.queries, asked.shared)
    for documents in asked.documents:
        with tempfile.TemporaryDirectory() as folder:
            source, path = Path(folder, "texts.jsonl"), Path(folder, "million.index")
            with source.open("w", encoding="utf-8") as lines:
                for text in texts(documents, shared=asked.shared):
                    lines.write(json.dumps({"text": text}) + "\n")
            built = Built(*apart(build, str(source), str(path)))
            source.unlink()
            answered = Asked(*apart(ask, str(path), questions))
            show(built, answered, path)


def apart(work: Any, *arguments: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def build(source: str, path: str) -> tuple[Any, ...]:
    import wayfare as wf

    wf.Corpus.from_texts(["warm the tokenizer and the vectors up"])
    start, used = time.perf_counter(), time.process_time()
    index = wf.Index.build_from_file(path, source)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return len(index), seconds, processor, peak


def ask(path: str, questions: list[str]) -> tuple[Any, ...]:
    import wayfare as wf

    start = time.perf_counter()
    index = wf.Index.open(path)
    open_ms = 1e3 * (time.perf_counter() - start)
    again = []
    for _ in range(9):
        start = time.perf_counter()
        wf.Index.open(path).close()
        again.append(1e3 * (time.perf_counter() - start))
    bare = resident()
    took = []
    for question in questions:
        start = time.perf_counter()
        index.search(question, k=10)
        took.append(1e3 * (time.perf_counter() - start))
    return open_ms, statistics.median(again), bare, resident(), took[0], statistics.mean(took[1:])


def resident() -> float:
    """What of this process lies in memory, mapped files included."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return float(pages * resource.getpagesize())


def show(built: Built, answered: Asked, path: Path) -> None:
    sizes = {p.name: p.stat().st_size for p in path.iterdir()}
    files = sum(size for name, size in sizes.items() if name.startswith(("documents-", "words-")))
    print(
        f"{built.documents:9,} {built.seconds:7.1f} {built.documents / built.seconds:7,.0f} "
        f"{built.processor:6.1f} {built.peak / MB:8,.0f} {sum(sizes.values()) / MB:8,.0f} "
        f"{files / MB:8,.0f} {answered.open_ms:7.1f} {answered.again_ms:6.1f} "
        f"{answered.resident / MB:8,.0f} {answered.resident / files:5.2f} "
        f"{answered.first_ms:8,.0f} {answered.mean_ms:8.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()

"""Readers and a writer on one index, each in a process of its own, every answer checked.

    python benchmarks/soak.py [--seconds 60] [--readers 4] [--seed 0]

The writer adds, replaces and deletes documents in groups of three, and compacts. A reader opens the
index, keeps that state for some searches while the writer goes on, and opens it again. It checks that
groups are whole, that its state does not change under it, and the answer to each query against the
distances to all documents of a sample, solved one by one to a tighter tolerance. Anything wrong ends
the run with exit code 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

WORDS = [
    "rain",
    "snow",
    "river",
    "hill",
    "bank",
    "rates",
    "oil",
    "goal",
    "quiet",
    "evening",
    "market",
    "harbour",
    "bread",
    "violin",
    "engine",
    "forest",
    "winter",
    "election",
    "galaxy",
    "kitchen",
    "doctor",
    "bridge",
    "island",
    "lesson",
    "thunder",
    "copper",
    "garden",
    "pilot",
]
GROUP = 3
GROUPS = 60  # names that groups take turns with
SAMPLE = 40  # documents of a brute-force check


def text(rng: random.Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))


def members(group: int) -> list[str]:
    return [f"g{group:03}-{n}" for n in range(GROUP)]


def write(path: str, seed: int, until: float, told: Any) -> None:
    import wayfare as wf

    rng = random.Random(seed)
    counts = dict.fromkeys(("add", "replace", "delete", "compact"), 0)
    with wf.Index.open(path) as index:
        there = {int(id[1:4]) for id in index.ids}
        while time.time() < until:
            group = rng.randrange(GROUPS)
            stamp = f"v{sum(counts.values())}"
            if rng.random() < 0.05:
                index.compact()
                counts["compact"] += 1
            elif group in there and rng.random() < 0.5:
                index.delete(members(group))
                there.remove(group)
                counts["delete"] += 1
            else:
                new = [text(rng) for _ in range(GROUP)]
                kind = "replace" if group in there else "add"
                index.add(new, ids=members(group), labels=[stamp] * GROUP, replace=True)
                there.add(group)
                counts[kind] += 1
        index.verify()
    told.put(("writer", counts))


def read(path: str, seed: int, until: float, told: Any) -> None:
    import wayfare as wf

    rng = random.Random(seed)
    counts = dict.fromkeys(("opened", "answers", "distances checked"), 0)
    while time.time() < until:
        with wf.Index.open(path) as index:
            counts["opened"] += 1
            before = check_groups(index)
            for _ in range(rng.randint(1, 4)):
                counts["distances checked"] += check_answer(wf, index, before, rng)
                counts["answers"] += 1
            if check_groups(index) != before:
                raise AssertionError("the state of an open index changed")
    told.put(("reader", counts))


def check_groups(index: Any) -> dict[str, str]:
    """All documents, of which the three of a group came in one commit."""
    documents = list(index)
    groups: dict[str, list[Any]] = {}
    for one in documents:
        groups.setdefault(one.id[:4], []).append(one.label)
    for name, labels in groups.items():
        if len(labels) != GROUP or len(set(labels)) != 1:
            raise AssertionError(f"half of a write is visible: {name} has the stamps {labels}")
    return {one.id: one.text for one in documents}


def check_answer(wf: Any, index: Any, there: dict[str, str], rng: random.Random) -> int:
    """Ask for the nearest documents, and compare with all distances of a sample and of the answer."""
    query, k = text(rng), rng.randint(1, 8)
    hits = index.search(query, k)
    if len(hits) != min(k, len(there)):
        raise AssertionError(f"{len(hits)} of {k} neighbours among {len(there)} documents")
    if hits.texts != [there[id] for id in hits.ids]:
        raise AssertionError("a document came with the text of another")
    sample = sorted({*hits.ids, *rng.sample(sorted(there), min(SAMPLE, len(there)))})
    if not sample:
        return 0
    bounds = wf.pairwise_bounds([query], [there[id] for id in sample], tol=1e-5, n_jobs=1)
    lower, upper = (
        dict(zip(sample, side[0], strict=True)) for side in (bounds.lower, bounds.upper)
    )
    slack = 1e-6
    for id, low, high in zip(hits.ids, hits.lower, hits.upper, strict=True):
        if low > upper[id] + slack or high < lower[id] - slack:
            raise AssertionError(f"{id!r} lies in [{low}, {high}], not at {upper[id]}")
    reach = max(hits.upper, default=0.0)
    for id in sample:
        if id not in hits.ids and upper[id] < reach * (1 - 1e-3) - slack:
            raise AssertionError(f"{id!r} at {upper[id]} is missing from an answer up to {reach}")
    return len(sample)


def guarded(work: Any, *arguments: Any) -> None:
    try:
        work(*arguments)
    except BaseException:
        arguments[-1].put(("failed", traceback.format_exc()))


def main() -> int:
    import wayfare as wf

    parser = argparse.ArgumentParser(description="Readers and a writer on one index, checked.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng = random.Random(asked.seed)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "soak.index"))
        ids = [id for group in range(GROUPS // 2) for id in members(group)]
        wf.Index.build(path, [text(rng) for _ in ids], ids=ids, labels=["v"] * len(ids)).close()
        told = context.Queue()
        until = time.time() + asked.seconds
        jobs = [(write, asked.seed)] + [(read, asked.seed + n) for n in range(1, asked.readers + 1)]
        processes = [
            context.Process(target=guarded, args=(work, path, seed, until, told))
            for work, seed in jobs
        ]
        for process in processes:
            process.start()
        try:
            answers = [told.get(timeout=asked.seconds + 120) for _ in processes]
        except queue.Empty:
            answers = [("failed", "a process died without a word")]
        for process in processes:
            process.join(10)
            process.kill()
        size = sum(p.stat().st_size for p in Path(path).iterdir()) / 1e6
        files = len(list(Path(path).iterdir()))
    for who, counts in answers:
        print(who, counts if isinstance(counts, str) else json_like(counts))
    print(f"at the end {files} files, {size:.1f} MB")
    return int(any(who == "failed" for who, _ in answers))


def json_like(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


if __name__ == "__main__":
    sys.exit(main())

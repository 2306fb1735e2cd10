"""A sharded index on a Dask cluster beside one index: `python benchmarks/scale.py`.

Both hold the same documents (those of million.py) under the same vectors. Builds one index, then the
shards with 1, 2 and 4 worker processes; searches a batch of queries by each, all of them new to it;
checks that the answers are the same; and fits a model of what more documents would cost. The default
takes about twenty minutes and 8 GB of disk; `--documents 100000` takes two.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

import wayfare as wf
from million import queries, texts
from wayfare import scale

K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--folder", type=Path, help="where to put the files (a temporary folder)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        run(given, Path(folder))


def run(given: argparse.Namespace, folder: Path) -> None:
    from distributed import Client, LocalCluster

    source = write(folder / "documents.jsonl", given.documents)
    print(
        f"{given.documents:,} documents, {source.stat().st_size / 1e6:,.0f} MB of text; "
        f"{given.shards} shards; batches of {given.queries} queries, k = {K}; "
        f"{len(os.sched_getaffinity(0))} cores\n"
    )
    asked = list(queries(given.queries * (2 + 2 * len(given.workers))))
    batches = [asked[n : n + given.queries] for n in range(0, len(asked), given.queries)]
    warm = batches.pop()

    started = time.perf_counter()
    one = wf.Index.build_from_file(folder / "one", source, id="id", progress=False)
    built = time.perf_counter() - started
    single, answers = searched(one, warm, batches[0])
    size = sum(path.stat().st_size for path in (folder / "one").iterdir())
    print(
        f"{'':28}{'build s':>9}{'docs/s':>9}{'search ms/query':>17}{'to one index':>14}"
        f"{'the same':>10}"
    )
    print(row("one index, 2 threads", given.documents, built, single, single, None))
    saved = []
    for n, count in enumerate(given.workers):
        with (
            LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            started = time.perf_counter()
            shards = scale.build(
                str(source),
                folder / f"shards-{count}",
                client=client,
                shards=given.shards,
                id="id",
                progress=False,
            )
            built = time.perf_counter() - started
            took, found = searched(shards, warm, batches[0])
            same = agreement(answers, found)
            print(
                row(
                    f"{count} worker{'s' * (count > 1)}", given.documents, built, took, single, same
                )
            )
            saved.append((count, *bounds_saved(shards, batches[1 + 2 * n], batches[2 + 2 * n])))
        if count != given.workers[-1]:
            shutil.rmtree(folder / f"shards-{count}")
    print("\nthe bound that travels to shards searched later")
    print(f"{'workers':>8}{'with, ms/query':>16}{'without':>9}{'solves with':>13}{'without':>9}")
    for count, with_it, without, solves, solves_without in saved:
        print(f"{count:8}{with_it:16.1f}{without:9.1f}{solves:13,}{solves_without:9,}")
    model(folder, given, size / given.documents)


def write(path: Path, count: int) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for n, text in enumerate(islice(texts(count), count)):
            file.write(json.dumps({"id": f"d{n:08d}", "text": text}) + "\n")
    return path


def searched(index, warm: list[str], asked: list[str]) -> tuple[float, list]:
    """Milliseconds a query of a batch that the index has not seen, after one that it has."""
    index.search(warm, k=K)
    started = time.perf_counter()
    answers = index.search(asked, k=K)
    return (time.perf_counter() - started) / len(asked) * 1e3, answers


def agreement(wanted: list, found: list) -> str:
    """How many answers have the same ids in the same order; intervals must meet and be proven."""
    same = 0
    for one, other in zip(wanted, found, strict=True):
        assert one.exact
        assert other.exact
        same += one.ids == other.ids
        at = {id: n for n, id in enumerate(other.ids)}
        for n, id in enumerate(one.ids):
            if id in at:
                assert one.lower[n] <= other.upper[at[id]] * (1 + 1e-12)
                assert other.lower[at[id]] <= one.upper[n] * (1 + 1e-12)
    return f"{same}/{len(wanted)}"


def bounds_saved(shards, first: list[str], second: list[str]) -> tuple[float, float, int, int]:
    """A batch with and one without the bound: half of each, so that neither has the harder queries."""
    half = len(first) // 2
    took, solves = [0.0, 0.0], [0, 0]
    for side, batches in enumerate(((first[:half], second[:half]), (first[half:], second[half:]))):
        for batch in batches:
            started = time.perf_counter()
            found = shards.search(batch, k=K, share_bounds=side == 0)
            took[side] += time.perf_counter() - started
            solves[side] += sum(hits.work.solved for hits in found)
    return *(1e3 * t / (2 * half) for t in took), *solves


def row(
    name: str, documents: int, built: float, took: float, single: float, same: str | None
) -> str:
    return (
        f"{name:28}{built:9.1f}{documents / built:9,.0f}{took:17.1f}{took / single:14.2f}"
        f"{same or '':>10}"
    )


def model(folder: Path, given: argparse.Namespace, bytes_each: float) -> None:
    """Fit what a query costs in one index of n documents, and say what that means for many."""
    sizes = [given.documents // 100, given.documents // 10, given.documents]
    cost = []
    asked = list(queries(2 * given.queries))
    for size in sizes:
        path = folder / ("one" if size == given.documents else f"one-{size}")
        if size != given.documents:
            wf.Index.build(path, texts(size), keep_texts=False, progress=False).close()
        with wf.Index.open(path) as index:
            index.search(asked[: given.queries], k=K, n_jobs=1)
            started = time.perf_counter()
            index.search(asked[given.queries :], k=K, n_jobs=1)
            cost.append((time.perf_counter() - started) / given.queries)
    exponent = np.polyfit(np.log(sizes), np.log(cost), 1)[0]
    # A fixed part a query and shard, and a part for each document: least squares in relative error.
    weights = 1 / np.array(cost)
    table = np.column_stack([np.ones(3), sizes]) * weights[:, None]
    fixed, each = np.linalg.lstsq(table, np.ones(3), rcond=None)[0]
    print(
        "\none core, seconds a query by documents in the index: "
        + ", ".join(f"{n:,}: {c:.4f}" for n, c in zip(sizes, cost, strict=True))
    )
    print(
        f"grows as n^{exponent:.2f}; {fixed * 1e3:.2f} ms a shard and {each * 1e9:.1f} ns a document; "
        f"{bytes_each:,.0f} bytes of index a document"
    )
    print(
        f"\n{'documents':>14}{'machines':>10}{'shard':>12}{'core s/query':>14}{'batch of 100, s':>17}"
        f"{'index a machine':>17}"
    )
    for documents in (10**8, 10**9):
        for machines in (10, 100):
            cores = 16 * machines
            shard = documents / cores
            work = cores * (fixed + each * shard)
            print(
                f"{documents:14,}{machines:10}{shard:12,.0f}{work:14.2f}{100 * work / cores:17.2f}"
                f"{bytes_each * documents / machines / 2**30:13,.0f} GiB"
            )
    print(
        "(machines of 16 such cores; a shard a core; nothing is read from a disk while it searches)"
    )


if __name__ == "__main__":
    main()

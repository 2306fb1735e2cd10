"""A sharded index on a Dask cluster beside one index: `python benchmarks/scale.py --folder DIR`.

Both hold the same documents (those of million.py) under the same vectors. Parts, each of some minutes:

    documents  write the source                     build   shards, with so many worker processes each
    one        one index                            search  a batch of queries by each, and the answers
    bound      the bound that travels, and without  memory  of all workers
    model      cost by documents held, and what follows

`--part` makes one of them and keeps its figures in DIR; without it all are made that are not there yet.
Every run ends with the tables of all that is kept. `--documents 100000` takes a few minutes in all.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import wayfare as wf
from million import queries, texts
from scaling import fit, measure, tell
from wayfare import scale

K = 10
# Worker processes and the threads of each; a cluster is compared with as many threads on one index.
# The last two hold shards of their own, as on machines of their own; the others divide the queries.
LAYOUTS = (
    (1, 1, True),
    (1, 2, True),
    (2, 1, True),
    (4, 1, True),
    (2, 1, False),
    (4, 1, False),
)
BATCHES = 2  # batches that are timed, after one that is not


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where files and figures go")
    parser.add_argument("--part", choices=list(PARTS), help="(all that are missing)")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--queries", type=int, default=100, help="in a batch")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="of part build")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    kept = given.folder / "figures.json"
    figures: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    settings = [given.documents, given.shards, given.queries]
    if figures.setdefault("settings", settings) != settings:
        parser.error(
            f"--folder: it holds figures of {figures['settings']} documents, shards, queries"
        )
    for name in [given.part] if given.part else [name for name in PARTS if name not in figures]:
        figures[name] = PARTS[name](given, figures.get(name))
        kept.write_text(json.dumps(figures, indent=1))
    report(given, figures)


# -- parts ----------------------------------------------------------------------------------------


def documents(given: argparse.Namespace, _: Any) -> dict[str, Any]:
    path = given.folder / "documents.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for n, text in enumerate(islice(texts(given.documents), given.documents)):
            file.write(json.dumps({"id": f"d{n:08d}", "text": text}) + "\n")
    return {"bytes": path.stat().st_size}


def one(given: argparse.Namespace, _: Any) -> dict[str, Any]:
    source, path = given.folder / "documents.jsonl", given.folder / "one"
    started = time.perf_counter()
    wf.Index.build_from_file(path, source, id="id", overwrite=True, progress=False).close()
    return {
        "seconds": time.perf_counter() - started,
        "bytes": sum(file.stat().st_size for file in path.iterdir()),
    }


def build(given: argparse.Namespace, before: Any) -> dict[str, Any]:
    source, found = given.folder / "documents.jsonl", dict(before or {})
    for count in given.workers:
        path = given.folder / f"shards-{count}"
        shutil.rmtree(path, ignore_errors=True)
        with cluster(count, 1) as client:
            started = time.perf_counter()
            scale.build(
                str(source), path, client=client, shards=given.shards, id="id", progress=False
            )
            found[str(count)] = time.perf_counter() - started
        shutil.rmtree(given.folder / "shards", ignore_errors=True)
        path.rename(given.folder / "shards")
    return found


def search(given: argparse.Namespace, _: Any) -> dict[str, Any]:
    asked = batches(given, 1 + BATCHES)
    found: dict[str, Any] = {"one": {}, "shards": {}}
    for threads in (1, 2):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            some = given.folder / "one", asked, threads
            took, busy, wanted, _ = apart.submit(by_one, *some).result()
        found["one"][str(threads)] = {"ms": took, "cpu": busy}
    for workers, threads, whole in LAYOUTS:
        with cluster(workers, threads) as client:
            shards = scale.open(given.folder / "shards", client=client, per_machine=whole)
            first, took, busy, answers = timed(
                lambda some, at=shards: at.search(some, k=K),
                asked,
                lambda to=client: own_cpu() + sum(to.run(own_cpu).values()),
            )
        found["shards"][f"{workers}x{threads}{'' if whole else ' apart'}"] = {
            "first_ms": first,
            "ms": took,
            "cpu": busy,
            "same": agreement(wanted, answers),
            "solved": sum(hits.work.solved for hits in answers) / len(answers),
        }
    found["one"]["solved"] = sum(hits.work.solved for hits in wanted) / len(wanted)
    return found


def by_one(path: Path, asked: list[list[str]], threads: int) -> Any:
    with wf.Index.open(path) as index:
        _, took, busy, answers = timed(
            lambda some: index.search(some, k=K, n_jobs=threads), asked, own_cpu
        )
    return took, busy, answers, own_memory()


def bound(given: argparse.Namespace, _: Any) -> dict[str, Any]:
    """Batches with and without the bound in turn: half of each, so that neither has the harder ones."""
    warm, *asked = batches(given, 5)
    found = {}
    for workers in (2, 4):
        with cluster(workers, 1) as client:
            shards = scale.open(given.folder / "shards", client=client, per_machine=False)
            shards.search(warm, k=K)
            took, solves = {True: 0.0, False: 0.0}, {True: 0, False: 0}
            for n, batch in enumerate(asked):
                sides = (True, False, False, True)
                started = time.perf_counter()
                answers = shards.search(batch, k=K, share_bounds=sides[n])
                took[sides[n]] += (time.perf_counter() - started) * 1e3 / len(batch) / 2
                # The same queries again, for work that can be compared: it is not timed.
                again = shards.search(batch, k=K, share_bounds=not sides[n])
                for side, some in ((sides[n], answers), (not sides[n], again)):
                    solves[side] += sum(hits.work.solved for hits in some)
        found[str(workers)] = {
            "ms": [took[True], took[False]],
            "solved": [solves[side] / len(asked) / given.queries for side in (True, False)],
        }
    return found


def memory(given: argparse.Namespace, _: Any) -> dict[str, Any]:
    """Bytes of all workers together after one batch: of their own, and with files."""
    asked = batches(given, 1)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        *_, told = apart.submit(by_one, given.folder / "one", asked, 2).result()
    found = {"one index": list(told)}
    for workers, threads, whole in LAYOUTS:
        with cluster(workers, threads) as client:
            scale.open(given.folder / "shards", client=client, per_machine=whole).search(
                asked[0], k=K
            )
            each = list(client.run(own_memory).values())
        name = f"{workers} workers x {threads}{'' if whole else ' apart'}"
        found[name] = [sum(column) for column in zip(*each, strict=True)]
    return found


def model(given: argparse.Namespace, _: Any) -> dict[str, Any]:
    with cluster(2, 1) as client:
        return measure(given.folder / "shards", batches(given, 2), client, K)


PARTS = {
    "documents": documents,
    "one": one,
    "build": build,
    "search": search,
    "bound": bound,
    "memory": memory,
    "model": model,
}


# -- measuring ------------------------------------------------------------------------------------


@contextmanager
def cluster(workers: int, threads: int) -> Any:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=threads, memory_limit=0, dashboard_address=":0"
        ) as local,
        Client(local) as client,
    ):
        yield client


def batches(given: argparse.Namespace, count: int) -> list[list[str]]:
    asked, size = queries(given.queries * count), given.queries
    return [asked[n * size : (n + 1) * size] for n in range(count)]


def timed(answer: Any, asked: list[list[str]], cpu: Any) -> tuple[float, list[float], float, Any]:
    """Milliseconds a query: of the first batch, which opens everything; of the others; of all cores."""
    took, found, busy = [], [], 0.0
    for batch in asked:
        busy = busy or (cpu() if took else 0.0)
        started = time.perf_counter()
        hits = answer(batch)
        took.append((time.perf_counter() - started) / len(batch) * 1e3)
        found += hits
    busy = (cpu() - busy) / max(sum(map(len, asked[1:])), 1) * 1e3
    return took[0], took[1:], busy, found


def own_cpu() -> float:
    """Seconds that this process has kept cores busy."""
    return time.process_time()


def own_memory() -> tuple[int, int]:
    """Bytes that no file stands behind, and all that this process has in memory, mapped files too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    told = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    return tuple(int(told[name][0]) * 1024 for name in ("RssAnon", "VmRSS"))  # type: ignore[return-value]


def agreement(wanted: list[Any], found: list[Any]) -> list[int]:
    """How many answers have the same ids in the same order; all are proven, and intervals must meet."""
    same = 0
    for first, second in zip(wanted, found, strict=True):
        assert first.exact
        assert second.exact
        same += first.ids == second.ids
        places = {id: n for n, id in enumerate(second.ids)}
        for n, id in enumerate(first.ids):
            if id in places:
                assert first.lower[n] <= second.upper[places[id]] * (1 + 1e-12)
                assert second.lower[places[id]] <= first.upper[n] * (1 + 1e-12)
    return [same, len(wanted)]


# -- telling --------------------------------------------------------------------------------------


def report(given: argparse.Namespace, figures: dict[str, Any]) -> None:
    size = figures.get("documents", {}).get("bytes", 0) / 1e6
    print(
        f"{given.documents:,} documents, {size:,.0f} MB of text; {given.shards} shards; batches of "
        f"{given.queries} queries, k = {K}; {len(os.sched_getaffinity(0))} cores"
    )
    if "one" in figures or "build" in figures:
        print(f"\n{'build':22}{'seconds':>9}{'docs/s':>9}")
        rows = {"one index": figures.get("one", {}).get("seconds")}
        rows |= {f"{n} workers x 1 thread": took for n, took in figures.get("build", {}).items()}
        for name, took in rows.items():
            if took:
                print(f"{name:22}{took:9.1f}{given.documents / took:9,.0f}")
    if "search" in figures:
        tell_search(figures["search"])
    if "bound" in figures:
        print("\nthe bound that travels between workers")
        print(
            f"{'workers':>8}{'with, ms/query':>16}{'without':>9}{'solves with':>13}{'without':>9}"
        )
        for count, told in figures["bound"].items():
            print(
                f"{count:>8}{told['ms'][0]:16.1f}{told['ms'][1]:9.1f}"
                f"{told['solved'][0]:13.1f}{told['solved'][1]:9.1f}"
            )
    if "memory" in figures:
        print(f"\n{'memory, MB':24}{'own':>8}{'with files':>12}")
        for name, (own, all_) in figures["memory"].items():
            print(f"{name:24}{own / 1e6:8,.0f}{all_ / 1e6:12,.0f}")
    if "model" in figures:
        tell(fit(figures["model"]))


def tell_search(found: dict[str, Any]) -> None:
    print(
        f"\n{'search, ms/query':24}{'time':>7}{'over one':>9}{'all cores':>10}{'over one':>9}{'first':>7}"
        f"{'solves':>8}{'the same':>10}"
    )
    for threads in ("1", "2"):
        told = found["one"][threads]
        print(
            f"{f'one index, {threads} threads':24}{mean(told):7.1f}{'':9}{told['cpu']:10.1f}{'':16}"
            f"{found['one']['solved']:8.1f}"
        )
    for name, told in found["shards"].items():
        base = found["one"]["1" if name == "1x1" else "2"]
        same = "{}/{}".format(*told["same"])
        layout = name.replace("x", " workers x ")
        print(
            f"{layout:24}{mean(told):7.1f}{mean(told) / mean(base) - 1:9.0%}{told['cpu']:10.1f}"
            f"{told['cpu'] / base['cpu'] - 1:9.0%}{told['first_ms']:7.0f}{told['solved']:8.1f}"
            f"{same:>10}"
        )


def mean(told: dict[str, Any]) -> float:
    return sum(told["ms"]) / len(told["ms"])


if __name__ == "__main__":
    main()

"""What a query costs by the documents that a worker holds, and what that means for many machines.

Measured on one core: a worker's search over some of the shards, and what Dask takes for a task. Fitted:
`seconds = fixed + each * documents`, `words = c * documents^h`. Used by scale.py.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

import wayfare as wf
from wayfare import scale
from wayfare.scale.holding import Holding
from wayfare.scale.storage import Place

CORES = 16  # of a machine, each as fast as the one that was measured
GROUP = 16  # queries of a task
BATCH = 100


def measure(path: Path, asked: list[list[str]], client: Any, k: int) -> dict[str, Any]:
    """What a share costs by its shards; what a task costs."""
    index = scale.open(path, client=client)
    info = index.info()
    with wf.Index.open(next(path.glob("reading-*"))) as reading:
        warm, batch = map(reading.encode, asked)
    settings = {"k": k, "eta": info.eta, "tol": info.tol, "metric": info.metric}
    rows, count = [], 1
    while count <= len(info.shards):
        some = info.shards[:count]
        started = time.perf_counter()
        held = Holding(Place.of(path), some, "")
        opened = time.perf_counter() - started
        words = len(held.collections[0].points)
        entries = sum(len(documents.indices) for documents in held.collections)
        for queries in (warm, batch):
            started = time.perf_counter()
            for start in range(0, len(queries), GROUP):
                group = queries[start : start + GROUP]
                held.search(group, [None] * len(group), settings, partial=False)
            took = time.perf_counter() - started
        rows.append(
            {
                "documents": sum(shard.documents for shard in some),
                "seconds": took / len(batch),
                "opened": opened,
                "words": words,
                "entries": entries,
            }
        )
        count *= 2
    started = time.perf_counter()
    client.gather([client.submit(abs, n, pure=False) for n in range(1000)])
    per_task = (time.perf_counter() - started) / 1000
    size = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
    return {"rows": rows, "task": per_task, "bytes": size / info.documents}


def fit(found: dict[str, Any]) -> dict[str, Any]:
    """The model's constants, by least squares of the relative error."""
    rows = found["rows"]
    sizes = np.array([row["documents"] for row in rows], float)
    cost = np.array([row["seconds"] for row in rows])
    table = np.column_stack([np.ones(len(rows)), sizes]) / cost[:, None]
    fixed, each = np.linalg.lstsq(table, np.ones(len(rows)), rcond=None)[0]
    words = np.array([row["words"] for row in rows], float)
    heaps, log_c = np.polyfit(np.log(sizes), np.log(words), 1)
    entries = rows[-1]["entries"] / sizes[-1]
    return {
        "rows": rows,
        "fixed": float(fixed),
        "each": float(each),
        "worst": float(np.abs((fixed + each * sizes) / cost - 1).max()),
        "heaps": float(heaps),
        "c": float(np.exp(log_c)),
        "entries": float(entries),
        "task": found["task"],
        "bytes": found["bytes"],
    }


def tell(told: dict[str, Any]) -> None:
    """The measured points, the fit, and the table of machines."""
    print(
        f"\none core, by what it holds\n{'documents':>10}{'ms/query':>10}{'words':>10}{'open s':>8}"
    )
    for row in told["rows"]:
        print(
            f"{row['documents']:10,}{row['seconds'] * 1e3:10.1f}{row['words']:10,}{row['opened']:8.1f}"
        )
    print(
        f"fitted: {told['fixed'] * 1e3:.1f} ms and {told['each'] * 1e9:.0f} ns a document, off by up to "
        f"{told['worst']:.0%}; words = {told['c']:.1f} n^{told['heaps']:.2f};\n"
        f"{told['task'] * 1e3:.2f} ms a task of Dask; "
        f"{told['bytes']:,.0f} bytes of index a document, {told['entries']:.1f} entries"
    )
    print(
        f"\n{'documents':>14}{'machines':>9}{'held each':>13}{'query, s':>10}{'batch of 100, s':>17}"
        f"{'tasks, s':>10}{'disk GB':>9}{'hot GB':>8}{'own GB':>8}"
    )
    for documents in (10**8, 10**9):
        for machines in (10, 100):
            held = documents / machines
            query = told["fixed"] + told["each"] * held
            rounds = -(-BATCH // CORES)
            tasks = machines * -(-BATCH // min(GROUP, -(-BATCH // CORES)))
            hot, own = (held * told["entries"] * size / 1e9 for size in (8, 4))
            print(
                f"{documents:14,}{machines:9}{held:13,.0f}{query:10.2f}{rounds * query:17.1f}"
                f"{tasks * told['task']:10.2f}{held * told['bytes'] / 1e9:9,.0f}{hot:8.1f}{own:8.1f}"
            )
    print(
        f"(machines of {CORES} such cores, one worker of {CORES} threads on each, a query on one; "
        "'hot' is what a search reads of every document, 'own' the part of it that is no mapped file)"
    )

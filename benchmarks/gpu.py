"""What the GPU does, measured on the GPU: one run, one table.

    python benchmarks/gpu.py --prepare FOLDER [--shared ../shared]    where the data are
    python benchmarks/gpu.py --data FOLDER                            where the GPU is

The first writes R8 and 20NEWS as arrays (some 20 MB): GloVe vectors of their words in float16, and for
each split `indptr`, `indices` and counts. 20NEWS drops words seen fewer than five times and keeps a
document's 500 most common. The second needs those, this package's source, NumPy, SciPy, Numba and
PyTorch with Triton, and nothing from a network; it takes some minutes, of which the kernels' compilation
is the first one or two.

Times are medians after a warm-up, from arrays on the host to arrays on the host, the device synchronised.

    r8            all test x train pairs, eta = 0.5, certified to 1e-3
    20news        the same on 20NEWS
    search        exact top 20 of all R8 test documents among the training documents
    cpu           the first pairs of R8 on all cores of the same machine
    paper         the paper's schedule, 480 sweeps, in plain batched PyTorch on the same GPU
    floor         multiply-adds and bytes of r8, over what the card was seen to do
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

ETA, TOL = 0.5, 1e-3
FEWEST, MOST_WORDS = 5, 500
CPU_QUERIES, PAPER_PAIRS, CHECKED = 64, 1 << 17, 40


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="Certified distances a second on a GPU.")
    parser.add_argument("--prepare", type=Path, metavar="FOLDER")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--only", default="check,r8,floor,search,20news,paper,cpu,tune")
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args()
    if asked.prepare:
        prepare(Path(asked.shared), asked.prepare)
    elif asked.data:
        measure(asked.data, asked.only.split(","), asked.device)
    else:
        parser.error("give --prepare FOLDER or --data FOLDER")


# ---- the data ---------------------------------------------------------------------------------------


def prepare(shared: Path, folder: Path) -> None:
    from wayfare import Corpus, WordVectors

    words = (shared / "vectors/glove100.vocab.txt").read_text(encoding="utf-8").split("\n")
    vectors = np.load(shared / "vectors/glove100.vectors.npy")
    known = WordVectors.from_arrays([word for word in words if word], vectors[: len(words)])
    place = {word: row for row, word in enumerate(words)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in (("r8", "reuters"), ("20news", "20news")):
        corpus = Corpus.from_file(
            shared / f"data/{file}.jsonl.gz",
            id="id",
            metadata=["split"],
            vectors=known,
            weighting="counts",
            keep_texts=False,
        )
        counts = corpus.matrix.tocsr()
        if name == "20news":
            counts = filtered(counts)
        used = np.unique(counts.indices)
        arrays: dict[str, Any] = {
            "points": vectors[[place[corpus.vocabulary[row]] for row in used]]
        }
        for split in ("test", "train"):
            part = counts[np.flatnonzero(np.array(corpus.metadata["split"]) == split)]
            arrays[f"{split}_indptr"] = part.indptr.astype(np.int64)
            arrays[f"{split}_indices"] = np.searchsorted(used, part.indices).astype(np.int32)
            arrays[f"{split}_counts"] = part.data.astype(np.uint16)
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        print(f"{name}: {(folder / f'{name}.npz').stat().st_size / 1e6:.1f} MB", file=sys.stderr)


def filtered(counts: Any) -> Any:
    """Without rare words, and each document's most common words only."""
    from scipy.sparse import csr_array

    seen = np.asarray(counts.sum(axis=0)).ravel()
    rows, cols, values = [], [], []
    for n in range(counts.shape[0]):
        span = slice(counts.indptr[n], counts.indptr[n + 1])
        words, many = counts.indices[span], counts.data[span]
        keep = seen[words] >= FEWEST
        words, many = words[keep], many[keep]
        top = np.sort(np.argsort(-many, kind="stable")[:MOST_WORDS])
        rows.append(np.full(len(top), n))
        cols.append(words[top])
        values.append(many[top])
    data = np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))
    out = csr_array(data, shape=counts.shape)
    out.sort_indices()
    return out


def loaded(folder: Path, name: str) -> tuple[Any, Any]:
    """The test and the training documents of one dataset, unit vectors and nBOW weights."""
    from wayfare.many import Documents
    from wayfare.points import Points

    arrays = np.load(folder / f"{name}.npz")
    points = arrays["points"].astype(np.float32)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    shared = Points(points)
    sides = []
    for split in ("test", "train"):
        indptr, counts = arrays[f"{split}_indptr"], arrays[f"{split}_counts"].astype(np.float64)
        sizes = np.diff(indptr)
        sums = np.add.reduceat(np.append(counts, 0.0), indptr[:-1])
        weights = counts / np.repeat(np.where(sizes > 0, sums, 1.0), sizes)
        sides.append(Documents(shared, indptr, arrays[f"{split}_indices"], weights))
    return sides[0], sides[1]


# ---- what is measured -------------------------------------------------------------------------------


class Card(NamedTuple):
    """What the card was seen to do: float32 multiply-adds and bytes a second."""

    fma: float
    bytes: float


def measure(folder: Path, only: list[str], device: str) -> None:
    stand_in()
    import torch

    place = torch.device(device)
    r8 = loaded(folder, "r8")
    card = ceilings(place)
    head(place, r8, card)
    steps: dict[str, Callable[[], None]] = {
        "check": lambda: check(r8, place),
        "r8": lambda: pairs_a_second("r8", r8, place, 5),
        "floor": lambda: floor(r8, place, card),
        "search": lambda: search(r8, place),
        "20news": lambda: pairs_a_second("20news", loaded(folder, "20news"), place, 2),
        "paper": lambda: paper(r8, place),
        "cpu": lambda: cpu(r8),
        "tune": lambda: tune(r8, place),
    }
    for name, step in steps.items():
        if name in only:
            started = time.perf_counter()
            try:
                step()
            except Exception as error:  # one row that fails must not cost the others
                print(f"{name:8} FAILED {type(error).__name__}: {error}", flush=True)
            print(f"{'':8} ({time.perf_counter() - started:.0f} s in all)", flush=True)


def head(place: Any, r8: Any, card: Card) -> None:
    import torch

    name = torch.cuda.get_device_name(place) if place.type == "cuda" else "CPU tensors"
    print(f"{name}, PyTorch {torch.__version__}, {os.cpu_count()} cores, eta {ETA}, tol {TOL}")
    print(
        f"ceilings: {card.fma / 1e12:.1f} T multiply-adds/s in float32 (matrix product, no TF32), "
        f"{card.bytes / 1e12:.2f} TB/s (copy)"
    )
    sizes = [np.diff(side.indptr) for side in r8]
    print(f"r8: {len(r8[0])} x {len(r8[1])}, {sizes[0].mean():.1f} and {sizes[1].mean():.1f} words")


def stand_in() -> None:
    """One thread for BLAS from the start, where the package that sets it later is missing."""
    if importlib.util.find_spec("threadpoolctl") is None:
        limits = SimpleNamespace(restore_original_limits=lambda: None)
        controller = SimpleNamespace(limit=lambda **_: limits)
        module: Any = ModuleType("threadpoolctl")
        module.ThreadpoolController = lambda: controller
        sys.modules["threadpoolctl"] = module


def synchronised(place: Any) -> None:
    import torch

    if place.type == "cuda":
        torch.cuda.synchronize(place)


def median(work: Callable[[], Any], rounds: int, place: Any) -> tuple[float, float, float]:
    """Median, least and most seconds, after a warm-up."""
    work()
    seconds = []
    for _ in range(rounds):
        synchronised(place)
        started = time.perf_counter()
        work()
        synchronised(place)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), min(seconds), max(seconds)


def ceilings(place: Any) -> Card:
    import torch

    from wayfare.kernels.gpu.torches import exact_products

    size, many = (8192, 1 << 31) if place.type == "cuda" else (512, 1 << 24)
    a, b = (torch.randn(size, size, device=place) for _ in range(2))
    source = torch.randn(many // 4, device=place)
    goal = torch.empty_like(source)
    with exact_products():
        product, _, _ = median(lambda: a @ b, 10, place)
    copy, _, _ = median(lambda: goal.copy_(source), 10, place)
    return Card(size**3 / product, 2 * many / copy)


def desk_of(place: Any) -> Any:
    from wayfare.ondevice import Desk

    return Desk(place, ETA, TOL, 1e-12, os.cpu_count() or 1)


def distances(sides: Any, place: Any) -> tuple[Any, Any]:
    """Certified bounds on all distances, from arrays on the host to arrays on the host."""
    from wayfare.ondevice import all_pairs

    bounds = all_pairs(*sides, desk_of(place), progress=False)
    for side in bounds:
        np.sqrt(2.0 * side, out=side)
        np.multiply(side, ETA, out=side)
    return bounds


def check(sides: Any, place: Any) -> None:
    """A seeded sample against the CPU's single solves, at a tighter tolerance."""
    from wayfare import wfr

    rng = np.random.default_rng(0)
    picks = np.sort(rng.choice(len(sides[0]), min(CHECKED, len(sides[0])), replace=False))
    few = sub(sides[0], picks)
    started = time.perf_counter()
    lower, upper = distances((few, sides[1]), place)
    first = time.perf_counter() - started
    gap = (upper**2 - lower**2) / np.maximum(upper**2, 1e-300)
    over = int(np.sum(gap[upper > 1e-6] > TOL * (1 + 1e-9)))
    wrong = 0
    for _ in range(300):
        i, j = rng.integers(len(few)), rng.integers(len(sides[1]))
        truth = wfr.solve(few.measure(i), sides[1].measure(j), eta=ETA, tol=1e-6).certificate
        low, high = (wfr.wfr_value(value, ETA) for value in (truth.lower, truth.upper))
        wrong += bool(lower[i, j] > high * (1 + 1e-9) or upper[i, j] < low * (1 - 1e-9))
    print(
        f"check    {lower.size} pairs, first call with compilation {first:.1f} s; not certified {over}; "
        f"of 300 compared with the CPU outside its interval {wrong}",
        flush=True,
    )


def sub(documents: Any, picks: Any) -> Any:
    """Some documents, over the same points."""
    from wayfare.many import Documents

    sizes = np.diff(documents.indptr)[picks]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = np.arange(indptr[-1]) + np.repeat(documents.indptr[picks] - indptr[:-1], sizes)
    kept = documents.indices[entries], documents.weights[entries]
    return Documents(documents.shared, indptr, *kept)


def pairs_a_second(name: str, sides: Any, place: Any, rounds: int) -> None:
    count = len(sides[0]) * len(sides[1])
    found: list[Any] = []

    def work() -> None:
        found[:] = distances(sides, place)

    seconds, least, most = median(work, rounds, place)
    lower, upper = found
    gap = upper**2 - lower**2 - TOL * (1 + 1e-9) * upper**2
    left = int(np.sum((gap > 0) & (upper > 1e-6)))
    print(
        f"{name:8} {count / 1e6:.1f} M pairs in {seconds:.3f} s ({least:.3f} to {most:.3f}): "
        f"{count / seconds / 1e6:.2f} M pairs/s, not certified {left}",
        flush=True,
    )


def search(sides: Any, place: Any) -> None:
    from wayfare.search import search_many

    queries = [sides[0].measure(i) for i in range(len(sides[0]))]
    hits: list[Any] = []

    def work() -> None:
        settings = {"k": 20, "eta": ETA, "tol": TOL, "device": str(place)}
        hits[:] = search_many([sides[1]], queries, **settings)

    seconds, least, most = median(work, 3, place)
    few = queries[:: max(len(queries) // 50, 1)]
    theirs = search_many([sides[1]], few, k=20, eta=ETA, tol=TOL)
    differ = sum(
        bool(np.any(a.lower > b.upper * (1 + 1e-9)) or np.any(b.lower > a.upper * (1 + 1e-9)))
        for a, b in zip(hits[:: max(len(queries) // 50, 1)], theirs, strict=True)
    )
    print(
        f"search   {len(queries)} queries in {seconds:.3f} s ({least:.3f} to {most:.3f}): "
        f"{1e3 * seconds / len(queries):.3f} ms a query, exact "
        f"{sum(one.exact for one in hits)}, solved to tol a query "
        f"{np.mean([one.work.solved for one in hits]):.1f}, {differ} of {len(few)} differ from the CPU's",
        flush=True,
    )


def cpu(sides: Any) -> None:
    from wayfare.front import _on_threads

    few = sub(sides[0], np.arange(min(CPU_QUERIES, len(sides[0]))))
    jobs = os.cpu_count() or 1
    import torch

    def work() -> None:
        _on_threads(few, sides[1], (ETA, TOL, 1e-12), None, jobs, False)

    seconds, least, most = median(work, 3, torch.device("cpu"))
    count = len(few) * len(sides[1])
    print(
        f"cpu      {count / 1e3:.0f} k pairs on {jobs} cores in {seconds:.3f} s "
        f"({least:.3f} to {most:.3f}): {count / seconds / 1e6:.3f} M pairs/s",
        flush=True,
    )


def paper(sides: Any, place: Any) -> None:
    """Algorithm 2 with its fixed schedule, as batched products: what the authors ran."""
    import torch

    from wayfare.kernels.gpu import placed
    from wayfare.kernels.gpu.engines import _padded
    from wayfare.kernels.gpu.torches import exact_products
    from wayfare.kernels.reference import PAPER_SCHEDULE

    desk = desk_of(place)
    few = sub(sides[0], np.arange(64))
    table = placed.table_of(desk.place(few), desk.place(sides[1]), ETA, torch.float32)
    count = PAPER_PAIRS if place.type == "cuda" else 256
    both = torch.arange(count, device=place)
    first, second = both % len(few), both // len(few)
    keep = (table.first.sizes[first] <= 64) & (table.second.sizes[second] <= 64)
    first, second = first[keep], second[keep]
    rows, mu = _padded(table.first, first, 64)
    cols, nu = _padded(table.second, second, 64)

    def work() -> None:
        h = table.cosines[rows[:, :, None], cols[:, None, :]]
        h = torch.where((mu > 0)[:, :, None] & (nu > 0)[:, None, :], h, 0.0)
        cost = -2.0 * h.log()
        phi, psi = torch.zeros_like(mu), torch.zeros_like(nu)
        for eps, sweeps in PAPER_SCHEDULE:
            plan = ((phi[:, :, None] + psi[:, None, :] - cost) / eps).exp()
            b = torch.ones_like(nu)
            for _ in range(sweeps):
                a = (mu / (phi.exp() * (plan @ b[:, :, None])[:, :, 0]).clamp(min=1e-30)) ** (
                    1 / (1 + eps)
                )
                b = (nu / (psi.exp() * (a[:, None, :] @ plan)[:, 0]).clamp(min=1e-30)) ** (
                    1 / (1 + eps)
                )
            phi = phi + eps * a.clamp(min=1e-30).log()
            psi = psi + eps * b.clamp(min=1e-30).log()

    with exact_products():
        seconds, least, most = median(work, 3, place)
    print(
        f"paper    {len(first) / 1e3:.0f} k pairs of at most 64 words in {seconds:.3f} s "
        f"({least:.3f} to {most:.3f}): {len(first) / seconds / 1e6:.3f} M pairs/s, not certified",
        flush=True,
    )


def floor(sides: Any, place: Any, card: Card) -> None:
    """Two multiply-adds an entry and sweep, four for a certificate; the results and two reads."""
    import torch

    from wayfare.kernels.gpu import placed
    from wayfare.kernels.gpu.torches import exact_products

    desk = desk_of(place)
    few = sub(sides[0], np.sort(np.random.default_rng(1).permutation(len(sides[0]))[:256]))
    with exact_products():
        mine, other = desk.place(few), desk.place(sides[1])
        table = placed.table_of(mine, other, ETA, torch.float32)
        f = torch.arange(len(few), device=place).repeat_interleave(len(sides[1]))
        s = torch.arange(len(sides[1]), device=place).repeat(len(few))
        found = desk.narrow(table, f, s)
        seconds, _, _ = median(lambda: desk.narrow(table, f, s), 3, place)
        making, _, _ = median(lambda: placed.table_of(mine, other, ETA, torch.float32), 3, place)
    entries = (mine.sizes[f] * other.sizes[s]).double()
    sweeps = found.sweeps.double()
    work = float((entries * (2 * sweeps + 4)).sum())
    passes = 2 * 2 * 4 * float(entries.sum()) + 16.0 * len(f)
    ideal = max(work / card.fma, passes / card.bytes)
    spread = np.percentile(found.sweeps.cpu().numpy(), [10, 50, 90, 99]).astype(int).tolist()
    print(
        f"floor    {len(f) / 1e6:.2f} M pairs: kernels {seconds:.3f} s, table {making:.3f} s; "
        f"{work / 1e9:.0f} G multiply-adds ({work / card.fma:.4f} s), {passes / 1e9:.1f} GB "
        f"({passes / card.bytes:.4f} s): {100 * ideal / seconds:.1f}% of the floor's rate\n"
        f"{'':8} sweeps a pair {float(sweeps.mean()):.1f}, percentiles 10/50/90/99 {spread}, "
        f"left to float64 {float(found.open.double().mean()):.2e}",
        flush=True,
    )


def tune(sides: Any, place: Any) -> None:
    """Pairs a second of a first pass, by size class and number of warps."""
    import torch

    from wayfare.kernels.gpu import engines, placed, problem

    if place.type != "cuda":
        return
    desk = desk_of(place)
    table = placed.table_of(
        desk.place(sub(sides[0], np.arange(256))), desk.place(sides[1]), ETA, torch.float32
    )
    keep = engines.warps_for
    for m, n in ((16, 16), (32, 32), (32, 64), (64, 64), (128, 64), (128, 128), (256, 32)):
        fits = [
            torch.nonzero((side.sizes > size // 2) & (side.sizes <= size))[:, 0]
            for side, size in ((table.first, m), (table.second, n))
        ]
        if not all(len(one) for one in fits):
            continue
        first, second = (grid.reshape(-1) for grid in torch.meshgrid(*fits, indexing="ij"))
        first, second = first[:400_000], second[:400_000]
        run = partial(engines.Fused().run, table, first, second, m, n, problem.PASSES[0], None)
        line = []
        for warps in (1, 2, 4, 8, 16):
            if 8 <= m * n / (32 * warps) <= 128:
                engines.warps_for = lambda m, n, warps=warps: warps
                seconds, _, _ = median(run, 3, place)
                line.append(f"{warps} warps {len(first) / seconds / 1e6:.1f}")
        engines.warps_for = keep
        print(
            f"tune     {m} x {n}: M pairs/s of one pass of 12 sweeps: {', '.join(line)}", flush=True
        )


if __name__ == "__main__":
    main()

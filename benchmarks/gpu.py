"""What the GPU does, measured on the GPU: one run, one table.

    python benchmarks/gpu.py --prepare FOLDER [--shared ../shared]    where the data are
    python benchmarks/gpu.py --data FOLDER                            where the GPU is
    python benchmarks/gpu.py --dry                                    anywhere: does every part run?

The first writes R8 and 20NEWS as arrays (some 12 MB): GloVe vectors of their words in float16, and for
each split `indptr`, `indices` and counts. 20NEWS drops words seen fewer than five times and keeps a
document's 500 most common. The second needs those, this package's source, NumPy, SciPy and PyTorch with
Triton, and nothing from a network; Numba for what is compared with the CPU, which is left out without it.
It takes some minutes, of which the kernels' compilation is the first one or two. The third makes up tiny
documents and goes through all parts with plain PyTorch on the CPU and Triton in its interpreter; its
figures mean nothing. `--without numba,threadpoolctl` does as if these were not installed.

Times are medians after a warm-up, from arrays on the host to arrays on the host, the device synchronised.

    check         a sample against the CPU's single solves
    r8            all test x train pairs, eta = 0.5, certified to 1e-3
    20news        the same on 20NEWS
    search        exact top 20 of all R8 test documents, the training documents being on the device
    cpu           the first pairs of R8 on all cores of the same machine
    paper         the paper's schedule, 480 sweeps, in plain batched PyTorch on the same GPU; the same
                  pairs certified by ours
    floor         multiply-adds and bytes of r8, over what the card was seen to do
    tune          a pass of the fused kernel by size class and number of warps
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
from tempfile import TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

ETA, TOL = 0.5, 1e-3
FEWEST, MOST_WORDS = 5, 500
PARTS = "check,r8,floor,search,20news,paper,cpu,tune"
CLASSES = ((16, 16), (32, 32), (32, 64), (64, 64), (128, 64), (128, 128), (256, 32))


class Sizes(NamedTuple):
    """How much of the data each part takes."""

    checked: int = 40
    compared: int = 300
    cpu_queries: int = 64
    paper_pairs: int = 1 << 17
    floor_queries: int = 256
    tuned_pairs: int = 400_000
    searched_again: int = 50


DRY = Sizes(2, 6, 2, 8, 2, 2, 3)

# What is measured, its unit and what it should be; the number of the line in the table.
TABLE = {
    "r8": ("1  R8 test x train, certified to 1e-3", "M pairs/s", "10"),
    "20news": ("2  20NEWS test x train, certified to 1e-3", "s", "15"),
    "search": ("3  exact top 20, R8 test", "ms a query", "0.2"),
    "cpu": ("4  over our own CPU path, all cores", "times", ""),
    "paper": ("   over the paper's schedule on the GPU, same pairs", "times", ""),
    "rate": ("5  share of the card's float32 rate", "%", ""),
    "bandwidth": ("   share of the card's bandwidth", "%", ""),
}


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="Certified distances a second on a GPU.")
    parser.add_argument("--prepare", type=Path, metavar="FOLDER")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("--without", default="", metavar="PACKAGES")
    parser.add_argument("--only", default=PARTS)
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args()
    for name in filter(None, asked.without.split(",")):
        sys.modules[name] = None  # type: ignore[assignment]
    if asked.prepare:
        prepare(Path(asked.shared), asked.prepare)
    elif asked.dry:
        with TemporaryDirectory() as folder:
            rehearse(Path(folder), asked.only.split(","))
    elif asked.data:
        measure(asked.data, asked.only.split(","), asked.device, Sizes())
    else:
        parser.error("give --prepare FOLDER, --data FOLDER or --dry")


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


def rehearse(folder: Path, only: list[str]) -> None:
    """Every part, in little, where there is no GPU."""
    os.environ["TRITON_INTERPRET"] = "1"
    rng = np.random.default_rng(0)
    for name, most in (("r8", 16), ("20news", 70)):
        arrays: dict[str, Any] = {"points": rng.normal(size=(150, 12)).astype(np.float16)}
        for split, count in (("test", 5), ("train", 26)):
            words = [
                np.sort(rng.choice(150, rng.integers(9, most), replace=False)) for _ in range(count)
            ]
            words[-1] = words[0]
            arrays[f"{split}_indptr"] = np.cumsum([0, *map(len, words)]).astype(np.int64)
            arrays[f"{split}_indices"] = np.concatenate(words).astype(np.int32)
            arrays[f"{split}_counts"] = np.ones(sum(map(len, words)), np.uint16)
        np.savez_compressed(folder / f"{name}.npz", **arrays)
    stand_in()
    import torch

    from wayfare.kernels.gpu import torches

    torches._found = lambda *_: torch.device("cpu")
    measure(folder, only, "cuda", DRY)


# ---- what is measured -------------------------------------------------------------------------------


class Card(NamedTuple):
    """What the card was seen to do: float32 multiply-adds and bytes a second."""

    fma: float
    bytes: float


def measure(folder: Path, only: list[str], device: str, sizes: Sizes) -> None:
    stand_in()

    from wayfare.kernels.gpu.torches import open_device

    place = open_device(device)
    r8 = loaded(folder, "r8")
    card = ceilings(place)
    head(place, r8, card)
    steps: dict[str, Callable[[], dict[str, float]]] = {
        "check": lambda: check(r8, place, sizes),
        "r8": lambda: {"r8": pairs_a_second("r8", r8, place, 5)[0]},
        "floor": lambda: floor(r8, place, card, sizes),
        "search": lambda: search(r8, place, device, sizes),
        "20news": lambda: {
            "20news": pairs_a_second("20news", loaded(folder, "20news"), place, 2)[1]
        },
        "paper": lambda: paper(r8, place, sizes),
        "cpu": lambda: cpu(r8, sizes),
        "tune": lambda: tune(r8, place, sizes),
    }
    told: dict[str, float] = {}
    failed: list[str] = []
    for name, step in steps.items():
        if name in only:
            started = time.perf_counter()
            try:
                told |= step()
            except Exception as error:  # one row that fails must not cost the others
                print(f"{name:8} FAILED {type(error).__name__}: {error}", flush=True)
                failed.append(name)
            print(f"{'':8} ({time.perf_counter() - started:.0f} s in all)", flush=True)
    if "r8" in told and "cpu" in told:
        told["cpu"] = told["r8"] / told["cpu"]
    else:
        told.pop("cpu", None)
    table(told)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def table(told: dict[str, float]) -> None:
    """The numbers of the run beside what they should be."""
    print(f"\n{'':52} {'measured':>10}  {'':10} target")
    for name, (what, unit, target) in TABLE.items():
        measured = f"{told[name]:.4g}" if name in told else "not run"
        print(f"{what:52} {measured:>10}  {unit:10} {target}")


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
    """Do without the packages that the GPU's machine may not have.

    Without threadpoolctl BLAS keeps its threads. Without Numba no kernel of the CPU runs: what only its
    closed forms and its finish could certify stays open, and is counted as not certified.
    """
    if missing("threadpoolctl"):
        limits = SimpleNamespace(restore_original_limits=lambda: None)
        controller = SimpleNamespace(limit=lambda **_: limits)
        module: Any = ModuleType("threadpoolctl")
        module.ThreadpoolController = lambda: controller
        sys.modules["threadpoolctl"] = module
    if missing("numba"):
        numba: Any = ModuleType("numba")
        extending: Any = ModuleType("numba.extending")
        numba.STAND_IN = True
        numba.types = SimpleNamespace(float32=None, float64=None, int32=None, int64=None)
        numba.extending = extending
        numba.njit = lambda **_: lambda function: SimpleNamespace(_cache=None, py_func=function)
        extending.intrinsic = lambda function: function
        extending.overload = lambda *_, **__: lambda function: function
        sys.modules |= {"numba": numba, "numba.extending": extending}
        from wayfare.ondevice.desk import Desk
        from wayfare.search import on_device

        def nothing(*_: Any) -> tuple[Any, Any]:
            return np.zeros(len(_[3])), np.full(len(_[3]), np.inf)

        Desk.finish = nothing  # type: ignore[method-assign,assignment]
        on_device._FromDevice.work_on = lambda *_: 0  # type: ignore[method-assign]
        print("without Numba: nothing is compared with the CPU", flush=True)


def missing(name: str) -> bool:
    return sys.modules.get(name, name) is None or (
        name not in sys.modules and importlib.util.find_spec(name) is None
    )


def without_numba() -> bool:
    return hasattr(sys.modules.get("numba"), "STAND_IN")


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


def check(sides: Any, place: Any, sizes: Sizes) -> dict[str, float]:
    """A seeded sample against the CPU's single solves, at a tighter tolerance."""
    from wayfare import wfr

    rng = np.random.default_rng(0)
    picks = np.sort(rng.choice(len(sides[0]), min(sizes.checked, len(sides[0])), replace=False))
    few = sub(sides[0], picks)
    started = time.perf_counter()
    lower, upper = distances((few, sides[1]), place)
    first = time.perf_counter() - started
    gap = (upper**2 - lower**2) / np.maximum(upper**2, 1e-300)
    over = int(np.sum(gap[upper > 1e-6] > TOL * (1 + 1e-9)))
    wrong, compared = 0, 0 if without_numba() else sizes.compared
    for _ in range(compared):
        i, j = rng.integers(len(few)), rng.integers(len(sides[1]))
        truth = wfr.solve(few.measure(i), sides[1].measure(j), eta=ETA, tol=1e-6).certificate
        low, high = (wfr.wfr_value(value, ETA) for value in (truth.lower, truth.upper))
        wrong += bool(lower[i, j] > high * (1 + 1e-9) or upper[i, j] < low * (1 - 1e-9))
    print(
        f"check    {lower.size} pairs, first call with compilation {first:.1f} s; not certified {over}; "
        f"of {compared} compared with the CPU outside its interval {wrong}",
        flush=True,
    )
    if wrong:
        raise AssertionError(f"{wrong} intervals do not meet those of the CPU")
    return {}


def sub(documents: Any, picks: Any) -> Any:
    """Some documents, over the same points."""
    from wayfare.many import Documents

    sizes = np.diff(documents.indptr)[picks]
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    entries = np.arange(indptr[-1]) + np.repeat(documents.indptr[picks] - indptr[:-1], sizes)
    kept = documents.indices[entries], documents.weights[entries]
    return Documents(documents.shared, indptr, *kept)


def pairs_a_second(name: str, sides: Any, place: Any, rounds: int) -> tuple[float, float]:
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
    return count / seconds / 1e6, seconds


def search(sides: Any, place: Any, device: str, sizes: Sizes) -> dict[str, float]:
    from wayfare.search import search_many

    queries = [sides[0].measure(i) for i in range(len(sides[0]))]
    hits: list[Any] = []

    def work() -> None:
        settings = {"k": 20, "eta": ETA, "tol": TOL, "device": device}
        hits[:] = search_many([sides[1]], queries, **settings)

    seconds, least, most = median(work, 3, place)
    apart = max(len(queries) // sizes.searched_again, 1)
    few = [] if without_numba() else queries[::apart]
    theirs = search_many([sides[1]], few, k=20, eta=ETA, tol=TOL)
    differ = sum(
        bool(np.any(a.lower > b.upper * (1 + 1e-9)) or np.any(b.lower > a.upper * (1 + 1e-9)))
        for a, b in zip(hits[::apart], theirs, strict=False)
    )
    print(
        f"search   {len(queries)} queries in {seconds:.3f} s ({least:.3f} to {most:.3f}): "
        f"{1e3 * seconds / len(queries):.3f} ms a query, exact "
        f"{sum(one.exact for one in hits)}, solved to tol a query "
        f"{np.mean([one.work.solved for one in hits]):.1f}, {differ} of {len(few)} differ from the CPU's",
        flush=True,
    )
    return {"search": 1e3 * seconds / len(queries)}


def cpu(sides: Any, sizes: Sizes) -> dict[str, float]:
    if without_numba():
        return {}
    from wayfare.front import _on_threads

    few = sub(sides[0], np.arange(min(sizes.cpu_queries, len(sides[0]))))
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
    return {"cpu": count / seconds / 1e6}


def paper(sides: Any, place: Any, sizes: Sizes) -> dict[str, float]:
    """Algorithm 2 with its fixed schedule, as batched products: what the authors ran."""
    import torch

    from wayfare.kernels.gpu import placed
    from wayfare.kernels.gpu.engines import _padded
    from wayfare.kernels.gpu.torches import exact_products
    from wayfare.kernels.reference import PAPER_SCHEDULE

    desk = desk_of(place)
    few = sub(sides[0], np.arange(min(64, len(sides[0]))))
    table = placed.table_of(desk.place(few), desk.place(sides[1]), ETA, torch.float32)
    count = min(sizes.paper_pairs, len(few) * len(sides[1]))
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
        ours, _, _ = median(lambda: desk.narrow(table, first, second), 3, place)
    print(
        f"paper    {len(first) / 1e3:.0f} k pairs of at most 64 words in {seconds:.3f} s "
        f"({least:.3f} to {most:.3f}): {len(first) / seconds / 1e6:.3f} M pairs/s, not certified; "
        f"ours {ours:.3f} s, certified",
        flush=True,
    )
    return {"paper": seconds / ours}


def floor(sides: Any, place: Any, card: Card, sizes: Sizes) -> dict[str, float]:
    """Two multiply-adds an entry and sweep, four for a certificate; the results and two reads."""
    import torch

    from wayfare.kernels.gpu import placed
    from wayfare.kernels.gpu.torches import exact_products

    desk = desk_of(place)
    few = sub(
        sides[0],
        np.sort(np.random.default_rng(1).permutation(len(sides[0]))[: sizes.floor_queries]),
    )
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
    return {
        "rate": 100 * work / card.fma / seconds,
        "bandwidth": 100 * passes / card.bytes / seconds,
    }


def tune(sides: Any, place: Any, sizes: Sizes) -> dict[str, float]:
    """Pairs a second of a first pass, by size class and number of warps."""
    import torch

    from wayfare.kernels.gpu import engines, placed, problem
    from wayfare.kernels.gpu.tritons import HAS_TRITON

    if not HAS_TRITON:
        return {}
    desk = desk_of(place)
    table = placed.table_of(
        desk.place(sub(sides[0], np.arange(min(256, len(sides[0]))))),
        desk.place(sides[1]),
        ETA,
        torch.float32,
    )
    keep = engines.warps_for
    for m, n in CLASSES:
        fits = [
            torch.nonzero((side.sizes > size // 2) & (side.sizes <= size))[:, 0]
            for side, size in ((table.first, m), (table.second, n))
        ]
        if not all(len(one) for one in fits):
            continue
        first, second = (grid.reshape(-1) for grid in torch.meshgrid(*fits, indexing="ij"))
        first, second = first[: sizes.tuned_pairs], second[: sizes.tuned_pairs]
        some = engines.Batch(table, first, second, m, n)
        run = partial(engines.Fused().run, some, problem.PASSES[0], None)
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
    return {}


if __name__ == "__main__":
    main()

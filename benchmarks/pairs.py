"""How fast one distance is, beside what can be installed today. One table, one run, one thread.

    python benchmarks/pairs.py [--documents 140] [--sample 60] [--shared ../shared]

R8 documents in GloVe and in built-in vectors, both at unit length: all pairs of two times 140 seeded
documents through `pairwise`, points to certified distances, in microseconds of processor time a pair
(median of five; other work on the machine changes it less than the time on the clock, and on one idle
core the two are the same). The rivals are slower, so they solve a seeded sample of the same pairs, and
are given what helps them:

    mm_unbalanced    POT's majorisation-minimisation, costs included: "as it stops" by itself, which
                     knows no gap; and "same gap", stopped by an oracle at the iteration where its own
                     plan and potentials first prove the gap that ours prove. Which one that is, is
                     found beforehand; neither that nor any check of the gap is timed
    emd2             POT's exact balanced transport, distances included
    reference        our own float64 NumPy of the paper's algorithms and schedule, cosines included
    wmdistance       gensim's, words included; its vectors are looked up by word

Below the table: multiply-adds a second, then what a call costs, and on the clock an import and a first
call.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import wayfare as wf
from wayfare.ground import cosines, costs, distances
from wayfare.kernels.reference import objective, wfr_doc_dist
from wayfare.threads import one_blas_thread

ETAS = (1.0, 1 / 2, 1 / 3, 1 / 4)
TOL = 1e-3
MOST_ITERATIONS = 20_000
ROUNDS = 5
CALLS = 400

Pair = tuple[wf.Measure, wf.Measure]


class Rivals(NamedTuple):
    """Microseconds a pair of each; of `mm_unbalanced` also how often it never got there."""

    majorised: float
    majorised_to_gap: float
    not_reached: int
    exact: float
    reference: float
    gensim: float


class Solved(NamedTuple):
    """A block: the multiply-adds of a pair's distances, on their own and as shared, and the rivals."""

    vectors: str
    eta: float
    alone: float
    shared: float
    rivals: Rivals


def main() -> None:
    here = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description="Microseconds a pair, ours and others'.")
    parser.add_argument("--documents", type=int, default=140)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--shared", type=Path, default=os.environ.get("WAYFARE_SHARED", here))
    asked = parser.parse_args()
    texts = sample_of_r8(Path(asked.shared), 2 * asked.documents)
    with one_blas_thread():
        solved = blocks(texts, asked.documents, asked.sample, Path(asked.shared))
        floors(solved, rates())
        overhead()
        eight_digits()
    processes()


# ---- one block of pairs -----------------------------------------------------------------------------


def blocks(texts: list[str], documents: int, sample: int, shared: Path) -> list[Solved]:
    solved = []
    print(
        f"{documents} x {documents} pairs of R8 documents, tol {TOL:g}, one thread; "
        f"rivals on {sample} of the pairs\n"
    )
    print(f"{'':22} {'':>9}   | microseconds a pair of, and how many times ours is that fast")
    print(
        f"{'vectors':8} {'words':>5} {'eta':>6} {'ours':>6} {'gap':>8} | {'mm as it stops':>16} "
        f"{'mm, same gap':>16} {'emd2':>11} {'reference':>14} {'wmdistance':>14}"
    )
    for name, vectors in (("GloVe", glove(shared)), ("built-in", wf.WordVectors.default())):
        here = wf.Corpus.from_texts(texts[:documents], vectors=vectors)
        there = wf.Corpus.from_texts(texts[documents:], vectors=vectors)
        words = (len(here.indices) + len(there.indices)) / (len(here) + len(there))
        places = random.Random(1).sample(range(documents**2), sample)
        pairs = [(here[p // documents], there[p % documents]) for p in places]
        pairs = [(a, b) for a, b in pairs if len(a) and len(b)]
        for eta in ETAS:
            bounds = wf.pairwise_bounds(here, there, eta=eta, tol=TOL, n_jobs=1)
            low, high = bounds.lower**2, bounds.upper**2
            gap = float(np.max((high - low) / np.maximum(high, 1e-12)))
            solve = partial(wf.pairwise, here, there, eta=eta, tol=TOL, n_jobs=1)
            mine = median(solve) * 1e6 / documents**2
            found = rivals(pairs, eta, vectors)
            show(name, words, eta, mine, gap, found)
            solved.append(Solved(name, eta, *multiply_adds(here, there), found))
    return solved


def show(name: str, words: float, eta: float, mine: float, gap: float, found: Rivals) -> None:
    late = f"  ({found.not_reached} never got there)" if found.not_reached else ""
    others = (found.majorised, found.majorised_to_gap, found.exact, found.reference, found.gensim)
    shown = [f"{t:,.0f} {t / mine:,.{0 if t / mine >= 20 else 1}f}x" for t in others]
    fitted = " ".join(f"{s:>{w}}" for s, w in zip(shown, (16, 16, 11, 14, 14), strict=True))
    print(
        f"{name:8} {words:5.1f} {eta:6.3f} {mine:6.1f} {gap:8.1e} | {fitted}{late}",
        flush=True,
    )


def rivals(pairs: Sequence[Pair], eta: float, vectors: wf.WordVectors) -> Rivals:
    from ot.lp import emd2

    needed = [iterations(a, b, eta) for a, b in pairs]
    late = sum(n >= MOST_ITERATIONS for n in needed)
    keyed = keyed_vectors(vectors, pairs)
    return Rivals(
        seconds_a_pair(pairs, lambda a, b, _: majorise(a, b, eta)),
        seconds_a_pair(pairs, lambda a, b, n: majorise(a, b, eta, n), needed),
        late,
        seconds_a_pair(pairs, lambda a, b, _: emd2(a.weights, b.weights, far(a, b))),
        seconds_a_pair(
            pairs, lambda a, b, _: wfr_doc_dist(a.weights, b.weights, cosines(*points(a, b), eta))
        ),
        seconds_a_pair(pairs, lambda a, b, _: keyed.wmdistance(a.words, b.words)),
    )


def seconds_a_pair(
    pairs: Sequence[Pair], solve: Callable[[Any, Any, Any], Any], extra: Any = None
) -> float:
    """Microseconds, the better of two runs over all pairs."""
    extra = [None] * len(pairs) if extra is None else extra
    best = np.inf
    for _ in range(2):
        start = time.thread_time()
        for (a, b), more in zip(pairs, extra, strict=True):
            solve(a, b, more)
        best = min(best, time.thread_time() - start)
    return best / len(pairs) * 1e6


def points(a: wf.Measure, b: wf.Measure) -> tuple[Any, Any]:
    return a.points, b.points


def far(a: wf.Measure, b: wf.Measure) -> Any:
    return distances(a.points, b.points)


def majorise(
    a: wf.Measure, b: wf.Measure, eta: float, iterations: int | None = None, start: Any = None
) -> Any:
    from ot.unbalanced import mm_unbalanced

    cost = costs(cosines(a.points, b.points, eta))
    stop = {} if iterations is None else {"numItermax": iterations, "stopThr": 0.0}
    return mm_unbalanced(a.weights, b.weights, cost, 1.0, div="kl", G0=start, **stop)


def iterations(a: wf.Measure, b: wf.Measure, eta: float) -> int:
    """How many `mm_unbalanced` needs until it proves `TOL`, to a twelfth."""
    h, done, plan = cosines(a.points, b.points, eta), 0, None
    if not h.any():
        return 1
    while done < MOST_ITERATIONS:
        more = max(1, done // 12)
        plan = majorise(a, b, eta, more, plan)
        done += more
        value = objective(plan, a.weights, b.weights, h)
        if value - dual(plan, a, b, h) <= TOL * value:
            return done
    return MOST_ITERATIONS


def dual(plan: Any, a: wf.Measure, b: wf.Measure, h: Any) -> float:
    """The dual value of `e^-phi = r / mu`, made feasible by two C-transforms, at its best constant."""
    kernel, rows = h**2, h.any(axis=1)
    inverse = a.weights[rows] / np.maximum(plan.sum(axis=1)[rows], 1e-300)
    back = (kernel[rows] * inverse[:, None]).max(axis=0)
    reach = np.divide(kernel, back, out=np.zeros_like(kernel), where=back > 0).max(axis=1)
    return float(a.mass + b.mass - 2 * np.sqrt((reach @ a.weights) * (back @ b.weights)))


# ---- what they are measured on ----------------------------------------------------------------------


def sample_of_r8(shared: Path, count: int) -> list[str]:
    with gzip.open(shared / "data/reuters.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    return random.Random(0).sample(texts, count)


def glove(shared: Path) -> wf.WordVectors:
    folder = shared / "vectors"
    return wf.WordVectors.load(
        folder / "glove100.vectors.npy", vocabulary=folder / "glove100.vocab.txt"
    )


def keyed_vectors(vectors: wf.WordVectors, pairs: Sequence[Pair]) -> Any:
    from gensim.models import KeyedVectors

    words = sorted({word for pair in pairs for one in pair for word in one.words or ()})
    keyed = KeyedVectors(vectors.dim)
    keyed.add_vectors(words, vectors.embed(words)[0])
    return keyed


def median(work: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        work()
        seconds.append(time.thread_time() - start)
    return float(np.median(seconds))


# ---- multiply-adds ----------------------------------------------------------------------------------


def rates() -> float:
    """The inner product loop of a sweep, beside a plain dot product as long; the best of all."""
    import numba

    from wayfare.kernels.cpu.jit import FAST_MATH
    from wayfare.kernels.cpu.passes import add_rows

    compiled = numba.njit(fastmath=FAST_MATH, error_model="numpy")

    @compiled
    def dots(x: Any, y: Any, repeats: int) -> float:
        total = np.float32(0)
        for _ in range(repeats):
            part = np.float32(0)
            for i in range(len(x)):
                part += x[i] * y[i]
            x[0] = part * np.float32(1e-9)  # so that no round may be left out
            total += part
        return total

    @compiled
    def sweeps(matrix: Any, scale: Any, out: Any, repeats: int) -> None:
        for _ in range(repeats):
            add_rows(matrix, scale, out)
            scale[0] = out[0] * np.float32(1e-9)

    print(
        f"\n{'multiply-adds of float32, billions a second':46} {'loop':>6} {'dot':>6} {'share':>6}"
    )
    best = 0.0
    for size in (32, 48, 80):
        rng = np.random.default_rng(0)
        x, y = rng.random((2, size * size), np.float32)
        matrix, scale = x.reshape(size, size).copy(), rng.random(size, np.float32)
        out, repeats = np.empty(size, np.float32), 10**9 // size**2
        dots(x, y, 1)
        sweeps(matrix, scale, out, 1)
        work = size * size * repeats / 1e9
        dot = work / median(partial(dots, x, y, repeats))
        loop = work / median(partial(sweeps, matrix, scale, out, repeats))
        best = max(best, dot, loop)
        print(
            f"  {f'{size} x {size} words':44} {loop:6.1f} {dot:6.1f} {loop / dot:6.0%}", flush=True
        )
    words, others = rng.random((1024, 256), np.float32), rng.random((256, 1024), np.float32)
    product = 1024 * 256 * 1024 / 1e9 / median(partial(np.matmul, words, others))
    print(f"  {'one product of 1,024 x 256 by 256 x 1,024':44} {product:6.1f}", flush=True)
    return max(best, product)


def multiply_adds(here: wf.Corpus, there: wf.Corpus) -> tuple[float, float]:
    """Of the inner products of a pair's words: each pair on its own, and by a table of all words."""
    dim, words = here.points.shape[1], len(here.indices) / len(here)
    shared = len(np.unique(there.indices)) / len(there)
    return words * len(there.indices) / len(there) * dim, words * shared * dim


def floors(solved: Sequence[Solved], rate: float) -> None:
    """What a thousandth of `mm_unbalanced` leaves for a pair, beside its distances alone."""
    print("\nmicroseconds a pair that 1,000 times leave, and those of its distances alone")
    print(f"at {rate:.1f} billion multiply-adds a second, each pair on its own or from one table")
    print(f"{'vectors':8} {'eta':>6} {'same gap':>9} {'as it stops':>12} {'own':>6} {'table':>6}")
    for one in solved:
        to_gap, stops = one.rivals.majorised_to_gap / 1e3, one.rivals.majorised / 1e3
        alone, shared = one.alone / rate / 1e3, one.shared / rate / 1e3
        print(
            f"{one.vectors:8} {one.eta:6.3f} {to_gap:9.2f} {stops:12.2f} {alone:6.2f} {shared:6.2f}",
            flush=True,
        )


# ---- what a call costs ------------------------------------------------------------------------------


def many_calls(a: wf.Measure, b: wf.Measure, eta: float) -> None:
    for _ in range(CALLS):
        wf.distance(a, b, eta=eta)


def overhead() -> None:
    rng = np.random.default_rng(0)
    print(f"\n{'one call of wf.distance on two measures of ten words':54} {'':>4} {'sweeps':>6}")
    for eta in ETAS:
        unit = rng.standard_normal((20, 100))
        unit[:] += 0.7 * rng.standard_normal(100)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        here, there = (wf.Measure(part, np.full(10, 0.1)) for part in (unit[:10], unit[10:]))
        took = median(partial(many_calls, here, there, eta))
        sweeps = wf.distance(here, there, eta=eta).work.sweeps
        print(f"  {f'eta {eta:.3f}':46} {took / CALLS * 1e6:6.0f} us {sweeps:6}", flush=True)


def eight_digits() -> None:
    rng = np.random.default_rng(0)
    print(f"\n{'one call of wf.distance with tol 1e-8':54} {'':>4} {'newton':>6}")
    for eta in ETAS:
        unit = rng.standard_normal((400, 100)) + 0.7 * rng.standard_normal(100)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        here, there = (wf.Measure(part, rng.dirichlet(np.ones(200))) for part in np.split(unit, 2))
        answer = wf.distance(here, there, eta=eta, tol=1e-8)
        took = median(partial(wf.distance, here, there, eta=eta, tol=1e-8))
        said = f"eta {eta:.3f}, 200 words a side, {answer.status.value}"
        print(f"  {said:46} {took * 1e3:6.0f} ms {answer.work.newton_steps:6}", flush=True)


TEXTS = "'Rain falls on the river', 'Snow falls on the lake'"
MEASURES = "w.Measure([[0.,1.],[1.,0.]],[.5,.5]), w.Measure([[1.,1.],[1.,.5]],[.5,.5])"


def processes() -> None:
    """New processes, from the start of the interpreter: the best of five; compilation once."""
    print("\na new process, seconds above an interpreter that does nothing")
    idle = best_process("pass")
    for what, code in (
        ("import wayfare", "import wayfare"),
        (
            "first distance of two measures, kernels cached",
            f"import wayfare as w; w.distance({MEASURES})",
        ),
        (
            "first distance of two texts, kernels cached",
            f"import wayfare as w; w.distance({TEXTS})",
        ),
    ):
        print(f"  {what:46} {best_process(code) - idle:6.2f} s", flush=True)
    for what, code in (
        ("compiled once: distance", f"w.distance({MEASURES})"),
        ("compiled once: distance and pairwise", f"w.distance({MEASURES}); w.pairwise([{TEXTS}])"),
    ):
        with tempfile.TemporaryDirectory() as fresh:
            before = os.times()
            process(f"import wayfare as w; {code}", NUMBA_CACHE_DIR=fresh)
            after = os.times()
        took = after.children_user + after.children_system
        took -= before.children_user + before.children_system
        print(f"  {what + ', processor time':46} {took:6.2f} s", flush=True)


def best_process(code: str) -> float:
    process(code)  # whatever is compiled or read for the first time
    return min(process(code) for _ in range(ROUNDS))


def process(code: str, **environment: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | environment)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

"""The kernels of the GPU, against the same oracle as those of the CPU.

Plain PyTorch on every device there is; Triton on the GPU, and in its interpreter where there is none.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
HAS_GPU = torch.cuda.is_available()
if not HAS_GPU:
    os.environ.setdefault("TRITON_INTERPRET", "1")

import oracle  # noqa: E402
import wayfare as wf  # noqa: E402
from strategies import Pair, cloud, pairs, weights  # noqa: E402
from wayfare import wfr  # noqa: E402
from wayfare.errors import InputError, MissingExtraError, WayfareError  # noqa: E402
from wayfare.kernels.gpu import bounds, engines, placed, problem, torches, tritons  # noqa: E402
from wayfare.kernels.gpu import pairs as batches  # noqa: E402
from wayfare.many import Documents  # noqa: E402
from wayfare.measure import Measure  # noqa: E402
from wayfare.ondevice import blocks, desk  # noqa: E402
from wayfare.search import search_many  # noqa: E402

DEVICES = [torch.device("cpu"), *([torch.device("cuda")] if HAS_GPU else [])]
needs_triton = pytest.mark.skipif(not tritons.HAS_TRITON, reason="Triton is not installed")

PLACES = [pytest.param((engines.Plain(), device), id=f"plain-{device}") for device in DEVICES]
FUSED = pytest.param(
    (engines.Fused(), DEVICES[-1]),
    id="fused-cuda" if HAS_GPU else "fused-interpreted",
    marks=needs_triton,
)
place = pytest.mark.parametrize("where", PLACES)
TILED = pytest.param(
    (engines.Tiled(), DEVICES[-1]),
    id="tiled-cuda" if HAS_GPU else "tiled-interpreted",
    marks=needs_triton,
)
everywhere = pytest.mark.parametrize("where", [*PLACES, FUSED])


def put(documents: Documents, device) -> placed.Placed:
    return placed.Placed.of(
        documents.points,
        documents.indptr,
        documents.indices,
        documents.weights,
        documents.masses,
        device,
    )


def table(first, second, eta, dtype, device):
    sides = (put(Documents.of_measures(some), device) for some in (first, second))
    return placed.table_of(*sides, eta, dtype)


def narrowed(first, second, eta, where, *, dtype=torch.float32, tol=1e-3, cut=None):
    """Bounds on J of all pairs, flat, in float64 on the host, and which are open."""
    engine, device = where
    both = table(first, second, eta, dtype, device)
    i = torch.arange(len(first), device=device).repeat_interleave(len(second))
    j = torch.arange(len(second), device=device).repeat(len(first))
    limit = None if cut is None else torch.as_tensor(cut, device=device).double()
    found = batches.narrow(both, i, j, batches.Goal(tol, 1e-12, limit), [engine])
    return tuple(side.cpu().numpy() for side in (found.lower, found.upper, found.open))


def documents(seed, count, *, dim=16, most=40, kind="sphere", how="counts"):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        size = int(rng.integers(0, most))
        points = cloud(rng, kind, size, dim) if size else np.zeros((0, dim))
        found.append(Measure(points, weights(rng, how, size)))
    return found


def slack_of(pair: Pair) -> float:
    return oracle.ROUNDING * (pair.first.mass + pair.second.mass)


@pytest.fixture
def on_cpu(monkeypatch):
    """`device="cuda"` on the tensors of the CPU, where there is no GPU."""
    if not HAS_GPU:
        monkeypatch.setattr(torches, "_found", lambda *_: torch.device("cpu"))


# ---- the bounds -------------------------------------------------------------------------------------


@place
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@settings(max_examples=80)
@given(pair=pairs(most=20))
def test_bounds_enclose_the_value(where, dtype, pair):
    if pair.first.dim != pair.second.dim:
        return
    lower, upper, _ = narrowed([pair.first], [pair.second], pair.eta, where, dtype=dtype)
    truth = wfr.solve(pair.first, pair.second, eta=pair.eta, tol=1e-7).certificate
    assert lower[0] <= truth.upper + slack_of(pair)
    assert truth.lower <= upper[0] + slack_of(pair)
    assert 0 <= lower[0] <= upper[0]


@place
@settings(max_examples=40)
@given(pair=pairs(most=10))
def test_bounds_enclose_what_majorisation_minimisation_finds(where, pair):
    lower, upper, _ = narrowed([pair.first], [pair.second], pair.eta, where)
    c = oracle.cost(pair.first.points, pair.second.points, pair.eta)
    low, high = oracle.majorised(pair.first.weights, pair.second.weights, c)
    assert lower[0] <= high + slack_of(pair)
    assert low <= upper[0] + slack_of(pair)


@needs_triton
@settings(max_examples=15)
@given(pair=pairs(most=14, dims=(1, 3, 8)))
def test_the_fused_kernel_encloses_the_value(pair):
    where = (engines.Fused(), DEVICES[-1])
    for dtype in (torch.float32, torch.float64):
        lower, upper, _ = narrowed([pair.first], [pair.second], pair.eta, where, dtype=dtype)
        truth = wfr.solve(pair.first, pair.second, eta=pair.eta, tol=1e-7).certificate
        assert lower[0] <= truth.upper + slack_of(pair)
        assert truth.lower <= upper[0] + slack_of(pair)


@everywhere
@pytest.mark.parametrize("eta", [1.0, 0.5, 0.25])
def test_documents_are_certified_to_the_tolerance(where, eta):
    count = 4 if isinstance(where[0], engines.Fused) and not HAS_GPU else 7
    first, second = documents(1, count), documents(2, count)
    lower, upper, left = narrowed(first, second, eta, where)
    assert not left.any()
    assert np.all(upper - lower <= 1e-3 * upper)
    pairs_of = [(a, b) for a in first for b in second]
    for (a, b), low, high in zip(pairs_of, lower, upper, strict=True):
        truth = wfr.solve(a, b, eta=eta, tol=1e-6).certificate
        rounding = 1e-14 * (a.mass + b.mass)
        assert low <= truth.upper + rounding
        assert truth.lower <= high + rounding


@everywhere
@pytest.mark.parametrize("sizes", [(1, 1), (1, 40), (17, 16), (33, 130), (130, 33)])
def test_every_size_class_agrees(where, sizes):
    rng = np.random.default_rng(sum(sizes))
    sides = [[Measure(cloud(rng, "sphere", n, 6), weights(rng, "random", n))] for n in sizes]
    lower, upper, left = narrowed(*sides, 0.7, where)
    truth = wfr.solve(sides[0][0], sides[1][0], eta=0.7, tol=1e-8).objective
    assert lower[0] <= truth * (1 + 1e-7)
    assert truth <= upper[0] * (1 + 1e-7)
    assert not left[0]


@pytest.mark.parametrize("where", [TILED])
def test_tiles_find_what_whole_plans_find(where, monkeypatch):
    monkeypatch.setattr(engines, "TILE_ENTRIES", 512)  # so that there are several of them
    rng = np.random.default_rng(9)
    first, second = (
        [Measure(cloud(rng, "sphere", n, 12), weights(rng, "counts", n)) for n in sizes]
        for sizes in ((5, 40), (33, 7))
    )
    for eta in (0.5, 1.0):
        mine = narrowed(first, second, eta, where)
        plain = narrowed(first, second, eta, (engines.Plain(), where[1]), dtype=torch.float64)
        assert not mine[2].any()
        assert np.all(mine[1] - mine[0] <= 1e-3 * mine[1])
        assert np.all(mine[0] <= plain[1] * (1 + 1e-12))
        assert np.all(plain[0] <= mine[1] * (1 + 1e-12))


def apart(seed, size, groups):
    """Clouds too far from each other to meet, of other masses on each side, and a point alone."""
    rng = np.random.default_rng(seed)
    points = [cloud(rng, "sphere", size, 6) * 0.4 + 9.0 * group for group in range(groups)]
    masses = [rng.dirichlet(np.ones(size)) * 10.0 ** rng.uniform(-1, 1) for _ in range(groups)]
    alone = np.full((1, 6), -9.0 - 9.0 * seed)
    return Measure(np.concatenate([*points, alone]), np.concatenate([*masses, [0.7]]))


@pytest.mark.parametrize("where", [PLACES[0], FUSED, TILED])
def test_what_falls_apart_is_certified_with_a_constant_for_each_part(where, monkeypatch):
    monkeypatch.setattr(engines, "TILE_ENTRIES", 512)
    first, second = [apart(1, 9, 2), apart(2, 4, 1)], [apart(3, 11, 2)]
    lower, upper, left = narrowed(first, second, 0.6, where)
    for one, low, high in zip(first, lower, upper, strict=True):
        truth = wfr.solve(one, second[0], eta=0.6, tol=1e-8).objective
        assert low <= truth * (1 + 1e-7)
        assert truth <= high * (1 + 1e-7)
        assert high - low <= 1e-3 * high
    assert not left.any()


@needs_triton
@settings(max_examples=8)
@given(pair=pairs(most=20, dims=(1, 3, 8)))
def test_the_tiled_kernel_encloses_the_value(pair):
    lower, upper, _ = narrowed(
        [pair.first], [pair.second], pair.eta, (engines.Tiled(), DEVICES[-1])
    )
    truth = wfr.solve(pair.first, pair.second, eta=pair.eta, tol=1e-7).certificate
    assert lower[0] <= truth.upper + slack_of(pair)
    assert truth.lower <= upper[0] + slack_of(pair)


@needs_triton
def test_the_fused_kernel_and_the_plain_one_take_the_same_steps():
    first, second = documents(3, 3, most=20), documents(4, 3, most=20)
    for eta in (0.8, 0.3):
        plain = narrowed(first, second, eta, (engines.Plain(), DEVICES[-1]), dtype=torch.float64)
        fused = narrowed(first, second, eta, (engines.Fused(), DEVICES[-1]), dtype=torch.float64)
        for a, b in zip(plain[:2], fused[:2], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


# ---- rounding ---------------------------------------------------------------------------------------


@place
@settings(max_examples=120)
@given(pair=pairs(most=30, etas=(1.0, 0.5, 0.25)), tol=st.sampled_from([1e-2, 1e-3, 1e-5]))
def test_bounds_in_float32_never_cross_those_in_float64(where, pair, tol):
    low32, high32, _ = narrowed([pair.first], [pair.second], pair.eta, where, tol=tol)
    low64, high64, _ = narrowed(
        [pair.first], [pair.second], pair.eta, where, tol=tol, dtype=torch.float64
    )
    assert low32[0] <= high64[0] + slack_of(pair)
    assert low64[0] <= high32[0] + slack_of(pair)


@everywhere
@settings(max_examples=25)
@given(pair=pairs(most=24, least=1, dims=(1, 3, 50), etas=(1.0, 0.5, 0.25), decades=1))
def test_float32_potentials_give_the_bound_that_is_claimed_for_them(where, pair):
    # The same potentials through the same formula from exact costs: rounding went the safe way.
    engine, device = where
    for now in problem.PASSES[:1]:
        both = table([pair.first], [pair.second], pair.eta, torch.float32, device)
        size = [max(16, 1 << (len(one) - 1).bit_length()) for one in (pair.first, pair.second)]
        one = torch.zeros(1, dtype=torch.int64, device=device)
        if not len(both.first.places) or not len(both.second.places):
            return
        _, high, potentials = engine.run(engines.Batch(both, one, one, *size), now, None)
        log_a = potentials[0, : int(both.first.sizes[0])].cpu().numpy().astype(np.float64)
    keep = [np.flatnonzero(one.weights) for one in (pair.first, pair.second)]
    x, y = pair.first.points[keep[0]], pair.second.points[keep[1]]
    mu, nu = (
        one.weights[at] / one.mass for one, at in zip((pair.first, pair.second), keep, strict=True)
    )
    k = np.exp(-oracle.cost(x, y, pair.eta))
    alive = k.any(1)
    if not alive.any() or np.abs(log_a).max() > 2 * problem.LARGEST_EXPONENT:
        return
    b = (k[alive] / 2.0 ** log_a[alive, None]).max(0)
    with np.errstate(divide="ignore"):
        a = (k[alive] / np.where(b > 0, b, np.inf)).max(1)
    exact = np.sqrt((a @ mu[alive]) * (b @ nu))
    rounding = float(
        problem.rounding_of(both.first.sizes + both.second.sizes, both.slack, torch.float32)
    )
    parts = float(high[0]) < exact - rounding  # by part it may be smaller, and then still bounds
    truth = wfr.solve(pair.first, pair.second, eta=pair.eta, tol=1e-8).certificate
    scale = 2 * np.sqrt(pair.first.mass * pair.second.mass)
    least = (pair.first.mass + pair.second.mass - truth.upper) / scale
    assert float(high[0]) + rounding >= least - 1e-12
    assert parts or float(high[0]) + rounding >= exact * (1 - 1e-12)


def test_products_are_never_rounded_to_ten_bits():
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("medium")
        inside, leave = threading.Event(), threading.Event()

        def other():
            with torches.exact_products():
                inside.set()
                leave.wait()

        thread = threading.Thread(target=other)
        thread.start()
        inside.wait()
        with torches.exact_products():
            assert torch.get_float32_matmul_precision() == "highest"
        # One holder is left: nothing may be put back yet.
        assert torch.get_float32_matmul_precision() == "highest"
        leave.set()
        thread.join()
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


# ---- its ends ---------------------------------------------------------------------------------------


@everywhere
@pytest.mark.parametrize("mass", [1e-200, 1e-6, 1.0, 1e6, 1e200])
def test_two_diracs_have_a_closed_form(where, mass):
    for apart in (0.0, 0.3, 1.0, 3.2):
        here, there = Measure([[0.0]], [mass]), Measure([[apart]], [2 * mass])
        lower, upper, _ = narrowed([here], [there], 1.0, where, dtype=torch.float64)
        h = max(np.cos(min(apart / 2, np.pi / 2)), 0.0)
        truth = (3 - 2 * np.sqrt(2) * h) * mass
        assert lower[0] == pytest.approx(truth, rel=1e-11)
        assert upper[0] == pytest.approx(truth, rel=1e-11)


@everywhere
def test_the_zero_measure_and_what_cannot_travel(where):
    some = Measure([[0.0, 1.0], [2.0, 3.0]], [0.25, 0.5])
    away = Measure([[50.0, 1.0], [60.0, 3.0], [70.0, 0.0]], [0.5, 0.5, 1.0])
    nothing = Measure(np.zeros((0, 2)), [])
    lower, upper, left = narrowed([some, nothing], [away, nothing, some], 0.5, where)
    np.testing.assert_allclose(lower[:2], [2.75, 0.75], rtol=1e-5)
    np.testing.assert_allclose(upper[:2], [2.75, 0.75], rtol=1e-5)
    np.testing.assert_array_equal(lower[3:], [2.0, 0.0, 0.75])
    np.testing.assert_array_equal(upper[3:], [2.0, 0.0, 0.75])
    assert lower[2] <= 1e-15
    assert upper[2] <= 1e-4
    # Float32 cannot certify a document with itself, and says so.
    assert left.tolist() == [False, False, True, False, False, False]


@everywhere
def test_what_is_proven_to_be_far_is_left_alone(where):
    first, second = documents(5, 2, most=20), documents(6, 3, most=20)
    lower, upper, _ = narrowed(first, second, 0.5, where, tol=1e-4)
    cut = 0.9 * lower
    low, high, left = narrowed(first, second, 0.5, where, tol=1e-4, cut=cut)
    assert np.all(low > cut)
    assert not left.any()
    assert np.all(low <= upper * (1 + 1e-9))
    assert np.all(lower <= high * (1 + 1e-9))


# ---- through the front door -------------------------------------------------------------------------


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("settings_", [{}, {"tol": 1e-5}, {"dtype": "float32"}, {"eta": 0.25}])
def test_all_pairs_are_those_of_the_cpu(settings_):
    first, second = documents(7, 7, most=16), documents(8, 8, most=16)
    second[3] = first[5]
    second[4] = Measure(first[6].points, 3 * first[6].weights)
    second[5] = Measure(first[2].points + 1e-7, first[2].weights)
    for other in (second, None):
        mine = wf.pairwise_bounds(first, other, device="cuda", **settings_)
        truth = wf.pairwise_bounds(first, other, **settings_)
        assert np.all(mine.lower <= truth.upper * (1 + 1e-9) + 1e-7)
        assert np.all(truth.lower <= mine.upper * (1 + 1e-9) + 1e-7)
        far = mine.upper > 1e-4
        gap = mine.upper[far] ** 2 - mine.lower[far] ** 2
        assert np.all(gap <= settings_.get("tol", 1e-3) * mine.upper[far] ** 2 * (1 + 1e-9))
    itself = wf.pairwise(first, device="cuda")
    np.testing.assert_array_equal(itself, itself.T)
    assert not itself.diagonal().any()


@pytest.mark.usefixtures("on_cpu")
def test_blocks_do_not_change_the_bounds(monkeypatch):
    first, second = documents(9, 8, most=20), documents(10, 9, most=20)
    whole = wf.pairwise_bounds(first, second, device="cuda")
    monkeypatch.setattr(batches, "MOST_PAIRS_A_BLOCK", 7)
    monkeypatch.setattr(desk, "MOST_ELEMENTS", 1500)
    monkeypatch.setattr(blocks, "ROWS_AT_LEAST", 20)
    monkeypatch.setattr(desk, "PAIRS_IN_DOUBLE", 3)
    monkeypatch.setattr(placed, "PRODUCTS", 512)
    parts = wf.pairwise_bounds(first, second, device="cuda")
    np.testing.assert_allclose(parts.lower, whole.lower, rtol=1e-6)
    np.testing.assert_allclose(parts.upper, whole.upper, rtol=1e-6)
    triangle = wf.pairwise(first, device="cuda")
    monkeypatch.undo()
    if not HAS_GPU:
        monkeypatch.setattr(torches, "_found", lambda *_: torch.device("cpu"))
    np.testing.assert_allclose(triangle, wf.pairwise(first, device="cuda"), rtol=1e-6)


class Small(engines.Plain):
    """A device whose memory holds few pairs at a time."""

    def __init__(self, most):
        self.most, self.seen = most, []

    def run(self, some, *rest):
        if len(some.first) > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        self.seen.append(len(some.first))
        return super().run(some, *rest)


def test_out_of_memory_halves_the_block_and_goes_on():
    first, second = documents(11, 8), documents(12, 9)
    whole = narrowed(first, second, 0.5, (engines.Plain(), DEVICES[0]))
    small = Small(5)
    parts = narrowed(first, second, 0.5, (small, DEVICES[0]))
    assert max(small.seen) <= 5
    for a, b in zip(whole[:2], parts[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_out_of_memory_on_one_pair_says_what_to_do():
    first, second = documents(11, 2), documents(12, 2)
    with pytest.raises(WayfareError, match=r'free memory on it.*or use device="cpu"'):
        narrowed(first, second, 0.5, (Small(0), DEVICES[0]))


@pytest.mark.usefixtures("on_cpu")
def test_a_table_that_does_not_fit_is_made_in_halves(monkeypatch):
    make, seen = placed.table_of, []

    def tight(first, second, eta, dtype):
        if len(first) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        seen.append(len(first))
        return make(first, second, eta, dtype)

    first, second = documents(13, 10), documents(14, 6)
    whole = wf.pairwise(first, second, device="cuda")
    monkeypatch.setattr(placed, "table_of", tight)
    np.testing.assert_allclose(wf.pairwise(first, second, device="cuda"), whole, rtol=1e-6)
    assert max(seen) <= 3


def test_another_error_is_not_taken_for_memory():
    def broken(block):
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match="something else"):
        batches.in_blocks(broken, 4, 4)


# ---- search -----------------------------------------------------------------------------------------


def unit(found):
    return [one.normalized() for one in found]


@pytest.fixture(scope="module")
def shelves():
    """Two collections, with copies of a document across them, and queries, some of them documents."""
    corpus = unit(documents(21, 90, most=16))
    corpus[7] = corpus[60] = corpus[4]
    queries = [
        *unit(documents(22, 5, most=14)),
        corpus[4],
        corpus[9],
        Measure(np.zeros((0, 16)), []),
    ]
    return [Documents.of_measures(corpus[:50]), Documents.of_measures(corpus[50:])], queries


def assert_same_up_to_ties(a, b):
    """The same documents, but for those that are as far as the last one to the last bits.

    What no word of the query reaches is `|mu| + |nu|` away, whichever way that was rounded.
    """
    for one, other in ((a, b), (b, a)):
        for id_, far, low, _, _ in one:
            if id_ not in other.ids:
                assert far == pytest.approx(low, rel=1e-14)
                assert far == pytest.approx(other.distances[-1], rel=1e-14)


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize(
    "asked",
    [
        {"k": 5},
        {"k": 1, "tol": 1e-2},
        {"k": 200},
        {"k": None, "within": 0.6},
        {"k": 3, "within": 0.6},
        {"k": 4, "allowed": True},
        {"k": 5, "eta": 0.25},
    ],
)
def test_batches_find_what_the_cpu_finds(shelves, asked):
    collections, queries = shelves
    asked = dict(asked)
    if asked.pop("allowed", False):
        mask = np.arange(50) % 3 > 0
        asked["allowed"] = [mask, None]
    mine = search_many(collections, queries, device="cuda", **asked)
    theirs = search_many(collections, queries, **asked)
    for a, b in zip(mine, theirs, strict=True):
        # Every document of mass one is equally far from the zero measure: a tie on both.
        assert a.exact == b.exact
        assert len(a) == len(b)
        # Where intervals overlap, the two may be in either order.
        there = {id_: (low, high) for id_, _, low, high, _ in b}
        assert_same_up_to_ties(a, b)
        for id_, _, low, high, _ in a:
            if id_ not in there:
                continue
            assert low <= there[id_][1] * (1 + 1e-9) + 1e-9
            assert there[id_][0] <= high * (1 + 1e-9) + 1e-9
        assert a.work.documents == b.work.documents
        assert not a.ordered or np.all(np.diff(a.distances) >= 0)


@pytest.mark.usefixtures("on_cpu")
def test_copies_are_at_distance_0_in_the_order_of_their_ids(shelves):
    collections, queries = shelves
    hits = search_many(collections, queries, k=4, device="cuda")[5]
    assert hits.ids[:3] == [4, 7, 60]
    assert hits.distances[:3].max() <= 1e-7
    # One of three copies at the border: a tie that the ids decide, and still exact.
    hits = search_many(collections, queries, k=2, device="cuda")[5]
    assert hits.ids == [4, 7]
    assert hits.exact


@pytest.mark.usefixtures("on_cpu")
def test_searching_in_halves_finds_the_same(shelves, monkeypatch):
    collections, queries = shelves
    whole = search_many(collections, queries, k=3, device="cuda")
    make = placed.vocabulary_table

    def tight(first, second, eta, dtype):
        if len(first) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return make(first, second, eta, dtype)

    monkeypatch.setattr(placed, "vocabulary_table", tight)
    for a, b in zip(whole, search_many(collections, queries, k=3, device="cuda"), strict=True):
        assert a.ids == b.ids


@pytest.mark.usefixtures("on_cpu")
def test_an_index_answers_batches_on_a_gpu(tmp_path):
    texts = ["rain and wind", "wind on the river", "a quiet evening", "the bank lifts its rates"]
    with wf.Index.build(tmp_path / "news.index", wf.Corpus.from_texts(texts)) as index:
        mine = index.search(["rain", "rates rise"], k=2, device="cuda")
        theirs = index.search(["rain", "rates rise"], k=2)
    assert [one.ids for one in mine] == [one.ids for one in theirs]
    assert [one.texts for one in mine] == [one.texts for one in theirs]


@place
@settings(max_examples=25)
@given(pair=pairs(most=20))
def test_the_bound_by_words_is_below_the_value(where, pair):
    sides = [put(Documents.of_measures([one]), where[1]) for one in (pair.first, pair.second)]
    if sides[0].points.shape[1] != sides[1].points.shape[1]:
        return
    found = placed.vocabulary_table(*sides, pair.eta, torch.float32)
    lower = float(bounds.search_bounds(found)[0, 0])
    truth = wfr.solve(pair.first, pair.second, eta=pair.eta, tol=1e-6).certificate.upper
    assert lower <= truth + slack_of(pair)


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("asked", [{"metric": "wmd"}, {"mode": "fast", "solves": 3}])
def test_a_gpu_searches_exactly_under_wfr_alone(shelves, asked):
    with pytest.raises(InputError, match=r"device: 'cuda' came with .*runs on a GPU"):
        search_many(*shelves, k=3, device="cuda", **asked)


# ---- what it says -----------------------------------------------------------------------------------


@pytest.mark.skipif(HAS_GPU, reason="there is a CUDA device")
def test_without_a_device_it_says_what_to_run():
    with pytest.raises(InputError, match=r"no CUDA device.*pip install 'wayfare\[gpu\]'.*\"cpu\""):
        wf.pairwise(["rain"], ["sun"], device="cuda")


def test_without_pytorch_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    torches.torch.cache_clear()
    try:
        with pytest.raises(MissingExtraError, match=r"device='cuda'.*pip install 'wayfare\[gpu\]'"):
            wf.pairwise(["rain"], ["sun"], device="cuda")
    finally:
        torches.torch.cache_clear()


@pytest.mark.parametrize("name", ["tpu", "cuda:x", "cuda:", "", None, 0])
def test_other_names_are_refused(name):
    with pytest.raises(InputError, match='give "cpu", "cuda"'):
        wf.pairwise(["rain"], ["sun"], device=name)


def test_only_wfr_runs_on_a_gpu():
    with pytest.raises(InputError, match="metric='wmd'; only \"wfr\" runs on a GPU"):
        wf.pairwise(["rain"], ["sun"], metric="wmd", device="cuda")


# ---- compiled without a GPU -------------------------------------------------------------------------


COMPILE = """
import sys, triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from wayfare.kernels.gpu import fused, tiled
kernel = {"fused": fused.solve_in_registers, "tiled": tiled.solve_in_tiles}[sys.argv[1]]
real, warps = sys.argv[2], int(sys.argv[3])
constants = {"RELAX": 1.8} | {name: int(value) for name, value in
                              (one.split("=") for one in sys.argv[4:])}
whole = ("stride", "row_stride", "col_stride", "width", "depth", "fresh")
kinds = {name: "i32" for name in whole} | {"power": "fp32"}
kinds |= {name: "*i64" for name in kernel.arg_names if name.endswith("starts")}
kinds |= {name: "*i32" for name in kernel.arg_names
          if name.endswith(("words", "columns", "places", "stages")) or name.startswith("pair_")}
signature = {name: kinds.get(name, "*" + real) for name in kernel.arg_names
             if name not in constants}
made = triton.compile(ASTSource(kernel, signature, constexprs=constants),
                      target=GPUTarget("cuda", 90, 32), options={"num_warps": warps})
text = made.asm["ptx"]
print(len(made.asm["cubin"]), text.count("tf32"), text.count("mma"))
"""


@needs_triton
@pytest.mark.parametrize(
    "what",
    ["fused fp32 1 M=32 N=32", "fused fp64 1 M=16 N=16", "tiled fp32 16 M=256 TILE=32"],
)
def test_the_kernels_compile_for_hopper_without_tf32(what):
    # In a process of its own: in this one they are interpreted.
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    run = subprocess.run(
        [sys.executable, "-c", COMPILE, *what.split()],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    size, tf32, products = (int(number) for number in run.stdout.split())
    assert size > 0
    assert (tf32, products) == (0, 0)

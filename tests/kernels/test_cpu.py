"""The compiled kernels, each against what its docstring says; certificates checked again in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import WEIGHTS, cloud, weights
from wayfare.ground import cosines
from wayfare.kernels.cpu import anneal, batch, components, lanes, memory, passes, powers
from wayfare.kernels.cpu import problem as problem_
from wayfare.kernels.cpu.jit import jit

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 40)
DTYPES = [np.float32, np.float64]


def problem(seed: int, m: int, n: int, eta: float, kind: str = "sphere"):
    """Cosines and weights at mass one of a random problem, every point with a partner or without."""
    rng = np.random.default_rng(seed)
    h = cosines(cloud(rng, kind, m, 4), cloud(rng, kind, n, 4), eta)
    mu, nu = (weights(rng, str(rng.choice(WEIGHTS[:4])), k) for k in (m, n))
    return h, mu / mu.sum(), nu / nu.sum()


def loaded(h, mu, nu, dtype):
    whole = problem_.shaped.py_func(problem_.workspace(*h.shape, dtype), *h.shape)
    columns = np.arange(h.shape[1], dtype=np.int32)
    batch.load(np.ascontiguousarray(h.T, dtype), columns, mu, nu, 1.0, whole)
    return whole


def goal(tol: float) -> anneal.Goal:
    return anneal.Goal(2.0, 2.0, 0.0, 0.0, tol, 1e-12, np.inf)


def solve(h, mu, nu, dtype, tol=1e-3, depth=anneal.DEPTH):
    """Bounds on the affinity, and the feasible pair and plan that prove them."""
    m, n = h.shape
    kept = batch.Kept(np.zeros(m), np.zeros(n), np.zeros((m, n)))
    whole, work = loaded(h, mu, nu, dtype), problem_.workspace(m, n, dtype)
    found = components.solve_components(
        whole, m, n, goal(tol), work, components.parts(m, n), depth, kept
    )
    return found, kept


# ---- lanes --------------------------------------------------------------------------------------------


@jit
def lane_by_lane(x, y, whole, line, out):
    """Every operation on lanes, a row of `out` each."""
    a, b = memory.take(x, 3), memory.take(y, 1)
    memory.put(out, (0, 0), a + b)
    memory.put(out, (1, 0), 2.0 - a)
    memory.put(out, (2, 0), a * b / 3)
    memory.put(out, (3, 0), lanes.largest(a, b))
    memory.put(out, (4, 0), lanes.smallest(a, 0))
    memory.put(out, (5, 0), lanes.where_larger(a, b, 1, a))
    memory.put(out, (6, 0), lanes.root(b))
    memory.put(out, (7, 0), memory.some(x, 3, 5))
    memory.put(out, (8, 0), memory.alike(whole, (2, 5)))
    memory.put(out, (9, 0), memory.take(whole, (1, 7)))
    memory.put(out, (10, 0), lanes.spread(out, lanes.total(a)))
    memory.put(out, (11, 0), lanes.peak(a))
    memory.turn(whole, (2, 1), line, (3, 6))


@pytest.mark.parametrize("dtype", DTYPES)
def test_lanes_do_what_arrays_do(dtype):
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((2, 24)).astype(dtype)
    y, whole = abs(y), rng.random((20, 32)).astype(dtype)
    line, out = np.zeros((20, 32), dtype), np.empty((12, 16), dtype)
    lane_by_lane(x, y, whole, line, out)
    a, b = x[3:19], y[1:17]
    five = np.where(np.arange(16) < 5, a, 0)
    rows = [a + b, 2 - a, a * b / 3, np.maximum(a, b), np.minimum(a, 0), np.where(a > b, 1, a)]
    rows += [np.sqrt(b), five, np.full(16, whole[2, 5]), whole[1, 7:23]]
    rows += [np.full(16, a.sum()), np.full(16, a.max())]
    np.testing.assert_allclose(out, rows, rtol=8 * np.finfo(dtype).eps, atol=1e-6)
    np.testing.assert_array_equal(line[3:19, 6:22], whole[2:18, 1:17].T)
    line[3:19, 6:22] = 0
    assert not line.any()


# ---- passes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(8, 16), (40, 48), (16, 80), (104, 16), (24, 112), (8, 96)])
def test_passes_over_a_matrix(dtype, shape):
    rng = np.random.default_rng(0)
    matrix, other = rng.random((2, *shape)).astype(dtype)
    matrix[rng.random(shape) < 0.4] = 0
    scale, out = rng.random(shape[0]).astype(dtype), np.empty(shape[1], dtype)
    close = {"rtol": 50 * np.finfo(dtype).eps, "atol": 1e-30}
    passes.add_rows(matrix, scale, out)
    np.testing.assert_allclose(out, scale.astype(float) @ matrix, **close)
    passes.max_rows(matrix, scale, out)
    np.testing.assert_allclose(out, (scale[:, None] * matrix).max(0), **close)
    passes.semicouple_rows(matrix, other, scale, out)
    np.testing.assert_allclose(
        out, scale.astype(float) @ (matrix * other.astype(float) ** 2), **close
    )
    labels = np.arange(1, shape[0] + 1).astype(dtype)
    passes.highest_label(matrix, labels, out)
    np.testing.assert_array_equal(out, (labels[:, None] * (matrix > 0)).max(0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "n"), [(1, 1), (8, 16), (17, 9), (40, 100)])
def test_a_problem_is_loaded_with_its_transpose_and_zeros_around(dtype, m, n):
    rng = np.random.default_rng(0)
    table, columns = rng.random((2 * n, m)).astype(dtype), rng.permutation(2 * n)[:n]
    work = problem_.workspace(m, n, dtype)
    work[:] = np.nan  # what a problem before it left behind
    part = problem_.shaped.py_func(work, m, n)
    batch.load(table, columns, np.ones(m), np.full(n, 2.0), 2.0, part)
    for matrix, expected in ((part.cosines_t, table[columns]), (part.cosines, table[columns].T)):
        assert np.array_equal(matrix[: len(expected), : len(expected[0])], expected)
        assert not matrix[len(expected) :].any()
        assert not matrix[:, len(expected[0]) :].any()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("square", [True, False])
def test_a_plan_and_its_transpose_stay_equal_to_the_last_bit(dtype, square):
    rng = np.random.default_rng(1)
    h = rng.random((48, 48)).astype(dtype)
    plan, plan_t = np.empty_like(h), np.empty_like(h)
    floor = dtype(anneal.FLOOR)
    s, t = (2.0 ** rng.uniform(-60, 60, 48) for _ in range(2))
    s, t = s.astype(dtype), t.astype(dtype)
    ones = np.ones(48, dtype)
    passes.first_plan(h, ones, ones, plan)
    passes.first_plan(np.ascontiguousarray(h.T), ones, ones, plan_t)
    for _ in range(9):
        passes.sharpen(plan, s, t, square, floor)
        passes.sharpen(plan_t, t, s, square, floor)
        np.testing.assert_array_equal(plan, plan_t.T)
        assert np.isfinite(plan).all()
        s, t = s[::-1].copy(), t[::-1].copy()


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_and_logarithms_are_good_to_single_precision(dtype):
    @jit
    def both(x, y, log, power):
        for i in range(len(x)):
            log[i] = powers.log2(x[i])
            power[i] = powers.exp2(y[i])

    rng = np.random.default_rng(2)
    x, y = 2.0 ** rng.uniform(-99, 99, 10_000), rng.uniform(-130, 130, 10_000)
    x, y = x.astype(dtype), y.astype(dtype)
    log, power = np.empty_like(x), np.empty_like(y)
    both(x, y, log, power)
    np.testing.assert_allclose(log, np.log2(x.astype(float)), rtol=2e-7, atol=2e-7)
    np.testing.assert_allclose(power, np.exp2(np.clip(y.astype(float), -126, 126)), rtol=1e-6)


# ---- certificates -------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(seeds, sizes, sizes, st.sampled_from([1.0, 0.5, 0.25]), st.sampled_from(DTYPES))
def test_bounds_are_proven_by_what_is_kept(seed, m, n, eta, dtype):
    h, mu, nu = problem(seed, m, n, eta)
    h = h.astype(dtype).astype(float)  # so that both sides speak of the same cosines
    (_, lower, upper, _, _), kept = solve(h, mu, nu, dtype)
    slack = 4 * (m + n + 32) * np.finfo(dtype).eps
    assert lower <= upper + slack
    rows, cols = h.any(1), h.any(0)
    if not rows.any():
        assert upper == 0.0
        return
    a, b = kept.a[rows], kept.b[cols]
    # The potentials are feasible, and worth the upper bound, but for ceilings that were lower still.
    assert np.all(h[np.ix_(rows, cols)] ** 2 <= np.outer(a, b) * (1 + slack))
    worth = np.sqrt((a @ mu[rows]) * (b @ nu[cols]))
    assert upper * (1 - slack) - slack <= worth <= upper + 1e-2
    # The plan, split so that its rows are mu's, is worth the lower bound.
    sums = kept.plan.sum(1)
    sent = kept.plan * np.divide(mu, sums, out=np.zeros(m), where=sums > 0)[:, None]
    value = np.sum(np.sqrt(nu * (h**2 * sent).sum(0)))
    assert value == pytest.approx(lower, rel=1e-3, abs=1e-3)
    assert value <= worth * (1 + slack) + slack


@settings(max_examples=60)
@given(seeds, st.integers(2, 30), st.integers(2, 30), st.sampled_from(DTYPES))
def test_sparse_and_dense_agree(seed, m, n, dtype):
    # The same problem beside one out of its reach: solved whole, and taken apart.
    h, mu, nu = problem(seed, m, n, 2.0, "gauss")
    if not h.all():
        h = np.maximum(h, 1e-3)
    apart = np.zeros((m + 3, n + 2))
    apart[:m, :n] = h
    apart[m + 1 :, n + 1] = 0.5, 0.25
    more_mu, more_nu = np.append(mu, [0.1, 0.2, 0.3]), np.append(nu, [0.4, 0.5])
    (_, low, high, _, _), _ = solve(h, mu, nu, dtype)
    (_, low_apart, high_apart, _, _), _ = solve(apart, more_mu, more_nu, dtype)
    star = np.sqrt(0.5 * (0.2 * 0.5**2 + 0.3 * 0.25**2))
    slack = 4 * (m + n + 32) * np.finfo(dtype).eps
    assert low <= high_apart - star + slack
    assert low_apart - star <= high + slack


@settings(max_examples=60)
@given(seeds, sizes, sizes, st.sampled_from([1.0, 0.4]))
def test_single_and_double_precision_agree(seed, m, n, eta):
    h, mu, nu = problem(seed, m, n, eta)
    (_, low, high, _, _), _ = solve(h, mu, nu, np.float32)
    (_, low_double, high_double, _, _), _ = solve(h, mu, nu, np.float64)
    slack = 4 * (m + n + 32) * np.finfo(np.float32).eps
    assert low <= high_double + slack
    assert low_double <= high + slack


@settings(max_examples=100)
@given(seeds, sizes, sizes, st.sampled_from([0.5, 0.2, 0.1]))
def test_components_are_those_of_the_graph(seed, m, n, eta):
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    h, mu, nu = problem(seed, m, n, eta, "gauss")
    parts, whole = components.parts(m, n), loaded(h, mu, nu, np.float64)
    settled = components._label(whole)
    count = components._split(whole, m, n, parts)
    assert settled == (count <= 1)
    graph = np.zeros((m + n, m + n))
    graph[:m, m:] = h
    _, names = connected_components(csr_array(graph), directed=False)
    truth = {frozenset(np.flatnonzero(names == name)) for name in names}
    found = set()
    for part in range(count):
        first, last = parts[components.ROW_STARTS, part : part + 2]
        rows = parts[components.ROWS, first:last]
        first, last = parts[components.COL_STARTS, part : part + 2]
        cols = parts[components.COLS, first:last]
        found.add(frozenset(rows) | frozenset(m + cols))
    assert found == {one for one in truth if len(one) > 1}


# ---- stopping -----------------------------------------------------------------------------------------


def spread_of(many, query, cut, tol=1e-7):
    from wayfare.many import Documents

    documents = Documents.of_measures(many)
    return documents.solve(
        documents.query(query), np.arange(len(many)), eta=0.5, tol=tol, atol=1e-12, cut=cut
    )


def test_a_solve_stops_when_a_given_bound_is_passed():
    from wayfare.many import CUT, SINGLE_TOL
    from wayfare.measure import Measure

    rng = np.random.default_rng(3)
    query, *many = (
        Measure(cloud(rng, "sphere", 30, 6), rng.dirichlet(np.ones(30))) for _ in range(20)
    )
    full = spread_of(many, query, np.inf, SINGLE_TOL)
    cut = float(np.median(full.lower))
    early = spread_of(many, query, cut, SINGLE_TOL)
    above = full.lower > cut * 1.01
    assert above.any()
    # Whoever is above is left there, with fewer sweeps and a bound that says so; the others are solved.
    assert np.all(early.status[above] == CUT)
    assert np.all(early.lower[above] > cut)
    assert early.sweeps[above].sum() < 0.7 * full.sweeps[above].sum()
    below = full.upper < cut
    np.testing.assert_array_equal(early.upper[below], full.upper[below])
    # And no bound crosses the truth.
    assert np.all(early.lower <= full.upper * (1 + 1e-12))
    assert np.all(full.lower <= early.upper * (1 + 1e-12))


# ---- compilation --------------------------------------------------------------------------------------


class Kernel:
    signatures = ()
    cached = False

    @property
    def _cache(self):
        index = {"signature": "file"} if self.cached else {}
        return type(
            "Cache", (), {"_cache_file": type("File", (), {"_load_index": lambda _: index})()}
        )


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("cached", [True, False])
def test_compilation_is_announced_on_a_terminal_once(monkeypatch, capsys, terminal, cached):
    from wayfare.kernels.cpu import jit as compiler

    monkeypatch.setattr(compiler, "_announced", False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    known, first, second = Kernel(), Kernel(), Kernel()
    known.cached, first.cached, second.cached = True, cached, cached
    for kernel in (known, first, first, second):
        compiler.announce_compilation(kernel)
    said = capsys.readouterr().err
    assert said.count("compiling kernels for this machine, once") == (terminal and not cached)
    assert capsys.readouterr().out == ""


def test_a_change_in_any_kernel_makes_the_cache_stale(monkeypatch):
    from wayfare.kernels.cpu import jit as compiler

    stamp = compiler._source_stamp()
    assert stamp == compiler._source_stamp() == compiler._STAMP
    read = compiler.Path.read_bytes
    monkeypatch.setattr(compiler.Path, "read_bytes", lambda path: read(path) + b"#")
    assert compiler._source_stamp() != stamp


def test_an_index_of_an_older_release_is_read_as_empty(tmp_path, monkeypatch):
    import pickle
    import sys
    import types

    from wayfare.kernels.cpu import jit as compiler

    older = types.ModuleType("older_release")
    older.Gone = type("Gone", (), {"__module__": "older_release"})
    monkeypatch.setitem(sys.modules, "older_release", older)
    index = tmp_path / "index"
    index.write_bytes(pickle.dumps(older.Gone()))

    def load():
        return pickle.loads(index.read_bytes())

    assert type(compiler._forgiving(load)()) is older.Gone
    del older.Gone
    assert compiler._forgiving(load)() == {}
    monkeypatch.delitem(sys.modules, "older_release")
    assert compiler._forgiving(load)() == {}
    assert passes.add_rows._cache._cache_file._load_index.__qualname__.startswith("_forgiving")

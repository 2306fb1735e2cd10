"""Sparse plans: their certificates against dense ones in float64, on problems short and long."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cpu import goal, loaded, problem, seeds, sizes, solve

from wayfare.kernels.cpu import anneal, batch, components, sparse
from wayfare.kernels.cpu import problem as problem_

UNIT = 2.0**-24


def solve_sparse(h, mu, nu, tol, depth=anneal.DEPTH):
    """Bounds on the affinity, and the potentials of the rows that they end with."""
    work = loaded(h, np.where(h.any(1), mu, 0), np.where(h.any(0), nu, 0), np.float32)
    return sparse.anneal_sparse(work, *h.shape, goal(tol), depth), work.rows[problem_.LOG_A]


@settings(max_examples=150, deadline=None)
@given(seeds, sizes, sizes, st.sampled_from([1.0, 0.5, 0.25]), st.integers(1, anneal.DEPTH))
def test_bounds_of_a_sparse_plan_hold(seed, m, n, eta, depth):
    h, mu, nu = problem(seed, m, n, eta)
    h = h.astype(np.float32).astype(float)  # so that both sides speak of the same cosines
    if not h.any():
        return
    (_, low, high, _, _), _ = solve(h, mu, nu, np.float64, tol=1e-6)
    (_, lower, upper, _, _), log_a = solve_sparse(h, mu, nu, 1e-3, depth)
    assert lower <= high + 32 * UNIT
    assert upper >= low - 32 * UNIT
    # The upper bound is that of its potentials, formed with no more than a few roundings.
    rows, k = h.any(1), h**2
    b = (k[rows] / 2.0 ** log_a[:m][rows, None].astype(float)).max(0)
    a = np.divide(k, b, out=np.zeros_like(k), where=b > 0).max(1)
    if depth < anneal.DEPTH:
        return
    assert upper == pytest.approx(np.sqrt((a @ mu) * (b @ nu)), rel=32 * UNIT)


@pytest.mark.parametrize(("m", "n"), [(60, 500), (40, 700), (700, 9), (1100, 2), (2, 600)])
@pytest.mark.parametrize("eta", [1.0, 0.5, 0.25])
def test_long_problems_are_certified_without_the_rounding_of_long_sums(m, n, eta):
    h, mu, nu = problem(m + n, m, n, eta)
    table = np.ascontiguousarray(h.T, np.float32)
    found = {}
    for dtype in (np.float32, np.float64):
        spread = batch.Spread(
            np.full(1, -np.inf), np.full(1, np.inf), np.zeros(1, np.int8),
            np.zeros(1, np.int32), np.zeros(1, np.int8),
        )  # fmt: skip
        work, split = problem_.workspace(m, n, dtype), problem_.workspace(m, n, dtype)
        batch.solve_many(
            table.astype(dtype), np.full(m, -1, np.int32), mu, 1.0, np.array([0, n]),
            np.arange(n, dtype=np.int32), nu, np.array([0]), 1e-3, 1e-12, np.inf, np.empty(0), 0.0,
            anneal.DEPTH, work, split, components.parts(m, n), spread,
        )  # fmt: skip
        found[dtype] = spread
        assert sparse.is_long(problem_.shaped.py_func(work, m, n), m, n) == (dtype == np.float32)
    single, double = found[np.float32], found[np.float64]
    assert single.status[0] == double.status[0] == anneal.CERTIFIED
    assert single.lower[0] <= double.upper[0]
    assert double.lower[0] <= single.upper[0]


def test_a_row_of_equals_keeps_them():
    """Of many entries alike each is below the share that is kept, and none may be lost."""
    m, n = 900, 30
    h = np.full((m, n), 0.5)
    (status, lower, upper, _, _), _ = solve_sparse(h, np.full(m, 1 / m), np.full(n, 1 / n), 1e-3)
    assert status == anneal.CERTIFIED
    assert lower == pytest.approx(0.5, abs=1e-6)
    assert upper == pytest.approx(0.5, abs=1e-6)

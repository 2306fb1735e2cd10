"""One pair: bounds that hold, potentials and plans that prove them, and what the metric must satisfy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ot.lp import emd2
from scipy.spatial.distance import cdist

import oracle
from strategies import Pair, cloud, pairs, weights
from wayfare import wfr
from wayfare.kernels import reference
from wayfare.measure import Measure
from wayfare.solution import Solution, Status
from wayfare.wmd import hellinger


def cost_of(pair: Pair) -> np.ndarray:
    return oracle.cost(pair.first.points, pair.second.points, pair.eta)


def total_of(pair: Pair) -> float:
    return pair.first.mass + pair.second.mass


def solved(pair: Pair, tol: float = 1e-6) -> Solution:
    return wfr.solve(pair.first, pair.second, eta=pair.eta, tol=tol)


def rounding(pair: Pair) -> float:
    return oracle.ROUNDING * total_of(pair)


# ---- the bounds -------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(pairs(most=12), st.sampled_from([1e-2, 1e-3, 1e-5, 1e-7]))
def test_bounds_enclose_what_majorisation_minimisation_finds(pair, tol):
    answer = solved(pair, tol)
    low, high = oracle.majorised(pair.first.weights, pair.second.weights, cost_of(pair))
    slack = rounding(pair)
    assert answer.certificate.lower <= high + slack
    assert low <= answer.certificate.upper + slack
    # The oracle has converged, so these say something.
    assert high - low <= 0.05 * total_of(pair)


@settings(max_examples=60)
@given(pairs(most=10, decades=0, kinds=("equal", "counts", "random")))
def test_bounds_enclose_the_reference_at_tiny_epsilon(pair):
    answer = solved(pair)
    c = cost_of(pair)
    if c.size == 0:
        assert answer.objective == pytest.approx(total_of(pair), rel=1e-15)
        return
    h = np.exp(-c / 2)
    plan, _, _ = reference.wfr_doc_dist(
        pair.first.weights, pair.second.weights, h, [(2.0**-m, 60) for m in range(1, 12)]
    )
    low, high = oracle.bounds_of_plan(plan, pair.first.weights, pair.second.weights, c)
    assert answer.certificate.lower <= high + rounding(pair)
    assert low <= answer.certificate.upper + rounding(pair)
    assert high - low <= 0.01 * total_of(pair)


@settings(max_examples=800)
@given(pairs(), st.sampled_from([1e-2, 1e-3, 1e-6, 1e-8]))
def test_the_potentials_are_feasible_and_attain_the_lower_bound(pair, tol):
    answer = solved(pair, tol)
    phi, psi = answer.potentials
    rows, cols = np.flatnonzero(pair.first.weights), np.flatnonzero(pair.second.weights)
    assert oracle.excess(phi[rows], psi[cols], cost_of(pair)[np.ix_(rows, cols)]) <= 1e-11
    value = oracle.dual(phi, psi, pair.first.weights, pair.second.weights)
    # The certificate clips the value to [0, upper]: below zero it says nothing, above is rounding.
    clipped = min(max(value, 0.0), answer.certificate.upper)
    assert answer.certificate.lower == pytest.approx(clipped, abs=rounding(pair))


@settings(max_examples=800)
@given(pairs(), st.sampled_from([1e-2, 1e-3, 1e-6, 1e-8]))
def test_the_plan_attains_the_upper_bound_and_keeps_its_books(pair, tol):
    answer = solved(pair, tol)
    plan, slack = answer.plan, rounding(pair)
    mu, nu = pair.first.weights, pair.second.weights
    assert answer.objective == answer.certificate.upper
    assert plan.total == pytest.approx(answer.objective, abs=slack)
    assert min(plan.sent.min(initial=0), plan.received.min(initial=0)) >= 0
    assert min(plan.costs.min(initial=0), plan.destroyed.min(initial=0)) >= 0
    np.testing.assert_allclose(plan.sent.sum(1) + plan.destroyed, mu, rtol=0, atol=slack)
    np.testing.assert_allclose(plan.received.sum(0) + plan.created, nu, rtol=0, atol=slack)
    c = cost_of(pair)
    assert not np.any(plan.carried[np.isinf(c)])
    # The semi-coupling priced again, from the oracle's costs.
    together = np.exp(-c / 2) * np.sqrt(plan.sent * plan.received)
    price = plan.sent.sum() + plan.received.sum() - 2 * together.sum()
    left = plan.destroyed.sum() + plan.created.sum()
    assert price + left == pytest.approx(answer.objective, abs=4 * slack)
    # And R as a plan of the primal problem is worth at least J.
    assert oracle.primal(plan.carried, mu, nu, c) >= answer.certificate.lower - slack
    with np.errstate(divide="ignore"):
        again = reference.objective(plan.carried, mu, nu, np.exp(-c / 2))
    assert again >= answer.certificate.lower - slack


@settings(max_examples=800)
@given(pairs(), st.sampled_from([1e-1, 1e-3, 1e-6, 1e-9, 1e-13]))
def test_certified_means_that_the_gap_is_met(pair, tol):
    answer = solved(pair, tol)
    assert (
        0.0 <= answer.certificate.lower <= answer.certificate.upper <= total_of(pair) * (1 + 1e-15)
    )
    wanted = tol * max(answer.certificate.upper, 1e-12 * total_of(pair))
    met = answer.certificate.upper - answer.certificate.lower <= wanted
    assert (answer.status is Status.CERTIFIED) == met
    assert answer.status in (Status.CERTIFIED, Status.STALLED)
    if tol >= 1e-8 and answer.objective > 1e-6 * total_of(pair):
        assert met


@settings(max_examples=80)
@given(pairs(kinds=("equal", "counts", "random"), decades=2))
def test_the_papers_method_agrees_within_its_gap(pair):
    mine = solved(pair)
    theirs = wfr.solve(pair.first, pair.second, eta=pair.eta, method="paper")
    assert theirs.status is Status.UNCERTIFIED
    assert theirs.certificate.lower <= mine.certificate.upper + rounding(pair)
    assert mine.certificate.lower <= theirs.certificate.upper + rounding(pair)
    assert theirs.certificate.upper - theirs.certificate.lower <= 0.05 * total_of(pair)


@pytest.mark.parametrize("eta", [1.0, 0.5, 0.25])
@pytest.mark.parametrize("shape", [(200, 200), (200, 37)])
def test_eight_digits_are_reached_on_long_documents(eta, shape):
    rng = np.random.default_rng(8)
    m, n = shape
    x, y = cloud(rng, "sphere", m, 50), cloud(rng, "sphere", n, 50)
    y[:20] = x[:20]
    pair = Pair(Measure(x, weights(rng, "counts", m)), Measure(y, weights(rng, "random", n)), eta)
    answer = solved(pair, 1e-8)
    assert answer.status is Status.CERTIFIED
    phi, psi = answer.potentials
    c, mu, nu = cost_of(pair), pair.first.weights, pair.second.weights
    assert oracle.excess(phi, psi, c) <= 1e-12
    low, high = oracle.dual(phi, psi, mu, nu), oracle.primal(answer.plan.carried, mu, nu, c)
    assert low >= (1 - 1.01e-8) * answer.objective
    assert low <= high


def test_words_of_next_to_no_mass_do_not_throw_the_finish_off():
    # Twelve decades between the weights: flat directions, where a Newton step overflowed or never
    # came back.
    for seed in range(300):
        rng = np.random.default_rng(seed)
        m, n = rng.integers(1, 12, 2)
        x, y = cloud(rng, "line", m, 2), cloud(rng, "line", n, 2)
        pair = Pair(
            Measure(x, weights(rng, "decades", m)), Measure(y, weights(rng, "decades", n)), 0.25
        )
        answer = solved(pair, 1e-8)
        assert answer.status is Status.CERTIFIED or answer.objective < 1e-6 * total_of(pair)


def test_points_far_from_each_other_keep_their_small_distances():
    # Inner products around any one origin would lose the 0.02 in rounding: 1e6 squared times 2e-16.
    first = Measure([[0.0, 0.0], [1e6, 0.0]], [0.5, 0.5])
    second = Measure([[1e6, 0.02], [0.0, 0.02]], [0.5, 0.5])
    answer = wfr.solve(first, second, eta=0.1, tol=1e-6)
    assert answer.objective == pytest.approx(2 - 2 * np.cos(0.1), rel=1e-6)


# ---- what the metric is -----------------------------------------------------------------------------


@settings(max_examples=150)
@given(
    st.floats(0, 4),
    st.floats(-6, 6),
    st.floats(-6, 6),
    st.sampled_from([1.0, 0.5, 0.1]),
    st.sampled_from([1e-3, 1e-8]),
)
def test_two_diracs_have_a_closed_form(apart, log_p, log_q, eta, tol):
    p, q, apart = 10**log_p, 10**log_q, apart * eta
    answer = wfr.solve(Measure([[0.0]], [p]), Measure([[apart]], [q]), eta=eta, tol=tol)
    h = np.cos(min(apart / (2 * eta), np.pi / 2))
    truth = p + q - 2 * np.sqrt(p * q) * h
    slack = oracle.ROUNDING * (p + q)
    assert answer.certificate.lower == pytest.approx(truth, abs=slack)
    assert answer.certificate.upper == pytest.approx(truth, abs=slack)
    assert answer.value == pytest.approx(eta * np.sqrt(2 * answer.objective), rel=1e-15)


@settings(max_examples=150)
@given(pairs())
def test_the_two_sides_are_alike(pair):
    there = solved(pair, 1e-4)
    back = wfr.solve(pair.second, pair.first, eta=pair.eta, tol=1e-4)
    assert there.certificate.lower <= back.certificate.upper + rounding(pair)
    assert back.certificate.lower <= there.certificate.upper + rounding(pair)


@settings(max_examples=150)
@given(pairs(), st.integers(0, 2**20))
def test_nothing_separates_a_measure_from_itself(pair, seed):
    one = pair.first
    assert wfr.solve(one, one, eta=pair.eta).objective <= 1e-15 * one.mass
    order = np.random.default_rng(seed).permutation(len(one))
    other = Measure(one.points[order], one.weights[order])
    # Points that come twice take a solve, which ends where float64 does.
    assert wfr.solve(one, other, eta=pair.eta).objective <= 2e-14 * one.mass


@settings(max_examples=150)
@given(pairs(least=1), st.floats(-6, 6))
def test_the_objective_grows_with_the_mass(pair, log_factor):
    factor = 10.0**log_factor
    more = [Measure(one.points, one.weights * factor) for one in (pair.first, pair.second)]
    answer, scaled = solved(pair), wfr.solve(*more, eta=pair.eta, tol=1e-6)
    assert scaled.certificate.lower <= (answer.certificate.upper + rounding(pair)) * factor
    assert answer.certificate.lower * factor <= scaled.certificate.upper + rounding(pair) * factor


@settings(max_examples=150)
@given(pairs(least=1), st.integers(0, 2**20))
def test_order_and_splitting_of_points_do_not_matter(pair, seed):
    rng = np.random.default_rng(seed)
    one, answer = pair.first, solved(pair)
    twice = np.concatenate([np.arange(len(one)), rng.integers(0, len(one), 5)])
    part = rng.random(len(twice)) + 0.1
    part /= np.bincount(twice, part, len(one))[twice]
    order = rng.permutation(len(twice))
    split = Measure(one.points[twice][order], (one.weights[twice] * part)[order])
    other = wfr.solve(split, pair.second, eta=pair.eta, tol=1e-6)
    assert other.certificate.lower <= answer.certificate.upper + rounding(pair)
    assert answer.certificate.lower <= other.certificate.upper + rounding(pair)


@settings(max_examples=150)
@given(pairs(most=15), st.integers(0, 2**20))
def test_the_triangle_inequality(pair, seed):
    rng = np.random.default_rng(seed)
    dim = max(pair.first.dim, pair.second.dim)
    n = int(rng.integers(1, 12))
    both = np.concatenate([pair.first.points, pair.second.points])
    between = cloud(rng, "gauss", n, dim)
    if len(both):
        between = 0.5 * between + both[rng.integers(0, len(both), n)]
    third = Measure(between, weights(rng, "random", n) * 10.0 ** rng.uniform(-2, 2))

    def roots(a, b):
        certificate = wfr.solve(a, b, eta=pair.eta, tol=1e-5).certificate
        return np.sqrt(certificate.lower), np.sqrt(certificate.upper)

    straight, _ = roots(pair.first, pair.second)
    _, out = roots(pair.first, third)
    _, on = roots(third, pair.second)
    masses = pair.first.mass + pair.second.mass + third.mass
    assert straight <= out + on + np.sqrt(oracle.ROUNDING * masses) * 0.1


# ---- its ends ---------------------------------------------------------------------------------------


@settings(max_examples=80)
@given(pairs(decades=2, clouds=("gauss", "lattice", "sphere")))
def test_a_small_eta_is_hellinger(pair):
    answer = wfr.solve(pair.first, pair.second, eta=1e-5, tol=1e-9)
    truth = hellinger(pair.first, pair.second).objective
    assert answer.objective == pytest.approx(truth, rel=1e-8, abs=1e-12 * total_of(pair))


@pytest.mark.parametrize("seed", range(6))
def test_a_large_eta_is_transport_with_squared_distances(seed):
    # C = -2 log cos(d / 2 eta) = (d / 2 eta)^2 + O(eta^-4), so 4 eta^2 J -> W_2^2 at equal masses.
    rng = np.random.default_rng(seed)
    x, y = cloud(rng, "gauss", 12, 3), cloud(rng, "gauss", 9, 3)
    mu, nu = rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(9))
    truth = emd2(mu, nu, cdist(x, y) ** 2)
    errors = []
    for eta in (4.0, 40.0, 400.0):
        answer = wfr.solve(Measure(x, mu), Measure(y, nu), eta=eta, tol=1e-8)
        assert answer.status is Status.CERTIFIED
        errors.append(abs(4 * eta**2 * answer.objective / truth - 1))
    assert errors[2] < 1e-4
    assert errors[1] < 1e-2
    assert errors[0] > errors[1] > errors[2]


@settings(max_examples=30)
@given(pairs(least=1, clouds=("gauss", "sphere", "line")), st.floats(-3, 3))
def test_a_word_without_a_partner_is_destroyed_at_its_mass(pair, log_mass):
    mass, answer = 10.0**log_mass, solved(pair)
    lonely = pair.first.points.max() + 100.0 + np.zeros((1, pair.first.dim))
    more = Measure(np.concatenate([pair.first.points, lonely]), np.append(pair.first.weights, mass))
    other = wfr.solve(more, pair.second, eta=pair.eta, tol=1e-6)
    slack = rounding(pair) + oracle.ROUNDING * mass
    assert other.certificate.lower <= answer.certificate.upper + mass + slack
    assert answer.certificate.lower + mass <= other.certificate.upper + slack
    assert other.plan.destroyed[-1] == pytest.approx(mass, rel=1e-15)
    assert other.potentials[0][-1] == np.inf


@settings(max_examples=30)
@given(pairs(), st.sampled_from(["auto", "paper"]))
def test_where_every_cost_is_infinite_everything_is_destroyed(pair, method):
    away = Measure(pair.second.points + 1e4, pair.second.weights)
    answer = wfr.solve(pair.first, away, eta=pair.eta, method=method)
    assert answer.certificate.lower == answer.certificate.upper == total_of(pair)
    np.testing.assert_array_equal(answer.plan.destroyed, pair.first.weights)
    np.testing.assert_array_equal(answer.plan.created, pair.second.weights)


@pytest.mark.parametrize("method", ["auto", "paper"])
@pytest.mark.parametrize(
    "nothing", [Measure([], []), Measure(np.zeros((0, 7)), []), Measure([[1.0, 2.0]], [0.0])]
)
def test_the_zero_measure_against_anything(nothing, method):
    some = Measure([[0.0, 1.0], [2.0, 3.0]], [0.25, 0.5])
    for a, b, truth in ((nothing, some, 0.75), (some, nothing, 0.75), (nothing, nothing, 0.0)):
        answer = wfr.solve(a, b, method=method)
        assert (answer.certificate.lower, answer.certificate.upper) == (truth, truth)
        assert answer.plan.total == truth
        assert answer.plan.sent.shape == (len(a), len(b))
        assert np.isfinite(answer.similarity)


@pytest.mark.parametrize("mass", [1e-250, 1e-160, 1e160, 1e300])
def test_masses_whose_product_no_float_holds(mass):
    points = [[0.0, 0.0], [0.1, 0.0]], [[0.0, 0.0], [0.1, 0.1]]
    unit = wfr.solve(*(Measure(p, [0.5, 0.5]) for p in points), tol=1e-6)
    scaled = wfr.solve(*(Measure(p, [mass / 2, mass / 2]) for p in points), tol=1e-6)
    assert scaled.objective == pytest.approx(unit.objective * mass, rel=1e-5, abs=0)

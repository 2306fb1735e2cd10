"""Balanced transport and its bounds, against POT and against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from ot.lp import emd2
from scipy.spatial.distance import cdist

import oracle
from strategies import Pair, pairs
from wayfare.errors import InputError
from wayfare.measure import Measure
from wayfare.solution import Status
from wayfare.wfr import solve
from wayfare.wmd import hellinger, rwmd, wcd, wmd, wmd_wfr_cost

BALANCED = [wmd, wmd_wfr_cost, rwmd, wcd]


def balanced(pair: Pair) -> tuple[Measure, Measure]:
    """Both at mass one."""
    return pair.first.normalized(), pair.second.normalized()


# Hypothesis draws measures of positive mass here: "holes" may leave none.
some = pairs(least=1, most=20, kinds=("equal", "counts", "random"))


def exact(a: Measure, b: Measure, cost: np.ndarray) -> float:
    # POT wants sums that agree to the last digits.
    return float(emd2(a.weights / a.weights.sum(), b.weights / b.weights.sum(), cost))


@settings(max_examples=150)
@given(some)
def test_wmd_is_what_pot_finds(pair):
    a, b = balanced(pair)
    answer = wmd(a, b)
    far = cdist(a.points, b.points)
    assert answer.value == pytest.approx(exact(a, b, far), rel=1e-9, abs=1e-12)
    assert answer.status is Status.EXACT
    phi, psi = answer.potentials
    assert np.all(np.add.outer(phi, psi) <= far * (1 + 1e-9) + 1e-9)
    assert phi @ a.weights + psi @ b.weights == pytest.approx(answer.value, rel=1e-7, abs=1e-7)


@settings(max_examples=100)
@given(some)
def test_the_plan_of_wmd_moves_everything_and_adds_up(pair):
    a, b = balanced(pair)
    answer = wmd(a, b)
    np.testing.assert_allclose(answer.plan.carried.sum(1), a.weights, atol=1e-12)
    np.testing.assert_allclose(answer.plan.carried.sum(0), b.weights, atol=1e-12)
    assert answer.plan.total == pytest.approx(answer.value, rel=1e-12, abs=1e-14)
    assert not answer.plan.destroyed.any()
    assert not answer.plan.created.any()


@settings(max_examples=150)
@given(some)
def test_the_cheap_ones_are_lower_bounds(pair):
    a, b = balanced(pair)
    truth = wmd(a, b).value
    slack = 1e-9 * (1 + truth)
    assert rwmd(a, b).value <= truth + slack
    assert wcd(a, b).value <= truth + slack
    far = cdist(a.points, b.points)
    relaxed = max(a.weights @ far.min(1), b.weights @ far.min(0))
    assert rwmd(a, b).value == pytest.approx(relaxed, rel=1e-9, abs=1e-12)


@settings(max_examples=100)
@given(pairs(least=1, most=12, kinds=("equal", "counts", "random"), etas=(0.25, 1.0, 3.0)))
def test_wmd_under_the_wfr_cost(pair):
    a, b = balanced(pair)
    answer = wmd_wfr_cost(a, b, eta=pair.eta)
    cost = oracle.cost(a.points, b.points, pair.eta)
    # A plan of finite cost exists where all of the mass fits through the finite pairs.
    forbidden = exact(a, b, np.isinf(cost).astype(float))
    if forbidden > 1e-9:
        assert answer.status is Status.INFEASIBLE
        assert answer.value == np.inf
        assert answer.plan is None
        assert "larger eta" in answer.status.remedy
    else:
        assert answer.status is Status.EXACT
        top = cost[np.isfinite(cost)].max()
        truth = exact(a, b, np.where(np.isinf(cost), 100 * (1 + top), cost))
        assert answer.value == pytest.approx(truth, rel=1e-7, abs=1e-9)
        # Destroying and creating may only help.
        assert solve(a, b, eta=pair.eta).certificate.lower <= answer.value + 1e-9


def test_beyond_the_reach_there_is_no_plan():
    a, b = Measure([[0.0], [1.0]], [0.5, 0.5]), Measure([[0.0], [9.0]], [0.5, 0.5])
    answer = wmd_wfr_cost(a, b, eta=1.0)
    assert (answer.value, answer.status) == (np.inf, Status.INFEASIBLE)
    assert (answer.certificate.lower, answer.certificate.gap) == (np.inf, 0.0)
    assert np.isfinite(wmd(a, b).value)


def test_hall_decides_where_every_point_has_a_partner():
    # Each point of a reaches one of b, but two of them reach only the first, which is too light.
    a = Measure([[0.0], [0.1], [10.0]], [0.4, 0.4, 0.2])
    b = Measure([[0.05], [10.0]], [0.5, 0.5])
    assert wmd_wfr_cost(a, b, eta=1.0).status is Status.INFEASIBLE
    b = Measure([[0.05], [10.0]], [0.8, 0.2])
    assert wmd_wfr_cost(a, b, eta=1.0).status is Status.EXACT


@pytest.mark.parametrize("metric", BALANCED)
def test_masses_must_be_equal(metric):
    a, b = Measure([[0.0]], [1.0]), Measure([[1.0]], [2.0])
    with pytest.raises(
        InputError, match=r"moves mass without changing it, and masses 1 and 2 came"
    ):
        metric(a, b)
    with pytest.raises(InputError, match=r"call .normalized\(\) on both, or use metric=\"wfr\""):
        metric(b, a)
    assert metric(a, b.normalized()).value == pytest.approx(metric(a, Measure([[1.0]], [1])).value)


@pytest.mark.parametrize("metric", BALANCED)
def test_equal_masses_other_than_one(metric):
    a, b = Measure([[0.0], [2.0]], [1.5, 1.5]), Measure([[0.5]], [3.0])
    unit = metric(a.normalized(), b.normalized()).value
    assert metric(a, b).value == pytest.approx(3.0 * unit, rel=1e-12)


@pytest.mark.parametrize("metric", BALANCED)
def test_nothing_cannot_become_something(metric):
    nothing, something = Measure([], []), Measure([[0.0]], [1.0])
    assert metric(nothing, nothing).value == 0.0
    answer = metric(nothing, something)
    assert (answer.value, answer.status) == (np.inf, Status.INFEASIBLE)


@settings(max_examples=100)
@given(pairs(clouds=("lattice", "gauss")))
def test_hellinger_compares_equal_points_alone(pair):
    answer = hellinger(pair.first, pair.second)
    places: dict[tuple[float, ...], list[float]] = {}
    for side, measure in enumerate((pair.first, pair.second)):
        for point, weight in zip(measure.points.tolist(), measure.weights, strict=True):
            places.setdefault(tuple(point), [0.0, 0.0])[side] += weight
    truth = sum((np.sqrt(mu) - np.sqrt(nu)) ** 2 for mu, nu in places.values())
    total = pair.first.mass + pair.second.mass
    assert answer.objective == pytest.approx(truth, rel=1e-9, abs=1e-14 * total)
    assert answer.value == pytest.approx(np.sqrt(truth / 2), rel=1e-9, abs=1e-7 * np.sqrt(total))
    assert 0.0 <= answer.similarity <= 1.0
    assert hellinger(pair.second, pair.first).objective == pytest.approx(answer.objective, abs=1e-9)

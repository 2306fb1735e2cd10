"""Distances, cosines and costs; and the table in float32, which is off by no more than it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from strategies import CLOUDS, cloud
from wayfare.ground import CosineTable, check_eta, check_tol, cosines, costs, distances

seeds, kinds = st.integers(0, 2**32 - 1), st.sampled_from(CLOUDS)
dims = st.sampled_from([1, 2, 5, 50, 300])


def two_clouds(seed: int, kind: str, dim: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    both = cloud(rng, kind, 40, dim)
    both[20:25] = both[:5]
    both[25:28] = both[:3] + 1e-7
    return both[:20], both[20:]


@settings(max_examples=200)
@given(seeds, kinds, dims, st.sampled_from([0.0, 3.0, 1e6]))
def test_distances_are_those_of_differences(seed, kind, dim, away):
    x, y = (points + away for points in two_clouds(seed, kind, dim))
    truth = cdist(x, y)
    found = distances(x, y)
    # Equal points are at no distance at all; others lose no more than two digits of squares.
    np.testing.assert_array_equal(found == 0.0, truth == 0.0)
    np.testing.assert_allclose(found, truth, rtol=1e-12)


def test_numbers_whose_squares_leave_the_range_of_floats():
    here, there = np.array([[1e200, 0.0]]), np.array([[1e200, 3e100], [-1e200, 0.0]])
    near, far = distances(here, there)[0]
    assert near == pytest.approx(3e100)
    assert far > 1e153


@settings(max_examples=100)
@given(seeds, kinds, dims, st.sampled_from([0.1, 0.5, 1.0]))
def test_cosines_end_at_pi_eta(seed, kind, dim, eta):
    x, y = two_clouds(seed, kind, dim)
    h, truth = cosines(x, y, eta), cdist(x, y)
    reached = truth < np.pi * eta
    np.testing.assert_allclose(h[reached], np.cos(truth[reached] / (2 * eta)), atol=1e-12)
    assert not h[truth >= np.pi * eta * (1 + 1e-12)].any()
    assert h.min() >= 0.0
    assert h.max(initial=0.0) <= 1.0


def test_costs_are_infinite_exactly_where_the_cosine_is_nothing():
    np.testing.assert_array_equal(costs(np.array([1.0, 0.0, 1.0])), [0.0, np.inf, 0.0])
    assert costs(np.array([0.5]))[0] == pytest.approx(2 * np.log(2.0))
    assert np.signbit(costs(np.array([1.0]))).tolist() == [False]


@settings(max_examples=200)
@given(
    seeds, kinds, dims, st.sampled_from([1.0, 0.5, 0.25]), st.sampled_from([np.float32, np.float64])
)
def test_the_table_is_off_by_no_more_than_its_slack(seed, kind, dim, eta, dtype):
    x, y = (points.astype(np.float32) for points in two_clouds(seed, kind, dim))
    table = CosineTable.of(y, dtype)
    off = np.abs(table.cosines(x, eta) - cosines(y, x, eta))
    assert off.max() <= table.slack(x, eta)


@pytest.mark.parametrize("good", [1, 0.5, np.float32(0.5), np.int64(2)])
def test_settings_become_floats(good):
    assert type(check_eta(good)) is type(check_tol(good)) is float

"""All pairs: the same answers as one by one, however they are cut up, stored, and spread over threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfare as wf
from strategies import WEIGHTS, cloud, weights
from wayfare import front
from wayfare.metrics import METRICS

# How far two ways of solving may be apart in J: by the gap that each was allowed, relative, and by what
# a sum of order |mu| + |nu| loses in the precision that certificates are given in. One table for all:
# float32 tables widen a certificate by their own rounding, and never move the truth out of it.
TOL = 1e-3
AGREE = {None: TOL, np.float32: TOL, np.float64: TOL}
ROUNDING = 1e-14

TEXTS = [
    "The bank lifts its rates again",
    "Interest rates rise at the central bank",
    "Rain falls on the river and the lake",
    "A quiet evening at the restaurant",
    "",
    "Snow falls on the coast",
    "Snow falls on the coast",
    "The harvest was poor, and bread is dear",
]


def measures(seed: int, count: int, *, far: bool = False, dim: int = 6) -> list[wf.Measure]:
    """Random ones; `far`: in clusters beyond each other's reach, so that kernels are mostly zero."""
    rng = np.random.default_rng(seed)
    drawn = []
    for n in range(count):
        size = int(rng.integers(0, 30))
        points = cloud(rng, "clusters" if far else "sphere", size, dim)
        mass = weights(rng, WEIGHTS[n % len(WEIGHTS)], size) * 10.0 ** rng.uniform(-2, 2)
        drawn.append(wf.Measure(points.astype(np.float32), mass))
    drawn[1] = drawn[0]
    return drawn


def one_by_one(a, b, eta: float, tol: float) -> tuple[np.ndarray, np.ndarray]:
    bounds = [[wf.distance(x, y, eta=eta, tol=tol).certificate for y in b] for x in a]
    lower = np.array([[one.lower for one in row] for row in bounds])
    return lower, np.array([[one.upper for one in row] for row in bounds])


def objectives(bounds: wf.DistanceBounds, eta: float) -> tuple[np.ndarray, np.ndarray]:
    return bounds.lower**2 / (2 * eta**2), bounds.upper**2 / (2 * eta**2)


def totals(a, b) -> np.ndarray:
    return np.add.outer([x.mass for x in a], [y.mass for y in b])


@pytest.mark.parametrize("far", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", AGREE)
@pytest.mark.parametrize("eta", [1.0, 0.5, 0.25])
def test_pairs_are_what_one_by_one_gives(dtype, far, eta):
    a, b = measures(1, 9, far=far), measures(2, 14, far=far)
    low, high = objectives(wf.pairwise_bounds(a, b, eta=eta, tol=TOL, dtype=dtype), eta)
    truth = one_by_one(a, b, eta, 1e-7)
    slack = ROUNDING * totals(a, b) + 4e-15 * high
    assert np.all(low <= truth[1] + slack)
    assert np.all(truth[0] <= high + slack)
    assert np.all(high - low <= AGREE[dtype] * high + slack)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.2]), st.sampled_from([1e-2, 1e-4, 1e-6]))
def test_every_tolerance_is_met(seed, eta, tol):
    a, b = measures(seed, 4), measures(seed + 1, 5)
    low, high = objectives(wf.pairwise_bounds(a, b, eta=eta, tol=tol), eta)
    truth = one_by_one(a, b, eta, 1e-7)
    slack = ROUNDING * totals(a, b) + 4e-15 * high
    assert np.all(low <= truth[1] + slack)
    assert np.all(truth[0] <= high + slack)
    assert np.all(high - low <= tol * high + 1e-12 * totals(a, b))


@pytest.mark.parametrize("eta", [1.0, 0.25])
def test_a_collection_with_itself(eta):
    some = measures(3, 8)
    both = wf.pairwise_bounds(some, some, eta=eta, tol=TOL)
    alone = wf.pairwise_bounds(some, eta=eta, tol=TOL)
    np.testing.assert_array_equal(alone.upper, alone.upper.T)
    np.testing.assert_array_equal(alone.lower, alone.lower.T)
    np.testing.assert_array_equal(np.diag(alone.upper), 0.0)
    assert alone.upper[0, 1] == 0.0  # the second is the first
    slack = 1e-6 * eta * np.sqrt(totals(some, some))
    assert np.all(alone.lower <= both.upper + slack)
    assert np.all(both.lower <= alone.upper + slack)


def test_transposed():
    a, b = measures(4, 6), measures(5, 7)
    there, back = wf.pairwise_bounds(a, b, eta=0.5), wf.pairwise_bounds(b, a, eta=0.5)
    slack = 1e-12 * np.sqrt(totals(a, b))
    assert np.all(there.lower <= back.upper.T + slack)
    assert np.all(there.upper + slack >= back.lower.T)


@pytest.mark.parametrize("dtype", AGREE)
def test_threads_change_nothing(dtype):
    a, b = measures(6, 40), measures(7, 30)
    one = wf.pairwise_bounds(a, b, eta=0.5, n_jobs=1, dtype=dtype)
    for jobs in (2, 5, -1):
        many = wf.pairwise_bounds(a, b, eta=0.5, n_jobs=jobs, dtype=dtype)
        np.testing.assert_array_equal(one.upper, many.upper)
        np.testing.assert_array_equal(one.lower, many.lower)


@pytest.mark.parametrize("block", [1, 3, 7])
@pytest.mark.parametrize("queries", [1, 5])
def test_blocks_change_nothing_beyond_the_tolerance(monkeypatch, block, queries):
    a, b = measures(8, 11), measures(9, 17)
    whole = wf.pairwise_bounds(a, b, eta=0.5, tol=TOL)
    monkeypatch.setattr(front, "BLOCK", block)
    monkeypatch.setattr(front, "QUERIES_PER_TASK", queries)
    cut = wf.pairwise_bounds(a, b, eta=0.5, tol=TOL)
    slack = 1e-12 * np.sqrt(totals(a, b))
    assert np.all(whole.lower <= cut.upper + slack)
    assert np.all(cut.lower <= whole.upper + slack)
    np.testing.assert_allclose(cut.upper, whole.upper, rtol=TOL, atol=1e-12)


def test_many_python_threads_at_once():
    a, b = measures(10, 12), measures(11, 12)
    expected = wf.pairwise(a, b, eta=0.5, n_jobs=1)
    single = [wf.distance(x, y, eta=0.5).value for x, y in zip(a, b, strict=True)]
    found, started = {}, threading.Barrier(6)

    def work(n: int) -> None:
        started.wait()
        if n % 2:
            found[n] = wf.pairwise(a, b, eta=0.5, n_jobs=3)
        else:
            found[n] = [wf.distance(x, y, eta=0.5).value for x, y in zip(a, b, strict=True)]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(6):
        np.testing.assert_array_equal(found[n], expected if n % 2 else single)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric(metric):
    texts = TEXTS[:4]
    distances = wf.pairwise(texts, texts[1:], eta=1.0, metric=metric, tol=1e-6)
    alone = wf.pairwise(texts, eta=1.0, metric=metric, tol=1e-6)
    np.testing.assert_array_equal(alone, alone.T)
    for i, a in enumerate(texts):
        for j, b in enumerate(texts[1:]):
            truth = wf.distance(a, b, eta=1.0, metric=metric, tol=1e-6).value
            assert distances[i, j] == pytest.approx(truth, rel=2e-6, abs=1e-7)
            assert alone[i, j + 1] == pytest.approx(truth, rel=2e-6, abs=1e-7)


@pytest.mark.parametrize("metric", METRICS)
def test_threads_change_no_metric(metric):
    one, many = (wf.pairwise(TEXTS, metric=metric, n_jobs=jobs) for jobs in (1, 4))
    np.testing.assert_array_equal(one, many)


def test_documents_in_every_form():
    corpus = wf.Corpus.from_texts(TEXTS)
    expected = wf.pairwise(TEXTS)
    np.testing.assert_array_equal(wf.pairwise(corpus), expected)
    words = [corpus[n].words for n in range(len(corpus))]
    np.testing.assert_allclose(wf.pairwise([list(w) for w in words]), expected, rtol=TOL, atol=1e-9)
    beside = wf.pairwise(corpus, TEXTS)
    np.testing.assert_allclose(beside, expected, rtol=TOL, atol=1e-9)
    assert wf.pairwise(TEXTS)[5, 6] == 0.0


def test_a_bar_on_a_terminal_and_silence_otherwise(capsys):
    wf.pairwise(TEXTS, n_jobs=1)
    assert capsys.readouterr() == ("", "")

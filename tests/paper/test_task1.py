"""The numbers of a precision-recall curve, against scikit-learn and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve

from wayfare.paper.task1 import all_positive_f1, curve

PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 1)), min_size=2, max_size=30).filter(
    lambda pairs: any(label for _, label in pairs)
)


@given(PAIRS)
def test_against_scikit_learn(pairs):
    distances, labels = np.array(pairs, float).T
    found = curve(distances, labels.astype(int))
    assert found.average_precision == pytest.approx(average_precision_score(labels, -distances))
    best = max(f1_score(labels, distances <= limit) for limit in np.unique(distances))
    assert found.best_f1 == pytest.approx(best)
    precision, recall, _ = precision_recall_curve(labels, -distances)
    assert set(np.round(found.precision, 9)) <= set(np.round(precision, 9))
    assert set(np.round(found.recall, 9)) <= set(np.round(recall, 9))


@given(PAIRS, st.integers(0, 2**31))
def test_times_are_repetitions(pairs, seed):
    distances, labels = np.array(pairs, float).T
    labels = labels.astype(int)
    times = np.random.default_rng(seed).integers(0, 4, len(labels))
    if not (times * labels).sum():
        return
    weighted = curve(distances, labels, times.astype(float))
    repeated = curve(np.repeat(distances, times), np.repeat(labels, times))
    assert weighted.average_precision == pytest.approx(repeated.average_precision)
    assert weighted.best_f1 == pytest.approx(repeated.best_f1)
    assert weighted.area == pytest.approx(repeated.area)


def test_everything_is_a_match():
    labels = np.array([1] * 291 + [0] * 246)
    assert all_positive_f1(labels) == pytest.approx(f1_score(labels, np.ones(537)))
    assert all_positive_f1(labels) == pytest.approx(0.70, abs=0.005)

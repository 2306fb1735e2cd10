"""One answer out of several: right whatever the shards returned, and honest about it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wayfare.scale.merging import merge, nearest_upper
from wayfare.search import Hits, SearchWork


def hits(truth: dict, k: int, gap: float) -> Hits:
    """What a shard that holds `truth` answers: its k nearest, each in an interval around its value."""
    # A shard tells its k-th from its next: intervals are narrow where values are near.
    inside = sorted(truth.items(), key=lambda one: (one[1], one[0]))[:k]
    value = np.array([v for _, v in inside])
    upper = value * (1 + gap)
    return Hits([i for i, _ in inside], upper, value * (1 - gap), upper, True, False, SearchWork())


VALUES = st.integers(1, 30).map(lambda n: n / 10)


@given(
    st.lists(st.tuples(st.integers(0, 3), VALUES), min_size=1, max_size=30),
    st.integers(1, 8),
    st.sampled_from([0.0, 1e-3, 0.2]),
)
def test_merging_finds_the_nearest_of_all(placed, k, gap):
    shards = {s: {} for s in range(4)}
    truth = {}
    for id, (shard, value) in enumerate(placed):
        shards[shard][id] = truth[id] = value

    def refine(border, tol):
        return {one.id: (truth[one.id] * (1 - tol), truth[one.id] * (1 + tol)) for one in border}

    def equal(a, b):
        return truth[a.id] == truth[b.id]

    parts = {s: hits(some, k, gap) for s, some in shards.items()}
    answer = merge(parts, k, (), refine, equal)
    wanted = sorted(truth, key=lambda id: (truth[id], id))[:k]
    assert answer.exact
    assert set(answer.ids) == set(wanted)
    if answer.ordered:
        assert answer.ids == wanted
    for id, low, high in zip(answer.ids, answer.lower, answer.upper, strict=True):
        assert low <= truth[id] <= high


def test_ties_that_cannot_be_told_apart_are_reported():
    parts = {s: hits({s: 1.0}, 1, 1e-3) for s in range(2)}
    stuck = {id: (0.999, 1.001) for id in range(2)}
    answer = merge(parts, 1, (), lambda border, tol: stuck, lambda a, b: False)
    assert not answer.exact
    assert answer.tied == [0, 1]


def test_a_missing_shard_makes_it_inexact():
    answer = merge({0: hits({0: 1.0}, 1, 0.0)}, 1, ["shard-00001"], None, None)
    assert not answer.exact
    assert answer.missing == ("shard-00001",)


def test_the_bound_that_travels():
    parts = [hits({0: 1.0, 1: 3.0}, 2, 0.0), hits({2: 2.0}, 2, 0.0)]
    assert nearest_upper(parts, 2) == 2.0
    assert nearest_upper(parts, 4) is None
    assert nearest_upper(parts, None) is None

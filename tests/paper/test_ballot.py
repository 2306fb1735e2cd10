"""What is said to be settled is so under every order that the intervals allow."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfare.learn.votes import votes
from wayfare.paper.ballot import Ballot


def elections(classes, k):
    return votes(classes[None, :k], np.array([0.4, 0.3, 0.3]))[0][0]


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 6), st.floats(0.0, 0.4))
def test_settled_elections_hold_for_every_truth(seed, count, k, width):
    rng = np.random.default_rng(seed)
    middle = rng.random(count) + 1
    lower, upper = (
        middle * (1 - width * rng.random(count)),
        middle * (1 + width * rng.random(count)),
    )
    codes, places = rng.integers(3, size=count), np.arange(count)
    k = min(k, count)
    ballot = Ballot.of(places, lower, upper, codes, k)
    said, open_ = elections(ballot.first()[0], k), ballot.open()
    truths = lower + (upper - lower) * rng.random((60, count))
    others = [elections(codes[np.argsort(truth)], k) for truth in truths]
    if not len(open_):
        assert all((one == said).all() for one in others)
    # Once the open ones are numbers, and again, nothing is open, and the truth is what is said.
    truth = truths[0]
    low, high = lower.copy(), upper.copy()
    for _ in range(count + 1):
        found = Ballot.of(places, low, high, codes, k)
        rest = found.open()
        if not len(rest):
            break
        low[rest] = high[rest] = truth[rest]
    assert not len(rest)
    assert (elections(found.first()[0], k) == others[0]).all()


def test_ties_stand_in_the_order_of_the_data():
    same = np.full(4, 0.5)
    ballot = Ballot.of(np.array([8, 2, 5, 1]), same, same, np.arange(9), 3)
    assert ballot.first()[0].tolist() == [1, 2, 5]
    assert not len(ballot.open())
    near = np.array([0.5, 0.5 * (1 - 1e-12), 0.7])
    ballot = Ballot.of(np.array([1, 3, 0]), near, near, np.arange(9), 2)
    assert ballot.first()[0].tolist() == [1, 3]

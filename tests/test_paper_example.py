"""The paper's Figure 1, with sentences of our own: one mood, another, and a mood among other things.

WMD calls "happy" nearer to "awful" than a sad evening, because it must carry mass to every word of it.
WFR carries what is near, gives up the rest at its price, and orders them the other way.
"""

import pytest

import wayfare as wf

HAPPY = "We were happy"
AWFUL = "It was awful"
EVENING = "I was sad that she had lost the key in the evening at the restaurant"


@pytest.fixture(scope="module")
def raw() -> wf.WordVectors:
    # As in the paper, vectors at the length that they came with; eta is what suits them.
    return wf.WordVectors.default(unit=False)


def test_the_two_metrics_disagree(raw):
    wmd = {
        other: wf.distance(AWFUL, other, vectors=raw, metric="wmd").value
        for other in (HAPPY, EVENING)
    }
    wfr = {
        other: wf.distance(AWFUL, other, vectors=raw, tol=1e-7).certificate
        for other in (HAPPY, EVENING)
    }
    assert wmd[HAPPY] < wmd[EVENING]
    assert wfr[HAPPY].lower > wfr[EVENING].upper  # proven, not only found


def test_a_word_out_of_reach_is_created_and_not_paid_for_by_the_others(raw):
    awful, evening = wf.Corpus.from_texts([AWFUL, EVENING], vectors=raw)
    assert evening.words == ("sad", "lost", "key", "evening", "restaurant")
    balanced = wf.distance(awful, evening, metric="wmd").plan
    assert balanced.carried[0] == pytest.approx([0.2] * 5)
    plan = wf.distance(awful, evening, eta=raw.default_eta, tol=1e-7).plan
    assert plan.carried[0, 4] == 0.0
    assert plan.created[4] == pytest.approx(0.2)
    assert min(plan.carried[0, :4]) > 0.0
    # What is carried is not in equal parts: the metric chooses.
    assert max(plan.carried[0, :4]) > 2 * min(plan.carried[0, :4])

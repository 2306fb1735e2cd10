"""An explanation adds up, whatever it explains, and no form of it says anything else."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings

import wayfare as wf
from strategies import pairs
from wayfare.errors import InputError

A = "Obama speaks to the media in Illinois"
B = "The president greets the press in Chicago after a night of rain"


@pytest.fixture(scope="module")
def why():
    return wf.distance(A, B, eta=0.35).explain()


def close(a, b, scale):
    return abs(a - b) <= 1e-11 * scale


@settings(max_examples=150)
@given(pairs(most=12, dims=(1, 2, 8)))
def test_lines_add_up_to_the_objective(pair):
    answer = wf.distance(pair.first, pair.second, eta=pair.eta, tol=1e-3)
    why = answer.explain()
    scale = pair.first.mass + pair.second.mass
    assert close(sum(w.price for w in why.first) + why.created, answer.objective, scale)
    assert close(sum(w.price for w in why.second) + why.destroyed, answer.objective, scale)
    for word in (*why.first, *why.second):
        ends = [p.sent if word.side == "first" else p.received for p in word.transfers]
        assert close(sum(ends) + word.alone, word.mass, scale)
        assert close(sum(p.cost for p in word.transfers) + word.alone, word.price, scale)
    for pair_ in why.transfers:
        h = pair_.closeness
        price = pair_.sent + pair_.received - 2 * h * math.sqrt(pair_.sent * pair_.received)
        assert close(pair_.cost, price, scale)
        assert 0.0 <= pair_.met <= 1.0
    prices = [word.price for word in why.first]
    assert prices == sorted(prices, reverse=True)


@settings(max_examples=60)
@given(pairs(most=10, dims=(1, 2, 8), kinds=("equal", "random")))
def test_the_forms_add_up_too(pair):
    why = wf.distance(pair.first, pair.second, eta=pair.eta).explain()
    scale = pair.first.mass + pair.second.mass
    for most in (None, 1):
        told = json.loads(why.to_json(most=most))
        total = sum(w["price"] for w in told["first"]["words"]) + told["second"]["created"]
        assert close(total, told["objective"], scale)
        for word in told["first"]["words"]:
            parts = [*word["to"], *([word["others"]] if "others" in word else [])]
            assert close(sum(p["cost"] for p in parts) + word["destroyed"], word["price"], scale)
            assert close(sum(p["sent"] for p in parts) + word["destroyed"], word["mass"], scale)
    drawing = why.drawing(most=3)
    assert len(drawing.left) <= 3
    assert len(drawing.right) <= 3
    assert close(sum(bar.mass for bar in drawing.left), pair.first.mass, scale)
    assert close(sum(bar.mass for bar in drawing.right), pair.second.mass, scale)
    spent = sum(r.cost for r in drawing.ribbons)
    alone = sum(bar.alone for bar in (*drawing.left, *drawing.right))
    assert close(spent + alone, why.objective, scale)


def test_the_frame_adds_up(why):
    pytest.importorskip("pandas")
    frame = why.to_frame()
    assert math.isclose(frame.price.sum(), why.objective, rel_tol=1e-12)
    assert set(frame.kind) == {"carried", "destroyed", "created"}
    assert frame.price.is_monotonic_decreasing


def test_values_and_bounds_are_in_the_unit_of_the_distance(why):
    assert why.lower <= why.value <= why.upper
    assert math.isclose(why.value, 0.35 * math.sqrt(2 * why.objective))
    assert math.isclose(why.lower, 0.35 * math.sqrt(2 * why.objective_lower))


def test_what_matters_most_comes_first_and_the_rest_is_summed(why):
    lines = why.to_text(most=3).splitlines()
    body = lines[4:-1]
    assert len(body) == 3
    assert "more words" in body[-1]
    printed = [float(line.split()[0]) for line in [*body, lines[-1]]]
    assert abs(sum(printed[:-1]) - printed[-1]) < 0.01
    assert printed[0] >= printed[1]


@pytest.mark.parametrize("metric", ["wmd", "wmd-wfr-cost"])
def test_balanced_metrics_have_costs_only(metric):
    answer = wf.distance(A, B, metric=metric, eta=2.0)
    why = answer.explain()
    assert math.isclose(sum(w.price for w in why.first), answer.value, rel_tol=1e-12)
    assert why.destroyed == why.created == 0.0
    assert all(p.closeness is None and p.met is None for p in why.transfers)
    assert why.similarity is None
    assert why.lower <= why.value == why.upper
    assert "− destroyed" not in why.to_svg()
    assert "destroyed" not in str(why)


@pytest.mark.parametrize("metric", ["rwmd", "wcd", "hellinger"])
def test_a_metric_without_a_plan_says_so(metric):
    with pytest.raises(InputError, match=f"{metric}.*has no transport plan.*use metric="):
        wf.distance(A, B, metric=metric).explain()


def test_an_infinite_distance_says_so():
    with pytest.raises(InputError, match=r"no transport plan of finite cost.*larger eta"):
        wf.distance(A, "rain", metric="wmd-wfr-cost", eta=0.05).explain()


@pytest.mark.parametrize("metric", ["wfr", "wmd", "hellinger"])
def test_nothing_beside_nothing_is_explained_by_nothing(metric):
    why = wf.distance("", "", metric=metric).explain()
    assert why.first == why.second == ()
    assert why.objective == 0.0
    assert "<svg" in why.to_html()
    assert str(why)
    assert why.drawing().ribbons == ()


def test_nothing_beside_something_is_created():
    why = wf.distance("", "rain").explain()
    assert [(w.name, w.alone) for w in why.second] == [("rain", 1.0)]
    assert why.created == why.objective == 1.0


def test_equal_documents_are_all_carried_for_nothing():
    why = wf.distance(A, A).explain()
    assert why.objective == 0.0
    assert all(p.cost == 0.0 and p.met == 1.0 and p.closeness == 1.0 for p in why.transfers)
    assert all(why.name("first", p.source) == why.name("second", p.target) for p in why.transfers)


def test_points_without_words_are_numbered():
    points = np.array([[0.0], [0.1], [0.2], [9.0]])
    why = wf.distance(
        wf.Measure(points, [0.0, 1, 1, 1]), wf.Measure(points, [1, 1, 1, 0.0])
    ).explain()
    assert [w.name for w in why.first if w.alone > 0] == ["point 3"]
    assert "point 0" not in {w.name for w in why.first}, "a point without mass says nothing"


def test_settings_that_cannot_be(why):
    for wrong in (1, True, 2.5):
        with pytest.raises(InputError, match=r"most:.*from 2"):
            why.drawing(most=wrong)
    with pytest.raises(InputError, match=r"most:.*from 0"):
        why.to_json(most=-1)
    with pytest.raises(InputError, match="theme: 'blue' came"):
        why.to_svg(theme="blue")
    with pytest.raises(InputError, match="theme: 'blue' came"):
        why.to_html(theme="blue")


def test_an_explanation_that_does_not_add_up_is_refused(monkeypatch):
    from dataclasses import replace

    answer = wf.distance(A, B)
    wrong = replace(answer.plan, costs=answer.plan.costs * 1.001)
    monkeypatch.setitem(vars(answer), "plan", wrong)
    with pytest.raises(RuntimeError, match="the lines sum to"):
        answer.explain()

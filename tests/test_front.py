"""Bad input: an error that names the argument, says what came, and what to do. Empty input: no error."""

import re

import numpy as np
import pytest

import wayfare as wf
from wayfare.errors import InputError, WayfareError
from wayfare.metrics import METRICS

NAN, INF = float("nan"), float("inf")
FLAT, DEEP = wf.Measure([[0.0, 1.0]], [1.0]), wf.Measure([[0.0, 1.0, 2.0]], [1.0])


def refused(said: str):
    return pytest.raises(InputError, match=re.escape(said))


# ---- measures -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_points_are_finite(bad):
    with refused("points: row 1 holds NaN or infinity; drop or repair that row"):
        wf.Measure([[0.0, 0.0], [bad, 0.0]], [0.5, 0.5])


@pytest.mark.parametrize("bad", [NAN, INF])
def test_weights_are_finite(bad):
    with refused("weights: weight 1 is NaN or infinite; give finite masses"):
        wf.Measure([[0.0], [1.0]], [0.5, bad])


def test_weights_are_not_negative():
    with refused("weights: weight 1 is -2; masses cannot be negative"):
        wf.Measure([[0.0], [1.0]], [0.5, -2.0])


@pytest.mark.parametrize(
    ("points", "weights", "said"),
    [
        ([0.0, 1.0], [1.0, 1.0], "points: an array of shape (2,) came; give (number of points,"),
        ([["x"]], [1.0], "points: dtype <U1 came; give real numbers"),
        ([[0.0]], [1.0, 2.0], "weights: shape (2,) for 1 points; give one a point"),
        ([[0.0]], ["x"], "weights: give real numbers, one a point"),
    ],
)
def test_shapes_and_types_of_measures(points, weights, said):
    with refused(said):
        wf.Measure(points, weights)


def test_words_name_all_points():
    with refused("words: 1 names for 2 points; give one name a point"):
        wf.Measure([[0.0], [1.0]], [0.5, 0.5], words=["here"])


@pytest.mark.parametrize("metric", METRICS)
def test_points_of_other_dimensions(metric):
    said = "the first measure has 2 dimensions, the second 3; take the points of both from the same"
    with refused(said):
        wf.distance(FLAT, DEEP, metric=metric)


@pytest.mark.parametrize("metric", METRICS)
def test_points_of_other_dimensions_in_many(metric):
    with pytest.raises(InputError, match=r"\b2\b.* \b3\b.*from the same vectors"):
        wf.pairwise([FLAT], [DEEP], metric=metric)
    with refused("measure 1 has 3 dimensions, measure 0 2; take the points of all from the same"):
        wf.pairwise([FLAT, DEEP], metric=metric)


# ---- settings -----------------------------------------------------------------------------------------

SETTINGS = [
    ({"eta": 0}, "eta: 0 came; give a positive, finite number, such as 0.5"),
    ({"eta": -0.5}, "eta: -0.5 came; give a positive, finite number"),
    ({"eta": NAN}, "eta: nan came; give a positive, finite number"),
    ({"eta": "half"}, "eta: 'half' came; give a positive number, such as 0.5"),
    ({"tol": 0}, "tol: 0 came; give a positive, finite number, such as 1e-3"),
    ({"tol": -1e-3}, "tol: -0.001 came; give a positive, finite number"),
    ({"tol": None}, "tol: None came; give a positive number, such as 1e-3"),
    ({"atol": 0.0}, "atol: 0.0 came; give a positive, finite number"),
    ({"metric": "euclid"}, "metric: 'euclid' came; give one of wfr, wmd, wmd-wfr-cost, rwmd, wcd"),
    ({"metric": ["wfr"]}, "metric: ['wfr'] came; give one of wfr"),
]


@pytest.mark.parametrize(("setting", "said"), SETTINGS, ids=lambda case: str(case)[:24])
def test_settings_of_one_and_of_many(setting, said):
    with refused(said):
        wf.distance(FLAT, FLAT, **setting)
    with refused(said):
        wf.pairwise([FLAT], **setting)


def test_settings_of_one_alone():
    with refused('method: \'fast\' came; give "auto" or "paper"'):
        wf.distance(FLAT, FLAT, method="fast")
    with refused("tokenizer: 3 came; give a function from str to a list of str"):
        wf.distance("rain", "snow", tokenizer=3)


@pytest.mark.parametrize("dtype", ["int8", "no such type", 32])
def test_settings_of_many_alone(dtype):
    with refused(f"dtype: {dtype!r} came; give float32, float64 or None"):
        wf.pairwise([FLAT], dtype=dtype)
    with refused("n_jobs: 0 came; give a number of threads, or -1 for all cores"):
        wf.pairwise([FLAT], n_jobs=0)


def test_a_problem_too_large_for_memory():
    many = wf.Measure(np.zeros((20_000, 1), np.float32), np.ones(20_000))
    with refused("a problem of 20000 x 20000 points came; at most 200,000,000 pairs fit"):
        wf.distance(many, many)


# ---- documents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [None, 3, b"rain", {"rain"}, np.zeros(2)])
def test_documents_are_text_words_or_measures(document):
    kind = type(document).__name__
    with refused(f"a: {kind} came; give a text (str), a list of words, or a Measure"):
        wf.distance(document, "rain")
    with refused(f"b: {kind} came; give a text (str), a list of words, or a Measure"):
        wf.distance("rain", document)
    with refused(f"a[1]: {kind} came; give a text (str), a list of words, or a Measure"):
        wf.pairwise(["rain", document])


def test_words_are_str():
    with refused("words: None is of type NoneType; give words as str"):
        wf.distance(["rain", None], "snow")


def test_many_documents_come_as_a_list():
    with refused("a: str came; give a Corpus, or a list of texts, word lists or measures"):
        wf.pairwise("rain")
    with refused("b: generator came; give a Corpus, or a list of texts"):
        wf.pairwise(["rain"], (word for word in ["snow"]))


def test_an_empty_vocabulary():
    with pytest.raises(WayfareError, match="no word vectors"):
        wf.WordVectors.from_arrays([], np.zeros((0, 3)))


# ---- what is no error ----------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", ["", "of the", [], wf.Measure([], [])])
def test_empty_documents(nothing):
    assert wf.distance(nothing, nothing).objective == 0.0
    answer = wf.distance(nothing, "rain")
    assert answer.objective == answer.certificate.lower == 1.0
    assert answer.status.value == "certified"


def test_empty_documents_among_many():
    distances = wf.pairwise(["", "rain", ""], eta=0.5)
    one = 0.5 * np.sqrt(2.0)
    np.testing.assert_allclose(distances, [[0, one, 0], [one, 0, one], [0, one, 0]], rtol=1e-15)
    assert wf.pairwise([]).shape == (0, 0)
    assert wf.pairwise([], ["rain"]).shape == (0, 1)


def test_a_document_in_any_form():
    vectors = wf.WordVectors.default()
    text = wf.distance("Rain falls on the river", "Snow")
    words = wf.distance(["rain", "falls", "river"], ["snow"])
    measure = wf.Measure(vectors.embed(["rain", "falls", "river"])[0], np.full(3, 1 / 3))
    mixed = wf.distance(measure, "Snow")
    assert text.value == words.value == pytest.approx(mixed.value, rel=1e-6)


def test_eta_by_default_is_in_the_unit_of_the_vectors():
    raw = wf.WordVectors.default(unit=False)
    assert wf.distance("rain", "snow").eta == wf.WordVectors.default().default_eta
    assert wf.distance("rain", "snow", vectors=raw).eta == raw.default_eta
    assert wf.distance(FLAT, FLAT).eta == 0.5

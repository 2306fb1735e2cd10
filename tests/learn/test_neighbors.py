"""k-NN over documents: what is near, who votes, how ties fall."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_texts import LABELS, TEXTS, all_pairs

from wayfare import Corpus, Measure, pairwise
from wayfare.errors import InputError
from wayfare.learn import WFRNeighborsClassifier
from wayfare.learn.nearest import Known, Space, nearest
from wayfare.learn.votes import votes

TRAIN, TEST = slice(0, 32), slice(32, None)


def model(**settings) -> WFRNeighborsClassifier:
    return WFRNeighborsClassifier(**settings).fit(TEXTS[TRAIN], LABELS[TRAIN])


def vote_by_hand(labels: list[str]) -> str:
    """Kusner's rule as one would say it: leave out the farthest until one class leads."""
    while True:
        names = sorted(set(labels))
        counts = [labels.count(name) for name in names]
        if counts.count(max(counts)) == 1:
            return names[counts.index(max(counts))]
        labels = labels[:-1]


# ---- the vote ---------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_ties_fall_to_the_nearer_neighbours(codes):
    elected, shares = votes(np.array([codes]), np.full(4, 0.25))
    for k in range(1, len(codes) + 1):
        assert str(elected[0, k - 1]) == vote_by_hand([str(code) for code in codes[:k]])
        assert shares[0, k - 1].argmax() == elected[0, k - 1]
        assert shares[0, k - 1].sum() == pytest.approx(1)


def test_nobody_to_ask_leaves_the_priors():
    elected, shares = votes(np.array([[-1, -1], [1, -1]]), np.array([0.7, 0.3]))
    assert elected.tolist() == [[0, 0], [1, 1]]
    assert shares[0, 1].tolist() == [0.7, 0.3]


# ---- the neighbours ---------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["wfr", "wmd", "hellinger", "rwmd", "wcd", "wmd-wfr-cost"])
@pytest.mark.parametrize("weighting", ["nbow", "tfidf"])
def test_neighbours_are_those_of_all_pairs(metric, weighting):
    eta = 0.9
    fitted = model(metric=metric, weighting=weighting, eta=eta, tol=1e-4)
    distances, places = fitted.kneighbors(TEXTS[TEST], k=6)
    asked = fitted.corpus_.encode(TEXTS[TEST])
    truth = pairwise(asked, fitted.corpus_, eta=eta, metric=metric, tol=1e-6)
    assert np.allclose(np.take_along_axis(truth, places, 1), distances, rtol=1e-4)
    expected = np.sort(truth, axis=1)[:, :6]
    assert np.allclose(expected, distances, rtol=1e-4)
    labels = np.array(LABELS[TRAIN])
    order = np.argsort(truth, axis=1, kind="stable")
    by_hand = [vote_by_hand(labels[row[:5]].tolist()) for row in order]
    if metric != "hellinger":  # where most documents share nothing, and ties are everywhere
        assert fitted.predict(TEXTS[TEST]).tolist() == by_hand


def test_a_matrix_of_distances_says_the_same_as_texts():
    by_text = model(k=4)
    by_matrix = WFRNeighborsClassifier(k=4, metric="precomputed")
    by_matrix.fit(all_pairs()[TRAIN, TRAIN], LABELS[TRAIN])
    rows = all_pairs()[TEST, TRAIN]
    assert by_matrix.predict(rows).tolist() == by_text.predict(TEXTS[TEST]).tolist()
    assert np.array_equal(by_matrix.predict_proba(rows), by_text.predict_proba(TEXTS[TEST]))
    assert np.array_equal(by_matrix.kneighbors(rows)[1], by_text.kneighbors(TEXTS[TEST])[1])
    own = by_matrix.kneighbors()[1]
    assert np.array_equal(own, by_text.kneighbors()[1])
    assert not (own == np.arange(32)[:, None]).any()


def test_every_form_of_documents_is_classified_alike():
    corpus = Corpus.from_texts(TEXTS)
    expected = model().predict(TEXTS[TEST]).tolist()
    by_corpus = WFRNeighborsClassifier().fit(corpus.select(slice(32)), LABELS[TRAIN])
    assert by_corpus.predict(TEXTS[TEST]).tolist() == expected
    assert by_corpus.predict(corpus.select(slice(32, None))).tolist() == expected
    measures = list(corpus)
    by_measure = WFRNeighborsClassifier().fit(measures[:32], LABELS[TRAIN])
    assert by_measure.predict(measures[32:]).tolist() == expected


def test_the_answer_does_not_depend_on_threads_or_tolerance():
    expected = model(n_jobs=1).kneighbors(TEXTS[TEST])[1]
    for settings in ({"n_jobs": 2}, {"tol": 1e-5}):
        assert np.array_equal(model(**settings).kneighbors(TEXTS[TEST])[1], expected)


def test_votes_do_not_depend_on_a_loose_tolerance():
    for k in (1, 6):
        loose, fine = (model(k=k, tol=tol).predict_proba(TEXTS[TEST]) for tol in (0.3, 1e-4))
        assert np.array_equal(loose, fine)


def test_copies_go_by_position():
    texts = ["rain today"] * 5 + ["a goal in the match"]
    labels = ["b", "a", "b", "a", "c", "d"]
    fitted = WFRNeighborsClassifier(k=1).fit(texts, labels)
    for k in range(1, 6):
        assert fitted.kneighbors(["rain today"], k=k)[1][0].tolist() == list(range(k))
    assert fitted.predict(["rain today"]).tolist() == ["b"]
    assert fitted.set_params(k=2).fit(texts, labels).predict(["rain"]).tolist() == ["b"]


def test_equal_distances_of_different_documents_go_by_position():
    # Points a quarter turn apart around the query: mathematically tied, numerically nearly so.
    around = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.6, 0.8], [-0.8, 0.6]]
    corpus = Corpus.from_ragged([[p] for p in around])
    for metric in ("wfr", "wmd"):
        for k in range(1, 6):
            found = nearest(
                Known.of(corpus, np.arange(6)),
                [Measure([[0.0, 0.0]], [1.0])],
                k,
                Space(metric, eta=1.0),
            )
            assert found.places[0].tolist() == list(range(k)), (metric, k)


def test_documents_without_words_are_nobodys_neighbours():
    texts, labels = ["", *TEXTS[TRAIN], ""], ["empty", *LABELS[TRAIN], "empty"]
    fitted = WFRNeighborsClassifier(k=3).fit(texts, labels)
    assert "empty" not in fitted.predict(TEXTS)
    assert fitted.kneighbors(TEXTS[TEST], k=32)[1].min() == 1
    with pytest.raises(InputError, match="k: 33 neighbours of 32 documents with known words"):
        fitted.kneighbors(TEXTS[TEST], k=33)


@pytest.mark.parametrize("metric", ["wfr", "wmd", "hellinger", "wcd"])
def test_a_query_without_words_gets_the_most_frequent_class(metric):
    fitted = WFRNeighborsClassifier(k=2, metric=metric).fit(TEXTS[:5], list("baacc"))
    assert fitted.predict(["", "!?"]).tolist() == ["a", "a"]
    assert np.allclose(fitted.predict_proba([""]), [[0.4, 0.2, 0.4]])
    assert fitted.kneighbors([""])[1].tolist() == [[0, 1]]


# ---- as an estimator --------------------------------------------------------------------------------


@parametrize_with_checks([WFRNeighborsClassifier(metric="precomputed")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_a_fitted_model_is_pickled_and_cloned():
    fitted = model(weighting="tfidf")
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(TEXTS[TEST]), fitted.predict_proba(TEXTS[TEST]))
    assert clone(fitted).get_params() == fitted.get_params()
    assert pickle.loads(pickle.dumps(clone(fitted))).get_params() == fitted.get_params()


def test_it_works_in_a_pipeline_and_a_grid():
    steps = make_pipeline(FunctionTransformer(list), WFRNeighborsClassifier())
    grid = GridSearchCV(
        steps,
        {"wfrneighborsclassifier__k": [1, 3], "wfrneighborsclassifier__eta": [0.4, 0.8]},
        cv=2,
    )
    grid.fit(TEXTS[TRAIN], LABELS[TRAIN])
    assert grid.score(TEXTS[TEST], LABELS[TEST]) >= 0.8
    corpus = Corpus.from_texts(TEXTS)
    GridSearchCV(WFRNeighborsClassifier(), {"k": [1, 3]}, cv=2).fit(corpus, LABELS)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"k": 0}, "k: 0 came"),
        ({"k": None}, "k: None came"),
        ({"metric": "euclid"}, "metric: 'euclid' came; give one of wfr"),
        ({"eta": -1.0}, "eta: -1.0 came"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, said):
    with pytest.raises(InputError, match=said):
        model(**settings)


def test_matrices_that_are_no_distances_are_refused():
    given = WFRNeighborsClassifier(metric="precomputed")
    with pytest.raises(InputError, match=r"shape \(2, 3\) came"):
        given.fit(np.ones((2, 3)), [0, 1])
    with pytest.raises(InputError, match=r"Negative values in data: entry 0, 1 of X is -1"):
        given.fit(np.array([[0, -1.0], [1.0, 0]]), [0, 1])
    with pytest.raises(InputError, match="no document holds a known word"):
        WFRNeighborsClassifier().fit(["", "..."], [0, 1])

"""Choosing k, eta and the weighting: the same scores as the naive loop, at one search a document."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_texts import LABELS, TEXTS, all_pairs

from wayfare import Corpus
from wayfare.errors import InputError
from wayfare.learn import WFRNeighborsClassifier, WFRNeighborsClassifierCV, selection

# A document without words, copies under one label and under two, and near copies.
HARD = [*TEXTS[:38], "", "...", TEXTS[0], TEXTS[1], TEXTS[5] + " today", TEXTS[2] + " " + TEXTS[3]]
HARD_LABELS = [*LABELS[:38], "sport", "money", LABELS[0], "weather", LABELS[5], LABELS[2]]


def naive(texts, labels, metric, weightings, etas, ks, folds):
    """Fit and score for every (weighting, eta, k, fold)."""
    table = {}
    for weighting in weightings:
        for eta in etas:
            for k in ks:
                for number, (train, test) in enumerate(folds):
                    model = WFRNeighborsClassifier(k, metric=metric, eta=eta, weighting=weighting)
                    model.fit([texts[n] for n in train], [labels[n] for n in train])
                    score = model.score([texts[n] for n in test], [labels[n] for n in test])
                    table[weighting, eta, k, number] = score
    return table


@pytest.mark.parametrize(
    ("metric", "weightings", "etas"),
    [
        ("wfr", ["nbow", "tfidf"], [0.9, 0.4]),
        ("wfr", ["sif"], [0.25]),
        ("wmd", ["nbow", "tfidf"], [None]),
        ("hellinger", ["nbow"], [None]),
    ],
)
def test_one_search_scores_like_the_naive_loop(metric, weightings, etas):
    ks = [1, 2, 5, 12]
    folds = list(StratifiedKFold(3).split(HARD, HARD_LABELS))
    model = WFRNeighborsClassifierCV(ks, etas=etas, weighting=weightings, metric=metric, cv=3)
    model.fit(HARD, HARD_LABELS)
    expected = naive(HARD, HARD_LABELS, metric, weightings, etas, ks, folds)
    found = {
        (one["weighting"], one["eta"], one["k"], fold): model.cv_results_[
            f"split{fold}_test_score"
        ][row]
        for row, one in enumerate(model.cv_results_["params"])
        for fold in range(3)
    }
    assert found == pytest.approx(expected, abs=1e-12)
    assert model.n_searches_ == len(HARD) * len(weightings) * len(etas)


def test_each_document_is_searched_once_for_each_eta(monkeypatch):
    asked = []
    plain = selection.nearest

    def counting(known, queries, *rest, **settings):
        asked.extend(queries)
        return plain(known, queries, *rest, **settings)

    monkeypatch.setattr(selection, "nearest", counting)
    WFRNeighborsClassifierCV().fit(TEXTS, LABELS)
    assert len(asked) == 4 * len(TEXTS)


def test_the_defaults_are_those_of_the_paper():
    model = WFRNeighborsClassifierCV().fit(TEXTS, LABELS)
    table = model.cv_results_
    assert sorted(set(table["param_k"])) == list(range(1, 20))
    assert list(dict.fromkeys(table["param_eta"])) == [1.0, 0.5, pytest.approx(1 / 3), 0.25]
    assert all(f"split{n}_test_score" in table for n in range(5))
    assert model.best_score_ == table["mean_test_score"].max()
    assert table["rank_test_score"][table["params"].index(model.best_params_)] == 1
    best = WFRNeighborsClassifier(model.k_, eta=model.eta_).fit(TEXTS, LABELS)
    assert np.array_equal(best.predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_the_neighbours_come_from_other_folds():
    model = WFRNeighborsClassifierCV([1, 4], etas=[0.5], cv=KFold(4)).fit(TEXTS, LABELS)
    distances, places = model.cv_neighbors_["nbow", 0.5]
    truth = all_pairs()
    for train, test in KFold(4).split(TEXTS):
        for n in test:
            nearest = train[np.argsort(truth[n, train], kind="stable")[:4]]
            assert set(nearest) == set(places[n])
            assert np.allclose(np.sort(truth[n, nearest]), distances[n], rtol=1e-3)


def test_weights_are_fitted_without_the_fold_that_is_scored():
    # "today" is everywhere, but only outside the first fold: idf fitted on all would differ.
    seen = []

    class Watching:
        def fit(self, counts):
            seen.append(len(counts))
            return wayfare_tfidf.fit(counts)

    from wayfare.weighting import Tfidf

    wayfare_tfidf = Tfidf()
    WFRNeighborsClassifierCV([1], etas=[0.5], weighting=Watching(), cv=KFold(4)).fit(TEXTS, LABELS)
    assert seen == [36, 36, 36, 36, 48]


def test_a_corpus_and_a_matrix_choose_too():
    corpus = Corpus.from_texts(TEXTS)
    by_text = WFRNeighborsClassifierCV(etas=[0.5]).fit(TEXTS, LABELS)
    by_corpus = WFRNeighborsClassifierCV(etas=[0.5]).fit(corpus, LABELS)
    matrix = all_pairs()
    by_matrix = WFRNeighborsClassifierCV(metric="precomputed").fit(matrix, LABELS)
    for other in (by_corpus, by_matrix):
        assert np.array_equal(
            other.cv_results_["mean_test_score"], by_text.cv_results_["mean_test_score"]
        )
        assert other.k_ == by_text.k_
    assert by_matrix.predict(matrix[:5]).tolist() == by_text.predict(TEXTS[:5]).tolist()
    counts = Corpus.from_texts(TEXTS, weighting="counts")
    both = WFRNeighborsClassifierCV([1, 3], etas=[0.5], weighting=["nbow", "tfidf"])
    assert both.fit(counts, LABELS).best_params_ == both.fit(TEXTS, LABELS).best_params_


def test_documents_may_be_scored_twice_or_never():
    splits = ShuffleSplit(3, test_size=0.2, random_state=0)
    model = WFRNeighborsClassifierCV([1, 2], etas=[0.5], cv=splits).fit(TEXTS, LABELS)
    scored = np.unique(np.concatenate([test for _, test in splits.split(TEXTS)]))
    places = model.cv_neighbors_["nbow", 0.5][1]
    assert (np.flatnonzero(places[:, 0] >= 0) == scored).all()
    assert model.n_searches_ == 30


def test_it_is_deterministic_pickled_and_cloned():
    models = [
        WFRNeighborsClassifierCV(etas=[0.5, 0.3], cv=3, n_jobs=n).fit(TEXTS, LABELS) for n in (1, 2)
    ]
    tables = [model.cv_results_ for model in models]
    assert all(np.array_equal(tables[0][name], tables[1][name]) for name in tables[0])
    again = pickle.loads(pickle.dumps(models[0]))
    assert again.predict(TEXTS).tolist() == models[0].predict(TEXTS).tolist()
    assert clone(models[0]).get_params() == models[0].get_params()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"ks": []}, "ks: .* came; give at least one"),
        ({"ks": 3}, "ks: 3 came; give a list"),
        ({"ks": [0]}, "k: 0 came"),
        ({"ks": [40]}, "ks: 40 neighbours came, but a fold trains on 38"),
        ({"etas": []}, "etas: an empty list"),
        ({"etas": [0.0]}, "eta: 0.0 came"),
        ({"weighting": []}, "weighting: an empty list"),
        ({"metric": "euclid"}, "metric: 'euclid' came"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, said):
    with pytest.raises(InputError, match=said):
        WFRNeighborsClassifierCV(**settings).fit(TEXTS, LABELS)


def test_weightings_cannot_be_chosen_without_counts():
    corpus = Corpus.from_texts(TEXTS)
    with pytest.raises(InputError, match='Corpus made with weighting="counts"'):
        WFRNeighborsClassifierCV(weighting=["nbow", "tfidf"]).fit(corpus, LABELS)


@parametrize_with_checks([WFRNeighborsClassifierCV(metric="precomputed", cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)

"""Distances learnt from labels: what is learnt, kept, taken up again, and handed on."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_texts import LABELS, TEXTS

from wayfare import Corpus, Measure, pairwise
from wayfare.errors import FormatError, InputError
from wayfare.learn import SupervisedWFR, SupervisedWMD, WFRNeighborsClassifier
from wayfare.learn.supervised.lesson import Lesson, divide
from wayfare.learn.supervised.objective import TransportLoss
from wayfare.learn.supervised.parameters import Parameters, Rows
from wayfare.learn.supervised.pools import Pools

TRAIN, TEST = slice(0, 36), slice(36, None)
BOTH = [SupervisedWMD, SupervisedWFR]
QUICK = {"max_iter": 8, "check_every": 4, "batch_size": 8, "random_state": 0, "init": "identity"}

# Texts whose kind is told by one word of many that are the same for both: what weights can learn.
NOISE = [
    "table",
    "stands",
    "near",
    "old",
    "window",
    "green",
    "chair",
    "beside",
    "door",
    "paper",
    "lamp",
]


def told_by_a_word(seed, count=40):
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for n in range(count):
        kind = ("tiger", "copper")[n % 2]
        texts.append([kind, *rng.choice(NOISE, 6, replace=False)])
        labels.append(kind)
    return texts, labels


def model(kind, **settings):
    return kind(**(QUICK | settings))


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS)


# ---- what is learnt ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_the_word_that_tells_comes_to_weigh_more(kind):
    texts, labels = told_by_a_word(0)
    learner = model(kind, max_iter=40, learning_rate=0.05).fit(texts, labels)
    weights = learner.word_weights_
    telling = min(weights["tiger"], weights["copper"])
    assert telling > max(weights[word] for word in NOISE if word in weights)
    assert list(weights)[:2] in (["tiger", "copper"], ["copper", "tiger"])
    losses = learner.history_[:, 2]
    assert losses[-1] < 0.7 * losses[0]
    more, truth = told_by_a_word(1)
    assert learner.score(more, truth) >= model(kind, max_iter=0).fit(texts, labels).score(
        more, truth
    )


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("init", ["centroids", "pca", "identity"])
def test_every_start_learns(kind, init, corpus):
    width = 256 if init == "identity" else 8
    learner = model(kind, init=init, n_components=width).fit(corpus, LABELS)
    assert learner.history_[:, 2].min() <= learner.history_[0, 2]
    assert learner.components_.shape == (width, 256)
    assert learner.n_iter_ == 8
    low, high = learner.weight_range
    weights = np.exp(learner.log_weights_)
    assert weights.min() >= low * (1 - 1e-12)
    assert weights.max() <= high * (1 + 1e-12)


@pytest.mark.parametrize("kind", BOTH)
def test_the_start_of_the_centroids_is_kept_where_the_validation_part_errs_no_more(
    kind, corpus, monkeypatch
):
    codes = np.unique(LABELS, return_inverse=True)[1].astype(np.int64)
    lesson = model(kind)._lesson(corpus, codes)
    good = lesson.first("identity", None)
    bad = Parameters(np.zeros_like(good.map), good.log_weights)
    assert lesson.errors(bad).mean() > lesson.errors(good).mean()
    seen, verdict = [], TransportLoss.verdict

    def watched(self, at, anchors):
        seen.extend(anchors)
        return verdict(self, at, anchors)

    monkeypatch.setattr(TransportLoss, "verdict", watched)
    for learnt, first in ((good, bad), (bad, good), (good, good)):
        monkeypatch.setattr(Lesson, "_centroids", lambda self, at, learnt=learnt: learnt)
        assert lesson.better_start(first) is good
    # Nobody else was asked, and nobody who judges was a neighbour.
    assert {anchor.document for anchor in seen} == set(lesson.parts.validation)
    neighbours = set(np.concatenate([anchor.neighbours for anchor in seen]))
    assert neighbours <= set(lesson.parts.training)


@pytest.mark.parametrize("kind", BOTH)
def test_fewer_components_start_from_the_principal_ones(kind, corpus):
    learner = model(kind, n_components=5, init="pca", max_iter=0).fit(corpus, LABELS)
    assert learner.components_.shape == (5, 256)
    assert learner.transform(TEXTS[:2]).dim == 5
    gram = learner.components_ @ learner.components_.T
    np.testing.assert_allclose(gram, gram[0, 0] * np.eye(5), atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [{"solver": "exact"}, {"cost": "euclidean"}, {"solver": "exact", "cost": "euclidean"}],
)
def test_the_variants_of_wmd_learn(settings, corpus):
    learner = model(SupervisedWMD, **settings).fit(corpus, LABELS)
    assert learner.history_[:, 2].min() < learner.history_[0, 2]


def test_free_mass_makes_documents_light_or_heavy(corpus):
    kept, free = (model(SupervisedWFR, mass=mass).fit(corpus, LABELS) for mass in ("keep", "free"))
    np.testing.assert_allclose(kept.corpus_.masses, 1)
    assert np.ptp(free.corpus_.masses) > 1e-3


def test_the_same_seed_learns_the_same_on_any_number_of_threads(corpus):
    one, two = (model(SupervisedWFR, n_jobs=jobs).fit(corpus, LABELS) for jobs in (1, 2))
    assert np.array_equal(one.components_, two.components_)
    assert np.array_equal(one.log_weights_, two.log_weights_)
    other = model(SupervisedWFR, random_state=1).fit(corpus, LABELS)
    assert not np.array_equal(one.components_, other.components_)


def test_learning_stops_when_the_validation_loss_stops_falling(corpus):
    learner = model(SupervisedWMD, learning_rate=5.0, max_iter=100, check_every=1, patience=2)
    learner.fit(corpus, LABELS)
    assert learner.n_iter_ < 100
    assert learner.n_iter_ == learner.best_iter_ + 2
    assert learner.history_[:, 2].argmin() == learner.best_iter_


def test_k_is_chosen_on_documents_that_are_not_learnt_from(corpus):
    learner = model(SupervisedWMD).fit(corpus, LABELS)
    errors = learner.validation_errors_
    assert learner.k_ == int(np.argmin(errors)) + 1
    classes = np.unique(LABELS, return_inverse=True)[1]
    parts = divide(classes, 0.2, 3)
    assert not set(parts.training) & set(parts.validation)
    assert np.bincount(classes[parts.validation]).tolist() == [2, 2, 2, 2]
    pools = Pools(learner_rows(corpus), classes, parts.training, 6)
    at = Parameters(np.eye(256), np.zeros(len(corpus.points)))
    for anchor in pools.seen(at).of(np.arange(len(corpus))):
        assert anchor.document not in anchor.neighbours
        assert set(anchor.neighbours) <= set(parts.training)
        assert classes[anchor.document] in classes[anchor.neighbours]


def learner_rows(corpus):
    return Rows(corpus.points.astype(float), corpus.indptr, corpus.indices, corpus.weights)


# ---- what is kept and taken up again ----------------------------------------------------------------


@pytest.mark.parametrize("kind", BOTH)
def test_a_run_that_was_cut_goes_on_as_if_it_had_not_been(kind, corpus, tmp_path):
    path = tmp_path / "course.npz"
    whole = model(kind).fit(corpus, LABELS)
    model(kind, max_iter=6, checkpoint=path).fit(corpus, LABELS)  # saved at the check of step 4
    taken_up = model(kind, checkpoint=path).fit(corpus, LABELS)
    assert np.array_equal(whole.components_, taken_up.components_)
    assert np.array_equal(whole.log_weights_, taken_up.log_weights_)
    np.testing.assert_array_equal(whole.history_, taken_up.history_)
    assert list(tmp_path.iterdir()) == [path]


def test_a_checkpoint_of_another_problem_is_refused(corpus, tmp_path):
    path = tmp_path / "course.npz"
    model(SupervisedWMD, max_iter=4, checkpoint=path).fit(corpus, LABELS)
    for other in ({"regularization": 5.0}, {"batch_size": 9}, {"random_state": 1}):
        with pytest.raises(InputError, match="written with other documents, labels or settings"):
            model(SupervisedWMD, checkpoint=path, **other).fit(corpus, LABELS)
    with pytest.raises(InputError, match="other documents"):
        model(SupervisedWMD, checkpoint=path).fit(TEXTS[:40], LABELS[:40])
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(FormatError, match="no checkpoint of this library"):
        model(SupervisedWMD, checkpoint=path).fit(corpus, LABELS)
    np.savez(path, allow_pickle=True, map=np.array([print], dtype=object))
    with pytest.raises(FormatError, match="no checkpoint"):
        model(SupervisedWMD, checkpoint=path).fit(corpus, LABELS)


def test_a_warm_start_goes_on_from_what_was_learnt(corpus):
    learner = model(SupervisedWFR, warm_start=True).fit(corpus, LABELS)
    before = learner.components_, learner.word_weights_
    learner.set_params(max_iter=0).fit(TEXTS[TRAIN], LABELS[TRAIN])
    assert np.array_equal(learner.components_, before[0])
    kept = learner.word_weights_
    assert all(kept[word] == pytest.approx(before[1][word], rel=1e-12) for word in kept)


# ---- what is handed on ------------------------------------------------------------------------------


def test_a_transformed_corpus_has_the_learnt_distances():
    wfr = model(SupervisedWFR).fit(TEXTS[TRAIN], LABELS[TRAIN])
    distances, rows = wfr.kneighbors(TEXTS[TEST], 4)
    new = wfr.transform(TEXTS[TEST])
    truth = pairwise(new, wfr.corpus_, eta=wfr.eta_, tol=1e-5)
    np.testing.assert_allclose(np.sort(truth, axis=1)[:, :4], distances, rtol=2e-3)
    np.testing.assert_allclose(np.take_along_axis(truth, rows, 1), distances, rtol=2e-3)
    wmd = model(SupervisedWMD, solver="exact", cost="euclidean").fit(TEXTS[TRAIN], LABELS[TRAIN])
    distances, rows = wmd.kneighbors(TEXTS[TEST], 4)
    truth = pairwise(wmd.transform(TEXTS[TEST]), wmd.corpus_, metric="wmd")
    np.testing.assert_allclose(np.sort(truth, axis=1)[:, :4], distances, rtol=1e-6)


@pytest.mark.parametrize(
    "settings", [{}, {"solver": "exact"}, {"cost": "euclidean"}, {"regularization": 100.0}]
)
def test_bounds_leave_out_no_neighbour(settings):
    learner = model(SupervisedWMD, **settings).fit(TEXTS[TRAIN], LABELS[TRAIN])
    all_, _ = learner.kneighbors(TEXTS[TEST], 36)
    three, rows = learner.kneighbors(TEXTS[TEST], 3)
    np.testing.assert_allclose(all_[:, :3], three, rtol=1e-9)
    assert (np.diff(all_, axis=1) >= 0).all()
    assert rows.shape == (12, 3)


@pytest.mark.parametrize("kind", BOTH)
def test_the_training_documents_are_not_their_own_neighbours(kind):
    learner = model(kind, max_iter=0).fit(TEXTS[TRAIN], LABELS[TRAIN])
    own = learner.kneighbors(TEXTS[TRAIN], 1)
    assert own[1].ravel().tolist() == list(range(36))
    if kind is SupervisedWFR:
        np.testing.assert_allclose(own[0], 0, atol=1e-6)
    others = learner.kneighbors(k=2, return_distance=False)
    assert not (others == np.arange(36)[:, None]).any()


@pytest.mark.parametrize("kind", BOTH)
def test_documents_without_words_teach_nothing_and_are_found_by_nobody(kind):
    texts = [*TEXTS[TRAIN], "", "?!"]
    learner = model(kind).fit(texts, [*LABELS[TRAIN], "sport", "kitchen"])
    assert not (learner.kneighbors(TEXTS[TEST], 36, return_distance=False) >= 36).any()
    assert np.array_equal(
        learner.components_, model(kind).fit(TEXTS[TRAIN], LABELS[TRAIN]).components_
    )
    assert learner.predict([""])[0] in learner.classes_
    np.testing.assert_allclose(learner.predict_proba([""])[0], learner.class_prior_)
    assert learner.corpus_.masses[-2:].tolist() == [0, 0]


@pytest.mark.parametrize("kind", BOTH)
def test_words_are_known_again_from_any_form_of_documents(kind, corpus):
    learner = model(kind).fit(TEXTS, LABELS)
    texts = learner.transform(TEXTS[:6])
    other_order = learner.transform(Corpus.from_texts(TEXTS[:6][::-1]))
    measures = learner.transform([corpus[n] for n in range(6)])
    for n in range(6):
        for same in (other_order[5 - n], measures[n]):
            order = np.lexsort(same.points.T), np.lexsort(texts[n].points.T)
            np.testing.assert_allclose(same.weights[order[0]], texts[n].weights[order[1]])
            assert np.array_equal(same.points[order[0]], texts[n].points[order[1]])


def test_points_without_words_are_learnt_too():
    rng = np.random.default_rng(0)
    measures = [Measure(rng.normal(size=(3, 2)) + 3 * (n % 2), np.ones(3)) for n in range(20)]
    learner = model(SupervisedWFR, eta=2.0).fit(measures, [n % 2 for n in range(20)])
    assert learner.score(measures, [n % 2 for n in range(20)]) == 1.0
    with pytest.raises(AttributeError, match="points without words"):
        _ = learner.word_weights_


# ---- as an estimator --------------------------------------------------------------------------------


with warnings.catch_warnings():
    # Checks that fit on matrices of numbers are left out with a warning: X is texts.
    warnings.simplefilter("ignore", SkipTestWarning)
    CHECKS = parametrize_with_checks([SupervisedWMD(max_iter=2), SupervisedWFR(max_iter=2)])


@CHECKS
def test_it_is_an_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", BOTH)
def test_it_survives_clone_and_pickle(kind):
    learner = model(kind).fit(TEXTS[TRAIN], LABELS[TRAIN])
    again = pickle.loads(pickle.dumps(learner))
    assert np.array_equal(again.predict(TEXTS[TEST]), learner.predict(TEXTS[TEST]))
    assert clone(learner).get_params() == learner.get_params()
    shares = learner.predict_proba(TEXTS[TEST])
    assert np.array_equal(learner.classes_[shares.argmax(axis=1)], learner.predict(TEXTS[TEST]))
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_it_works_in_a_pipeline_and_a_search():
    pipeline = make_pipeline(model(SupervisedWFR), WFRNeighborsClassifier(k=3))
    assert pipeline.fit(TEXTS[TRAIN], LABELS[TRAIN]).score(TEXTS[TEST], LABELS[TEST]) > 0.5
    grid = {"n_components": [4, 8], "init": ["pca"]}
    search = GridSearchCV(model(SupervisedWMD, max_iter=2), grid, cv=2)
    search.fit(TEXTS, LABELS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"init": "random"}, "init: 'random' came; give one of centroids, pca, identity"),
        ({"k": 0}, "k: 0 came; give a whole number from 1, or None to choose"),
        ({"k": None, "validation_fraction": 0}, "validation_fraction=0 sets none aside"),
        ({"n_components": 999, "init": "pca"}, "n_components: 999 came; give 1 to 256"),
        ({"n_components": 9}, 'init="identity": n_components=9 came'),
        ({"weight_range": (2, 3)}, "weight_range: .* give two positive numbers around 1"),
        ({"learning_rate": float("nan")}, "learning_rate: nan came"),
        ({"regularization": 0}, "regularization: 0 came"),
        ({"solver": "fast"}, "solver: 'fast' came"),
        ({"warm_start": True, "checkpoint": "x.npz"}, "both came, and each says where to start"),
        ({"validation_fraction": 0.01}, "leaves none to judge by"),
    ],
)
def test_settings_that_cannot_be_used(settings, said, corpus):
    with pytest.raises(InputError, match=said):
        model(SupervisedWMD, **settings).fit(corpus, LABELS)


def test_documents_that_cannot_be_used():
    with pytest.raises(InputError, match="labels for"):
        model(SupervisedWMD).fit(TEXTS, LABELS[:-1])
    with pytest.raises(InputError, match="1 documents with known words came"):
        model(SupervisedWMD).fit(["rain", "", ""], ["a", "b", "a"])
    learner = model(SupervisedWFR, warm_start=True, eta=1.0).fit(TEXTS[TRAIN], LABELS[TRAIN])
    with pytest.raises(InputError, match="neighbours of 36 documents"):
        learner.kneighbors(TEXTS[TEST], 37)
    with pytest.raises(InputError, match="points of 2 dimensions came"):
        learner.fit([Measure([[0.0, n]], [1.0]) for n in range(20)], [0, 1] * 10)

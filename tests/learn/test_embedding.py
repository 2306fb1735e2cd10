"""Vectors of documents: Word Mover's Embedding and linearised WFR."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ot.lp import emd2
from scipy.stats import pearsonr
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data
from small_texts import LABELS, TEXTS, all_pairs

from wayfare import Corpus, Measure, WordVectors, distance, wfr
from wayfare.errors import InputError
from wayfare.kernels.cpu.few import transport_to_each
from wayfare.learn import LinearWFREmbedding, WordMoversEmbedding, WordMoversEmbeddingCV


def linear():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


# ---- transport to few points ------------------------------------------------------------------------


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 12), st.sampled_from(range(6)))
def test_transport_to_few_points_is_exact(seed, m, n, kind):
    rng = np.random.default_rng(seed)
    # Ties in the costs, in the masses, and in both, are where augmenting paths go wrong.
    costs = [rng.random((m, n)), rng.integers(0, 3, (m, n)).astype(float)][kind % 2]
    if kind == 5:
        costs = np.abs(rng.random(m)[:, None] - rng.random(n))
    draw = (lambda size: rng.integers(1, 4, size).astype(float)) if kind > 1 else rng.random
    mu, nu = draw(m) + 1e-3 * (kind < 2), draw(n) + 1e-3 * (kind < 2)
    mu, nu = mu / mu.sum(), nu / nu.sum()
    out = np.empty(1)
    transport_to_each(costs, mu, np.array([0, n]), nu, out)
    assert out[0] == pytest.approx(emd2(mu, nu, costs), abs=1e-12)


# ---- Word Mover's Embedding -------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["wfr", "wmd"])
@pytest.mark.parametrize("words", ["data", "box"])
def test_features_are_what_the_formula_says(metric, words):
    model = WordMoversEmbedding(
        24, metric=metric, words=words, gamma=0.7, d_max=4, eta=0.8, tol=1e-5
    )
    phi = model.fit(TEXTS).transform(TEXTS[:6])
    assert phi.shape == (6, 24)
    for row, text in zip(phi, TEXTS[:6], strict=True):
        document = model.corpus_.encode([text])[0]
        far = [
            distance(document, other, metric=metric, eta=0.8, tol=1e-5).value
            for other in model.random_documents_
        ]
        assert np.allclose(row, np.exp(-0.7 * np.array(far)) / np.sqrt(24), rtol=1e-4)


@pytest.mark.parametrize("words", ["data", "box"])
def test_random_documents_are_as_asked(words):
    model = WordMoversEmbedding(300, d_max=5, words=words).fit(TEXTS)
    sizes = [len(one) for one in model.random_documents_]
    assert set(sizes) == {1, 2, 3, 4, 5}
    points = model.corpus_.points
    for one in model.random_documents_:
        assert one.mass == pytest.approx(1)
        if words == "data":
            assert (np.abs(one.points[:, None] - points).max(axis=2).min(axis=1) == 0).all()
        else:
            assert np.allclose(np.linalg.norm(one.points, axis=1), 1, atol=1e-6)
    raw = WordVectors.from_arrays(["a", "b"], [[0.0, 5.0], [3.0, 9.0]], unit=False)
    box = WordMoversEmbedding(50, words="box", vectors=raw).fit([["a"], ["b"]])
    drawn = np.concatenate([one.points for one in box.random_documents_])
    assert (drawn >= [0, 5]).all()
    assert (drawn <= [3, 9]).all()


def test_a_seed_decides_everything_and_threads_nothing():
    phi = WordMoversEmbedding(16, n_jobs=1).fit_transform(TEXTS)
    assert np.array_equal(phi, WordMoversEmbedding(16, n_jobs=2).fit_transform(TEXTS))
    assert not np.array_equal(phi, WordMoversEmbedding(16, random_state=1).fit_transform(TEXTS))


def test_more_random_documents_only_refine_the_kernel():
    few, many = (WordMoversEmbedding(r).fit_transform(TEXTS) for r in (256, 2048))
    assert np.allclose(few @ few.T, many @ many.T, atol=0.03)


def test_documents_without_words_are_constant():
    phi = WordMoversEmbedding(8, gamma=2.0).fit(TEXTS).transform(["", "rain"])
    assert np.allclose(phi[0], np.exp(-2.0 * 0.5 * np.sqrt(2)) / np.sqrt(8))
    assert (WordMoversEmbedding(8, metric="wmd").fit(TEXTS).transform([""]) == 0).all()


def test_it_classifies_in_a_pipeline_and_a_grid():
    steps = make_pipeline(WordMoversEmbedding(256, d_max=3), linear())
    assert cross_val_score(steps, TEXTS, LABELS, cv=4).mean() >= 0.7  # chance: 0.25
    grid = GridSearchCV(steps, {"wordmoversembedding__gamma": [0.5, 2.0]}, cv=2)
    assert grid.fit(TEXTS, LABELS).score(TEXTS, LABELS) == 1.0


def test_choosing_scores_like_a_naive_loop_over_given_random_documents():
    folds = KFold(3, shuffle=True, random_state=0)
    model = WordMoversEmbeddingCV(32, gammas=[0.3, 3.0], d_maxs=[2, 4], etas=[0.5, 0.8], cv=folds)
    phi = model.fit_transform(TEXTS, LABELS)
    assert np.allclose(phi, model.transform(TEXTS), rtol=1e-12)
    for row, params in enumerate(model.cv_results_["params"]):
        plain = WordMoversEmbedding(32, **params).fit(TEXTS)
        scores = cross_val_score(linear(), plain.transform(TEXTS), LABELS, cv=folds)
        assert model.cv_results_["mean_test_score"][row] == pytest.approx(scores.mean())
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()
    assert model.embedding_.get_params()["gamma"] == model.best_params_["gamma"]
    with pytest.raises(InputError, match="gammas: an empty list"):
        WordMoversEmbeddingCV(gammas=[]).fit(TEXTS, LABELS)


# ---- linearised WFR ---------------------------------------------------------------------------------


def test_seen_from_the_reference_distances_are_exact_where_nothing_is_averaged():
    rng = np.random.default_rng(0)
    # Each reference point has its own far-away place, and one word of the document within its reach.
    places = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    reference = Measure(places, [0.2, 0.5, 0.3])
    documents = [
        Measure(places + rng.uniform(-0.5, 0.5, (3, 2)), rng.uniform(0.1, 1, 3)) for _ in range(4)
    ]
    model = LinearWFREmbedding(reference, eta=0.7, tol=1e-7).fit(documents)
    itself, *vectors = model.transform([reference, *documents])
    for vector, document in zip(vectors, documents, strict=True):
        exact = wfr.solve(reference, document, eta=0.7, tol=1e-7).value
        assert np.linalg.norm(vector - itself) == pytest.approx(exact, rel=1e-5)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.5, 1.0]))
def test_seen_from_the_reference_distances_are_never_too_long(seed, eta):
    rng = np.random.default_rng(seed)
    reference = Measure(rng.standard_normal((4, 3)), rng.random(4) + 0.01)
    document = Measure(rng.standard_normal((7, 3)), rng.random(7) + 0.01)
    model = LinearWFREmbedding(reference, eta=eta, tol=1e-6).fit([document])
    itself, vector = model.transform([reference, document])
    exact = wfr.solve(reference, document, eta=eta, tol=1e-6).value
    assert np.linalg.norm(vector - itself) <= exact * (1 + 1e-4)


def test_on_one_reference_point_single_words_are_compared_on_the_tangent_plane():
    reference = Measure([[0.0, 0.0]], [1.0])
    words = [
        Measure([[0.3, 0.0]], [1.0]),
        Measure([[0.0, 0.4]], [2.0]),
        Measure([[9.0, 0.0]], [1.0]),
    ]
    one, other, far = LinearWFREmbedding(reference, eta=0.5).fit(words).transform(words)
    expected = [
        [np.cos(0.3), np.sin(0.3), 0, 0],
        [np.sqrt(2) * np.cos(0.4), 0, np.sqrt(2) * np.sin(0.4), 0],
    ]
    assert np.allclose([one, other], 0.5 * np.sqrt(2) * np.array(expected), atol=1e-6)
    assert np.allclose(far, [0, 0, 0, 0.5 * np.sqrt(2)])


def test_distances_of_vectors_follow_wfr():
    vectors = LinearWFREmbedding(64).fit_transform(TEXTS)
    above = np.triu_indices(len(TEXTS), 1)
    far = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    assert pearsonr(far[above], all_pairs()[above])[0] > 0.6
    reduced = LinearWFREmbedding(64, n_components=47)
    short = reduced.fit_transform(TEXTS)
    assert short.shape == (48, 47)
    assert np.allclose(short, reduced.transform(TEXTS), atol=1e-9)
    near = np.linalg.norm(short[:, None] - short, axis=2)
    assert np.allclose(near, far, atol=1e-9)  # 48 points span 47 dimensions


def test_references_that_cannot_be_used_are_named():
    with pytest.raises(InputError, match="give a measure with mass in 256 dimensions"):
        LinearWFREmbedding(Measure([[1.0]], [1.0])).fit(TEXTS)
    with pytest.raises(InputError, match="reference: 0 came"):
        LinearWFREmbedding(0).fit(TEXTS)
    with pytest.raises(InputError, match="n_components: 100 came for 48 documents"):
        LinearWFREmbedding(4, n_components=100).fit(TEXTS)


# ---- as estimators ----------------------------------------------------------------------------------

SMALL = [
    WordMoversEmbedding(6),
    WordMoversEmbedding(6, metric="wmd"),
    WordMoversEmbeddingCV(6, gammas=[1.0], d_maxs=[2], cv=2),
    LinearWFREmbedding(3),
    LinearWFREmbedding(3, n_components=4),
]


def named(estimator) -> str:
    return repr(estimator)


@pytest.mark.parametrize("estimator", SMALL, ids=named)
def test_every_estimator_pickles_clones_and_names_its_columns(estimator):
    pytest.importorskip("pandas")
    fitted = clone(estimator).fit(TEXTS, LABELS)
    again = pickle.loads(pickle.dumps(fitted))
    vectors = fitted.transform(TEXTS)
    assert np.allclose(again.transform(TEXTS), vectors, atol=1e-12)
    assert np.allclose(clone(fitted).fit_transform(TEXTS, LABELS), vectors, atol=1e-9)
    names = fitted.get_feature_names_out()
    assert names[0] == f"{type(estimator).__name__.lower()}0"
    assert len(names) == vectors.shape[1]
    frame = clone(estimator).set_output(transform="pandas").fit(TEXTS, LABELS).transform(TEXTS)
    assert frame.columns.tolist() == names.tolist()
    corpus = Corpus.from_texts(TEXTS)
    assert np.allclose(clone(estimator).fit(corpus, LABELS).transform(corpus), vectors, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_components": 0}, "n_components: 0 came"),
        ({"d_max": 1.5}, "d_max: 1.5 came"),
        ({"gamma": 0}, "gamma: 0 came"),
        ({"words": "all"}, "words: 'all' came"),
        ({"metric": "rwmd"}, "metric: 'rwmd' came"),
        ({"metric": "wmd", "weighting": "counts"}, 'metric="wmd": document 0 of X has mass 5'),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, said):
    with pytest.raises(InputError, match=said):
        WordMoversEmbedding(**settings).fit_transform(TEXTS)
    with pytest.raises(InputError, match="no document holds a known word"):
        WordMoversEmbedding().fit(["", "?"])


class _OfRows:
    """A row of numbers as a document of one word at that point: what scikit-learn's checks can give."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.input_tags.one_d_array = tags.input_tags.string = False
        return tags

    def _measures(self, X, reset):
        return [
            Measure([row], [1.0]) for row in validate_data(self, X, dtype=np.float64, reset=reset)
        ]

    def fit(self, X, y=None):
        return super().fit(self._measures(X, True), y)

    def transform(self, X):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return super().transform(self._measures(X, False))


class RandomOfRows(_OfRows, WordMoversEmbedding):
    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


class LinearOfRows(_OfRows, LinearWFREmbedding):
    def fit_transform(self, X, y=None):
        return self.fit(X, y).transform(X)


@parametrize_with_checks([RandomOfRows(4, eta=100.0), LinearOfRows(2, eta=100.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)

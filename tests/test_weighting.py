import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfTransformer

from wayfare.errors import InputError
from wayfare.weighting import (
    WEIGHTINGS,
    Counts,
    Custom,
    Fitted,
    Nbow,
    RawCounts,
    Sif,
    Tfidf,
    Weighting,
    resolve,
    segment_sums,
    weigh,
)


def counts_of(rows: list[list[int]]) -> Counts:
    dense = np.array(rows, dtype=float).reshape(len(rows), -1)
    row, column = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum((dense > 0).sum(axis=1))])
    return Counts(indptr, column.astype(np.int32), dense[row, column], dense.shape[1])


def dense(counts: Counts, weights: np.ndarray) -> np.ndarray:
    table = np.zeros((len(counts), counts.terms))
    table[np.repeat(np.arange(len(counts)), np.diff(counts.indptr)), counts.indices] = weights
    return table


ROWS = [[2, 0, 1, 0], [0, 0, 0, 0], [1, 3, 0, 0], [1, 0, 0, 4]]
tables = st.integers(1, 6).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=1, max_size=8
    )
)


def test_nbow_gives_each_word_its_share():
    counts = counts_of(ROWS)
    expected = [[2 / 3, 0, 1 / 3, 0], [0] * 4, [0.25, 0.75, 0, 0], [0.2, 0, 0, 0.8]]
    np.testing.assert_allclose(dense(counts, Nbow().fit(counts).apply(counts)), expected)


def test_counts_keep_the_mass():
    counts = counts_of(ROWS)
    assert (dense(counts, RawCounts().fit(counts).apply(counts)) == np.array(ROWS)).all()


@given(tables)
def test_tfidf_is_scikit_learns_at_norm_l1(rows):
    counts = counts_of(rows)
    ours = dense(counts, Tfidf().fit(counts).apply(counts))
    theirs = TfidfTransformer(norm="l1").fit_transform(np.array(rows)).toarray()
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_tfidf_fitted_on_one_corpus_weighs_another_as_scikit_learn_does():
    train, test = counts_of(ROWS), counts_of([[1, 1, 1, 1], [0, 0, 2, 0]])
    ours = dense(test, Tfidf().fit(train).apply(test))
    theirs = TfidfTransformer(norm="l1").fit(np.array(ROWS)).transform(dense(test, test.values))
    np.testing.assert_allclose(ours, theirs.toarray(), atol=1e-12)


def test_tfidf_treats_a_word_it_never_saw_as_in_no_document():
    fitted = Tfidf().fit(counts_of(ROWS))
    new = counts_of([[1, 0, 0, 0, 1]])
    seen, unseen = np.log(5 / 4) + 1, np.log(5 / 1) + 1
    np.testing.assert_allclose(fitted.apply(new), np.array([seen, unseen]) / (seen + unseen))


def test_sif_by_hand():
    counts = counts_of([[3, 1], [0, 0]])
    factors = np.array([3 * 0.1 / (0.1 + 0.75), 1 * 0.1 / (0.1 + 0.25)])
    np.testing.assert_allclose(Sif(0.1).fit(counts).apply(counts), factors / factors.sum())


def test_sif_gives_a_word_it_never_saw_its_whole_count():
    fitted = Sif(1.0).fit(counts_of([[1, 1]]))
    weights = fitted.apply(counts_of([[1, 0, 1]]))
    np.testing.assert_allclose(weights, [(1 / 1.5) / (1 / 1.5 + 1), 1 / (1 / 1.5 + 1)])


@pytest.mark.parametrize("name", ["nbow", "tfidf", "sif"])
@given(rows=tables)
def test_mass_is_one_or_zero_and_weights_are_above_zero(name, rows):
    counts = counts_of(rows)
    weights = resolve(name).fit(counts).apply(counts)
    masses = segment_sums(weights, counts.indptr)
    np.testing.assert_allclose(masses, (np.diff(counts.indptr) > 0).astype(float))
    assert (weights > 0).all()


@pytest.mark.parametrize("name", list(WEIGHTINGS))
@given(rows=tables)
def test_documents_are_weighed_by_themselves(name, rows):
    counts = counts_of(rows)
    fitted = resolve(name).fit(counts)
    pieces = [fitted.apply(counts.rows(n, n + 1)) for n in range(len(counts))]
    np.testing.assert_array_equal(np.concatenate(pieces), fitted.apply(counts))


@given(tables, st.integers(1, 12))
def test_blocks_are_the_whole_in_order(rows, entries):
    counts = counts_of(rows)
    blocks = list(counts.blocks(entries))
    assert sum(len(b) for _, b in blocks) == len(counts)
    joined = np.concatenate([b.indices for _, b in blocks])
    np.testing.assert_array_equal(joined, counts.indices)
    assert [s for s, _ in blocks] == [
        int(x) for x in np.cumsum([0, *(len(b.indices) for _, b in blocks)])[:-1]
    ]


def test_fits_do_not_depend_on_the_size_of_a_block(monkeypatch):
    counts = counts_of(ROWS)
    whole = [w.fit(counts).fingerprint for w in (Tfidf(), Sif())]
    monkeypatch.setattr(Counts.blocks, "__defaults__", (1,))
    assert [w.fit(counts).fingerprint for w in (Tfidf(), Sif())] == whole


def test_fingerprints_tell_fits_apart():
    one, other = counts_of(ROWS), counts_of(ROWS[:3])
    prints = [
        w.fit(c).fingerprint for w in (Nbow(), Tfidf(), Sif(), Sif(1e-2)) for c in (one, other)
    ]
    assert prints[0] == prints[1] == "nbow"
    assert len(set(prints)) == 7
    assert Tfidf().fit(one).fingerprint == Tfidf().fit(counts_of(ROWS)).fingerprint


def test_fits_on_no_documents_weigh_something():
    nothing = Counts(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), 0)
    new = counts_of([[1, 3]])
    for weighting in WEIGHTINGS.values():
        weights = weighting.fit(nothing).apply(new)
        np.testing.assert_allclose(weights / weights.sum(), [0.25, 0.75])


def halved(counts: Counts) -> np.ndarray:
    return counts.values / 2


def test_a_function_is_a_weighting():
    counts = counts_of(ROWS)
    custom = resolve(halved)
    assert isinstance(custom, Custom)
    assert custom.fingerprint.endswith(".halved")
    np.testing.assert_array_equal(custom.fit(counts).apply(counts), counts.values / 2)


def test_a_fit_belongs_to_its_corpus():
    fitted = Tfidf().fit(counts_of(ROWS))
    assert isinstance(fitted, Fitted)
    assert not isinstance(fitted, Weighting)
    with pytest.raises(InputError, match=r"is fitted to another corpus; call encode\(\)"):
        resolve(fitted)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("bm25", "weighting: 'bm25' came; give 'nbow', 'tfidf', 'sif', 'counts', or your own"),
        (3, "weighting: 3 came"),
        (Tfidf, "give a name, an object with fit, a function"),
    ],
)
def test_what_is_no_weighting_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        resolve(wrong)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0], "shape"),
        ([1.0, -1.0], "negative"),
        ([1.0, np.nan], "NaN"),
        (["a", "b"], "no numbers"),
    ],
)
def test_what_a_custom_weighting_returns_is_checked(weights, said):
    with pytest.raises(InputError, match=said):
        weigh(counts_of([[1, 1]]), Custom(lambda counts: weights))


@pytest.mark.parametrize("a", [0, -1, float("nan"), float("inf")])
def test_sif_needs_a_positive_constant(a):
    with pytest.raises(InputError, match="give a positive number"):
        Sif(a)

"""The bounds of search: each below the oracle, each as good as its formula says, none ever too high."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import oracle
from real import random_picks, small_corpus
from strategies import ETAS, libraries
from wayfare import bounds, pairwise_bounds
from wayfare.columns import Columns, PackedWords, columns_of
from wayfare.ground import distances
from wayfare.kernels.cpu import byte_rows, pair_bounds, tiles, word_bounds, word_columns
from wayfare.many import Documents, Query
from wayfare.measure import Measure

# One step of a byte, and the hundredth of one by which rounding up goes further.
STEP = 1.01 / word_bounds.UNIT


def prepared(documents: Documents, measure: Measure, eta: float):
    query = documents.query(measure)
    return query, bounds.QueryTable.of(columns_of(documents).of(query, eta))


def objectives(documents: Documents, measure: Measure, eta: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on J of every document that the oracle finds, and the masses they are measured against."""
    found = []
    for at in range(len(documents)):
        other = documents.measure(at)
        c = oracle.cost(measure.points, other.points, eta)
        found.append(oracle.majorised(measure.weights, other.weights, c, sweeps=400)[1])
    return np.array(found), measure.mass + documents.masses


def cosines_of(query: Query, documents: Documents, eta: float) -> np.ndarray:
    return np.exp(-oracle.cost(query.points, documents.points, eta) / 2)


def rounded(query: Query, documents: Documents, eta: float) -> np.ndarray:
    """The largest a cosine may come out of the bytes: 16-bit numbers lose half a step a coordinate."""
    x, y = query.points.astype(np.float64), documents.points.astype(np.float64)
    long, other = np.linalg.norm(x, axis=1)[:, None], np.linalg.norm(y, axis=1)
    share = 1.01 * (0.5 * np.sqrt(x.shape[1]) + 1) / word_columns.ONE
    off = 4 * share * np.maximum(long, 1e-15) * np.maximum(other, 1e-15)
    off += 3 * word_columns.SHARE * (long**2 + other**2)
    z = np.maximum(distances(x, y) ** 2 - off, 0) / (4 * eta**2)
    near = z < (1 + 1e-5) * (np.pi / 2) ** 2
    return np.where(near, np.cos(np.sqrt(z)).clip(0) + STEP, 0.0)


# ---- what the bounds start from ---------------------------------------------------------------------


@settings(max_examples=150)
@given(libraries(least=1))
def test_a_column_is_never_below_its_cosines(library):
    documents = Documents.of(library.corpus)
    query, table = prepared(documents, library.query, library.eta)
    h, m = cosines_of(query, documents, library.eta), len(query.weights)
    read = table.columns[:m, : len(documents.points)] / word_bounds.UNIT
    assert (h[read == 0] == 0).all()
    assert (read >= h).all()
    assert (read <= rounded(query, documents, library.eta)).all()
    assert table.near.shape == (columns_of(documents).length, table.width)
    np.testing.assert_array_equal(table.near[:, :m], table.columns[:m].T)
    assert not table.near[:, m:].any()
    assert not table.near[len(documents.points) :].any()
    assert (table.reach >= table.columns[:m].max(axis=0, initial=0) / word_bounds.UNIT).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 90), st.integers(0, 2**20))
def test_products_of_whole_numbers_are_exact(pairs, seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(-900, 900, (tiles.PANELS, pairs, tiles.LANES, 2)).astype(np.int16)
    query = rng.integers(-900, 900, (tiles.GROUP, 2 * pairs)).astype(np.int16)
    tile = np.full(tiles.GROUP * tiles.PANELS * tiles.LANES, -1, np.int32)
    multiplied(words.reshape(-1), query.reshape(-1), tile, pairs)
    straight = words.transpose(0, 2, 1, 3).reshape(-1, 2 * pairs).astype(np.int64)
    np.testing.assert_array_equal(
        tile.reshape(tiles.GROUP, -1), query.astype(np.int64) @ straight.T
    )


@njit
def multiplied(words, query, tile, pairs):
    tiles.multiply_shorts(words, query, tile, pairs)


@settings(max_examples=60)
@given(libraries(least=1))
def test_whole_numbers_lose_no_more_than_they_say(library):
    points = library.corpus.points
    packed = PackedWords.of(points)
    count = len(points)
    kept = packed.words.transpose(0, 1, 3, 2, 4).reshape(len(packed.lengths), -1)[:count]
    read = kept[:, : points.shape[1]] * packed.lengths[:count, None].astype(np.float64)
    long = np.maximum(np.linalg.norm(points.astype(np.float64), axis=1), 1e-15)
    off = np.linalg.norm(points - read, axis=1)
    assert (off <= (packed.share + 1e-7) * long).all()
    assert packed.share <= (0.5 * np.sqrt(points.shape[1]) + 1) / word_columns.ONE
    assert (packed.squared[:count] <= long**2).all()


@settings(max_examples=100)
@given(st.integers(1, 70), st.integers(1, 9), st.integers(0, 2**20))
def test_rows_are_columns_turned(width, blocks, seed):
    columns = np.random.default_rng(seed).integers(0, 256, (16 * -(-width // 16), 64 * blocks))
    columns = columns.astype(np.uint8)
    near = np.empty(columns.shape[::-1], np.uint8)
    word_bounds.interleave(columns.view(np.uint64), near.view(np.uint64))
    np.testing.assert_array_equal(near, columns.T)


def test_kept_columns_are_the_columns_made_anew():
    corpus = small_corpus()
    documents, rng = Documents.of(corpus), np.random.default_rng(0)
    few = Columns(documents.table.points, most_bytes=5 * 64)
    for _ in range(30):
        query = documents.query(corpus[int(rng.integers(len(corpus)))])
        eta = float(rng.choice(ETAS))
        for kept, new in zip(
            few.of(query, eta), Columns(documents.table.points).of(query, eta), strict=True
        ):
            # The points that are made together share what they lose: one byte at most.
            assert np.abs(kept.astype(int) - new.astype(int)).max() <= 1
        assert len(few) <= 5


# ---- integer arithmetic -----------------------------------------------------------------------------

magnitudes = st.floats(-20, 30)


@settings(max_examples=200)
@given(st.integers(1, 60), magnitudes, st.integers(0, 2**20))
def test_whole_numbers_are_never_below_what_they_stand_for(count, log_size, seed):
    rng = np.random.default_rng(seed)
    values = (10.0 ** (log_size + rng.uniform(-9, 0, count))).astype(np.float32)
    values[rng.random(count) < 0.2] = 0
    whole = np.empty(count, np.uint16)
    unit = pair_bounds._whole(values, whole, count)
    back = whole.astype(np.float64) * unit
    assert (back >= values.astype(np.float64) * (1 - 1e-6)).all()
    assert (back <= values.astype(np.float64) * (1 + 1e-6) + unit * (values > 0)).all()


def drawn(seed: int, words: int, points: int) -> tuple[np.random.Generator, int, np.ndarray]:
    """Bytes of some words and points, with rows and columns of nothing, in the padded width."""
    rng = np.random.default_rng(seed)
    width = byte_rows.STEP * -(-points // byte_rows.STEP)
    near = np.zeros((words, width), np.uint8)
    near[:, :points] = rng.integers(0, 256, (words, points)) * (rng.random((words, points)) < 0.7)
    near[rng.random(words) < 0.2] = 0
    return rng, width, near


@njit
def over_rows(near, words, whole, top, tops, sums):
    byte_rows.largest_bytes(near, words, top)
    byte_rows.largest_of_words(near, words, whole, tops)
    byte_rows.largest_of_columns(near, words, whole, sums)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 30), st.integers(1, 140), st.integers(0, 2**20))
def test_largest_products_of_rows_of_bytes(words, points, seed):
    rng, width, near = drawn(seed, words, points)
    chosen = rng.integers(0, words, words).astype(np.int32)
    whole = rng.integers(0, 2**16, max(width, words)).astype(np.uint16)
    top, tops = np.empty(width, np.uint8), np.empty(words, np.uint16)
    sums, rows = np.empty(width, np.uint16), near[chosen].astype(np.int64)
    over_rows(near, chosen, whole, top, tops, sums)
    np.testing.assert_array_equal(top, rows.max(axis=0))
    np.testing.assert_array_equal(tops, (rows * whole[:width] // 256).max(axis=1))
    np.testing.assert_array_equal(sums, (rows * whole[:words, None] // 256).max(axis=0))


@settings(max_examples=200)
@given(st.integers(1, 30), st.integers(1, 40), st.floats(0, 6), st.integers(0, 2**20))
def test_a_transform_and_the_one_back_are_feasible(words, points, decades, seed):
    """`alpha_i beta_j >= h_ij` is the condition of every bound: with it the bound holds."""
    rng, width, near = drawn(seed, words, points)
    reach = near.max(axis=1).astype(np.float32)
    # One word may come twice among the documents' words: kernels take them as they come.
    chosen = rng.integers(0, words, words).astype(np.int32)
    nu, mu = rng.random(words).astype(np.float32), rng.random(points)
    alpha = (10.0 ** rng.uniform(-decades, 0, width)).astype(np.float32)
    inverse, beta = np.zeros(width, np.float32), np.empty(words, np.float32)
    pair_bounds._invert(alpha, inverse, width)
    assert (inverse.astype(np.float64) >= 1 / alpha.astype(np.float64)).all()
    whole, tops = np.empty(max(width, words), np.uint16), np.empty(words, np.uint16)
    mass = pair_bounds._transform(near, reach, chosen, nu, inverse, whole, tops, beta, width)
    h = near[chosen].astype(np.float64) / pair_bounds.UNIT
    wanted = (h * inverse).max(axis=1)
    assert (beta * (1 + 1e-6) >= wanted).all()
    unit = inverse.max() / 65534 * 256
    assert (beta <= wanted * (1 + 1e-4) + 1.1 * unit * (wanted > 0)).all()
    assert mass == pytest.approx(float((nu * beta.astype(np.float64) ** 2).sum()), rel=1e-5)

    scale, back = np.zeros(words, np.float32), np.empty(width, np.float32)
    pair_bounds._invert(beta, scale, words)
    sums, top = np.empty(width, np.uint16), np.empty(width, np.uint8)
    top[:] = near[chosen].max(axis=0)
    own = pair_bounds._transform_back(near, top, chosen, scale, mu, whole, sums, back, width)
    feasible = back.astype(np.float64)[None, :] * beta.astype(np.float64)[:, None]
    assert (feasible * (1 + 3e-6) >= h).all()
    assert own == pytest.approx(float((mu * back[:points].astype(np.float64) ** 2).sum()), rel=1e-5)


@settings(max_examples=100)
@given(st.integers(1, 200), st.integers(1, 40), st.integers(0, 2**20))
def test_a_potential_of_the_words_is_the_c_transform(words, points, seed):
    rng, _, near = drawn(seed, words, points)
    columns = np.ascontiguousarray(near.T)[:points]
    alpha = (10.0 ** rng.uniform(-4, 1, points)).astype(np.float32)
    potential = np.empty(words, np.float32)
    word_bounds.word_potential(columns, 1 / alpha, potential)
    h = columns.astype(np.float64) / word_bounds.UNIT
    wanted = ((h / alpha[:, None].astype(np.float64)) ** 2).max(axis=0)
    assert (potential >= wanted * (1 - 1e-6)).all()
    assert (potential <= wanted * (1 + 1e-5)).all()


# ---- below the oracle -------------------------------------------------------------------------------


@settings(max_examples=150)
@given(libraries(documents=8, least=1))
def test_the_word_bound_is_below_the_oracle_and_no_worse_than_its_formula(library):
    documents, measure = Documents.of(library.corpus), library.query
    query, table = prepared(documents, measure, library.eta)
    found = bounds.word_bound(documents, table, query)
    truth, total = objectives(documents, measure, library.eta)
    assert (found <= truth + oracle.ROUNDING * total).all()
    # s_B, from the same bytes: a = 1 is one of the two potentials.
    h = rounded(query, documents, library.eta).max(axis=0)
    reached = documents.matrix @ h**2
    formula = total - 2 * np.sqrt(query.mass * reached)
    slack = 1e-4 * np.sqrt(query.mass * documents.masses)
    assert (found >= np.maximum(formula - slack, 0) - 1e-8 * total).all()


@settings(max_examples=150)
@given(libraries(documents=8, least=1), st.floats(0.0, 2.0))
def test_the_pair_bound_is_below_the_oracle_and_no_worse_than_maxsim(library, enough):
    documents, measure = Documents.of(library.corpus), library.query
    query, table = prepared(documents, measure, library.eta)
    picks = np.random.default_rng(len(documents)).permutation(len(documents)).astype(np.int64)
    truth, total = (values[picks] for values in objectives(documents, measure, library.eta))
    h = rounded(query, documents, library.eta)
    slack = 1e-4 * total
    for limit in (np.inf, enough * float(total.max(initial=0))):
        found, tiers = bounds.pair_bound(documents, table, query, picks, limit)
        assert (found <= truth + oracle.ROUNDING * total).all()
        assert tiers[0] == len(picks) >= tiers[1] >= tiers[2]
        for place, document in enumerate(picks):
            mine = documents.indices[documents.indptr[document] : documents.indptr[document + 1]]
            top = h[:, mine].max(axis=1, initial=0)
            mass = np.sqrt(documents.masses[document])
            formula = total[place] - 2 * mass * np.sqrt(float(query.weights @ top**2))
            assert found[place] >= max(formula - slack[place], 0)


@settings(max_examples=60)
@given(libraries(documents=12, least=1))
def test_dearer_steps_never_loosen_a_bound(library):
    documents, measure = Documents.of(library.corpus), library.query
    query, table = prepared(documents, measure, library.eta)
    picks = np.arange(len(documents))
    # Below no document: the first step is all there is.
    cheap, tiers = bounds.pair_bound(documents, table, query, picks, -1e30)
    assert tiers[1] == tiers[2] == 0
    dear, tiers = bounds.pair_bound(documents, table, query, picks, np.inf)
    assert (dear >= cheap - 1e-12 * (query.mass + documents.masses)).all()


@pytest.mark.parametrize(
    "log_masses", [(-45, 0), (0, -45), (-45, -45), (-300, -290), (40, 0), (0, 40)]
)
@pytest.mark.parametrize("eta", ETAS)
def test_masses_that_float32_does_not_hold(log_masses, eta):
    """Bounds work on weights in float32: beyond its range they must give way, not lie."""
    rng = np.random.default_rng(5)
    points, few = rng.standard_normal((6, 3)), rng.random((2, 6))
    first, second = (10.0**log * w / w.sum() for log, w in zip(log_masses, few, strict=True))
    measure = Measure(points + 0.05, first)
    documents = Documents.of_measures([Measure(points, second), Measure(points, few[0])])
    query, table = prepared(documents, measure, eta)
    truth, total = objectives(documents, measure, eta)
    slack = oracle.ROUNDING * total
    assert (bounds.word_bound(documents, table, query) <= truth + slack).all()
    found, _ = bounds.pair_bound(documents, table, query, np.arange(2), np.inf)
    assert (found <= truth + slack).all()


@pytest.mark.parametrize("weighting", ["nbow", "tfidf", "counts"])
@pytest.mark.parametrize("eta", ETAS)
def test_every_bound_is_below_the_certified_distance_on_r8(shared, weighting, eta):
    corpus, queries = random_picks(shared, "reuters", 200, 4, weighting)
    documents = Documents.of(corpus)
    certified = 0.5 * (pairwise_bounds(queries, corpus, eta=eta, tol=1e-3).upper / eta) ** 2
    for measure, truth in zip(queries, certified, strict=True):
        query, table = prepared(documents, measure, eta)
        by_word = bounds.word_bound(documents, table, query)
        picks = np.arange(len(documents))
        by_pair, _ = bounds.pair_bound(documents, table, query, picks, np.inf)
        slack = 1e-12 * (query.mass + documents.masses)
        assert (by_word <= truth + slack).all()
        assert (by_pair <= truth + slack).all()
        # They are worth having: little of the value is left.
        assert np.median(by_word / truth) > 0.75
        assert np.median(by_pair / truth) > 0.9

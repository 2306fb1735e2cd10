"""Bounds on balanced transport: on both sides of what POT finds, and close to it on real documents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ot.lp import emd2
from scipy.spatial.distance import cdist

from real import random_picks, small_corpus
from strategies import pairs
from wayfare.kernels.cpu.balanced import relax, transport_bounds, workspace
from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.search.spans import Spans

# POT's own rounding, as a share of the largest cost: it works at mass one.
EXACT = 1e-12


def exact(query: Measure, document: Measure) -> tuple[float, float]:
    """The distance as POT finds it, and what it may be off by."""
    rows, cols = np.flatnonzero(query.weights), np.flatnonzero(document.weights)
    far = cdist(query.points[rows].astype(float), document.points[cols].astype(float))
    mu, nu = query.weights[rows] / query.mass, document.weights[cols] / document.mass
    return query.mass * float(emd2(mu, nu, far)), query.mass * EXACT * far.max()


def bounds(query: Measure, documents: Documents, cut: float = np.inf, k: int = 0):
    """Relaxed WMD from both sides, and the bounds of potentials and plans."""
    mine = documents.query(query)
    spans = Spans.of(documents, mine)
    some, mass = np.arange(len(documents)), query.mass
    one = (documents.matrix @ spans.nearest) * (mass / documents.masses)
    other = np.zeros(len(some))
    arrays = documents.indptr, documents.indices
    relax(spans.near, mine.shares, *arrays, some, mass * spans.grid.unit, other)
    lower, upper, best = np.maximum(one, other), np.full(len(some), np.inf), np.full(k, np.inf)
    tried = transport_bounds(
        spans.near,
        spans.grid.unit,
        spans.grid.off,
        mine.shares,
        mass,
        *arrays,
        documents.weights,
        documents.masses,
        some,
        cut,
        best,
        workspace(len(mine.weights), documents.longest),
        lower,
        upper,
    )
    return one, other, lower, upper, best, tried


@settings(max_examples=300, deadline=None)
@given(pairs(least=1, most=30), st.sampled_from([1.0, 1e-4, 1e4]))
def test_both_sides_hold(pair, size):
    if not (pair.first.mass and pair.second.mass):
        return
    query, document = (
        Measure(size * one.points, one.weights / one.mass * pair.first.mass)
        for one in (pair.first, pair.second)
    )
    value, off = exact(query, document)
    one, other, lower, upper, _, _ = bounds(query, Documents.of_measures([document]))
    assert max(one[0], other[0]) <= lower[0] <= value + off
    assert value - off <= upper[0]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 20))
def test_weightless_words_and_single_words(seed, m, n):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((m + n, 4)).astype(np.float32)
    masses = rng.random(m + n) * (rng.random(m + n) < 0.6)
    masses[0] = masses[m] = 0.5
    query = Measure(points[:m], masses[:m] / masses[:m].sum())
    nu = masses[m:] / masses[m:].sum()
    # As a corpus keeps it: with the words that weigh nothing.
    from wayfare.points import Points

    document = Documents(Points(points), np.array([0, n]), np.arange(m, m + n, dtype=np.int32), nu)
    value, off = exact(query, document.measure(0))
    _, _, lower, upper, _, _ = bounds(query, document)
    assert lower[0] <= value + off
    assert value - off <= upper[0]
    assert upper[0] <= value * 1.2 + 0.02


def test_points_that_float32_cannot_compare_have_no_bounds():
    for size in (1e-20, 1e20):
        points = size * np.array([[0.0, 0.0], [3.0, 4.0]])
        documents = Documents.of_measures([Measure(points[1:], [1.0])])
        _, _, lower, upper, _, _ = bounds(Measure(points[:1], [1.0]), documents)
        assert lower[0] <= 5 * size <= upper[0]


def test_a_document_meets_itself():
    corpus = small_corpus()
    documents = Documents.of(corpus.select(np.flatnonzero(corpus.masses > 0)))
    for at in range(len(documents)):
        _, _, lower, upper, _, _ = bounds(documents.measure(at), documents)
        assert lower[at] == 0.0
        assert upper[at] < 0.02


@pytest.mark.parametrize("weighting", ["nbow", "tfidf"])
def test_how_close_they_come(shared, weighting):
    corpus, queries = random_picks(shared, "reuters", 60, 3, weighting)
    documents = Documents.of(corpus.select(np.flatnonzero(corpus.masses > 0)))
    for query in queries:
        query = query.normalized()
        values = np.array([exact(query, documents.measure(at))[0] for at in range(len(documents))])
        values *= query.mass
        _, _, lower, upper, _, _ = bounds(query, documents)
        assert (lower <= values).all()
        assert (values <= upper).all()
        assert np.median(lower / values) > 0.995
        assert np.median(upper / values) < 1.01


def test_it_stops_at_what_is_wanted(shared):
    corpus, queries = random_picks(shared, "reuters", 60, 1)
    documents = Documents.of(corpus.select(np.flatnonzero(corpus.masses > 0)))
    _, _, lower, upper, best, tried = bounds(queries[0], documents, k=5)
    np.testing.assert_array_equal(np.sort(upper)[:5], np.sort(best))
    dropped = np.isinf(upper)
    assert dropped.any()
    assert (lower[dropped] > best.max()).all()
    _, _, lower, upper, _, fewer = bounds(queries[0], documents, cut=0.0)
    assert (fewer, tried > 10) == (0, True)
    assert np.isinf(upper).all()

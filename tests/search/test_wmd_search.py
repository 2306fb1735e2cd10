"""Search under WMD against brute force, to the last bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from real import TEXTS, random_picks, small_corpus, small_queries
from strategies import libraries
from wayfare import Corpus, Measure, wmd
from wayfare.learn.nearest import Known, Space, nearest
from wayfare.many import Documents
from wayfare.search import search, search_many
from wayfare.threads import one_blas_thread


def truth_of(query: Measure, corpus: Corpus) -> list[float]:
    """The distance of every document; infinite where there is no plan."""
    apart = np.abs(corpus.masses - query.mass) > wmd.EQUAL_MASS * query.mass
    return [
        np.inf if off else wmd.wmd(query, one).value for one, off in zip(corpus, apart, strict=True)
    ]


def wanted(
    values: list[float], k: int | None, within: float | None = None, may: np.ndarray | None = None
) -> list[tuple[float, int]]:
    """Brute force in the total order (distance, id)."""
    limit = np.inf if within is None else within
    rows = range(len(values)) if may is None else np.flatnonzero(may).tolist()
    found = sorted((values[at], at) for at in rows if values[at] <= limit)
    return [(value, at) for value, at in found if np.isfinite(value)][:k]


def answer(hits) -> list[tuple[float, int]]:
    assert (hits.exact, hits.ordered) == (True, True)
    np.testing.assert_array_equal(hits.lower, hits.distances)
    np.testing.assert_array_equal(hits.upper, hits.distances)
    return list(zip(hits.distances.tolist(), hits.ids, strict=True))


@settings(max_examples=150, deadline=None)
@given(libraries(normal=True, documents=20), st.integers(1, 25), st.data())
def test_brute_force(library, k, data):
    corpus, query = library.corpus, library.query
    values = truth_of(query, corpus)
    finite = [value for value in values if np.isfinite(value)]
    # A radius that is a distance: what lies on it is within it.
    within = data.draw(st.sampled_from([None, *finite]))
    k = data.draw(st.sampled_from([k, k, None])) if within is not None else k
    may = np.array(data.draw(st.lists(st.booleans(), min_size=len(corpus), max_size=len(corpus))))
    mask = data.draw(st.sampled_from([None, may.astype(bool)]))
    hits = search([Documents.of(corpus)], query, k=k, within=within, allowed=[mask], metric="wmd")
    found = wanted(values, k, within, mask)
    assert answer(hits) == found
    rest = set(range(len(corpus)) if mask is None else np.flatnonzero(mask)) - set(hits.ids)
    assert hits.outside <= min((values[at] for at in rest), default=np.inf)


@settings(max_examples=60, deadline=None)
@given(libraries(normal=True, documents=24), st.integers(1, 12), st.integers(1, 3))
def test_several_collections_are_one(library, k, parts):
    corpus, query = library.corpus, library.query
    cuts = np.linspace(0, len(corpus), parts + 1).astype(int)
    whole = Documents.of(corpus)
    shared = [whole.block(a, b) for a, b in pairwise(cuts)]
    rows = [corpus.select(np.arange(a, b)) for a, b in pairwise(cuts)]
    same = [Documents(whole.shared, one.indptr, one.indices, one.weights) for one in rows]
    for collections in (shared, same):
        hits = search(collections, query, k=k, metric="wmd")
        np.testing.assert_allclose(
            hits.distances, [v for v, _ in wanted(truth_of(query, corpus), k)], atol=1e-12
        )
    assert answer(hits) == wanted(truth_of(query, corpus), k)


def test_copies_come_in_the_order_of_their_ids():
    again = Corpus.from_texts(list(TEXTS) * 3)
    for query in small_queries():
        hits = search([Documents.of(again)], query, k=7, metric="wmd")
        assert answer(hits) == wanted(truth_of(query, again), 7)


@pytest.mark.parametrize("weighting", ["nbow", "tfidf"])
@pytest.mark.parametrize("name", ["bbcsport", "reuters", "20news"])
def test_real_documents(shared, name, weighting):
    corpus, queries = random_picks(shared, name, 80, 2, weighting)
    documents = Documents.of(corpus)
    truth = [truth_of(query, corpus) for query in queries]
    for query, values in zip(queries, truth, strict=True):
        hits = search([documents], query, k=5, metric="wmd")
        assert answer(hits) == wanted(values, 5)
        assert hits.work.solved <= 25
        assert hits.work.by_sweep < 60
        radius = float(np.median(hits.distances))
        near = search([documents], query, k=None, within=radius, metric="wmd")
        assert answer(near) == wanted(values, None, radius)
    found = nearest(Known.of(corpus, np.arange(len(corpus))), queries, 5, Space("wmd"))
    for values, row in zip(truth, found.places, strict=True):
        assert row.tolist() == [at for _, at in wanted(values, 5)]


def test_a_budget_leaves_proven_intervals(shared):
    corpus, queries = random_picks(shared, "reuters", 100, 2)
    documents = Documents.of(corpus)
    for query in queries:
        values = np.array(truth_of(query, corpus))
        for budget in ({"solves": 0}, {"solves": 2}, {"milliseconds": 0}):
            hits = search([documents], query, k=5, metric="wmd", mode="fast", **budget)
            assert (hits.exact, hits.ordered, len(hits)) == (False, False, 5)
            assert hits.work.solved <= budget.get("solves", 0)
            assert (hits.lower <= values[hits.ids]).all()
            assert (values[hits.ids] <= hits.upper).all()
            assert (hits.distances == hits.upper).all()
            rest = np.setdiff1d(np.arange(len(corpus)), hits.ids)
            assert hits.outside <= values[rest].min()
        enough = search([documents], query, k=5, metric="wmd", mode="fast", solves=1000)
        assert answer(enough) == wanted(values.tolist(), 5)


def test_threads_and_batches_change_nothing(shared):
    corpus, queries = random_picks(shared, "reuters", 150, 20)
    # BLAS sums in another order where it takes more threads than one.
    with one_blas_thread():
        alone = [search([Documents.of(corpus)], query, k=5, metric="wmd") for query in queries]
    for jobs in (1, 4):
        together = search_many([Documents.of(corpus)], queries, k=5, metric="wmd", n_jobs=jobs)
        assert [answer(hits) for hits in together] == [answer(hits) for hits in alone]


def test_other_masses_have_no_plan():
    documents, query = Documents.of(small_corpus()), small_queries()[0]
    heavy = Measure(query.points, 3 * query.weights)
    assert search([documents], heavy, k=5, metric="wmd").ids == []
    nothing = search([documents], Measure([], []), k=5, metric="wmd")
    assert (nothing.distances.tolist(), nothing.exact) == ([0.0] * len(nothing), True)
    assert nothing.ids == np.flatnonzero(small_corpus().masses == 0).tolist()

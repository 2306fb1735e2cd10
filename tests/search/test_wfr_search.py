"""The nearest documents under WFR: what brute force finds, for any corpus, query and call."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from brute import check, truth_of
from hypothesis import given, settings
from hypothesis import strategies as st

from real import random_picks, small_corpus, small_queries
from strategies import ETAS, libraries
from wayfare import Corpus, Measure, pairwise_bounds
from wayfare.many import Documents
from wayfare.points import Points
from wayfare.search import Hits, search, search_many
from wayfare.search.hits import SearchWork


def parts_of(documents: Documents, cuts: list[int]) -> list[Documents]:
    """The same documents as several collections over the same words."""
    ends = sorted({0, len(documents), *(min(cut, len(documents)) for cut in cuts)})
    return [
        Documents(
            documents.shared,
            documents.indptr[a : b + 1] - documents.indptr[a],
            documents.indices[documents.indptr[a] : documents.indptr[b]],
            documents.weights[documents.indptr[a] : documents.indptr[b]],
        )
        for a, b in pairwise(ends)
    ]


def same(first: Hits, second: Hits) -> bool:
    """Whether two answers are equal up to how their solves rounded."""
    close = all(
        np.allclose(getattr(first, name), getattr(second, name), rtol=1e-4, atol=1e-7)
        for name in ("distances", "lower", "upper")
    )
    return first.ids == second.ids and first.exact == second.exact and close


# ---- against brute force ----------------------------------------------------------------------------


@settings(max_examples=120)
@given(libraries(), st.integers(1, 40), st.sampled_from([1e-2, 1e-3, 1e-5]))
def test_k_nearest(library, k, tol):
    documents = Documents.of(library.corpus)
    hits = search([documents], library.query, k=k, eta=library.eta, tol=tol)
    check(hits, truth_of(library.corpus, library.query, library.eta, 1e-6), k)
    assert hits.exact or hits.tied
    assert len(hits) == min(k, len(documents))
    assert hits.work.documents == hits.work.by_word == len(documents)


@settings(max_examples=80)
@given(libraries(), st.floats(0, 2), st.one_of(st.none(), st.integers(1, 10)))
def test_all_within_a_radius(library, share, k):
    truth = truth_of(library.corpus, library.query, library.eta, 1e-6)
    within = share * float(np.median(truth.upper)) if len(truth.upper) else share
    documents = Documents.of(library.corpus)
    hits = search([documents], library.query, k=k, within=within, eta=library.eta)
    check(hits, truth, k, within)
    assert hits.exact or hits.tied


@settings(max_examples=70)
@given(libraries(), st.integers(1, 12), st.integers(0, 2**20), st.floats(0, 1))
def test_restricted_to_some(library, k, seed, share):
    rng = np.random.default_rng(seed)
    mask = rng.random(len(library.corpus)) < share
    before = mask.copy()
    documents = Documents.of(library.corpus)
    hits = search([documents], library.query, k=k, eta=library.eta, allowed=[mask])
    check(hits, truth_of(library.corpus, library.query, library.eta, 1e-6), k, None, allowed=before)
    assert hits.work.documents == mask.sum()
    np.testing.assert_array_equal(mask, before)


@settings(max_examples=70)
@given(libraries(), st.integers(1, 12), st.lists(st.integers(0, 30), max_size=4), st.booleans())
def test_several_collections_answer_as_one(library, k, cuts, apart):
    documents = Documents.of(library.corpus)
    parts = parts_of(documents, cuts)
    if apart:
        parts = [
            Documents(Points(one.points.copy()), one.indptr, one.indices, one.weights)
            for one in parts
        ]
    hits = search(parts, library.query, k=k, eta=library.eta)
    check(hits, truth_of(library.corpus, library.query, library.eta, 1e-6), k)
    whole = search([documents], library.query, k=k, eta=library.eta)
    assert hits.exact or hits.tied
    if hits.exact and whole.exact:
        assert sorted(hits.ids) == sorted(whole.ids)
    assert hits.work.documents == len(documents)


@settings(max_examples=60)
@given(libraries(least=1, normal=True), st.integers(1, 6))
def test_every_weighting_of_a_query(library, k):
    """Masses from 1e-6 to 1e6 beside each other: counts, next to weights that sum to one."""
    documents = Documents.of(library.corpus)
    for factor in (1e-6, 1.0, 1e6):
        query = Measure(library.query.points, library.query.weights * factor)
        hits = search([documents], query, k=k, eta=library.eta)
        check(hits, truth_of(library.corpus, query, library.eta, 1e-6), k)


@pytest.mark.parametrize("weighting", ["nbow", "tfidf", "counts"])
@pytest.mark.parametrize("eta", ETAS)
def test_small_texts_under_every_weighting(weighting, eta):
    corpus = small_corpus(weighting)
    for query in small_queries(weighting):
        truth = truth_of(corpus, query, eta, 1e-6)
        for k in (1, 3, len(corpus), 100):
            check(search([Documents.of(corpus)], query, k=k, eta=eta), truth, k)


@pytest.mark.parametrize("weighting", ["nbow", "tfidf", "counts"])
@pytest.mark.parametrize("eta", ETAS)
def test_real_documents(shared, weighting, eta):
    corpus, queries = random_picks(shared, "reuters", 200, 4, weighting)
    truth = pairwise_bounds(queries, corpus, eta=eta, tol=1e-3)
    for query, lower, upper in zip(queries, truth.lower, truth.upper, strict=True):
        hits = search([Documents.of(corpus)], query, k=10, eta=eta)
        assert hits.exact
        outside = np.setdiff1d(np.arange(len(corpus)), hits.ids)
        assert (lower[hits.ids].max() <= upper[outside]).all()
        assert (hits.lower <= upper[hits.ids]).all()
        assert (lower[hits.ids] <= hits.upper).all()


# ---- the total order --------------------------------------------------------------------------------


def test_copies_go_by_their_ids():
    corpus = Corpus.from_texts(["wind and rain"] * 7 + ["rain"] * 3)
    hits = search([Documents.of(corpus)], corpus[0], k=4)
    assert (hits.ids, hits.exact, hits.ordered) == ([0, 1, 2, 3], True, True)
    assert (hits.distances == 0).all()
    query = corpus.encode(["a storm"], share=False)[0]
    names = list("jihgfedcba")
    hits = search(
        [Documents.of(corpus)], query, k=5, ids=lambda _, rows: [names[row] for row in rows]
    )
    assert hits.exact
    assert hits.ids in (["a", "b", "c", "d", "e"], ["d", "e", "f", "g", "h"])


@settings(max_examples=40)
@given(libraries(documents=6), st.integers(1, 30), st.integers(0, 2**20))
def test_copies_in_other_collections_go_by_their_ids_too(library, k, seed):
    """Every document five times over, in collections whose words are numbered in their own way."""
    rng = np.random.default_rng(seed)
    corpus, parts = library.corpus, []
    for _ in range(5):
        order = rng.permutation(len(corpus.points))
        place = np.argsort(order).astype(np.int32)
        indices, mass = place[corpus.indices], corpus.weights.copy()
        for a, b in zip(corpus.indptr, corpus.indptr[1:], strict=False):
            rising = np.argsort(indices[a:b])
            indices[a:b], mass[a:b] = indices[a:b][rising], mass[a:b][rising]
        parts.append(Documents(Points(corpus.points[order]), corpus.indptr, indices, mass))
    names = rng.permutation(5 * len(corpus))

    def ids(number, rows):
        return [int(names[number * len(corpus) + row]) for row in rows]

    hits = search(parts, library.query, k=k, eta=library.eta, ids=ids)
    if not hits.exact:
        assert hits.tied
        return
    place = {int(name): at % len(corpus) for at, name in enumerate(names)}
    chosen = [place[name] for name in hits.ids]
    for document in set(chosen):
        mine = sorted(name for name, at in place.items() if at == document)
        found = [name for name in hits.ids if place[name] == document]
        # As many as there was room for, the first of them, in their order.
        assert found == mine[: len(found)]


def test_nothing_to_find_and_nothing_to_ask_with():
    corpus = small_corpus()
    documents, nothing = Documents.of(corpus), Measure(np.zeros((0, 256)), [])
    empty = Documents.of_measures([])
    for query in (corpus[0], nothing):
        hits = search([empty], query, k=3)
        assert (hits.ids, hits.exact, hits.ordered) == ([], True, True)
        assert search([], query, k=3).ids == []
    hits = search([documents], nothing, k=4)
    # The two documents without known words first, then everything at the same distance.
    assert hits.exact
    assert hits.distances[:1] == [0.0]
    assert hits.ids[0] == 9
    everything = search([documents], nothing, k=100)
    assert len(everything) == len(corpus)
    none = search([documents], corpus[0], k=3, allowed=[np.zeros(len(corpus), bool)])
    assert (none.ids, none.exact) == ([], True)


def test_what_double_precision_cannot_tell_apart_is_said():
    # Mirror images: equally far in exact arithmetic, in different words.
    points = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0]], np.float32)
    documents = Documents.of_measures([Measure(points[at : at + 1], [1.0]) for at in (0, 1, 2)])
    hits = search([documents], Measure([[0.0, 0.1]], [1.0]), k=1, eta=1.0)
    if not hits.exact:
        assert sorted(hits.tied) == [0, 1]
    rng = np.random.default_rng(3)
    cloud = rng.standard_normal((6, 2))
    turned = [cloud, cloud * [1, -1], cloud * [-1, 1]]
    documents = Documents.of_measures([Measure(some, np.full(6, 1 / 6)) for some in turned])
    query = Measure([[0.0, 0.3], [0.0, -0.3], [0.5, 0.0], [-0.5, 0.0]], np.full(4, 0.25))
    hits = search([documents], query, k=2, eta=1.0)
    assert hits.work.refined > 0
    assert hits.exact is False
    assert sorted(hits.tied) == [0, 1, 2]
    assert np.ptp(hits.distances) < 1e-6


# ---- modes ------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(libraries(), st.integers(1, 12), st.integers(0, 12))
def test_a_budget_of_solves_is_kept_and_its_answer_is_honest(library, k, solves):
    documents = Documents.of(library.corpus)
    hits = search([documents], library.query, k=k, eta=library.eta, mode="fast", solves=solves)
    truth = truth_of(library.corpus, library.query, library.eta, 1e-6)
    check(hits, truth, k)
    assert hits.work.solved <= solves
    assert len(hits) == min(k, len(documents))


def test_a_budget_of_time():
    corpus = small_corpus()
    query = small_queries()[0]
    late = search([Documents.of(corpus)], query, k=5, mode="fast", milliseconds=0)
    assert late.exact is False
    assert len(late) == 5
    check(late, truth_of(corpus, query, 0.5, 1e-6), 5)
    enough = search([Documents.of(corpus)], query, k=5, mode="fast", milliseconds=1e6)
    assert enough.exact
    assert same(enough, search([Documents.of(corpus)], query, k=5))


# ---- many at once -----------------------------------------------------------------------------------


def test_batches_and_threads_answer_as_one_call_does(shared):
    corpus, queries = random_picks(shared, "reuters", 400, 36)
    documents = Documents.of(corpus)
    alone = [search([Documents.of(corpus)], query, k=7) for query in queries]
    for jobs in (1, 2, 5):
        together = search_many([documents], queries, k=7, n_jobs=jobs)
        assert all(map(same, alone, together))


def test_many_python_threads_at_once(shared):
    from concurrent.futures import ThreadPoolExecutor

    corpus, queries = random_picks(shared, "reuters", 300, 12)
    documents = Documents.of(corpus)
    alone = [search([Documents.of(corpus)], query, k=5, eta=0.4) for query in queries]
    with ThreadPoolExecutor(12) as pool:
        tasks = [
            pool.submit(search, [documents], query, k=5, eta=eta)
            for query in queries
            for eta in (0.4, 1.0)
        ]
        found = [task.result() for task in tasks]
    assert all(map(same, alone, found[::2]))


def test_work_is_counted_down_the_cascade(shared):
    corpus, queries = random_picks(shared, "reuters", 400, 36)
    for query in queries[:10]:
        work = search([Documents.of(corpus)], query, k=5).work
        assert work.documents == work.by_word == 400
        assert work.by_rows >= work.by_middle >= work.by_sweep
        assert work.started >= work.solved >= 5
        assert work.sweeps >= work.solved - 1
        assert work.solved <= 15
    total = SearchWork(documents=2, solved=1) + SearchWork(documents=3, rounds=(0.5,))
    assert (total.documents, total.solved, total.rounds) == (5, 1, (0.5,))


def test_many_collections_cost_few_more_solves_than_one(shared):
    """The likeliest of all are solved first, and bound every collection."""
    corpus, queries = random_picks(shared, "reuters", 400, 36)
    documents = Documents.of(corpus)
    cuts = np.linspace(0, len(documents), 9).astype(int)[1:-1].tolist()
    parts = parts_of(documents, cuts)
    one, many = (search_many(some, queries, k=5) for some in ([documents], parts))
    assert [hits.ids for hits in one] == [hits.ids for hits in many]
    solved = [sum(hits.work.solved for hits in found) for found in (one, many)]
    assert solved[1] <= 1.5 * solved[0]


def test_hits_read_like_a_list():
    hits = search([Documents.of(small_corpus())], small_queries()[1], k=2)
    assert [hit.id for hit in hits] == hits.ids
    assert hits[0].distance == hits.distances[0]
    assert hits[-1].id == hits.ids[-1]
    assert repr(hits).startswith(
        f"Hits(2 of {len(small_corpus())}, exact, nearest {hits.ids[0]} at"
    )
    with pytest.raises(IndexError):
        hits[2]

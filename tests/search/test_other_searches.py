"""Search under Hellinger, the paper's algorithm, re-ranking, and what the door refuses."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from real import TEXTS, small_corpus, small_queries
from strategies import libraries
from wayfare import Corpus, Measure, rank, wmd
from wayfare.errors import InputError
from wayfare.kernels.reference import PAPER_SCHEDULE, objective, wfr_doc_dist, wfr_sinkhorn
from wayfare.many import Documents
from wayfare.search import search, search_many


def nearest(values: list[float], k: int | None, within: float | None) -> list[int]:
    """Brute force in the total order (distance, id)."""
    limit = np.inf if within is None else within
    found = sorted((value, at) for at, value in enumerate(values) if value <= limit)
    return [at for value, at in found if np.isfinite(value)][:k]


@settings(max_examples=80)
@given(libraries(), st.integers(1, 25), st.booleans())
def test_hellinger(library, k, by_radius):
    corpus, query = library.corpus, library.query
    values = [wmd.hellinger(query, one).value for one in corpus]
    within = float(np.median(values)) * (1 + 1e-6) + 1e-8 if by_radius and values else None
    hits = search([Documents.of(corpus)], query, k=k, within=within, metric="hellinger")
    wanted = nearest(values, k, within)
    size = np.sqrt(query.mass + max(corpus.masses, default=0.0))
    assert hits.exact
    np.testing.assert_allclose(hits.distances, [values[at] for at in wanted], atol=1e-14 * size)
    np.testing.assert_allclose(hits.distances, [values[at] for at in hits.ids], atol=1e-14 * size)


def test_a_document_is_at_no_hellinger_distance_from_itself():
    corpus = small_corpus("tfidf")
    for at in range(len(corpus)):
        hits = search([Documents.of(corpus)], corpus[at], k=1, metric="hellinger")
        assert hits.distances[0] == 0.0


# ---- the paper --------------------------------------------------------------------------------------


def by_the_letter(
    query: Measure, corpus: Corpus, k: int, eta: float
) -> tuple[list[int], list[float]]:
    """Algorithm 3, line by line; "for k from 1 to K" takes the first K of the candidates."""
    mu, states = query.weights, {}
    for n in range(len(corpus)):
        c = oracle.cost(query.points, corpus[n].points, eta)
        states[n] = [c, None, None, np.inf]
    filtered, left = list(range(len(corpus))), []
    for eps, sweeps in PAPER_SCHEDULE:
        candidates, filtered, threshold = filtered, [], 0.0
        for n in candidates[:k]:
            h = np.exp(-states[n][0] / 2)
            plan, _, _ = wfr_doc_dist(mu, corpus[n].weights, h)
            threshold = max(threshold, objective(plan, mu, corpus[n].weights, h))
        for n in candidates:
            c, u, v, _ = states[n]
            nu = corpus[n].weights
            plan, u, v = wfr_sinkhorn(mu, nu, c, eps, sweeps, u, v)
            states[n] = [c, u, v, objective(plan, mu, nu, np.exp(-c / 2))]
            if oracle.dual(u, v, mu, nu) < threshold:
                filtered.append(n)
        filtered.sort(key=lambda n: states[n][3])
        left.append(len(filtered) / len(corpus))
    return filtered[:k], left


@pytest.mark.parametrize("eta", [1.0, 0.5, 0.25])
def test_the_papers_own_search_to_the_letter(eta):
    corpus = small_corpus()
    for query in small_queries()[:4]:
        hits = search([Documents.of(corpus)], query, k=3, eta=eta, mode="paper")
        wanted, left = by_the_letter(query, corpus, 3, eta)
        assert hits.ids == wanted
        assert hits.work.rounds == pytest.approx(left)
        assert (hits.exact, hits.ordered) == (False, False)
        assert hits.work.documents == len(corpus)


# ---- re-ranking -------------------------------------------------------------------------------------


def test_rank_answers_as_a_search_does():
    hits = rank("Rates rise again", list(TEXTS), k=4)
    wanted = search([Documents.of(small_corpus())], small_queries()[0], k=4)
    assert (hits.ids, hits.exact) == (wanted.ids, True)
    assert hits.texts == [TEXTS[at] for at in hits.ids]
    assert [hit.text for hit in hits] == hits.texts


def test_rank_takes_what_distance_takes():
    corpus = small_corpus()
    named = rank("Rates rise again", list(TEXTS[:4]), k=2, ids=["a", "b", "c", "d"])
    assert named.ids[0] == "b"
    assert (
        rank("Rates rise again", corpus, k=2).ids == rank("Rates rise again", list(TEXTS), k=2).ids
    )
    words = rank(["rates", "rise"], [["rates"], ["rain"]], k=1)
    assert (words.ids, words.texts) == ([0], None)
    measures = rank(corpus[0], [corpus[2], corpus[0]], k=1)
    assert measures.ids == [1]
    assert rank("rain", ["rain", "sun"], k=None, within=0.01).ids == [0]
    assert rank("rain", ["rain", "sun"], metric="wmd", k=1).ids == [0]
    assert rank("rain", [], k=1).ids == []
    with pytest.raises(InputError, match="ids: 1 came for 2 texts"):
        rank("rain", ["rain", "sun"], ids=["a"])


# ---- the door ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"k": 0}, "k: 0 came; give a whole number from 1"),
        ({"k": 2.5}, "k: 2.5 came; give a whole number from 1"),
        ({"k": True}, "k: True came; give a whole number from 1"),
        ({"k": None}, "k, within: neither came; give a number of neighbours or a radius"),
        ({"within": -1.0}, "within: -1.0 came; give a distance of at least 0"),
        ({"within": np.nan}, "within: nan came; give a distance of at least 0"),
        ({"within": "near"}, "within: 'near' came; give a distance of at least 0"),
        ({"metric": "cosine"}, "metric: 'cosine' came; search knows wfr, wmd, hellinger"),
        ({"mode": "slow"}, 'mode: \'slow\' came; give "exact", "fast" or "paper"'),
        ({"mode": "fast"}, 'mode="fast": no budget came; give milliseconds= or solves='),
        ({"solves": 3}, 'milliseconds, solves: a budget is for mode="fast"'),
        ({"mode": "fast", "solves": -1}, "solves: -1 came; give a whole number from 0"),
        ({"mode": "fast", "solves": 1.5}, "solves: 1.5 came; give a whole number from 0"),
        (
            {"mode": "fast", "milliseconds": "soon"},
            "milliseconds: 'soon' came; give a number of at least 0",
        ),
        ({"mode": "paper", "within": 1.0}, "finds k neighbours under metric"),
        ({"mode": "paper", "metric": "wmd"}, "finds k neighbours under metric"),
        ({"eta": 0}, "eta: 0 came; give a positive, finite number"),
        ({"tol": -1}, "tol: -1 came; give a positive, finite number"),
        ({"atol": "x"}, "atol: 'x' came; give a positive number"),
        ({"allowed": [np.ones(3, bool)]}, "allowed: a mask of shape (3,) for 20 documents"),
        ({"allowed": [np.ones(20)]}, "allowed: float64 came; give a mask of booleans"),
        ({"allowed": []}, "allowed: 0 masks for 1 collections; give one each, or None"),
    ],
)
def test_what_the_door_refuses(asked, said):
    with pytest.raises(InputError, match=re.escape(said)):
        search([Documents.of(small_corpus())], small_queries()[0], **{"k": 3, **asked})


def test_a_query_of_other_dimensions():
    query = Measure([[0.0, 1.0]], [1.0])
    for metric in ("wfr", "wmd", "hellinger"):
        with pytest.raises(InputError, match="query: 2 dimensions came for documents of 256"):
            search([Documents.of(small_corpus())], query, k=3, metric=metric)


def test_settings_reach_every_query_of_a_batch():
    documents, queries = Documents.of(small_corpus()), small_queries()
    for asked in ({"metric": "wmd"}, {"metric": "hellinger"}, {"eta": 0.2}, {"mode": "paper"}):
        together = search_many([documents], queries, k=3, n_jobs=2, **asked)
        alone = [search([documents], query, k=3, **asked) for query in queries]
        assert [hits.ids for hits in together] == [hits.ids for hits in alone]
    with pytest.raises(InputError, match="n_jobs: 0 came"):
        search_many([documents], queries, k=3, n_jobs=0)

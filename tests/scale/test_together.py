"""Collections of different words, put over one set of words, hold the same documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.many import Documents
from wayfare.measure import Measure
from wayfare.points import Points, hashes_of
from wayfare.scale.together import together
from wayfare.search import search

DIM = 3


def some_points(numbers) -> np.ndarray:
    """A point for each number, the same for the same."""
    return np.array([[n, n * n % 7, -n] for n in numbers], np.float32).reshape(-1, DIM) / 8


@st.composite
def collections(draw, alike=False):
    """Documents over words of their own; numbers may come twice, as two words with one vector."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        words = draw(st.lists(st.integers(0, 12), min_size=1, max_size=9))
        rows = st.lists(st.integers(0, len(words) - 1), unique=True, max_size=5).map(sorted)
        documents = draw(st.lists(rows, max_size=6))
        points = some_points(words)
        hashes = hashes_of(points)
        if alike and draw(st.booleans()):
            hashes = hashes % 3  # different points of one hash
        sizes = [len(one) for one in documents]
        indices = np.array([n for one in documents for n in one], np.int32)
        made.append(
            Documents(
                Points(points, hashes=hashes),
                np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
                indices,
                1.0 + (np.arange(len(indices)) % 5),
            )
        )
    return made


def entries(measure: Measure) -> list:
    return sorted(zip(measure.points.tolist(), measure.weights.tolist(), strict=True))


@given(collections(alike=True))
def test_documents_stay_what_they_are(apart):
    joined = together(apart)
    assert len({id(some.shared) for some in joined}) == 1
    for some, before in zip(joined, apart, strict=True):
        assert len(some) == len(before)
        for n in range(len(some)):
            assert entries(some.measure(n)) == entries(before.measure(n))
            rows = some.indices[some.indptr[n] : some.indptr[n + 1]].tolist()
            assert len(set(rows)) == len(rows), "no row twice in a document"


def test_words_that_shards_have_in_common_are_there_once():
    apart = [
        _float32(Documents.of_measures([Measure(some_points(words), np.ones(len(words)))]))
        for words in ([1, 2, 2, 3], [3, 2, 5], [2, 2, 2])
    ]
    shared = together(apart)[0].shared
    assert (shared.array * 8)[:, 0].tolist() == [1, 2, 2, 3, 5, 2]


def _float32(some: Documents) -> Documents:
    return Documents(
        Points(some.points.astype(np.float32)), some.indptr, some.indices, some.weights
    )


@pytest.mark.parametrize("metric", ["wfr", "hellinger", "wmd"])
@given(collections(), st.integers(0, 3))
def test_a_search_finds_the_same(metric, apart, at):
    apart = [some for some in apart if len(some)]
    if not apart:
        return
    query = apart[at % len(apart)].measure(0)  # a document that is there: itself at distance 0
    settings = {"k": 4, "metric": metric}
    wanted = search(apart, query, **settings)
    found = search(together(apart), query, **settings)
    assert found.exact == wanted.exact
    if wanted.exact:
        assert found.ids == wanted.ids or not wanted.ordered
    assert (found.lower <= wanted.upper + 1e-9).all()
    assert (wanted.lower <= found.upper + 1e-9).all()

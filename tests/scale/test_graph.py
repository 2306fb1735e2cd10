"""The graph of neighbours made on a cluster is the one made here."""

import numpy as np
import pytest

import wayfare as wf
from wayfare.errors import IndexFailure, InputError
from wayfare.index import graph


@pytest.fixture
def index(documents, tmp_path):
    index = wf.Index.build(
        tmp_path / "one",
        [d["text"] for d in documents[:150]],
        ids=[d["id"] for d in documents[:150]],
    )
    index.add([d["text"] for d in documents[150:]], ids=[d["id"] for d in documents[150:]])
    index.delete(["d003", "d160"])
    return index


def test_the_same_graph(client, index, monkeypatch, tmp_path):
    monkeypatch.setattr(graph, "AT_ONCE", 50)
    client.run(setattr, graph, "AT_ONCE", 50)
    try:
        here, there = index.neighbors_graph(3), index.neighbors_graph(3, client=client)
    finally:
        client.run(setattr, graph, "AT_ONCE", 256)
    assert here.shape == there.shape == (238, 238)
    np.testing.assert_array_equal(here.indptr, there.indptr)
    np.testing.assert_array_equal(here.indices, there.indices)
    # Both are upper bounds of J within tol = 1e-3 of it, so of distances within half of that.
    np.testing.assert_allclose(here.data, there.data, rtol=5e-4, atol=1e-9)


def test_an_index_that_was_written_to_since(client, index):
    with wf.Index.open(index.path) as opened:
        index.delete(["d007"])
        with pytest.raises(
            IndexFailure, match=r"it was written to since it was opened; refresh\(\)"
        ):
            opened.neighbors_graph(2, client=client)
        opened.refresh()
        assert opened.neighbors_graph(2, client=client).shape == (237, 237)


def test_what_is_no_client(index):
    with pytest.raises(InputError, match=r"client: int came; give a dask\.distributed\.Client"):
        index.neighbors_graph(2, client=7)

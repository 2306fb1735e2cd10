"""All pairs on a cluster are all pairs here."""

import numpy as np
import pytest

import wayfare as wf
from wayfare import oncluster
from wayfare.errors import InputError


@pytest.mark.parametrize("metric", ["wfr", "wmd", "hellinger"])
@pytest.mark.parametrize("alone", [True, False])
def test_the_same_matrix(client, documents, monkeypatch, metric, alone):
    monkeypatch.setattr(oncluster, "TILE", 16)
    texts = [one["text"] for one in documents[:40]]
    others = None if alone else [one["text"] for one in documents[40:70]]
    here = wf.pairwise(texts, others, metric=metric)
    there = wf.pairwise(texts, others, metric=metric, client=client)
    np.testing.assert_allclose(there, here, rtol=2e-3, atol=1e-9)
    if metric == "wfr":
        bounds = wf.pairwise_bounds(texts, others, client=client)
        assert (bounds.lower <= here + 1e-12).all()
        assert (wf.pairwise_bounds(texts, others).lower <= there + 1e-12).all()


def test_one_place_at_a_time(client):
    with pytest.raises(InputError, match="client, device: 'cuda' came with a client"):
        wf.pairwise(["rain"], client=client, device="cuda")
    with pytest.raises(InputError, match=r"client: int came; give a dask\.distributed\.Client"):
        wf.pairwise(["rain"], client=7)

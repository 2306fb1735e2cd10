"""Cells made on the workers of a cluster are those made here, and are kept as they come."""

import json
from functools import partial

import pytest
from own_data import write_data

from wayfare.errors import InputError
from wayfare.paper import Scope, reproduce
from wayfare.paper.cells import Cells, Job, finish
from wayfare.paper.methods import ROWS

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class Heavy:
    """Something that several cells are given; it tells how often it was sent from here."""

    sent = 0

    def __getstate__(self):
        Heavy.sent += 1
        return {"value": 7}


def work(heavy, number, fail_at):
    if number == fail_at:
        raise ValueError("the third")
    return {"value": heavy.__dict__.get("value", 0) * number}


def jobs(fail_at=None):
    heavy = Heavy()
    return [Job({"task": "t", "row": str(n)}, partial(work, heavy, n, fail_at)) for n in range(6)]


def test_what_is_finished_is_kept(client, tmp_path):
    Heavy.sent = 0
    with pytest.raises(ValueError, match="the third"):
        finish(jobs(fail_at=3), Cells(tmp_path), client=client)
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(kept) <= 5
    cells = finish(jobs(), Cells(tmp_path), client=client)
    assert [cell.result["value"] for cell in cells] == [0, 7, 14, 21, 28, 35]
    assert all(path.read_bytes() == was for path, was in kept.items())
    assert Heavy.sent <= 4, "what cells have in common travels once a run, not once a cell"


def test_the_same_reproduction(client, tmp_path):
    data = write_data(tmp_path)
    tiny = Scope(0, 40, 1, 8, 2, 1, 1, 3, 20, 20)
    settings = {"scope": tiny, "rows": ["l1-tfidf", "hellinger"], "n_jobs": 1}
    found = []
    for folder, where in (("here", None), ("there", client)):
        reproduce("table2", data, tmp_path / folder, client=where, **settings)
        results = json.loads((tmp_path / folder / "results.json").read_text())
        lines = results["tasks"]["table2"]["lines"]
        found.append([line | {"seconds": None, "cpu_seconds": None} for line in lines])
        assert {path.name for path in (tmp_path / folder / "cells").iterdir()}
    assert found[0] == found[1]
    assert {line["row"] for line in found[0]} <= set(ROWS)


def test_what_is_no_client(tmp_path):
    with pytest.raises(InputError, match=r"client: int came; give a dask\.distributed\.Client"):
        finish(jobs(), Cells(tmp_path), client=7)

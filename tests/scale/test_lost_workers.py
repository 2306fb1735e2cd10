"""Workers that are killed in the middle: Dask gives their work to others, and nothing is lost."""

import os
import signal
import threading
import time

import pytest

from wayfare import scale

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")

QUERIES = ["bank rates rise", "the team wins", "snow and rain", "a song in the evening"] * 40


@pytest.fixture
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def kill_one_at_work(client, task: str, killed: list) -> None:
    """Kill a worker as soon as it has a task of that name."""
    pids = client.run(os.getpid)
    for _ in range(2000):
        for worker, keys in client.processing().items():
            if any(str(key).startswith(task) for key in keys) and worker in pids:
                os.kill(pids[worker], signal.SIGKILL)
                killed.append(worker)
                return
        time.sleep(0.005)


@pytest.mark.parametrize(
    ("what", "per_machine"), [("build", True), ("search", True), ("search", False)]
)
def test_a_killed_worker_is_survived(client, files, documents, tmp_path, what, per_machine):
    killed: list = []

    def watched(task, work):
        watcher = threading.Thread(target=kill_one_at_work, args=(client, task, killed))
        watcher.start()
        result = work()
        watcher.join()
        return result

    def build():
        return scale.build(files, tmp_path / "s", client=client, shards=6, id="id")

    shards = watched("build_shard", build) if what == "build" else build()
    assert len(shards) == 240
    shards = scale.open(tmp_path / "s", client=client, per_machine=per_machine)
    calm = shards.search(QUERIES, k=5)
    if what == "search":
        found = watched("search_share", lambda: shards.search(QUERIES, k=5))
        assert [hits.ids for hits in found] == [hits.ids for hits in calm]
    assert killed
    assert all(hits.exact and hits.work.documents == 240 for hits in calm)
    assert {p.name for p in (tmp_path / "s").glob("shard-*-*")} == {
        shard.folder for shard in shards.info().shards
    }

"""Writers that die, disks that are full, copies that were interrupted: what is there stays there."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wayfare as wf
from wayfare.errors import IndexFailure
from wayfare.index import files, segments

killing = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and fork are POSIX")


def told(*arguments):
    script = Path(__file__).with_name("killing.py")
    command = [sys.executable, str(script), *arguments]
    # Nothing here loses power, so a disk in memory shows the same and is not worn.
    memory = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
    env = os.environ | memory
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@killing
@pytest.mark.slow
def test_a_hundred_writers_killed_at_random_moments():
    found = told("random", "100")
    assert found["kills"] == {"build": 25, "add": 25, "delete": 25, "compact": 25}
    # Some died before their first commit, and some after it: both sides are seen.
    assert 20 < found["writes that count"] < 300


@killing
@pytest.mark.slow
def test_writers_killed_at_each_step_that_leaves_something():
    steps = told("steps")["steps"]
    assert min(steps.values()) > 20
    assert sum(steps.values()) > 200


@killing
@pytest.mark.slow
def test_a_disk_that_is_full_changes_nothing():
    refused = told("full")["refused"]
    assert min(refused.values()) >= 3


def test_an_error_of_the_disk_is_said_and_leaves_no_files(tmp_path, monkeypatch):
    index = wf.Index.build(tmp_path / "i", ["rain", "sun"], ids=["r", "s"])
    before = sorted(p.name for p in index.path.iterdir())

    def full(*arguments):
        raise OSError(28, "No space left on device")

    for owner, name in [(segments.os, "fsync"), (segments, "_append"), (files.os, "fsync")]:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, full)
            with pytest.raises(
                IndexFailure, match=r"No space left on device\); nothing has changed"
            ):
                index.add(["snow"], ids=["w"])
            with pytest.raises(IndexFailure, match="No space left on device"):
                wf.Index.build(tmp_path / "other", ["snow"])
        assert sorted(p.name for p in index.path.iterdir()) == before
        assert not (tmp_path / "other").exists()
        assert index.ids.tolist() == ["r", "s"]
    index.add(["snow"], ids=["w"])
    index.verify()


def test_an_interrupted_copy_is_whole_or_refused(tmp_path):
    texts = {f"d{n}": f"rain on river{n}" for n in range(30)}
    with wf.Index.build(tmp_path / "i", list(texts.values()), ids=list(texts)) as index:
        index.add(["snow"], ids=["w"])
        index.delete(["d3"])
    expected = set(texts) - {"d3"} | {"w"}
    rng = random.Random(0)
    copied = 0
    for _ in range(60):
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        (tmp_path / "copy").mkdir()
        names = sorted(p.name for p in (tmp_path / "i").iterdir())
        rng.shuffle(names)
        count = rng.randint(0, len(names))
        for at, name in enumerate(names[: count + 1]):
            content = (tmp_path / "i" / name).read_bytes()
            if at == count:
                content = content[: rng.randint(0, len(content))]
            (tmp_path / "copy" / name).write_bytes(content)
        try:
            with wf.Index.open(tmp_path / "copy") as copy:
                copy.verify()
                assert set(copy.ids) == expected
                copied += 1
        except IndexFailure:
            pass
    assert 0 < copied < 60


@pytest.mark.slow
def test_readers_and_a_writer_side_by_side():
    script = Path(__file__).parents[2] / "benchmarks" / "soak.py"
    command = [sys.executable, str(script), "--seconds", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("reader") == 4

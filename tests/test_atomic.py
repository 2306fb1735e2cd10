"""Files that are there whole or not at all."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from wayfare.atomic import whole_file


def test_what_stood_there_stays_until_the_new_file_is_whole(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def fail_half_way(path):
    with whole_file(path) as file:
        file.write(b"half")
        raise ZeroDivisionError


def test_a_failure_leaves_no_trace(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(ZeroDivisionError):
        fail_half_way(path)
    assert not list(tmp_path.iterdir())
    path.mkdir()
    with pytest.raises(OSError, match=r"irectory|denied"), whole_file(path):
        pass
    assert list(tmp_path.iterdir()) == [path]


def test_writers_that_race_leave_one_whole_file(tmp_path):
    def write(number):
        with whole_file(tmp_path / "a") as file:
            for _ in range(100):
                file.write(b"%d" % number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    content = (tmp_path / "a").read_bytes()
    assert len(content) == 100
    assert len(set(content)) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_it_may_be_read_by_whom_any_new_file_may_be_read(tmp_path):
    (tmp_path / "plain").touch()
    with whole_file(tmp_path / "whole"):
        pass
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "whole")}
    assert len(modes) == 1

"""The cache: fast, never wrong, and safe when processes race."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from wayfare import WordVectors
from wayfare.errors import FormatError
from wayfare.vectors import cache, cache_info, clear_cache
from wayfare.vectors.formats import text

OLD = 1_600_000_000


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(cache, "SMALLEST", 0)


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "v.txt", "a 1 2\nb 3 4\na 5 5\n")


def write(path, content):
    path.write_text(content)
    return path


def age(path, monkeypatch):
    """As if the file had been written long ago; its true time of change cannot be set."""
    os.utime(path, (OLD, OLD))
    seen = path.stat()
    looks = [seen.st_ino, seen.st_size, seen.st_mtime_ns, OLD * 10**9]
    real = cache.looks
    monkeypatch.setattr(
        cache, "looks", lambda p: looks if p == path and p.stat().st_size == looks[1] else real(p)
    )


def forbid_reading(monkeypatch):
    monkeypatch.setattr(text, "open_stream", lambda *a, **k: pytest.fail("it was parsed again"))


@pytest.mark.usefixtures("small")
def test_the_second_time_nothing_is_parsed(path, monkeypatch):
    first = WordVectors.load(path, unit=False)
    forbid_reading(monkeypatch)
    again = WordVectors.load(path, unit=False)
    assert again.words == first.words == ("a", "b")
    assert (again.embed(["b", "a", "c"])[0] == [[3, 4], [1, 2]]).all()
    assert again.report == first.report
    assert again.report.repeated == 1
    assert again.fingerprint == first.fingerprint
    assert again.default_eta == first.default_eta
    assert WordVectors.load(path).fingerprint != first.fingerprint


@pytest.mark.usefixtures("small")
def test_a_copy_under_another_name_is_found_by_its_content(path, tmp_path, monkeypatch):
    WordVectors.load(path)
    other = write(tmp_path / "other.txt", path.read_text())
    forbid_reading(monkeypatch)
    assert WordVectors.load(other).name == "other.txt"
    assert len(cache_info().entries) == 1


@pytest.mark.usefixtures("small")
def test_a_file_that_changes_is_read_anew(path):
    for number in range(5):  # the same length, within the clock's grain
        write(path, f"a 1 2\nb 3 {number}\n")
        assert WordVectors.load(path, unit=False)["b"].tolist() == [3, number]


@pytest.mark.usefixtures("small")
def test_the_arguments_belong_to_the_key(path):
    assert len(WordVectors.load(path)) == 2
    assert len(WordVectors.load(path, limit=1)) == 1
    assert len(WordVectors.load(path, on_error="skip")) == 2
    assert len(cache_info().entries) == 3


@pytest.mark.usefixtures("small")
def test_the_hash_is_remembered_while_the_file_stays_as_it_is(path, monkeypatch):
    age(path, monkeypatch)
    first = cache.hash_of([path])
    real = cache._hash_bytes
    monkeypatch.setattr(cache, "_hash_bytes", lambda *a: pytest.fail("hashed again"))
    assert cache.hash_of([path]) == first
    monkeypatch.setattr(cache, "_hash_bytes", real)
    write(path, "a 1 2\n")
    assert cache.hash_of([path]) != first


@pytest.mark.usefixtures("small")
def test_a_file_that_has_just_changed_is_not_remembered(path):
    first = cache.hash_of([path])
    assert not list(cache._directory().glob("*.source"))
    write(path, path.read_text().replace("1", "7"))
    assert cache.hash_of([path]) != first


@pytest.mark.usefixtures("small")
def test_a_file_that_changes_while_it_is_read(path, monkeypatch):
    real = text.read

    def slow(request):
        table = real(request)
        write(path, "a 1 2 3\n")
        return table

    from wayfare.vectors import open as opening

    way = opening.FORMATS["text"]
    monkeypatch.setitem(opening.FORMATS, "text", type(way)(slow, way.files))
    with pytest.raises(FormatError, match="changed while it was read"):
        WordVectors.load(path)
    assert not cache_info().entries


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kept", [-1, 40, 0])
def test_a_damaged_cache_is_written_anew(path, kept):
    WordVectors.load(path)
    (entry,) = cache._directory().glob("*.table")
    entry.write_bytes(entry.read_bytes()[:kept])
    assert WordVectors.load(path, unit=False)["b"].tolist() == [3, 4]
    assert len(cache_info().entries) == 1


@pytest.mark.usefixtures("small")
def test_it_can_be_looked_at_and_cleared(path):
    assert cache_info().entries == ()
    vectors = WordVectors.load(path)
    (entry,) = cache_info().entries
    assert (entry.source, entry.words, entry.dim) == (str(path), 2, 2)
    assert cache_info().bytes >= entry.bytes > 0
    assert str(cache_info().directory).startswith(os.environ["WAYFARE_CACHE"])
    assert clear_cache().entries == (entry,)
    assert cache_info().entries == ()
    assert cache_info().bytes == 0
    assert clear_cache().entries == ()
    assert "a" in vectors


@pytest.mark.usefixtures("small")
def test_the_empty_word_alone(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((1, 2)))
    write(tmp_path / "v.txt", "\n")
    for _ in range(2):
        vectors = WordVectors.load(tmp_path / "v.npy", unit=False)
        assert vectors.embed(["a", ""])[1].tolist() == [False, True]


def test_small_files_and_unwanted_caches_leave_no_trace(path, monkeypatch):
    WordVectors.load(path)
    monkeypatch.setattr(cache, "SMALLEST", 0)
    WordVectors.load(path, cache=False)
    assert cache_info().bytes == 0


@pytest.mark.usefixtures("small")
def test_a_cache_that_cannot_be_written_is_said(path, monkeypatch, tmp_path):
    monkeypatch.setenv("WAYFARE_CACHE", str(write(tmp_path / "a file", "")))
    with pytest.warns(RuntimeWarning, match="could not be kept in .*set WAYFARE_CACHE"):
        vectors = WordVectors.load(path)
    assert "a" in vectors


def test_the_cache_is_where_the_system_keeps_caches(monkeypatch):
    monkeypatch.delenv("WAYFARE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    monkeypatch.setenv("LOCALAPPDATA", "/l")
    for platform, part in [("linux", "/x/wayfare"), ("darwin", "Library/Caches/wayfare")]:
        monkeypatch.setattr(cache.sys, "platform", platform)
        assert part in cache.cache_info().directory.as_posix()
    monkeypatch.setattr(cache.sys, "platform", "win32")
    assert cache.cache_info().directory.as_posix() == "/l/wayfare/vectors"


def test_the_hash_covers_gensims_arrays(tmp_path):
    gensim = pytest.importorskip("gensim.models")
    vectors = gensim.KeyedVectors(2)
    vectors.add_vectors(["a"], np.ones((1, 2), np.float32))
    path = tmp_path / "v.kv"
    vectors.save(str(path), sep_limit=1)
    first = WordVectors.load(path, trust=True, unit=False)
    np.save(tmp_path / "v.kv.vectors.npy", np.zeros((1, 2), np.float32))
    again = WordVectors.load(path, trust=True, unit=False)
    assert first["a"].tolist() == [1, 1]
    assert again["a"].tolist() == [0, 0]


RACER = """
import sys, time
from wayfare import WordVectors
time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
vectors = WordVectors.load(sys.argv[1])
print(vectors.fingerprint, len(vectors), vectors.embed(["word19999", "word7"])[1].all())
"""


def test_two_processes_race(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20_000, 20)).round(4)
    lines = [f"word{i} {' '.join(map(str, row))}" for i, row in enumerate(rows.tolist())]
    path = write(tmp_path / "v.txt", "\n".join(lines))
    assert path.stat().st_size > cache.SMALLEST
    start = str(time.time() + 1.0)
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(path), start],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    told = [racer.communicate(timeout=60) for racer in racers]
    assert {err for _, err in told} == {""}
    assert len({out for out, _ in told}) == 1
    assert told[0][0].split()[1:] == ["20000", "True"]
    assert len(cache_info().entries) == 1
    assert not list(Path(os.environ["WAYFARE_CACHE"]).rglob("*.part"))
    assert WordVectors.load(path).fingerprint == told[0][0].split()[0]

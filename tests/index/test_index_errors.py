"""What an index cannot do, it says: what came, what was wanted, what to do; and it changes nothing."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import wayfare as wf
from wayfare.errors import (
    IndexCorruptError,
    IndexFailure,
    IndexLockedError,
    IndexVersionError,
    InputError,
    VectorsMismatchError,
)
from wayfare.index.files import HEAD
from wayfare.index.lock import writing

TEXTS = ["Rates rise again", "A quiet evening", "Snow on the hills"]


@pytest.fixture
def built(tmp_path):
    path = tmp_path / "news.index"
    wf.Index.build(path, TEXTS, ids=["r", "q", "s"], labels=["m", "l", "w"]).close()
    return path


def content(folder):
    return {
        p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith(("-wal", "-shm"))
    }


@pytest.mark.parametrize("name", ["nothing", "file", "empty"])
def test_what_is_no_index(tmp_path, name):
    path = tmp_path / name
    if name == "file":
        path.write_text("hello")
    if name == "empty":
        path.mkdir()
    said = {
        "nothing": r"there is nothing here; Index\.build makes an index",
        "file": "a file, not an index",
        "empty": "not an index, or one whose build never ended: no index.json",
    }
    with pytest.raises(IndexFailure, match=said[name]):
        wf.Index.open(path)
    assert name == "nothing" or path.exists()


def test_a_path_is_a_string_or_a_path():
    for wrong in ("", "a\0b", b"bytes"):
        with pytest.raises(InputError, match="path: "):
            wf.Index.open(wrong)


def test_a_newer_format(built):
    head = json.loads((built / HEAD).read_text())
    (built / HEAD).write_text(json.dumps(head | {"format": 2}))
    before = content(built)
    with pytest.raises(IndexVersionError, match=r"format 2 came, .* reads up to 1; update wayfare"):
        wf.Index.open(built)
    assert content(built) == before


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"kind": "other", "format": 1, "catalog": "x"}', "\xff",
     '{"kind": "wayfare index", "format": 1, "catalog": "../x"}',
     '{"kind": "wayfare index", "format": 1, "catalog": 3}'],
)  # fmt: skip
def test_a_damaged_head(built, text):
    (built / HEAD).write_bytes(text.encode("latin-1"))
    with pytest.raises(IndexCorruptError, match=r"index\.json: damaged; restore"):
        wf.Index.open(built)


def files_of(folder):
    return sorted(p.name for p in folder.iterdir() if p.name not in (HEAD, "write.lock"))


@pytest.mark.parametrize("stem", ["catalog-", "documents-", "words-"])
def test_a_missing_file(built, stem):
    for name in [name for name in files_of(built) if name.startswith(stem)]:
        shutil.move(built / name, built.parent / name)
        with pytest.raises(IndexCorruptError, match=f"{name}: it is missing; restore it"):
            wf.Index.open(built)
        shutil.move(built.parent / name, built / name)
    with wf.Index.open(built) as index:
        index.verify()


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_file(built, share):
    for name in files_of(built):
        whole = (built / name).read_bytes()
        (built / name).write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(IndexCorruptError, match=name):
            wf.Index.open(built).verify()  # SQLite does not always miss the end of its file at once
        (built / name).write_bytes(whole)
    with wf.Index.open(built) as index:
        index.verify()


def test_an_altered_byte_is_found_by_verify(built):
    for name in files_of(built):
        whole = (built / name).read_bytes()
        # The last byte of an array; a byte of a text.
        at = whole.index(b"Snow on") if name.startswith("catalog-") else len(whole) - 1
        altered = bytearray(whole)
        altered[at] ^= 1
        (built / name).write_bytes(altered)
        with wf.Index.open(built) as index, pytest.raises(IndexCorruptError, match="altered"):
            index.verify()
        (built / name).write_bytes(whole)


def test_a_catalogue_that_is_none(built):
    (catalog,) = built.glob("catalog-*.sqlite")
    catalog.write_bytes(b"This is a diary, and no database at all.\n" * 100)
    with pytest.raises(IndexCorruptError, match=r"damaged \(file is not a database\)"):
        wf.Index.open(built)
    catalog.unlink()
    sqlite3.connect(catalog).execute("create table other (x)").connection.close()
    with pytest.raises(IndexCorruptError, match=r"not the catalogue of an index"):
        wf.Index.open(built)


def test_a_catalogue_and_segments_that_do_not_belong_together(built):
    (catalog,) = built.glob("catalog-*.sqlite")
    with sqlite3.connect(catalog) as connection:
        connection.execute("delete from documents where id = 'q'")
    connection.close()
    with wf.Index.open(built) as index, pytest.raises(IndexCorruptError, match="2 ids for 3 doc"):
        index.verify()


def test_other_vectors(built):
    rng = np.random.default_rng(0)
    mine = wf.WordVectors.from_arrays(["rates", "snow"], rng.standard_normal((2, 8)), name="mine")
    with pytest.raises(VectorsMismatchError, match=r"'mine' came, .* built with 'wordllama-"):
        wf.Index.open(built, vectors=mine)
    with wf.Index.open(built) as index:
        with pytest.raises(VectorsMismatchError, match="make it with the vectors of the index"):
            index.add(wf.Corpus.from_texts(["snow"], ids=["x"], vectors=mine))
        with pytest.raises(InputError, match="points of 3 dimensions came; the index has 256"):
            index.add(wf.Corpus.from_ragged([np.eye(3)], ids=["x"]))


def test_functions_are_asked_for_again(tmp_path):
    def shout(text):
        return text.upper().split()

    def heavy(counts):
        return counts.values * 2

    path = tmp_path / "i"
    with wf.Index.build(path, ["rain sun", "sun"], tokenizer=shout, weighting=heavy) as index:
        expected = index.search("sun").distances
        index.add(["sun sun"])
    with wf.Index.open(path) as index:  # noqa: SIM117
        with pytest.raises(InputError, match=r"weighting: .* built with custom:.*heavy, and code"):
            index.search([["SUN"]])
    with wf.Index.open(path, weighting=heavy) as index:  # noqa: SIM117
        with pytest.raises(InputError, match=r"tokenizer: .* the function '.*shout', and code is"):
            index.search("sun")
    with wf.Index.open(path, tokenizer=shout, weighting=heavy) as index:
        np.testing.assert_array_equal(index.search("sun", ids=[0, 1]).distances, expected)


def test_a_second_writer_is_refused_at_once(built):
    with wf.Index.open(built) as index:
        with (
            writing(built),
            pytest.raises(IndexLockedError, match=rf"process {os.getpid()}\); try"),
        ):
            index.add(["x"], ids=["x"])
        index.add(["x"], ids=["x"])
        assert len(index) == 4


def test_the_lock_of_another_process_names_it_and_dies_with_it(built):
    held = "import sys, time; from pathlib import Path; from wayfare.index.lock import writing\n"
    held += f"with writing(Path({str(built)!r})): print('held', flush=True); time.sleep(60)\n"
    other = subprocess.Popen([sys.executable, "-c", held], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "held\n"
        with wf.Index.open(built) as index:
            assert index.search("snow", k=1).ids == ["s"]
            with pytest.raises(
                IndexLockedError, match=rf"another writer .* \(process {other.pid}\)"
            ):
                index.delete(["s"])
            with pytest.raises(IndexLockedError):
                wf.Index.build(built, ["rain"], overwrite=True)
            other.kill()
            other.wait()
            index.delete(["s"])
            assert len(index) == 2
    finally:
        other.kill()
        other.wait()
        other.stdout.close()


def test_read_only_means_that(built):
    before = content(built)
    with wf.Index.open(built, read_only=True) as index:
        for write in (lambda: index.add(["x"]), lambda: index.delete(["s"]), index.compact):
            with pytest.raises(IndexFailure, match="opened with read_only=True"):
                write()
        assert index.search("snow", k=1).ids == ["s"]
    assert content(built) == before


def test_labels_and_metadata_are_what_json_can_hold(tmp_path):
    path = tmp_path / "i"
    with pytest.raises(InputError, match=r"label: <object object .* an index keeps strings"):
        wf.Index.build(path, ["x"], labels=[object()])
    with pytest.raises(InputError, match="metadata: the name 'label' is kept for labels="):
        wf.Index.build(path, ["x"], metadata={"label": ["y"]})
    with pytest.raises(InputError, match="metric: 'rwmd' came; search knows wfr, wmd, hellinger"):
        wf.Index.build(path, ["x"], metric="rwmd")
    kept = [{"a": [1, None]}, [1, 2], 1.5, "1", 1, True]
    index = wf.Index.build(path, ["x"] * 6, metadata={"m": kept})
    assert [one.metadata["m"] for one in index] == kept
    assert index.search("x", where={"m": 1}).ids == [4]
    assert index.search("x", where={"m": [[1, 2]]}).ids == [1]


ODD = ["\0", "a\0b", "\ud800", "'; drop table documents; --", "\u00e9", "e\u0301", "\U0001f600", ""]


@pytest.mark.parametrize("odd", ODD)
def test_ids_and_texts_of_any_characters(tmp_path, odd):
    beside = {"labels": [odd, "y"], "metadata": {odd: [odd, "z"]}}
    index = wf.Index.build(tmp_path / "i", [odd + " rain", "sun"], ids=[odd, "x"], **beside)
    index.close()
    index = wf.Index.open(tmp_path / "i")
    index.add([odd], ids=["new"], labels=[odd])
    assert index.ids.tolist() == [odd, "x", "new"]
    assert index.get(odd).text == odd + " rain"
    assert index.get(odd).metadata == {odd: odd}
    assert index.search("rain", k=1).ids == [odd]
    assert set(index.search("rain", where={"label": odd}).ids) == {odd, "new"}
    assert index.search("rain", where={odd: odd}).ids == [odd]
    index.delete([odd])
    assert index.ids.tolist() == ["x", "new"]
    index.verify()


READ = """
import os, sys
import wayfare as wf
import wayfare.index.description, wayfare.index.writing
from wayfare.errors import IndexFailure
wf.Index
if os.geteuid() == 0:
    os.setuid(65534)  # nobody, who may not even import what lies with root
index = wf.Index.open(sys.argv[1])
index.verify()
assert index.get("s").text == "Snow on the hills"
try:
    index.delete(["s"])
except IndexFailure as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of folders are POSIX")
def test_an_index_that_cannot_be_written_is_read(built, tmp_path_factory):
    if os.geteuid() == 0 and not os.access("/dev/shm", os.W_OK):
        pytest.skip("root reads and writes everything, and there is no folder to share with others")
    place = Path(tempfile.mkdtemp(dir="/dev/shm" if os.geteuid() == 0 else built.parent))
    try:
        shutil.copytree(built, place / "i")
        for path in (place / "i").iterdir():
            path.chmod(0o444)
        (place / "i").chmod(0o555)
        place.chmod(0o755)
        before = content(place / "i")
        command = [sys.executable, "-c", READ, str(place / "i")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert "it cannot be written to (Permission denied); reading it is still" in done.stdout
        assert content(place / "i") == before
    finally:
        (place / "i").chmod(0o755)
        shutil.rmtree(place)


def test_a_frozen_catalogue_that_changes_is_noticed(built, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        frozen = wf.Index.open(built)
    assert frozen.get("s").label == "w"
    assert not list(built.glob("*-wal"))
    with wf.Index.open(built) as index:
        index.add(["Rain"], ids=["n"])
    with pytest.raises(IndexFailure, match="as one that nobody changes, and was changed; open"):
        frozen.get("q")
    frozen.close()

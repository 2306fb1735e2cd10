"""Files that cannot be read: each says where and why, and nothing else ever escapes."""

import bz2
import gzip
import json
import os
import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from wayfare import WordVectors
from wayfare.errors import FormatError, InputError, WayfareError
from wayfare.vectors import cache
from wayfare.vectors.formats import text


def refused(path, **settings):
    with pytest.raises(FormatError) as caught:
        WordVectors.load(path, **settings)
    assert str(caught.value).startswith(str(path))
    return caught.value


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("a 1 2\nb 3\nc 4 5\n", 2, "expected a word and 2 numbers, found 1 numbers"),
        ("a 1 2\nc 4 5\nb 3 4.5 5\n", 3, "expected a word and 2 numbers, found more"),
        ("a 1 2\n 3 4\n", 2, "expected a word and 2 numbers"),
        ("a 1 2\nb 3 x\n", 2, "column 3: 'x' is not a number"),
        ("a 1 2\nb 3 1_0\n", 2, "column 3: '1_0' is not a number"),
        ("a 1 2\nb 1-2  3\n", 2, "column 2: '1-2' is not a number"),
        ("a 1 2\nb 0x1 2\n", 2, "column 2: '0x1' is not a number"),
        ("a 1 2\nb 1 nan\n", 2, "the vector of 'b' holds NaN or infinity"),
        ("a 1 2\nb -inf 1\n", 2, "the vector of 'b' holds NaN or infinity"),
        ("a 1 2\nb 1e400 1\n", 2, "the vector of 'b' holds NaN or infinity"),
        ("a 1 2\nb  1e39  1\n", 2, "the vector of 'b' holds NaN or infinity"),
        ("2 2\na 1 2\nb 3\n", 3, "expected a word and 2 numbers, found 1"),
        ("3 2\na 1 2\nb 3 4\n", 1, "promises 3 words, 2 lines follow: the file was cut short"),
        ("1 2\na 1 2\nb 3 4\n", 1, "promises 1 words, 2 lines follow: the header is wrong"),
        ("5 2\n", 1, "promises 5 words, 0 lines follow"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_text(tmp_path, content, line, message, zipped):
    path = tmp_path / "v.txt"
    path.write_bytes(gzip.compress(content.encode()) if zipped else content.encode())
    error = refused(path)
    assert error.line == line
    assert message in str(error)


def test_what_is_kept_but_odd_is_reported_with_its_line(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(cache, "SMALLEST", 0)
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\n\nb 0 0\nc 1 2\na 5 5\nd 0 -0\nb 0 0\n")
    told = [
        f"{path}: entries repeated: 2; first: line 5: 'a' is there already, in line 1",
        f"{path}: entries all zero: 2; first: line 3: 'b'",
    ]
    caplog.set_level("INFO", "wayfare")
    for _ in range(2):  # parsed, then from the cache
        report = WordVectors.load(path).report
        assert (report.repeated, report.zero, report.skipped) == (2, 2, 0)
        assert caplog.messages == told
        caplog.clear()
    path.write_text("a 1 2\nb nan 0\na 3 4\nc 0 0\n")
    report = WordVectors.load(path, on_error="skip", limit=2).report
    assert report.first_repeated == "line 3: 'a' is there already, in line 1"
    assert report.first_zero is None
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warned == [f"{path}: entries skipped: 1; first: {report.first_skipped}"]


def test_arrays_are_not_told_to_pass_what_they_cannot():
    with pytest.raises(
        FormatError, match=r"^mine: row 2: the vector of 'b' holds NaN.*; repair it$"
    ):
        WordVectors.from_arrays(["a", "b"], [[1.0], [np.nan]], name="mine")


def test_odd_entries_of_other_formats_are_counted_too(tmp_path):
    report = WordVectors.from_arrays(["a", "a", "b"], [[1, 2], [3, 4], [0, 0]]).report
    assert report.first_repeated == "row 2: 'a' is there already, in row 1"
    assert report.first_zero == "row 3: 'b'"
    path = tmp_path / "v.bin"
    rows = np.array([[1, 2], [3, 4]], "<f4").tobytes()
    path.write_bytes(b"2 2\na " + rows[:8] + b"\na " + rows[8:])
    assert WordVectors.load(path).report.first_repeated.startswith("word 2: 'a' is there already")


def test_lines_are_counted_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "CHUNK", 100)
    monkeypatch.setattr(text, "SAMPLE", 64)
    lines = [f"word{i} {i} 1" for i in range(500)]
    path = tmp_path / "v.txt"
    path.write_text("\n".join(lines))
    vectors = WordVectors.load(path, unit=False)
    assert vectors["word499"].tolist() == [499, 1]
    assert len(vectors) == 500
    lines[321] = "word321 nan 1"
    path.write_text("\n\n".join(lines))
    assert refused(path).line == 2 * 321 + 1


def test_bad_lines_can_be_left_out_and_are_counted(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\nb nan 2\nc 3\nd 1 x\n\xe9t\xe9 1 2\na 5 5\ne 3 4\n")
    vectors = WordVectors.load(path, on_error="skip", unit=False)
    assert vectors.words == ("a", "e")
    assert vectors.report.skipped == 4
    assert vectors.report.repeated == 1
    assert vectors.report.first_skipped == "line 2: the vector of 'b' holds NaN or infinity"
    path.write_bytes(b"a nan 2\nb nan 2\n")
    error = refused(path, on_error="skip")
    assert "no word vectors in this file (skipped 2: line 1: the vector of 'a'" in str(error)
    with pytest.raises(InputError, match="on_error: 'ignore' came"):
        WordVectors.load(path, on_error="ignore")


def test_encodings(tmp_path):
    path = tmp_path / "v.txt"
    path.write_bytes("a 1 2\nété 3 4\n".encode("latin-1"))
    error = refused(path)
    assert error.line == 2
    assert r"the word b'\xe9t\xe9' is not UTF-8" in str(error)
    path.write_bytes("a 1 2\nb 3 4\n".encode("utf-16"))
    assert "UTF-16: convert it to UTF-8" in str(refused(path))


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"   ", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)]
)
def test_nothing_in_it(tmp_path, content):
    path = tmp_path / "v.txt"
    path.write_bytes(content)
    refused(path)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"PK\x03\x04 1 2", "a zip archive: unzip it"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (bz2.compress(b"a 1 2"), "compressed with bzip2: decompress it"),
        (b"PAR1\x15\x04", "a Parquet file: save its rows"),
        (gzip.compress(gzip.compress(b"a 1 2", mtime=0), mtime=0), "gzip within gzip"),
        (b'{"a": [1, 2]}', "no format of word vectors begins with"),
        (b"<html><body>Not found</body></html>", "no format of word vectors begins with"),
        (b"word,0.1,0.2\n", "known are GloVe and word2vec text"),
    ],
)
def test_other_files(tmp_path, head, message):
    path = tmp_path / "v.bin"
    path.write_bytes(head if head.startswith(b"\x1f\x8b") else head + bytes(40))
    assert message in str(refused(path))


@pytest.mark.parametrize("word", ["BZhang", "PAR1S", "PK", "GIF89a", "NUMPY"])
def test_a_text_may_begin_with_any_word(tmp_path, word):
    path = tmp_path / "v.txt"
    path.write_text(f"{word} 1 2\nb 3 4\n")
    assert WordVectors.load(path).words == (word, "b")


def test_a_folder_or_a_file_of_text_where_vectors_were_meant(tmp_path):
    (tmp_path / "glove.txt").write_text("a 1 2\n")
    with pytest.raises(
        InputError, match=r"is a folder without a \.safetensors file; give the file"
    ):
        WordVectors.load(tmp_path)
    (tmp_path / "news.txt").write_text("rates rise again\nrain\n")
    assert "no format of word vectors begins with" in str(refused(tmp_path / "news.txt"))


def test_gzip_cut_short_or_damaged(tmp_path):
    path = tmp_path / "v.gz"
    lines = "".join(f"w{i} {random.Random(i).random()} 1\n" for i in range(2000))
    whole = gzip.compress(lines.encode())
    path.write_bytes(whole[:-20])
    assert "the gzip data end early" in str(refused(path))
    path.write_bytes(whole[:5000] + bytes(50) + whole[5050:])
    assert "the gzip data are damaged" in str(refused(path))


def _binary(words=3, dim=4, promised=None):
    rows = np.arange(words * dim, dtype="<f4").reshape(words, dim)
    body = b"".join(b"w%d " % i + row.tobytes() + b"\n" for i, row in enumerate(rows))
    return b"%d %d\n" % (promised or words, dim) + body


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_binary(promised=4), "promises 4 words, the file ends in word 4: it was cut short"),
        (_binary()[:-5], "promises 3 words, the file ends in word 3"),
        (_binary(promised=2), "promises 2 words of 4 numbers, and more follows"),
        (_binary(promised=10**17), "the file ends in word 4"),
        (b"2 0\n" + b"\0" * 9, "expected a first line with the numbers of words"),
        (b"2 99999999\n" + b"\0" * 9, "expected a first line with the numbers of words"),
        (b"2 4\n" + b"\0" * 100_000, "word 1 has no end"),
        (_binary().replace(struct.pack("<f", 6), struct.pack("<f", np.nan)), "word 2: the vector"),
        (_binary().replace(b"w2", b"\xff\xfe"), "word 3: the word b'\\xff\\xfe' is not UTF-8"),
    ],
)
def test_word2vec_binary(tmp_path, content, message):
    path = tmp_path / "v.bin"
    path.write_bytes(content)
    assert message in str(refused(path))


def test_arrays(tmp_path):
    path, words = tmp_path / "v.npy", tmp_path / "v.txt"
    np.save(path, np.eye(3))
    words.write_text("a\nb\n")
    with pytest.raises(FormatError, match=r"v\.txt: 2 words for the 3 rows of v\.npy"):
        WordVectors.load(path)
    words.write_text("a\nb\nc\n")
    np.save(path, np.array([[1, 2], [1, np.inf], [0, 0]]))
    assert "row 2: the vector of 'b' holds NaN" in str(refused(path))
    for array in (np.ones(3), np.ones((3, 0)), np.ones((3, 2), complex), np.array([["a"]] * 3)):
        np.save(path, array)
        assert "expected real numbers in (words, dimensions)" in str(refused(path))
    np.save(path, np.array([[object()]] * 3), allow_pickle=True)
    assert "not a whole .npy array" in str(refused(path))
    np.save(path, np.eye(3))
    whole = path.read_bytes()
    for length in (6, 8, 60, 128, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "not a whole .npy array" in str(refused(path))
    np.save(path, np.zeros((0, 3)))
    words.write_text("")
    assert "no word vectors" in str(refused(path))


def test_token_folders(tmp_path):
    with pytest.raises(InputError, match=r"is a folder without a \.safetensors file"):
        WordVectors.load(tmp_path)
    path, told = tmp_path / "m.safetensors", tmp_path / "tokenizer.json"
    save_file({"e": np.eye(3, dtype=np.float32)}, path)
    told.write_text("{}")
    with pytest.raises(FormatError, match=r"tokenizer\.json: not a tokenizer"):
        WordVectors.load(path)
    from tokenizers import Tokenizer, models

    Tokenizer(models.WordLevel({"a": 0, "b": 9}, unk_token="?")).save(str(told))
    assert "3 rows for the 10 tokens of tokenizer.json" in str(refused(path))
    Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="?")).save(str(told))
    assert "b" in WordVectors.load(path)
    with pytest.raises(InputError, match="limit: these vectors are rows of tokens"):
        WordVectors.load(path, limit=2)
    for tensors, message in [
        ({"e": np.array([[0.0], [np.inf]])}, "e, row 1: NaN or infinity"),
        ({"e": np.eye(3), "f": np.eye(3)}, "expected one array of (tokens, dimensions)"),
        ({f"e{i}": np.eye(3) for i in range(9)}, "and 4 more; give a model of static vectors"),
        ({"e": np.ones(3)}, "expected one array of (tokens, dimensions)"),
        ({"e": np.eye(3), "mapping": np.array([0, 3])}, "mapping: row numbers beyond"),
        ({"e": np.eye(3), "mapping": np.array([0.0, 1.0])}, "mapping: expected one row number"),
        ({"e": np.eye(3), "weights": np.ones(2)}, "weights of shape (2,) for 3 tokens"),
        ({"e": np.ones((3, 0))}, "rows without numbers"),
    ]:
        save_file(tensors, path)
        assert message in str(refused(path))
    save_file({"e": np.eye(3)}, path)
    path.write_bytes(path.read_bytes()[:-8])
    assert "not a safetensors file" in str(refused(path))
    save_file({"e": np.eye(3)}, tmp_path / "n.safetensors")
    with pytest.raises(InputError, match=r"2 safetensors files \(m\.safetensors, n\.safetensors\)"):
        WordVectors.load(tmp_path)


def test_bfloat16_says_what_to_do(tmp_path):
    head = json.dumps({"e": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}).encode()
    path = tmp_path / "m.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(8))
    (tmp_path / "tokenizer.json").write_text(
        '{"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "?"}}'
    )
    assert "save it again as float32" in str(refused(path))


def _fasttext(*, version=12, words=(b"a", b"b"), quantised=False, rows=None, pruned=-1, cut=0):
    rows = len(words) + 3 if rows is None else rows
    settings = [2, 5, 5, 1, 5, 1, 1, 1, 3, 2, 3, 100]
    out = struct.pack("<ii12id", 793712314, version, *settings, 1e-4)
    out += struct.pack("<iiiqq", len(words), len(words), 0, 10, pruned)
    out += b"".join(w + b"\0" + struct.pack("<qb", 1, 0) for w in words)
    out += struct.pack("<?qq", quantised, rows, 2) + np.ones((rows, 2), "<f4").tobytes()
    return out[: len(out) - cut]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_fasttext(version=11), "version 11 of the format; expected 12"),
        (_fasttext(cut=1), "cut short"),
        (_fasttext(cut=50), "cut short"),
        (_fasttext(cut=75), "ends in word"),
        (_fasttext()[:20], "cut short"),
        (_fasttext(quantised=True), "a compressed model (.ftz)"),
        (_fasttext(pruned=2), "a pruned model"),
        (_fasttext(rows=2), "the file is damaged"),
        (_fasttext(words=(b"a", b"a")), "a word stands in it twice"),
    ],
)
def test_fasttext_bin(tmp_path, content, message):
    path = tmp_path / "v.bin"
    path.write_bytes(_fasttext())
    vectors = WordVectors.load(path, unit=False)
    assert vectors.embed(["a", "bb", "x"], unknown="subword")[1].all()
    assert vectors["a"].tolist() == [1, 1]
    with pytest.raises(InputError, match=r"limit: .*load the \.vec file"):
        WordVectors.load(path, limit=1)
    (tmp_path / "w.bin").write_bytes(content)
    assert message in str(refused(tmp_path / "w.bin"))


def test_fasttext_rows_that_are_no_numbers_are_found_when_they_are_used(tmp_path):
    path = tmp_path / "v.bin"
    one, nan = struct.pack("<f", 1), struct.pack("<f", np.nan)
    path.write_bytes(_fasttext()[: -10 * 4] + one * 2 + nan * 2 + one * 6)
    vectors = WordVectors.load(path)
    with pytest.raises(FormatError, match="the vector of 'b' comes out as NaN or infinity"):
        vectors.embed(["x", "a", "b"])


def test_means_that_overflow(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"a": 0, "-": 1}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Punctuation()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    save_file({"e": np.full((2, 2), 3e38)}, tmp_path / "m.safetensors")
    vectors = WordVectors.load(tmp_path)
    assert "a" in vectors
    with pytest.raises(FormatError, match="the vector of 'a-a' comes out as NaN or infinity"):
        vectors.embed(["a", "a-a"])


def test_gensim_pickles_that_are_none(tmp_path):
    path = tmp_path / "v.kv"
    path.write_bytes(b"\x80\x04broken")
    assert "gensim cannot open it" in str(refused(path, trust=True))
    pytest.importorskip("gensim.corpora").Dictionary([["a"]]).save(str(path))
    assert "holds a Dictionary, no vectors" in str(refused(path, trust=True))


def test_paths(tmp_path):
    with pytest.raises(InputError, match=r"path_or_name: no file or folder .*missing\.txt"):
        WordVectors.load(tmp_path / "missing.txt")
    np.save(tmp_path / "v.npy", np.eye(2))
    with pytest.raises(InputError, match="No such file or directory"):
        WordVectors.load(tmp_path / "v.npy", vocabulary=tmp_path / "missing.txt")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="pipe is a pipe or device"):
            WordVectors.load(tmp_path / "pipe")
    for path in (3, None, "", "a\0b"):
        with pytest.raises(InputError, match=r"path_or_name: .* came; give a path"):
            WordVectors.load(path)


SEEDS = [
    b"",
    b"a 1 2\nb 3 4\n",
    b"2 2\na 1 2\nb 3 4\n",
    b"2 2\n",
    _binary(),
    _fasttext(),
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }",
    gzip.compress(b"a 1 2\nb 3 4\n", mtime=0),
    b'\x40\0\0\0\0\0\0\0{"e":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}',
]


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_whatever_the_bytes_only_our_own_errors_escape(tmp_path_factory, data):
    content = bytearray(data.draw(st.sampled_from(SEEDS)))
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=6))
    folder = tmp_path_factory.mktemp("bytes")
    (folder / "tokenizer.json").write_text(
        '{"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "?"}}'
    )
    (folder / "v.txt").write_text("a\nb\n")
    (folder / "v.npy").write_bytes(bytes(content))
    on_error = data.draw(st.sampled_from(["raise", "skip"]))
    try:
        vectors = WordVectors.load(folder / "v.npy", on_error=on_error, unit=False)
    except WayfareError:
        return
    try:
        points, known = vectors.embed(["a", "b", "", "\ud800"])
    except FormatError:  # a fastText row, which is looked at when it is used
        return
    assert np.isfinite(points).all()
    assert points.shape == (known.sum(), vectors.dim)

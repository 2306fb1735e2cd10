"""Files that cannot be read say where and why, and nothing is skipped in silence."""

import gzip
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wayfare.errors import FormatError, WayfareError
from wayfare.readers import read

LINE = b'{"text": "rates rise again in the spring"}\n'


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", LINE + b'{"text": \n', "line 2, column 10: not valid JSON: expecting value"),
        ("a.jsonl", LINE + b"[1]\n", r"line 2: expected a JSON object \{\.\.\.\}, found list"),
        ("a.jsonl", b"[" * 100_000, "line 1: not usable JSON"),
        ("a.jsonl", b'{"text": "x", "n": ' + b"1" * 9999 + b"}", "line 1: not usable JSON"),
        ("a.jsonl", LINE + b'{"txt": 1}', "line 2: no column 'text'; the columns there are: 'txt'"),
        (
            "a.csv",
            b"text,id\nrain\n",
            "line 2, column id: expected 2 fields as in the header, found 1",
        ),
        ("a.csv", b"text,id\nrain,1,2\n", "line 2: expected 2 fields as in the header, found 3"),
        ("a.csv", b'text\nrain\n"sun\nwind\n', r"line 3: malformed row: .*it runs to line 4"),
        ("a.csv", b'text\n"rain" sun\n', "line 2: malformed row"),
        (
            "a.csv",
            b"body,id\nrain,1\n",
            "line 1: no column 'text'; the columns there are: 'body', 'id'",
        ),
        ("a.csv", b"text,text\nrain,1\n", "column 'text' is there twice"),
        ("a.csv", b"text,id\n", "it holds no documents"),
        ("a.tsv", b"text,id\nrain,1\n", "no column 'text'; the columns there are: 'text,id'"),
        ("a.txt", b"caf\xe9\n", "line 1, column 4: byte 0xe9 is not utf-8; pass the encoding"),
        ("a.txt", "caf\xe9\n".encode("utf-16"), "pass the encoding of the file, such as 'utf-16'"),
        ("a.txt", b"", "the file is empty"),
        ("a.jsonl", b"", "the file is empty"),
        ("a.parquet", b"", "the file is empty"),
        ("a.txt.gz", b"", "the file is empty"),
        ("a.jsonl", b"\n\n", "it holds no documents"),
        ("a.txt.gz", gzip.compress(b"", mtime=0), "it holds no documents"),
        ("a.txt.gz", b"plain", "its name says that it is compressed"),
        ("a.txt.zst", b"plain", "its name says that it is compressed"),
        (
            "a.txt.gz",
            gzip.compress(LINE * 99, mtime=0)[:-9],
            "ends in the middle; the file was cut off",
        ),
        ("a.txt.gz", gzip.compress(LINE, mtime=0) + b"rest", "the compressed data is damaged"),
        ("a.txt.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 20, "the compressed data is damaged"),
        ("a.parquet", b"PAR1 and no more PAR1", "not a readable Parquet file"),
        ("a.parquet.gz", gzip.compress(b"PAR1" * 999, mtime=0)[:-9], "ends in the middle"),
    ],
)
def test_damage_is_named_with_its_place(tmp_path, name, content, said):
    path = put(tmp_path, name, content)
    with pytest.raises(FormatError, match=said) as caught:
        list(read(path, columns=["text"]))
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("cut", [5, 30, 60])
def test_a_zstd_frame_that_is_cut_off_is_noticed(tmp_path, cut):
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress(bytes(range(256)) * 2)
    with pytest.raises(FormatError, match="ends in the middle"):
        list(read(put(tmp_path, "a.txt.zst", packed[:-cut]), encoding="latin-1"))


def test_a_damaged_zstd_frame_is_noticed(tmp_path):
    pytest.importorskip("zstandard")
    with pytest.raises(FormatError, match="damaged"):
        list(read(put(tmp_path, "a.txt.zst", b"\x28\xb5\x2f\xfd" + b"\xff" * 30)))


def test_a_directory_where_a_file_was_meant(tmp_path):
    with pytest.raises(FormatError, match="it is a directory; give a file, or format='folder'"):
        list(read(tmp_path, format="jsonl"))
    put(tmp_path, "a.jsonl", LINE)
    with pytest.raises(
        FormatError, match=r"no \.txt file is below this folder, and 1 others; give"
    ):
        list(read(tmp_path))


def test_skipping_counts_each_record_and_goes_on(tmp_path):
    content = LINE + b"{\n" + b"\xff\n" + b"[]\n" + LINE
    records = read(put(tmp_path, "a.jsonl", content), on_error="skip")
    assert [r.line for r in records] == [1, 5]
    assert [e.line for e in records.skipped.errors] == [2, 3, 4]
    assert records.skipped.count == 3


def test_skipping_keeps_what_stands_before_the_cut(tmp_path):
    # Random words, so that the cut falls into the text and not into the ending alone.
    lines = [f"{n * 7919 % 10007} {n * 104729 % 10009}" for n in range(2000)]
    packed = gzip.compress("\n".join(lines).encode())
    records = read(put(tmp_path, "a.txt.gz", packed[: len(packed) // 2]), on_error="skip")
    texts = [r.fields["text"] for r in records]
    assert 0 < len(texts) < len(lines)
    assert texts == lines[: len(texts)]
    assert "cut off" in str(records.skipped)


def test_a_table_without_the_column_is_never_skipped(tmp_path):
    with pytest.raises(FormatError, match="no column 'text'"):
        list(read(put(tmp_path, "a.csv", b"a,b\n1,2\n"), columns=["text"], on_error="skip"))


def test_a_file_of_which_nothing_can_be_read_is_an_error(tmp_path):
    with pytest.raises(FormatError, match="nothing could be read: 2 records skipped; first: "):
        list(read(put(tmp_path, "a.jsonl", b"{\n{\n"), on_error="skip"))


@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.csv"])
def test_a_document_beyond_the_limit_is_refused(tmp_path, name):
    content = b"text\n" + b"x" * 500 + b"\nrain\n"
    path = put(tmp_path, name, content)
    with pytest.raises(FormatError, match="line 2: a document of more than 100 bytes; split it"):
        list(read(path, format="txt", limit=100))
    records = read(path, format="txt", limit=100, on_error="skip")
    assert [r.fields["text"] for r in records] == ["text", "rain"]
    assert records.skipped.count == 1


def test_a_limit_is_what_is_still_read(tmp_path):
    path = put(tmp_path, "a.txt", b"x" * 100 + b"\n" + b"y" * 100)
    assert [len(r.fields["text"]) for r in read(path, limit=100)] == [100, 100]


def test_a_line_without_end_is_never_held(tmp_path):
    path = put(tmp_path, "a.txt.gz", gzip.compress(b"x" * (1 << 25) + b"\nrain\n"))
    tracemalloc.start()
    records = list(read(path, limit=1 << 16, on_error="skip"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [r.fields["text"] for r in records] == ["rain"]
    assert peak < 1 << 24


def test_a_folder_names_the_file_that_is_wrong(tmp_path):
    put(tmp_path, "a.txt", b"rain")
    put(tmp_path, "b.txt", b"\xff")
    put(tmp_path, "c.txt", b"x" * 101)
    put(tmp_path, "d.txt.gz", gzip.compress(b"sun")[:-9])
    with pytest.raises(FormatError, match=r"b\.txt, column 1: byte 0xff"):
        list(read(tmp_path, limit=100))
    records = read(tmp_path, limit=100, on_error="skip")
    assert [r.fields["id"] for r in records] == ["a.txt"]
    assert records.skipped.count == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(["txt", "jsonl", "csv", "tsv", "parquet", "txt.gz", "jsonl.zst"]),
    st.one_of(
        st.binary(max_size=300),
        st.text('{}[]",\n\r\t\0 ab1\ud800', max_size=60).map(
            lambda s: s.encode("utf-8", "surrogatepass")
        ),
        st.binary(max_size=40).map(gzip.compress),
        st.binary(max_size=40).map(lambda b: b"\x1f\x8b\x08" + b),
        st.binary(max_size=40).map(lambda b: b"\x28\xb5\x2f\xfd" + b),
        st.binary(max_size=40).map(lambda b: b"PAR1" + b + b"PAR1"),
    ),
    st.sampled_from(["utf-8", "latin-1", "utf-16", "ascii"]),
    st.sampled_from(["raise", "skip"]),
)
def test_whatever_the_bytes_only_our_errors_escape(tmp_path, suffix, content, encoding, on_error):
    path = put(tmp_path, f"a.{suffix}", content)
    try:
        for record in read(path, encoding=encoding, on_error=on_error):
            assert record.line >= 1
    except WayfareError:
        pass

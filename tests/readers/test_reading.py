"""Each format gives the records that were written."""

import bz2
import csv
import gzip
import io
import json
import subprocess
import sys
import zlib

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfare.errors import InputError
from wayfare.readers import FORMATS, Record, read, register
from wayfare.readers.packed import Unpacked

ROWS = [
    {"id": "a", "text": "rates rise"},
    {"id": "b", "text": ""},
    {"id": "c", "text": 'quotes "here", a comma\nand a second line, café 雨'},
]


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def delimited(rows, delimiter):
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, ["id", "text"], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def parquet(rows):
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    return file.getvalue()


WRITERS = {
    "jsonl": lambda rows: jsonl(rows).encode(),
    "csv": lambda rows: delimited(rows, ",").encode(),
    "tsv": lambda rows: delimited(rows, "\t").encode(),
    "parquet": parquet,
}
CONTENT = {name: write(ROWS) for name, write in WRITERS.items()}


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


PACKERS = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


@pytest.mark.parametrize("pack", list(PACKERS))
@pytest.mark.parametrize("format", list(CONTENT))
def test_what_was_written_is_read(tmp_path, format, pack):
    path = tmp_path / f"a.{format}{pack}"
    path.write_bytes(PACKERS[pack](CONTENT[format]))
    assert [record.fields for record in read(path)] == ROWS


any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@pytest.mark.parametrize("format", list(WRITERS))
@given(rows=st.lists(st.fixed_dictionaries({"id": any_text, "text": any_text}), min_size=1))
def test_any_texts_come_back_as_they_were(tmp_path_factory, format, rows):
    path = tmp_path_factory.getbasetemp() / f"any.{format}"
    path.write_bytes(WRITERS[format](rows))
    assert [record.fields for record in read(path)] == rows


@pytest.mark.parametrize("pack", list(PACKERS))
@pytest.mark.parametrize("format", list(CONTENT))
def test_standard_input_is_read_packed_or_not(monkeypatch, format, pack):
    data = PACKERS[pack](CONTENT[format])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert [record.fields for record in read("-", format=format)] == ROWS


def test_parquet_through_a_pipe():
    program = "from wayfare.readers import read; print(len(list(read('-', format='parquet'))))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, input=CONTENT["parquet"], capture_output=True, check=True)
    assert done.stdout.split() == [b"3"]


def test_several_gzip_members_and_zstd_frames_follow_each_other(tmp_path):
    for suffix in (".gz", ".zst"):
        path = tmp_path / f"a.txt{suffix}"
        path.write_bytes(b"".join(PACKERS[suffix](part) for part in (b"one\nt", b"", b"wo\n")))
        assert [r.fields["text"] for r in read(path)] == ["one", "two"]


@given(st.binary(max_size=2000), st.integers(1, 50))
def test_members_give_back_any_bytes_in_any_pieces(data, size):
    packed = gzip.compress(data[: size * 9]) + bytes(size) + gzip.compress(data[size * 9 :])
    stream = Unpacked(io.BytesIO(packed), lambda: zlib.decompressobj(31))
    pieces = []
    while piece := stream.read(size):
        pieces.append(piece)
    assert b"".join(pieces) == data


def test_parquet_rows_are_read_with_the_wanted_columns(tmp_path):
    table = pyarrow.table({"id": [5, 6], "text": ["x", "y"], "other": [0, 0]})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    records = list(read(tmp_path / "a.parquet", columns=["text", "id"]))
    assert records == [Record(1, {"text": "x", "id": 5}), Record(2, {"text": "y", "id": 6})]
    assert next(read(tmp_path / "a.parquet")).fields.keys() == {"id", "text", "other"}


def test_a_line_is_a_document_and_an_empty_line_an_empty_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\r\n two\n\nthree")
    assert [r.fields["text"] for r in read(path)] == ["one", "", " two", "", "three"]
    assert [r.line for r in read(path)] == [1, 2, 3, 4, 5]


def test_lines_are_numbered_as_an_editor_does(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n\n{"n": 2}\n', encoding="utf-8")
    assert [r.line for r in read(tmp_path / "a.jsonl")] == [1, 3]
    (tmp_path / "a.csv").write_text('n,m\n1,"a\nb"\n\n2,c\n', encoding="utf-8")
    assert [r.line for r in read(tmp_path / "a.csv")] == [2, 5]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-32", "cp1252"])
@pytest.mark.parametrize("format", ["txt", "jsonl", "csv"])
def test_other_encodings_are_read_when_named(tmp_path, encoding, format):
    text = {"txt": "café", "jsonl": '{"text": "café"}', "csv": "text\ncafé"}
    (tmp_path / "a").write_bytes((text[format] + "\nwhat?").encode(encoding)[:None])
    records = read(tmp_path / "a", format=format, encoding=encoding, on_error="skip")
    assert next(records).fields == {"text": "café"}


def test_the_name_tells_the_format_in_any_case(tmp_path):
    path = tmp_path / "A.TXT.GZ"
    path.write_bytes(gzip.compress(b"one"))
    assert next(read(path)).fields == {"text": "one"}


def test_a_new_format_is_a_function(tmp_path):
    def read_upper(source):
        for number, line in source.lines():
            yield Record(number, {"text": line.strip().upper()})

    register("upper", [".upper"], read_upper)
    try:
        (tmp_path / "a.upper").write_text("one\n", encoding="utf-8")
        assert next(read(tmp_path / "a.upper")).fields == {"text": "ONE"}
    finally:
        del FORMATS["upper"]


@pytest.mark.parametrize(
    ("path", "options", "said"),
    [
        ("a.xlsx", {}, "format: 'a.xlsx' does not tell it; give one of 'jsonl', 'csv'"),
        ("-", {}, "standard input has no name"),
        ("a.csv", {"format": "xml"}, "format: 'xml' came; give one of"),
        ("a.csv", {"encoding": "utf-9"}, "encoding: 'utf-9' is not known"),
        ("a.csv", {"encoding": "base64"}, "encoding: 'base64' is not known"),
        ("a.csv", {"on_error": "ignore"}, "on_error: 'ignore' came; give 'raise' or 'skip'"),
        ("a.csv", {"limit": 0}, "limit: 0 came"),
        ("nowhere.csv", {}, "there is no file 'nowhere.csv'"),
        ("a\0.csv", {}, "cannot be opened"),
        (b"a.csv", {}, "give a string or a Path"),
        ("nowhere.csv", {"format": "folder"}, "is no folder"),
    ],
)
def test_what_cannot_be_asked_for(path, options, said):
    with pytest.raises(InputError, match=said):
        next(read(path, **options))


def test_other_compressions_are_not_taken_for_text(tmp_path):
    (tmp_path / "a.txt.bz2").write_bytes(bz2.compress(b"one"))
    with pytest.raises(InputError, match="does not tell it"):
        read(tmp_path / "a.txt.bz2")

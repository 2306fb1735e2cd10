"""Pieces lose nothing, cut nothing in two, and keep the order."""

import gzip
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from wayfare.errors import FormatError, InputError
from wayfare.scale.pieces import cut, find_files
from wayfare.scale.reading import Names, read_piece


def texts_of(pieces) -> list[list[str]]:
    return [read_piece(piece, Names()).texts for piece in pieces]


def lines(texts) -> str:
    return "".join(json.dumps({"text": text}) + "\n" for text in texts)


@given(
    st.lists(
        st.lists(st.text("ab c", max_size=60), min_size=1, max_size=20), min_size=1, max_size=4
    ),
    st.integers(1, 9),
)
def test_pieces_of_line_files_are_the_files(tmp_path_factory, files, shards):
    folder = tmp_path_factory.mktemp("pieces")
    for n, texts in enumerate(files):
        (folder / f"{n}.jsonl").write_text(lines(texts), encoding="utf-8")
    found = texts_of(cut(find_files(str(folder / "*.jsonl")), shards))
    assert len(found) <= shards
    assert all(found)
    assert [text for piece in found for text in piece] == [
        text for texts in files for text in texts
    ]


def test_pieces_are_of_about_one_size(tmp_path):
    for n, count in enumerate((300, 100, 200)):
        (tmp_path / f"{n}.jsonl").write_text(lines(["some words here"] * count), encoding="utf-8")
    sizes = [len(texts) for texts in texts_of(cut(find_files(str(tmp_path / "*.jsonl")), 5))]
    assert sum(sizes) == 600
    assert all(110 <= size <= 130 for size in sizes)


def test_parquet_is_cut_between_row_groups(tmp_path):
    texts = [f"number {n}" for n in range(100)]
    parquet.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", row_group_size=10)
    found = texts_of(cut(find_files(tmp_path / "a.parquet"), 4))
    assert len(found) == 4
    assert [text for piece in found for text in piece] == texts


def test_compressed_files_are_cut_between_them_only(tmp_path):
    for n in range(3):
        with gzip.open(tmp_path / f"{n}.jsonl.gz", "wt") as file:
            file.write(lines([f"file {n}"] * 5))
    found = texts_of(cut(find_files(str(tmp_path / "*.gz")), 8))
    assert found == [[f"file {n}"] * 5 for n in range(3)]
    assert len(cut(find_files(str(tmp_path / "*.gz")), 2)) == 2


def test_an_error_names_the_file_and_the_part(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(lines(["fine"] * 50) + "not json\n", encoding="utf-8")
    pieces = cut(find_files(str(path)), 2)
    with pytest.raises(FormatError, match=r"a\.jsonl \(bytes [\d,]+ to [\d,]+\), line \d+"):
        texts_of(pieces)


def test_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match="source: no file matches"):
        find_files(str(tmp_path / "*.jsonl"))
    with pytest.raises(InputError, match="cannot be reached"):
        find_files("nosuchprotocol://x/*.jsonl")


def test_records_and_their_fields():
    names = Names(text="body", id="n", label="kind", metadata=("year",))
    fields = read_piece([{"body": "rain", "n": 3, "kind": "w", "year": 1987, "more": 0}], names)
    assert (fields.texts, fields.ids, fields.labels) == (["rain"], [3], ["w"])
    assert fields.metadata == {"year": [1987]}
    with pytest.raises(
        InputError, match="no field 'body' in a record; the fields there are: 'text'"
    ):
        read_piece([{"text": "rain"}], names)
    with pytest.raises(InputError, match="str came where id, label or metadata are named"):
        read_piece(["rain"], names)

"""Corpora from the tables, files and arrays that other libraries make."""

import gzip
import io
import json
import logging
import sys
import tracemalloc

import numpy as np
import pandas
import pytest
import scipy.io
import scipy.sparse
from sklearn.feature_extraction.text import CountVectorizer

from wayfare import Corpus
from wayfare.errors import DuplicateIdError, FormatError, InputError
from wayfare.vectors import WordVectors

WORDS = ["rain", "sun", "snow", "wind"]
POINTS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], np.float32)
VECTORS = WordVectors.from_arrays(WORDS, POINTS, unit=False)
TEXTS = ["Rain, rain; Shine sun", "", "snow wind snow"]
COLUMNS = {"body": TEXTS, "key": ["p", "q", "r"], "kind": [1, 0, 1], "year": [1990, 1991, 1992]}
EXPECTED = Corpus.from_texts(TEXTS, vectors=VECTORS)


def assert_same(corpus: Corpus) -> None:
    for name in ("points", "indptr", "indices", "weights", "unknown_counts"):
        np.testing.assert_array_equal(getattr(corpus, name), getattr(EXPECTED, name))
    assert corpus.vocabulary == EXPECTED.vocabulary


# -- tables ---------------------------------------------------------------------------------


def as_pandas(columns):
    return pandas.DataFrame(columns)


def as_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def as_arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def as_record_batch(columns):
    return pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)


def as_dataset(columns):
    return pytest.importorskip("datasets").Dataset.from_dict(columns)


TABLES = [dict, as_pandas, as_polars, as_arrow, as_record_batch, as_dataset]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("make", TABLES)
def test_a_table_of_any_library_gives_the_same_corpus(make):
    corpus = Corpus.from_table(
        make(COLUMNS), text="body", id="key", label="kind", metadata=["year"], vectors=VECTORS
    )
    assert_same(corpus)
    assert corpus.ids.tolist() == COLUMNS["key"]
    assert corpus.labels == COLUMNS["kind"]
    assert corpus.metadata == {"year": COLUMNS["year"]}
    assert corpus.texts == TEXTS


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("make", TABLES)
def test_a_missing_column_names_those_that_are_there(make):
    with pytest.raises(InputError, match="text: there is no column 'text'; the columns are 'body'"):
        Corpus.from_table(make(COLUMNS), vectors=VECTORS)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("make", TABLES)
def test_a_table_is_no_list_of_texts(make):
    name = type(make(COLUMNS)).__name__
    with pytest.raises(InputError, match=rf"texts: {name} came; give one of its columns, or use"):
        Corpus.from_texts(make(COLUMNS), vectors=VECTORS)


@pytest.mark.parametrize("make", [dict, as_pandas, as_polars, as_arrow])
def test_a_missing_text_names_its_row(make):
    with pytest.raises(InputError, match=r"text: row 1 of column 'text' holds .*fill it with ''"):
        Corpus.from_table(make({"text": ["rain", None]}), vectors=VECTORS)


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="table: list came"):
        Corpus.from_table(TEXTS, vectors=VECTORS)
    with pytest.raises(InputError, match="give a list of column names"):
        Corpus.from_table(COLUMNS, text="body", metadata="year", vectors=VECTORS)


def test_a_plan_for_a_table_is_refused():
    plan = as_polars(COLUMNS).lazy()
    with pytest.raises(InputError, match="a LazyFrame gives no whole columns; collect or load it"):
        Corpus.from_table(plan, text="body", vectors=VECTORS)


def test_a_lazy_table_is_refused():
    class Lazy:
        column_names = ("text",)

        def __getitem__(self, name):
            raise TypeError

    with pytest.raises(InputError, match="a Lazy gives no whole columns; collect or load it"):
        Corpus.from_table(Lazy(), vectors=VECTORS)


# -- matrices -------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [True, False])
def test_scikit_learns_counts_give_the_same_measures(sparse):
    counter = CountVectorizer()
    counts = counter.fit_transform(TEXTS)
    matrix = counts if sparse else counts.toarray()
    for vocabulary in (counter.get_feature_names_out(), counter.vocabulary_):
        corpus = Corpus.from_matrix(matrix, vocabulary, vectors=VECTORS)
        for ours, theirs in zip(corpus, EXPECTED, strict=True):
            assert dict(zip(ours.words, ours.weights, strict=True)) == dict(
                zip(theirs.words, theirs.weights, strict=True)
            )
        assert corpus.unknown_counts.tolist() == EXPECTED.unknown_counts.tolist()


def test_weights_of_a_matrix_are_kept_under_counts():
    rows = scipy.sparse.csr_matrix([[0.5, 0, 0.25], [0, 0, 0]])
    corpus = Corpus.from_matrix(rows, WORDS[:3], vectors=VECTORS, weighting="counts")
    assert corpus.matrix.toarray().tolist() == rows.toarray().tolist()


@pytest.mark.parametrize(
    ("matrix", "vocabulary", "said"),
    [
        ([[1, 2]], ["rain"], r"matrix: shape \(1, 2\) for a vocabulary of 1"),
        ([[1, -2]], ["rain", "sun"], "negative count"),
        ([[1, np.nan]], ["rain", "sun"], "NaN"),
        ([["a", "b"]], ["rain", "sun"], "not a document-term matrix"),
        ([[1, 2]], ["rain", "rain"], "'rain' came twice"),
        ([[1, 2]], ["rain", 3], "not a string"),
        ([[1, 2]], {"rain": 0, "sun": 2}, "columns are not 0, 1, 2"),
    ],
)
def test_other_matrices_are_refused(matrix, vocabulary, said):
    with pytest.raises(InputError, match=said):
        Corpus.from_matrix(matrix, vocabulary, vectors=VECTORS)


# -- arrays of points -----------------------------------------------------------------------


def test_ragged_points_stay_apart():
    arrays = [POINTS[[0, 0, 1]], np.zeros((0, 3)), POINTS[2:].tolist()]
    corpus = Corpus.from_ragged(arrays, ids=["x", "y", "z"])
    assert (corpus.vocabulary, corpus.points.shape) == (None, (5, 3))
    np.testing.assert_array_equal(corpus[0].points, POINTS[[0, 0, 1]])
    np.testing.assert_allclose(corpus[0].weights, [1 / 3] * 3)
    assert len(corpus[1]) == 0
    assert corpus.select([2])[0].points.tolist() == POINTS[2:].tolist()


def test_ragged_points_carry_the_given_weights():
    corpus = Corpus.from_ragged([POINTS[:3], POINTS[:1]], [[2, 0, 1], [0.5]])
    assert corpus[0].weights.tolist() == [2, 1]
    assert corpus[0].points.tolist() == POINTS[[0, 2]].tolist()
    assert corpus.masses.tolist() == [3, 0.5]


@pytest.mark.parametrize(
    ("arrays", "weights", "said"),
    [
        (
            [[[1.0]], [[1.0, 2.0]]],
            None,
            r"arrays\[1\]: points of 2 dimensions came after points of 1",
        ),
        ([[1.0, 2.0]], None, r"arrays\[0\]: float64 of shape \(2,\)"),
        ([[["a"]]], None, r"arrays\[0\]"),
        ([[[np.inf]]], None, r"arrays\[0\]: NaN, or infinity"),
        ([[[1e300]]], None, "infinity in float32"),
        ([[[1.0]]], [], "weights: 0 arrays for 1 documents"),
        ([[[1.0]]], [[1, 2]], r"weights\[0\]: 2 weights for 1 points"),
        ([[[1.0]]], [[-1]], "negative"),
        ([[[1.0, 2.0], [3.0]]], None, r"arrays\[0\]: rows of several lengths came"),
        ([[[1.0]]], [["a"]], r"weights\[0\]: .* came; give numbers"),
        ([[[1.0]]], [[None]], r"weights\[0\]: object came; give numbers"),
        ([[[1.0]]], [[[1.0], [2.0, 3.0]]], r"weights\[0\]: rows of several lengths"),
        (3, None, "arrays: int came"),
    ],
)
def test_other_ragged_points_are_refused(arrays, weights, said):
    with pytest.raises(InputError, match=said):
        Corpus.from_ragged(arrays, weights)


# -- files ----------------------------------------------------------------------------------


def test_a_file_gives_the_same_corpus_and_lets_its_texts_go(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    with gzip.open(path, "wt") as file:
        for row in zip(*COLUMNS.values(), strict=True):
            file.write(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n")
    wanted = {"text": "body", "id": "key", "label": "kind", "metadata": ["year"]}
    corpus = Corpus.from_file(path, **wanted, vectors=VECTORS)
    assert_same(corpus)
    assert corpus.ids.tolist() == COLUMNS["key"]
    assert corpus.labels == COLUMNS["kind"]
    assert corpus.metadata == {"year": COLUMNS["year"]}
    assert corpus.texts is None
    assert not corpus.skipped
    kept = Corpus.from_file(path, **wanted, vectors=VECTORS, keep_texts=True)
    assert kept.texts == TEXTS


def test_a_file_streams_by(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(("." * 20_000 + " rain\n") * 2000, encoding="utf-8")
    tracemalloc.start()
    corpus = Corpus.from_file(path, vectors=VECTORS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert corpus.masses.tolist() == [1.0] * 2000
    assert peak < path.stat().st_size / 10


@pytest.mark.slow
def test_a_document_of_ten_million_words(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"rain sun snow wind fog " * 2_000_000 + b"\nsun\n", 1))
    corpus = Corpus.from_file(path, vectors=VECTORS, weighting="counts")
    assert corpus.matrix.toarray().tolist() == [[2_000_000] * 4, [0, 1, 0, 0]]
    assert corpus.unknown_counts.tolist() == [2_000_000, 0]


@pytest.mark.parametrize("pack", ["plain", "gzip", "zstd"])
def test_standard_input_makes_a_corpus(monkeypatch, pack):
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if pack == "gzip":
        data = gzip.compress(data)
    if pack == "zstd":
        data = pytest.importorskip("zstandard").ZstdCompressor().compress(data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    corpus = Corpus.from_file("-", format="jsonl", text="body", id="key", vectors=VECTORS)
    assert_same(corpus)
    assert corpus.ids.tolist() == COLUMNS["key"]


def test_pandas_writes_and_we_read(tmp_path):
    table = pandas.DataFrame(COLUMNS)
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    table.to_parquet(tmp_path / "a.parquet")
    table.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    for name in ("a.csv", "a.tsv", "a.parquet", "a.jsonl"):
        assert_same(Corpus.from_file(tmp_path / name, text="body", id="key", vectors=VECTORS))


BAD = [
    ('{"text": 3, "id": 1}', "column text: expected text, found int 3"),
    ('{"text": null, "id": 1}', r"column text: expected text, found nothing \(null\)"),
    ('{"text": "", "id": 1.5}', "column id: expected an id, a string or an integer; found float"),
    ('{"text": "", "id": true}', "column id: expected an id"),
    ('{"id": 1}', "no column 'text'; the columns there are: 'id'"),
    ("{", "not valid JSON"),
]


@pytest.mark.parametrize(("line", "said"), BAD)
def test_a_bad_record_is_an_error_with_its_line(tmp_path, line, said):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "rain", "id": 0}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"a\.jsonl, line 2.*" + said):
        Corpus.from_file(path, id="id", vectors=VECTORS)


def test_skipped_records_are_counted_and_logged(tmp_path, caplog):
    path = tmp_path / "a.jsonl"
    lines = ['{"text": "rain", "id": 7}', *(line for line, _ in BAD), '{"text": "sun", "id": 8}']
    path.write_text("\n".join(lines), encoding="utf-8")
    with caplog.at_level(logging.WARNING, logger="wayfare"):
        corpus = Corpus.from_file(path, id="id", on_error="skip", vectors=VECTORS)
    assert corpus.ids.tolist() == [7, 8]
    assert corpus.skipped is not None
    assert (corpus.skipped.count, corpus.skipped.errors[0].line) == (len(BAD), 2)
    assert "6 records skipped; first: " in caplog.text


def test_duplicate_ids_of_a_file_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,id\nrain,a\nsun,a\n", encoding="utf-8")
    with pytest.raises(DuplicateIdError, match="'a' came more than once"):
        Corpus.from_file(path, id="id", vectors=VECTORS)


def test_a_folder_gives_names_and_labels(tmp_path):
    for name, text in [("b/2.txt", "sun"), ("a/1.txt", "rain"), ("0.txt", ""), ("a/no.pdf", "x")]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    corpus = Corpus.from_file(tmp_path, id="id", label="label", vectors=VECTORS)
    assert corpus.ids.tolist() == ["0.txt", "a/1.txt", "b/2.txt"]
    assert corpus.labels == [None, "a", "b"]
    assert corpus.masses.tolist() == [0, 1, 1]


# -- .mat -----------------------------------------------------------------------------------


def cells(items: list[object]) -> np.ndarray:
    row = np.empty((1, len(items)), dtype=object)
    row[0, :] = items
    return row


DOCUMENTS = [(["rain", "sun"], [2, 1]), ([], []), (["snow", "rain"], [1, 3]), (["sun"], [1])]


def layout(documents, names):
    rows = [[WORDS.index(w) for w in words] for words, _ in documents]
    return {
        names[0]: cells([POINTS[r].T.astype(float) for r in rows]),
        names[1]: cells([np.array([c], float).reshape(1, -1) for _, c in documents]),
        names[2]: np.arange(1, len(documents) + 1, dtype=float)[None, :],
        names[3]: cells([cells(list(words)) for words, _ in documents]),
    }


WHOLE = layout(DOCUMENTS, ["X", "BOW_X", "Y", "words"]) | {
    "TR": np.array([[1, 2], [3, 4]]),
    "TE": np.array([[3, 4], [1, 2]]),
}
HALVES = layout(DOCUMENTS[:3], ["xtr", "BOW_xtr", "ytr", "words_tr"]) | layout(
    DOCUMENTS[3:], ["xte", "BOW_xte", "yte", "words_te"]
)


@pytest.mark.parametrize("content", [WHOLE, HALVES])
def test_scipy_writes_mat_and_we_read(tmp_path, content):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, content)
    corpus = Corpus.from_mat(path, weighting="counts")
    assert corpus.vocabulary == ("rain", "sun", "snow")
    np.testing.assert_array_equal(corpus.points, POINTS[:3])
    assert corpus.matrix.toarray().tolist() == [[2, 1, 0], [0, 0, 0], [3, 0, 1], [0, 1, 0]]


def test_splits_of_a_mat_are_columns(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", WHOLE)
    corpus = Corpus.from_mat(tmp_path / "a.mat")
    assert corpus.labels == [1, 2, 3, 4]
    assert corpus.metadata == {
        "split_0": ["train", "train", "test", "test"],
        "split_1": ["test", "test", "train", "train"],
    }
    scipy.io.savemat(tmp_path / "b.mat", HALVES)
    corpus = Corpus.from_mat(tmp_path / "b.mat")
    assert corpus.labels == [1, 2, 3, 1]
    assert corpus.metadata == {"split": ["train", "train", "train", "test"]}


def test_a_mat_without_words_keeps_its_points(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {k: v for k, v in WHOLE.items() if k != "words"})
    corpus = Corpus.from_mat(tmp_path / "a.mat")
    assert corpus.vocabulary is None
    np.testing.assert_array_equal(corpus.points, POINTS[:3])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"X": None}, "expected X or xtr, found"),
        ({"Y": None}, "no variable 'Y'; the variables are X"),
        ({"Y": np.ones((1, 3))}, "4, 4, 3 and 4 documents"),
        ({"BOW_X": cells([np.ones((1, 9))] * 4)}, "document 1: points of shape"),
        ({"BOW_X": cells([np.array([[1.0, -1.0]])] * 4)}, "negative"),
        ({"TR": np.array([[9, 1], [1, 1]])}, "position 9 of 4"),
    ],
)
def test_a_mat_of_another_layout_is_refused(tmp_path, change, said):
    content = {k: v for k, v in (WHOLE | change).items() if v is not None}
    scipy.io.savemat(tmp_path / "a.mat", content)
    with pytest.raises(FormatError, match=r"a\.mat: .*" + said):
        Corpus.from_mat(tmp_path / "a.mat")


def test_what_is_no_mat_is_refused(tmp_path):
    (tmp_path / "a.mat").write_bytes(b"no mat at all" * 20)
    with pytest.raises(FormatError, match=r"not a readable \.mat"):
        Corpus.from_mat(tmp_path / "a.mat")
    with pytest.raises(InputError, match="there is no file"):
        Corpus.from_mat(tmp_path / "b.mat")
    (tmp_path / "c.mat").mkdir()
    with pytest.raises(FormatError, match=r"c\.mat: it is a directory; give a \.mat file"):
        Corpus.from_mat(tmp_path / "c.mat")

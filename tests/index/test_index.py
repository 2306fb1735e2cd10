"""The door: what is built, added and deleted is what is found."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import wayfare as wf
from wayfare.errors import DuplicateIdError, IndexFailure, InputError

TEXTS = [
    "Rates rise again at the bank",
    "A quiet evening by the river",
    "Snow falls on the hills and rivers",
    "The bank lifts its rates, and oil falls",
    "Oil prices fall after the strike",
    "",
    "The goalkeeper saves a late penalty",
]
LABELS = ["money", "life", "weather", "money", "oil", None, "sport"]
METADATA = {"year": [1987, 1988, 1988, 1987, 1990, 1990, 1990], "lead": [True, False] * 3 + [True]}
QUERY = "the central bank raises its rates"


@pytest.fixture
def index(tmp_path):
    with wf.Index.build(
        tmp_path / "news.index", TEXTS, ids=list("abcdefg"), labels=LABELS, metadata=METADATA
    ) as built:
        yield built


def nearest(texts, ids, query, k, **settings):
    """By hand: all distances, in the order of (distance, id)."""
    distances = wf.pairwise([query], texts, **settings)[0]
    return [id for _, id in sorted(zip(distances, ids, strict=True))[:k]]


def test_what_is_built_is_found_with_its_text(index):
    hits = index.search(QUERY, k=3)
    assert hits.ids == nearest(TEXTS, "abcdefg", QUERY, 3)
    assert hits.exact
    assert hits.texts == [TEXTS["abcdefg".index(id)] for id in hits.ids]
    np.testing.assert_allclose(hits.distances, wf.rank(QUERY, TEXTS, k=3).distances)


def test_it_is_the_same_when_it_is_opened_again(index):
    before = index.search(QUERY, k=5)
    index.close()
    with wf.Index.open(index.path) as again:
        after = again.search(QUERY, k=5)
        assert (after.ids, after.distances.tolist()) == (before.ids, before.distances.tolist())
        assert again.ids.tolist() == list("abcdefg")
        assert len(again) == 7
    with pytest.raises(IndexFailure, match="closed; open it again"):
        index.search(QUERY)


def test_a_document_comes_back_as_it_went_in(index):
    found = index.get("d")
    assert (found.id, found.text, found.label) == ("d", TEXTS[3], "money")
    assert found.metadata == {"year": 1987, "lead": False}
    expected = wf.Corpus.from_texts(TEXTS)[3]
    assert found.measure.words == expected.words
    np.testing.assert_array_equal(found.measure.points, expected.points)
    np.testing.assert_array_equal(found.measure.weights, expected.weights)
    assert index.get("f").label is None
    assert [one.id for one in index] == list("abcdefg")
    assert "d" in index
    assert "z" not in index
    assert 4 not in index
    with pytest.raises(InputError, match="ids: 'z' is not in the index"):
        index.get("z")


def test_queries_are_told_apart_by_their_type(index):
    corpus = wf.Corpus.from_texts([QUERY, "snow"])
    one = index.search(QUERY, k=2)
    several = index.search([QUERY, "snow"], k=2)
    assert [hits.ids for hits in several] == [one.ids, index.search("snow", k=2).ids]
    assert [h.ids for h in index.search(corpus, k=2)] == [h.ids for h in several]
    assert [h.ids for h in index.search(list(corpus), k=2)] == [h.ids for h in several]
    assert index.search(corpus[0], k=2).ids == one.ids
    assert index.search([["snow"]], k=2)[0].ids == several[1].ids
    assert index.search([], k=2) == []
    with pytest.raises(InputError, match="query: int came; give a text, a Measure"):
        index.search(7)
    with pytest.raises(InputError, match=r"query\[1\]: int came"):
        index.search(["snow", 7])


def test_ten_are_found_unless_a_number_or_a_radius_is_given(tmp_path):
    index = wf.Index.build(tmp_path / "i", [f"word number {n}" for n in range(15)])
    assert len(index.search("number")) == 10
    assert len(index.search("number", within=5.0)) == 15
    assert len(index.search("number", within=5.0, k=3)) == 3


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ({"label": "money"}, "ad"),
        ({"label": ["money", "oil"]}, "ade"),
        ({"year": 1990, "lead": True}, "eg"),
        ({"year": np.int64(1988)}, "bc"),
        ({"label": None}, "f"),
        ({"label": "nothing of the kind"}, ""),
        ({"year": True}, ""),
    ],
)
def test_a_search_can_be_restricted_by_label_and_metadata(index, where, ids):
    hits = index.search(QUERY, k=7, where=where)
    assert sorted(hits.ids) == list(ids)
    assert hits.work.documents == len(ids)
    texts = [TEXTS["abcdefg".index(id)] for id in ids]
    assert hits.ids == (nearest(texts, ids, QUERY, 7) if ids else [])


def test_a_search_can_be_restricted_to_ids(index):
    assert sorted(index.search(QUERY, ids=["b", "g", "b"]).ids) == ["b", "g"]
    assert index.search(QUERY, ids=["b", "a"], where={"label": "life"}).ids == ["b"]
    with pytest.raises(InputError, match="ids: 'y', 'z' are not in the index"):
        index.search(QUERY, ids=["y", "a", "z"])
    with pytest.raises(InputError, match="where: nothing is kept under 'tone'; there is 'label', "):
        index.search(QUERY, where={"tone": 1})


def test_settings_may_be_given_anew(index):
    for settings in ({"eta": 0.3}, {"metric": "hellinger"}, {"metric": "wmd"}, {"tol": 1e-6}):
        found = index.search(QUERY, k=7, **settings)
        if settings.get("metric") == "wmd":
            assert len(found) == 6  # the empty document has another mass
            continue
        assert found.ids == nearest(TEXTS, "abcdefg", QUERY, 7, **settings)
    with pytest.raises(InputError, match='device: \'tpu\' came; give "cpu", "cuda"'):
        index.search(QUERY, device="tpu")


def test_what_is_added_is_found_and_new_words_too(index):
    words = index.info().words
    index.add(["A yak and a zebu graze", QUERY], ids=["y", "q"], labels=["life", "money"])
    assert len(index) == 9
    assert index.info().words > words
    assert index.search("zebu", k=1).ids == ["y"]
    assert index.search(QUERY, k=1).distances[0] == 0
    assert sorted(index.search(QUERY, where={"label": "life"}).ids) == ["b", "y"]
    assert index.get("y").metadata == {}


def test_ids_that_are_there_are_refused_or_replaced(index):
    with pytest.raises(DuplicateIdError, match="ids: 'a', 'c' are in the index already; pass repl"):
        index.add(["x", "y", "z"], ids=["a", "h", "c"])
    assert len(index) == 7
    index.add(["A zebu", "Hay"], ids=["a", "h"], replace=True)
    assert len(index) == 8
    assert index.get("a").text == "A zebu"
    assert index.search("zebu", k=1).ids == ["a"]
    with pytest.raises(DuplicateIdError, match="came more than once"):
        index.add(["x", "y"], ids=["n", "n"], replace=True)
    with pytest.raises(InputError, match="ids: integers came, and those of this index are strings"):
        index.add(["x"], ids=[3])
    with pytest.raises(InputError, match="ids: none came, and those of this index are strings"):
        index.add(["x"])


def test_what_is_deleted_is_gone(index):
    index.delete(["a", "d"])
    assert len(index) == 5
    assert index.search(QUERY, k=7).ids == nearest(
        [TEXTS[n] for n in (1, 2, 4, 5, 6)], "bcefg", QUERY, 7
    )
    assert index.info().deleted == 2
    with pytest.raises(InputError, match="ids: 'a' is not in the index"):
        index.delete(["a", "b"])
    assert "b" in index
    index.delete(["a", "b"], missing_ok=True)
    index.compact()
    assert index.ids.tolist() == list("cefg")
    assert (index.info().deleted, index.info().segments) == (0, 1)
    index.verify()
    index.add(["back again"], ids=["a"])
    assert index.search("back again", k=1).ids == ["a"]


def test_integer_ids_go_on_from_the_last(tmp_path):
    index = wf.Index.build(tmp_path / "i", ["rain", "sun"], ids=[7, 70])
    index.add(["snow"])
    assert index.ids.tolist() == [7, 70, 71]
    index.delete([71])
    index.add(["hail"])
    assert index.ids.tolist() == [7, 70, 71]
    assert index.ids.dtype == np.int64


def test_an_index_grows_from_nothing(tmp_path):
    index = wf.Index.build(tmp_path / "i", [])
    assert len(index.search("rain")) == 0
    index.add(["rain"], ids=["r"])
    assert index.search("rain").ids == ["r"]
    index.delete(["r"])
    index.compact()
    assert len(index.search("rain")) == 0
    index.verify()


def test_small_additions_do_not_pile_up(tmp_path):
    index = wf.Index.build(tmp_path / "i", ["rain"])
    for n in range(40):
        index.add([f"text {n}"])
    assert len(index) == 41
    assert index.info().segments <= 5
    assert len(list(index.path.glob("documents-*"))) == index.info().segments
    assert index.search("text 17", k=1).texts == ["text 17"]


def test_an_index_is_not_built_over_another_or_over_other_files(tmp_path, index):
    with pytest.raises(InputError, match="holds an index already; open it and add to it, or pass"):
        wf.Index.build(index.path, ["rain"])
    assert len(index) == 7
    wf.Index.build(index.path, ["rain"], overwrite=True)
    assert index.search(QUERY, k=1).ids == ["a"]  # what was opened stays
    index.refresh()
    assert len(index) == 1
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "diary.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds other things, such as 'diary.txt'"):
        wf.Index.build(tmp_path / "home", ["rain"], overwrite=True)
    assert (tmp_path / "home" / "diary.txt").read_text() == "mine"
    with pytest.raises(InputError, match="is a file; give a folder"):
        wf.Index.build(tmp_path / "home" / "diary.txt", ["rain"])


def test_a_failed_build_leaves_nothing(tmp_path):
    def texts():
        yield "rain"
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        wf.Index.build(tmp_path / "i", texts())
    assert not (tmp_path / "i").exists()
    with pytest.raises(DuplicateIdError):
        wf.Index.build(tmp_path / "i", ["rain", "sun"], ids=[1, 1])
    assert not (tmp_path / "i").exists()


def test_sources_of_a_build_agree(tmp_path):
    path = Path(tmp_path, "news.jsonl")
    path.write_text('{"text": "rain and wind", "key": "a"}\n{"text": "sun", "key": "b"}\n')
    texts, ids = ["rain and wind", "sun"], ["a", "b"]
    corpus = wf.Corpus.from_texts(texts, ids=ids)
    built = [
        wf.Index.build(tmp_path / "1", texts, ids=ids),
        wf.Index.build(tmp_path / "2", iter(texts), ids=ids),
        wf.Index.build(tmp_path / "3", corpus),
        wf.Index.build(tmp_path / "4", [["rain", "wind"], ["sun"]], ids=ids),
        wf.Index.build_from_file(tmp_path / "5", path, id="key"),
    ]
    for index in built:
        hits = index.search([["wind"]])[0]
        assert hits.ids == ["a", "b"]
        assert hits.distances.tolist() == built[0].search("wind").distances.tolist()
        index.verify()
    assert [index.get("a").text for index in built] == [
        *["rain and wind"] * 3,
        None,
        "rain and wind",
    ]
    with pytest.raises(InputError, match="labels: a Corpus has its own"):
        wf.Index.build(tmp_path / "6", corpus, labels=["x", "y"])
    with pytest.raises(InputError, match=r"a file goes to Index\.build_from_file"):
        wf.Index.build(tmp_path / "6", str(path))


def test_the_graph_of_neighbours(index):
    index.delete(["e"])
    graph = index.neighbors_graph(2)
    ids = index.ids.tolist()
    for row, id in enumerate(ids):
        others = [other for other in ids if other != id]
        texts = [TEXTS["abcdefg".index(other)] for other in others]
        expected = nearest(texts, others, TEXTS["abcdefg".index(id)], 2)
        columns = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
        assert {ids[column] for column in columns} == set(expected)
        assert (np.diff(columns) > 0).all()


def test_copies_are_each_others_neighbours_and_not_their_own(tmp_path):
    index = wf.Index.build(tmp_path / "i", ["rain"] * 5 + ["sun"])
    graph = index.neighbors_graph(2)
    assert graph.diagonal().tolist() == [0] * 6
    for row in range(5):
        columns = graph.indices[graph.indptr[row] : graph.indptr[row + 1]].tolist()
        assert row not in columns
        assert len(columns) == 2
        assert 5 not in columns


def test_an_index_travels_as_its_path(index):
    again = pickle.loads(pickle.dumps(index))
    assert again.search(QUERY, k=1).ids == index.search(QUERY, k=1).ids


def test_vectors_that_are_one_row_a_word_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    words = ["rain", "sun", "snow", "hail"]
    vectors = wf.WordVectors.from_arrays(words, rng.standard_normal((4, 8)), name="mine")
    built = wf.Index.build(tmp_path / "i", ["rain", "sun"], vectors=vectors)
    expected = built.search("snow hail").distances
    with wf.Index.open(tmp_path / "i") as index:
        np.testing.assert_array_equal(index.search("snow hail").distances, expected)
        index.add(["snow"])
        assert index.search("snow", k=1).ids == [2]
        index.verify()
    wf.Index.build(tmp_path / "j", ["rain", "sun"], vectors=vectors, keep_vectors=False)
    with wf.Index.open(tmp_path / "j") as index, pytest.raises(InputError, match="keeps no copy"):
        index.search("snow")
    with wf.Index.open(tmp_path / "j", vectors=vectors) as index:
        np.testing.assert_array_equal(index.search("snow hail").distances, expected)

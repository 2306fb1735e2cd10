"""The loaders, on files that the tests write."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from own_data import mat_documents, write_data
from scipy.io import savemat

from wayfare.errors import InputError
from wayfare.paper import CARDS, Scope, load
from wayfare.paper.published import DATASETS, STATISTICS
from wayfare.paper.splits import splits_of


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


def test_lines_with_and_without_a_pack(data, tmp_path):
    found = load("bbcsport", data)
    assert len(found) == 62
    assert found.given == ()
    assert found.corpus.weighting.fingerprint == "counts"
    mean, std = found.distinct_words
    assert mean == pytest.approx(np.diff(found.corpus.indptr).mean())
    assert std > 0
    rows = [
        {"text": "rain and wind", "label": "a", "split": "train"},
        {"text": "sun", "label": "b", "split": "test"},
    ]
    (tmp_path / "reuters.jsonl").write_text("\n".join(map(json.dumps, rows)))
    given = load("reuters", tmp_path)
    assert given.given == (["train", "test"],)
    [split] = splits_of(given, Scope())
    assert split.train.tolist() == [0]
    assert split.test.tolist() == [1]


def test_stop_words_stay_where_the_protocol_keeps_them(tmp_path):
    line = json.dumps({"text": "the rain and the wind", "label": 1})
    for name in ("twitter", "amazon"):
        (tmp_path / f"{name}.jsonl").write_text(line)
    assert "the" in load("twitter", tmp_path).corpus.vocabulary
    assert load("amazon", tmp_path).corpus.vocabulary == ("rain", "wind")


def test_the_filter_of_20news(tmp_path):
    common = " ".join(f"{word} {word}" for word in ("rain", "wind", "snow"))
    lines = [{"text": f"{common} rarely", "label": n % 2, "split": "train"} for n in range(3)]
    (tmp_path / "20news.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert set(load("20news", tmp_path).corpus.vocabulary) == {"rain", "wind", "snow"}


def test_a_mat_file_with_five_splits(tmp_path):
    points, counts, words = mat_documents()
    savemat(
        tmp_path / "recipe2-emd_tr_te_split.mat",
        {
            "X": points,
            "BOW_X": counts,
            "Y": np.array([1, 2, 1, 2, 1, 1]),
            "words": words,
            "TR": np.array([[1, 2, 3, 4], [3, 4, 5, 6]]),
            "TE": np.array([[5, 6], [1, 2]]),
        },
    )
    found = load("recipe", tmp_path)
    assert found.labels == [1, 2, 1, 2, 1, 1]
    assert found.corpus.points.shape == (3, 2)
    first, second = splits_of(found, Scope())
    assert first.train.tolist() == [0, 1, 2, 3]
    assert second.test.tolist() == [0, 1]
    assert load("recipe", tmp_path, clean=True).removed == 1


def test_a_mat_file_with_one_split(tmp_path):
    points, counts, words = mat_documents()
    parts = {}
    for side, rows in (("tr", slice(0, 4)), ("te", slice(4, 6))):
        parts |= {f"x{side}": points[rows], f"BOW_x{side}": counts[rows]}
        parts |= {f"words_{side}": words[rows], f"y{side}": np.arange(6)[rows] % 2}
    savemat(tmp_path / "r8-emd_tr_te3.mat", parts)
    found = load("reuters", tmp_path)
    [split] = splits_of(found, Scope())
    assert split.train.tolist() == [0, 1, 2, 3]
    clean = load("reuters", tmp_path, clean=True)
    # The copy goes out of the test documents, not out of the training documents.
    assert clean.given == (["train"] * 4 + ["test"],)


def test_20_newsgroups_from_scikit_learn(tmp_path, monkeypatch):
    def fetch(subset):
        return SimpleNamespace(
            data=["rain " * 6, "wind " * 6], target=[0, 1], target_names=["a", "b"]
        )

    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", fetch)
    found = load("20news", tmp_path)
    assert found.labels == ["a", "b", "a", "b"]
    assert found.given == (["train", "train", "test", "test"],)

    def fail(subset):
        raise OSError("no network")

    monkeypatch.setattr(sys.modules["sklearn.datasets"], "fetch_20newsgroups", fail)
    with pytest.raises(InputError, match=r"20news: no file in the folder.*put 20news\.jsonl"):
        load("20news", tmp_path)


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match=r"holds no bbcsport\*\.jsonl"):
        load("bbcsport", tmp_path)
    with pytest.raises(InputError, match="datasets: 'imdb' came"):
        load("imdb", tmp_path)


def test_drawn_splits_are_seeded_and_whole(data):
    found = load("bbcsport", data)
    splits = splits_of(found, Scope())
    assert len(splits) == 5
    for split in splits:
        assert len(split.train) == round(0.7 * 62)
        assert sorted([*split.train, *split.test]) == list(range(62))
    again = splits_of(found, Scope())
    assert all(np.array_equal(a.train, b.train) for a, b in zip(splits, again, strict=True))
    assert not np.array_equal(splits[0].train, splits[1].train)
    assert not np.array_equal(splits[0].train, splits_of(found, Scope(seed=1))[0].train)


def test_every_dataset_of_the_paper_has_a_card():
    assert set(DATASETS) | {"concept_project"} == set(CARDS)
    assert set(STATISTICS) == set(DATASETS)
    for card in CARDS.values():
        assert card.source
        assert card.licence
        assert card.caveats

"""`wayfare embed`: the vectors of the library's embeddings, in every form."""

import csv
import io
import json

import numpy as np
import pytest

from wayfare.cli.sample import sample
from wayfare.text import Tokenizer


@pytest.fixture(scope="module")
def expected():
    from wayfare.learn import LinearWFREmbedding

    texts = [text["text"] for text in sample()]
    model = LinearWFREmbedding(n_components=8, tokenizer=Tokenizer(stop_words="english"))
    return model.fit(texts).transform(texts)


def test_every_file_holds_the_same_vectors(wayfare, files, expected):
    ids = [text["id"] for text in sample()]
    line = ("embed", "news.jsonl", "--dimensions", "8", "--id-column", "id", "-o")
    for name in ("v.npy", "v.npz", "v.jsonl", "v.csv"):
        assert "60 vectors of 8 numbers" in wayfare(*line, name).err
    np.testing.assert_allclose(np.load("v.npy"), expected, atol=1e-6)
    with np.load("v.npz", allow_pickle=False) as packed:
        assert packed["ids"].tolist() == ids
        np.testing.assert_allclose(packed["vectors"], expected, atol=1e-6)
    lines = [json.loads(one) for one in (files / "v.jsonl").read_text().splitlines()]
    assert [one["id"] for one in lines] == ids
    np.testing.assert_allclose([one["vector"] for one in lines], expected, atol=1e-6)
    rows = list(csv.DictReader(io.StringIO((files / "v.csv").read_text())))
    assert [row["id"] for row in rows] == ids
    np.testing.assert_allclose([float(row["x7"]) for row in rows], expected[:, 7], atol=1e-6)


def test_other_documents_by_the_same_fit(wayfare, files):
    line = ("embed", "test.jsonl", "--fit", "train.jsonl", "--method", "wme", "--dimensions", "16")
    told = wayfare(*line, "--json").json()
    assert np.shape(told["vectors"]) == (len(sample()[1::12]), 16)


def test_vectors_go_somewhere(wayfare, files):
    assert wayfare("embed", "news.jsonl").code == 2
    wrong = wayfare("embed", "news.jsonl", "-o", "v.xyz")
    assert wrong.code == 1
    assert ".npz" in wrong.err
    assert not (files / "v.xyz").exists()

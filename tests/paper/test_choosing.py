"""What is chosen comes from training documents alone; what leaks says so, and is no worse."""

from functools import partial

import numpy as np
import pytest
from own_data import write_data

from wayfare.learn import SupervisedWMD
from wayfare.paper import Scope, load
from wayfare.paper.lesson import Lesson
from wayfare.paper.methods import ROWS
from wayfare.paper.splits import Split, splits_of

CHEAP = Scope(components=8, steps=2)
CHOSEN = ("k", "eta", "cv_error")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


def lesson(data, corrupt=False, few=False):
    found = load("bbcsport", data)
    split = splits_of(found, CHEAP)[0]
    if few:
        split = Split(split.train[:20], split.test[:10])
    labels = np.array(found.labels)
    if corrupt:
        classes, codes = np.unique(labels, return_inverse=True)
        labels[split.test] = classes[(codes[split.test] + 1) % len(classes)]
    return Lesson.alone(found.corpus, labels, split, CHEAP, 1)


@pytest.mark.parametrize(
    "row", ["l1-tfidf", "hellinger", "wfr", "wfr-near", "wmd-tfidf", "wme-wmd"]
)
def test_corrupt_test_labels_change_no_choice(data, row):
    fair, corrupt = ROWS[row].run(lesson(data)), ROWS[row].run(lesson(data, corrupt=True))
    assert {name: fair[name] for name in CHOSEN} == {name: corrupt[name] for name in CHOSEN}
    assert fair["error"] + corrupt["error"] >= 100  # none can be right both times
    assert 0 <= fair["error"] <= 100


def test_what_is_learnt_from_labels_is_learnt_from_training_labels(data, monkeypatch):
    cheap = partial(SupervisedWMD, init="identity", pool=8)
    monkeypatch.setattr("wayfare.paper.methods.SupervisedWMD", cheap)
    fair = ROWS["s-wmd"].run(lesson(data, few=True))
    corrupt = ROWS["s-wmd"].run(lesson(data, corrupt=True, few=True))
    assert {name: fair[name] for name in CHOSEN} == {name: corrupt[name] for name in CHOSEN}
    assert fair["error"] + corrupt["error"] >= 100


def test_the_leaking_figure_is_the_least_over_k(data):
    for row in ("l1-nbow", "hellinger"):
        found = ROWS[row].run(lesson(data))
        assert found["leaking"] == min(found["errors_by_k"]) <= found["error"]
        assert found["error"] == found["errors_by_k"][found["k"] - 1]


def test_the_error_is_that_of_the_classifier(data):
    from wayfare.learn import WFRNeighborsClassifier

    one = lesson(data)
    found = ROWS["wfr-tfidf"].run(one)
    corpus = one.weighed("tfidf")
    train, test = one.split
    model = WFRNeighborsClassifier(found["k"], eta=found["eta"]).fit(
        corpus.select(train), one.labels[train]
    )
    wrong = model.predict(corpus.select(test)) != one.labels[test]
    assert found["error"] == pytest.approx(100 * wrong.mean())
    # idf comes from the training documents.
    assert corpus.weighting.documents == len(train)


def test_l1_by_hand(data):
    one = lesson(data)
    found = ROWS["l1-nbow"].run(one)
    rows = one.weighed("nbow").matrix.toarray()
    train, test = one.split
    far = np.abs(rows[test][:, None] - rows[train]).sum(axis=2).round(12)
    nearest = one.labels[train][np.argsort(far, axis=1, kind="stable")[:, 0]]
    assert found["errors_by_k"][0] == pytest.approx(100 * (nearest != one.labels[test]).mean())

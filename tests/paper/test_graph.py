"""Lists read off a graph are those that a search of the part alone finds."""

import numpy as np
import pytest
from own_data import write_data

from wayfare.learn import WFRNeighborsClassifierCV
from wayfare.learn.nearest import Known, Space, nearest, of_matrix
from wayfare.paper import Scope, load
from wayfare.paper.graph import Graph, depth_for
from wayfare.paper.lesson import Graphs, Lesson
from wayfare.paper.methods import ETAS, ROWS
from wayfare.paper.splits import splits_of

SCOPE = Scope(splits=2)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return load("bbcsport", write_data(tmp_path_factory.mktemp("data")))


def graphs(data, folder=None):
    labels = np.array(data.labels)
    codes = np.unique(labels, return_inverse=True)[1]
    return Graphs(data.corpus, codes, splits_of(data, SCOPE), 1, folder, data.fingerprint)


def lesson(data, shared, number=0):
    labels = np.array(data.labels)
    return Lesson(data.corpus, labels, splits_of(data, SCOPE)[number], SCOPE, shared, 1)


@pytest.mark.parametrize("depth", [1, 7, 500])
@pytest.mark.parametrize(("metric", "eta"), [("wfr", 0.5), ("wfr", 0.25), ("hellinger", None)])
def test_read_off_is_what_a_search_of_the_part_finds(data, metric, eta, depth):
    split = splits_of(data, SCOPE)[1]
    shared = graphs(data)
    graph = shared.of(metric, "nbow", eta, split)
    among = np.zeros(len(data), bool)
    among[split.train] = True
    found = graph.nearest(split.test, among, 6, depth)
    corpus = lesson(data, shared).weighed("nbow")
    known = Known.of(corpus, split.train)
    queries = [corpus[int(row)] for row in split.test]
    space = Space(metric, eta or 1.0, n_jobs=1)
    direct = nearest(known, queries, 6, space, codes=shared.codes)
    np.testing.assert_array_equal(shared.codes[found], shared.codes[direct.places])


@pytest.mark.parametrize(("row", "metric"), [("wfr", "wfr"), ("hellinger", "hellinger")])
@pytest.mark.parametrize("weighting", ["nbow", "tfidf"])
def test_scores_are_those_of_the_loop_over_folds(data, row, metric, weighting):
    from wayfare.paper.methods import _voted

    shared = graphs(data)
    for number in range(2):
        one = lesson(data, shared, number)
        found = _voted(one, metric=metric, weighting=weighting)
        train, test = one.split
        # Fitted on the training documents of the split, as the report says; the folds keep these weights.
        corpus = one.weighed(weighting)
        model = WFRNeighborsClassifierCV(
            range(1, one.most() + 1),
            etas=one.etas(ETAS),
            cv=one.splitter,
            metric=metric,
            n_jobs=1,
            progress=False,
        ).fit(corpus.select(train), one.known)
        assert found["cv_error"] == pytest.approx(100 * (1 - model.best_score_))
        assert found["k"] == model.best_params_["k"]
        wrong = model.predict(corpus.select(test)) != one.labels[test]
        assert found["error"] == pytest.approx(100 * wrong.mean())


def test_splits_share_one_search_a_document(data):
    shared, asked = graphs(data), []
    first, second = splits_of(data, SCOPE)
    graph = shared.of("wfr", "nbow", 0.5, first)
    assert graph is shared.of("wfr", "nbow", 0.5, second)
    find = graph._find
    graph._find = lambda rows, depth: asked.extend(rows.tolist()) or find(rows, depth)
    for split in (first, second):
        among = np.zeros(len(data), bool)
        among[split.train] = True
        graph.nearest(split.test, among, 3, 30)
    assert len(asked) == len(set(asked))
    # What reads other documents is each split's own.
    tfidf = shared.of("wfr", "tfidf", 0.5, first)
    assert set(tfidf.known) == set(first.train)
    assert tfidf is not shared.of("wfr", "tfidf", 0.5, second)


def line_graph(path=None, key=None, fail_after=None):
    far = np.abs(np.subtract.outer(np.arange(400.0), np.arange(400.0)))
    calls = []

    def find(rows, depth):
        if fail_after is not None and len(calls) == fail_after:
            raise KeyboardInterrupt
        calls.append(len(rows))
        return of_matrix(far[rows], depth)

    return Graph(find, np.arange(400), path, key), calls


def test_lists_that_run_out_are_searched_deeper(monkeypatch):
    graph, calls = line_graph()
    far_away = np.arange(400) >= 300
    found = graph.nearest(np.array([0, 200, 399]), far_away, 2, 4)
    assert found.tolist() == [[300, 301], [300, 301], [398, 397]]
    assert len(calls) > 1
    nobody = graph.nearest(np.array([0]), np.zeros(400, bool), 2, 4)
    assert nobody.tolist() == [[-1, -1]]


def test_a_search_that_was_cut_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("wayfare.paper.graph.SAVE_SECONDS", -1.0)
    path, rows, all_ = tmp_path / "graph.npz", np.arange(400), np.ones(400, bool)
    graph, _ = line_graph(path, {"eta": 1}, fail_after=2)
    with pytest.raises(KeyboardInterrupt):
        graph.nearest(rows, all_, 3, 5)
    again, calls = line_graph(path, {"eta": 1})
    found = again.nearest(rows, all_, 3, 5)
    assert sum(calls) == 400 - 2 * 128
    np.testing.assert_array_equal(found, line_graph()[0].nearest(rows, all_, 3, 5))
    _, calls = line_graph(path, {"eta": 1})
    whole, calls = line_graph(path, {"eta": 1})
    np.testing.assert_array_equal(whole.nearest(rows, all_, 3, 5), found)
    assert not calls
    other, calls = line_graph(path, {"eta": 2})
    other.nearest(rows[:3], all_, 3, 5)
    assert calls == [3]
    path.write_bytes(b"PK broken")
    damaged, calls = line_graph(path, {"eta": 1})
    np.testing.assert_array_equal(damaged.nearest(rows, all_, 3, 5), found)
    assert sum(calls) == 400


def test_folds_are_shuffled_and_a_sample_is_asked(data):
    one = lesson(data, graphs(data))
    held = [asked for _, asked in one.folds()]
    assert sorted(np.concatenate(held).tolist()) == sorted(one.split.train.tolist())
    assert all(len(np.unique(np.diff(np.sort(rows)))) > 1 for rows in held)
    few = Lesson(data.corpus, one.labels, one.split, Scope(asked=10), graphs(data), 1)
    assert sum(len(asked) for _, asked in few.folds()) == 10
    for (learnt, asked), (all_, whole) in zip(few.folds(), one.folds(), strict=True):
        np.testing.assert_array_equal(learnt, all_)
        assert set(asked) <= set(whole)
    assert ROWS["hellinger"].run(few)["asked"] == 10


def test_depths_suffice_nearly_always():
    rng = np.random.default_rng(0)
    for share in (0.56, 0.8):
        depth = depth_for(19, share)
        short = (rng.random((4000, depth)) < share).sum(axis=1) < 19
        assert short.mean() < 0.015

"""Lists read off a graph are those that a search of the part alone finds."""

import numpy as np
import pytest
from own_data import write_data
from sklearn.neighbors import KNeighborsClassifier

import wayfare as wf
from wayfare.learn import WFRNeighborsClassifierCV
from wayfare.learn.nearest import Known, Space, nearest
from wayfare.learn.votes import votes
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
    return Graphs(data.corpus, splits_of(data, SCOPE), 1, folder, data.fingerprint)


def part(data, rows):
    """The classes of some documents, -1 for the others."""
    codes = np.full(len(data), -1)
    codes[rows] = np.unique(data.labels, return_inverse=True)[1][rows]
    return codes


def lesson(data, shared, number=0):
    labels = np.array(data.labels)
    return Lesson(data.corpus, labels, splits_of(data, SCOPE)[number], SCOPE, shared, 1)


@pytest.mark.parametrize("depth", [1, 7, 500])
@pytest.mark.parametrize(("metric", "eta"), [("wfr", 0.5), ("wfr", 0.25), ("hellinger", None)])
def test_read_off_is_what_a_search_of_the_part_finds(data, metric, eta, depth):
    split = splits_of(data, SCOPE)[1]
    shared, codes = graphs(data), part(data, split.train)
    graph = shared.of(metric, "nbow", eta, split)
    found = graph.nearest(split.test, codes, 6, depth)[0]
    corpus = lesson(data, shared).weighed("nbow")
    known = Known.of(corpus, split.train)
    queries = [corpus[int(row)] for row in split.test]
    space = Space(metric, eta or 1.0, n_jobs=1)
    direct = nearest(known, queries, 6, space, codes=codes)
    priors = np.full(codes.max() + 1, 0.1)
    mine, theirs = votes(found, priors)[0], votes(codes[direct.places], priors)[0]
    np.testing.assert_array_equal(mine, theirs)


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


@pytest.mark.parametrize(("row", "metric"), [("wfr-near", "wfr"), ("wmd-near", "wmd")])
def test_votes_by_distance_are_those_of_scikit_learn(data, row, metric):
    one = lesson(data, graphs(data))
    train, test = one.split
    corpus = one.weighed("nbow")
    found = ROWS[row].run(one)
    eta = 0.5 if found["eta"] is None else found["eta"]
    far = wf.pairwise(corpus.select(test), corpus.select(train), eta=eta, tol=1e-9, metric=metric)
    for k in (1, 4, 9):
        model = KNeighborsClassifier(k, weights="distance", metric="precomputed")
        model.fit(np.zeros((len(train), len(train))), one.known)
        said = model.predict(far)
        assert found["errors_by_k"][k - 1] == pytest.approx(100 * (said != one.labels[test]).mean())


def test_splits_share_one_search_a_document(data):
    shared, asked = graphs(data), []
    first, second = splits_of(data, SCOPE)
    graph = shared.of("wfr", "nbow", 0.5, first)
    assert graph is shared.of("wfr", "nbow", 0.5, second)
    find = graph._find
    graph._find = lambda rows, depth: asked.extend(rows.tolist()) or find(rows, depth)
    for split in (first, second):
        graph.nearest(split.test, part(data, split.train), 3, 30)[0]
    assert len(asked) == len(set(asked))
    # What reads other documents is each split's own.
    tfidf = shared.of("wfr", "tfidf", 0.5, first)
    assert set(tfidf.known) == set(first.train)
    assert tfidf is not shared.of("wfr", "tfidf", 0.5, second)


def line_graph(path=None, key=None, fail_after=None):
    calls = []

    def find(rows, depth):
        if fail_after is not None and len(calls) == fail_after:
            raise KeyboardInterrupt
        calls.append(len(rows))
        far = np.abs(np.arange(400.0) - rows[:, None])
        order = np.argsort(far, axis=1, kind="stable")[:, :depth]
        return [(places, one[places], one[places]) for places, one in zip(order, far, strict=True)]

    return Graph(find, np.arange(400), None, np.inf, path, key), calls


def test_lists_that_run_out_are_searched_deeper():
    graph, calls = line_graph()
    codes = np.where(np.arange(400) >= 300, np.arange(400), -1)
    found = graph.nearest(np.array([0, 200, 399]), codes, 2, 4)[0]
    assert found.tolist() == [[300, 301], [300, 301], [398, 397]]
    assert len(calls) > 1
    nobody = graph.nearest(np.array([0]), np.full(400, -1), 2, 4)[0]
    assert nobody.tolist() == [[-1, -1]]


def test_a_search_that_was_cut_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr("wayfare.paper.graph.SAVE_SECONDS", -1.0)
    path, rows, codes = tmp_path / "graph.npz", np.arange(400), np.arange(400) % 3
    graph, _ = line_graph(path, {"eta": 1}, fail_after=2)
    with pytest.raises(KeyboardInterrupt):
        graph.nearest(rows, codes, 3, 5)[0]
    again, calls = line_graph(path, {"eta": 1})
    found = again.nearest(rows, codes, 3, 5)[0]
    assert sum(calls) == 400 - 2 * 128
    np.testing.assert_array_equal(found, line_graph()[0].nearest(rows, codes, 3, 5)[0])
    whole, calls = line_graph(path, {"eta": 1})
    np.testing.assert_array_equal(whole.nearest(rows, codes, 3, 5)[0], found)
    assert not calls
    other, calls = line_graph(path, {"eta": 2})
    other.nearest(rows[:3], codes, 3, 5)[0]
    assert calls == [3]
    path.write_bytes(b"PK broken")
    damaged, calls = line_graph(path, {"eta": 1})
    np.testing.assert_array_equal(damaged.nearest(rows, codes, 3, 5)[0], found)
    assert sum(calls) == 400


def test_a_list_that_ends_as_far_as_can_be_is_completed_without_a_search(data):
    split = splits_of(data, SCOPE)[0]
    codes = part(data, split.train)
    for metric, eta in (("wfr", 0.25), ("hellinger", None), ("l1", None)):
        shallow = graphs(data).of(metric, "nbow", eta, split)
        deep = graphs(data).of(metric, "nbow", eta, split)
        asked, find = [], shallow._find
        shallow._find = lambda *given, find=find, asked=asked: asked.append(given) or find(*given)
        found = shallow.nearest(split.test, codes, 40, 12)[0]
        np.testing.assert_array_equal(found, deep.nearest(split.test, codes, 40, len(data))[0])
        ended = sum(upper.max() >= shallow._farthest for _, _, upper in shallow._lists.values())
        assert ended
        assert sum(len(rows) for rows, _ in asked) < 2 * len(split.test)


def test_only_what_a_vote_hangs_on_is_solved_further():
    """Five neighbours whose intervals all meet: of one class nothing is asked, of two what decides."""
    truth = np.array([0.0, 1.0, 1.01, 1.02, 1.03, 1.04])
    asked = []

    def refine(row, place, tol):
        asked.append(place)
        return truth[place] - tol / 10, truth[place] + tol / 10

    def find(rows, depth):
        return [(np.arange(6), np.maximum(truth - 0.2, 0), truth + 0.2) for _ in rows]

    graph = Graph(find, np.arange(6), refine)
    alike = graph.nearest(np.array([0]), np.array([9, 1, 1, 1, 1, 1]), 3, 5)[0]
    assert alike.tolist() == [[1, 1, 1]]
    assert not asked
    two = graph.nearest(np.array([0]), np.array([9, 1, 0, 0, 0, 0]), 3, 5)[0]
    assert asked
    assert two.tolist() == [[1, 0, 0]]
    before = len(asked)
    graph.nearest(np.array([0]), np.array([9, 1, 0, 0, 0, 0]), 3, 5)[0]
    assert len(asked) == before, "what was solved further is kept"


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

"""What each command answers, as a table, as JSON and as CSV."""

import csv
import io
import json
import math
import xml.etree.ElementTree as ET

import pytest

import wayfare as wf
from wayfare.cli.sample import sample
from wayfare.text import Tokenizer

A, B = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"


def rows_of(outcome):
    assert outcome.code == 0, outcome.err
    return list(csv.DictReader(io.StringIO(outcome.out)))


def test_distance_is_the_library_s(wayfare):
    expected = wf.distance(A, B, eta=0.4, tol=1e-6)
    told = wayfare("distance", A, B, "--eta", "0.4", "--tol", "1e-6", "--json").json()
    assert told["value"] == expected.value
    assert told["objective_lower"] == expected.certificate.lower
    assert told["lower"] <= told["value"] == told["upper"]
    assert math.isclose(told["lower"], 0.4 * math.sqrt(2 * told["objective_lower"]))
    (row,) = rows_of(wayfare("distance", A, B, "--eta", "0.4", "--tol", "1e-6", "--csv"))
    assert float(row["value"]) == expected.value
    table = wayfare("distance", A, B).out
    assert f"{wf.distance(A, B).value:.6g}" in table
    assert "certified" in table


def test_every_metric_has_a_distance(wayfare):
    from wayfare.metrics import METRICS

    for metric in METRICS:
        told = wayfare("distance", A, B, "--metric", metric, "--eta", "2", "--json").json()
        assert told["value"] == wf.distance(A, B, metric=metric, eta=2.0).value


def test_an_infinite_distance_is_null_in_json_and_says_why(wayfare):
    line = ("distance", "rain", "banker", "--metric", "wmd-wfr-cost", "--eta", "0.1")
    told = wayfare(*line, "--json").json()
    assert told["value"] is None
    assert told["status"] == "infeasible"
    assert "larger eta" in wayfare(*line).out


def test_texts_come_from_files_and_standard_input(wayfare, process, tmp_path):
    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "b.txt").write_text(B)
    expected = wf.distance(A, B).value
    told = wayfare("distance", "--files", "a.txt", "b.txt", "--json").json()
    assert told["value"] == expected
    assert process("distance", A, "-", "--json", stdin=B).json()["value"] == expected
    (tmp_path / "wide.txt").write_bytes(A.encode("utf-16"))
    told = wayfare("distance", "-f", "wide.txt", "wide.txt", "--encoding", "utf-16", "--json")
    assert told.json()["value"] == 0.0


def test_stop_words(wayfare, tmp_path):
    (tmp_path / "stop.txt").write_text("speaks\nmedia illinois")
    with_file = wayfare("distance", A, B, "--stop-words", "stop.txt", "--json").json()
    assert with_file["words"][0] == len({"obama", "to", "the", "in"})
    all_words = wayfare("distance", A, B, "--stop-words", "none", "--json").json()
    assert all_words["words"] == [7, 6]


def test_explain_adds_up_in_every_form(wayfare, tmp_path):
    told = wayfare("explain", A, B, "--json").json()
    prices = [word["price"] for word in told["first"]["words"]]
    assert math.isclose(sum(prices) + told["second"]["created"], told["objective"])
    rows = rows_of(wayfare("explain", A, B, "--csv"))
    assert math.isclose(sum(float(row["price"]) for row in rows), told["objective"])
    outcome = wayfare(
        "explain", A, B, "--svg", "plan.svg", "--html", "plan.html", "--theme", "dark"
    )
    assert outcome.out.rstrip("\n") == str(wf.distance(A, B).explain())
    assert outcome.err.count("wrote") == 2
    ET.parse(tmp_path / "plan.svg")
    assert "<svg" in (tmp_path / "plan.html").read_text()


def test_explain_draws_by_matplotlib(wayfare, tmp_path):
    pytest.importorskip("matplotlib")
    assert wayfare("explain", A, B, "--figure", "plan.png").code == 0
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_search_of_a_file_is_exact(wayfare, files):
    query = "the bank raises interest rates"
    corpus = wf.Corpus.from_file("news.jsonl", id="id", keep_texts=True)
    expected = wf.rank(query, corpus, k=5)
    line = ("search", "news.jsonl", query, "-k", "5", "--id-column", "id")
    (told,) = wayfare(*line, "--json").json()
    assert told["exact"] is True
    assert [hit["id"] for hit in told["hits"]] == expected.ids
    assert [hit["distance"] for hit in told["hits"]] == expected.distances.tolist()
    assert told["work"]["documents"] == 60
    assert told["hits"][0]["text"] in {text["text"] for text in sample()}
    rows = rows_of(wayfare(*line, "--csv"))
    assert [row["id"] for row in rows] == expected.ids
    table = wayfare(*line).out
    assert "exact: no other document is nearer" in table
    assert table.index(expected.ids[0]) < table.index(expected.ids[1])


def test_many_queries_from_a_file_or_standard_input(wayfare, process, files):
    (files / "queries.txt").write_text("rain and wind\n\na rocket\n")
    line = ("search", "news.jsonl", "-k", "1", "--json", "--id-column", "id")
    told = wayfare(*line, "--queries", "queries.txt").json()
    assert [one["query"] for one in told] == ["rain and wind", "a rocket"]
    assert [one["hits"][0]["id"].split("-")[0] for one in told] == ["weather", "space"]
    piped = process(*line, stdin="rain and wind\na rocket\n").json()
    for one, other in zip(piped, told, strict=True):
        assert one["query"] == other["query"]
        assert one["hits"][0]["id"] == other["hits"][0]["id"]
        # Each is certified to 1e-3; float32 tables may differ in their last bits from run to run.
        assert math.isclose(one["hits"][0]["distance"], other["hits"][0]["distance"], rel_tol=1e-5)


def test_search_within_a_distance(wayfare, files):
    (told,) = wayfare("search", "news.jsonl", "heavy rain", "--within", "0.9", "--json").json()
    far = wf.pairwise(["heavy rain"], [text["text"] for text in sample()])[0]
    assert sorted(hit["id"] for hit in told["hits"]) == [n for n in range(60) if far[n] <= 0.9]


def test_documents_from_standard_input(process, files):
    news = (files / "news.jsonl").read_bytes()
    outcome = process(
        "search", "-", "a rocket", "--format", "jsonl", "-k", "1", "--csv", stdin=news
    )
    (row,) = rows_of(outcome)
    assert "rocket" in row["text"]


def test_skipped_records_are_counted(wayfare, files):
    with (files / "news.jsonl").open("a") as file:
        file.write('{"text": 3}\nnot json\n')
    wrong = wayfare("search", "news.jsonl", "rain")
    assert wrong.code == 1
    assert "line 61" in wrong.err
    outcome = wayfare("search", "news.jsonl", "rain", "--on-error", "skip", "--json")
    assert outcome.json()[0]["work"]["documents"] == 60
    assert "2 records skipped" in outcome.err


def test_match_of_pairs_with_a_curve_and_a_threshold(wayfare, files):
    line = ("match", "pairs.csv", "--label-column", "label", "--precision", "0.9")
    told = wayfare(*line, "--json").json()
    assert len(told["pairs"]) == 24
    chosen, pairs = told["threshold"], told["pairs"]
    called = [pair for pair in pairs if pair["distance"] <= chosen["distance"]]
    right = [pair for pair in called if pair["label"] == "1"]
    assert math.isclose(chosen["precision"], len(right) / len(called))
    assert math.isclose(chosen["recall"], len(right) / 12)
    assert chosen["precision"] >= 0.9
    for point in zip(told["curve"]["thresholds"], told["curve"]["recall"], strict=True):
        below = sum(p["distance"] <= point[0] and p["label"] == "1" for p in pairs)
        assert math.isclose(point[1], below / 12)
    table = wayfare(*line).out
    assert "average precision" in table
    assert "threshold" in table
    assert len(rows_of(wayfare(*line, "--csv"))) == 24


def test_match_of_pairs_agrees_with_distance(wayfare, files):
    first = wayfare("match", "pairs.csv", "--json").json()["pairs"][0]
    text = sample()[0]["text"]
    half = " ".join(text.split()[: len(text.split()) // 2])
    assert math.isclose(first["distance"], wf.distance(text, half).value, rel_tol=1e-3)


@pytest.mark.parametrize("metric", ["wmd", "hellinger"])
def test_match_under_other_metrics(metric, wayfare, files):
    pair = wayfare("match", "pairs.csv", "--metric", metric, "--json").json()["pairs"][0]
    text = sample()[0]["text"]
    half = " ".join(text.split()[: len(text.split()) // 2])
    tokens = [Tokenizer(stop_words="english")(one) for one in (text, half)]
    expected = wf.distance(*tokens, metric=metric).value
    assert math.isclose(pair["distance"], expected, rel_tol=1e-6)
    found = wayfare("match", "other.jsonl", "news.jsonl", "--metric", metric, "--json").json()
    assert len(found["pairs"]) == len(sample()[::7])


def test_match_of_two_files_finds_the_nearest(wayfare, files):
    told = wayfare("match", "other.jsonl", "news.jsonl", "--id-column", "id", "--json").json()
    assert len(told["pairs"]) == len(sample()[::7])
    assert all(pair["first"] == pair["second"] for pair in told["pairs"])
    assert told["curve"] is None
    line = ("match", "other.jsonl", "news.jsonl", "-k", "3", "--label-column", "label", "--json")
    told = wayfare(*line).json()
    assert len(told["pairs"]) == 3 * len(sample()[::7])
    assert 0 < told["curve"]["matches"] < told["curve"]["pairs"]


def test_classify_is_the_library_s(wayfare, files):
    from wayfare.learn import WFRNeighborsClassifier, WFRNeighborsClassifierCV
    from wayfare.text import Tokenizer

    train, test = sample()[::2], sample()[1::12]
    words = [text["text"] for text in train], [text["text"] for text in test]
    labels = [text["label"] for text in train]
    read = Tokenizer(stop_words="english")
    line = ("classify", "train.jsonl", "test.jsonl", "--score", "--id-column", "id")
    told = wayfare(*line, "-k", "3", "--json").json()
    model = WFRNeighborsClassifier(3, tokenizer=read).fit(words[0], labels)
    assert [row["label"] for row in told["documents"]] == model.predict(words[1]).tolist()
    right = [row["label"] == row["truth"] for row in told["documents"]]
    assert told["accuracy"] == sum(right) / len(right)
    chosen = WFRNeighborsClassifierCV(cv=3, tokenizer=read).fit(words[0], labels)
    told = wayfare(*line, "--folds", "3", "--json").json()
    assert (told["k"], told["eta"]) == (chosen.best_params_["k"], chosen.eta_)
    assert told["cross_validation"] == chosen.best_score_
    assert [row["label"] for row in told["documents"]] == chosen.predict(words[1]).tolist()
    assert "right in cross-validation" in wayfare("classify", "train.jsonl", "--folds", "3").out
    rows = rows_of(wayfare("classify", "train.jsonl", "test.jsonl", "-k", "3", "--csv"))
    assert list(rows[0]) == ["id", "label", "share"]


def test_vectors_are_listed_described_converted_and_cleared(wayfare, files, monkeypatch):
    monkeypatch.setattr("wayfare.vectors.cache.SMALLEST", 0)
    monkeypatch.setattr("wayfare.vectors.open.tables.SMALLEST", 0)
    assert wayfare("vectors", "info", "glove.txt", "--json").json()["entries"] == 50
    told = wayfare("vectors", "list", "--json").json()
    assert [row["entries"] for row in told["vectors"]] == [32000, 50]
    assert wayfare("vectors", "convert", "glove.txt", "small.npy", "--words", "words.txt").code == 0
    assert wf.WordVectors.load("small.npy").words == ("word3", "word7")
    assert "cleared 2 tables" in wayfare("vectors", "clear").out
    assert len(wayfare("vectors", "list", "--json").json()["vectors"]) == 1
    assert (files / "glove.txt").exists()


def test_vectors_of_one_s_own_are_used(wayfare, files):
    line = ("distance", "word3 word7", "word4 thatisunknown", "--vectors", "glove.txt")
    vectors = wf.WordVectors.load("glove.txt")
    expected = wf.distance("word3 word7", "word4 thatisunknown", vectors=vectors)
    assert wayfare(*line, "--json").json()["value"] == expected.value
    refused = wayfare(*line, "--unknown", "error")
    assert refused.code == 1
    assert "thatisunknown" in refused.err


def test_the_demo_shows_all_it_promises(wayfare, tmp_path):
    said = wayfare("demo").out
    for part in ("both proven", "adds up", "exact: no other", "a second", "Next"):
        assert part.replace("adds", "add") in said
    told = wayfare("demo", "--json", "--query", "a rocket lands").json()
    assert told["search"]["exact"] is True
    assert told["search"]["hits"][0]["id"].startswith("space")
    assert told["distance"]["lower"] <= told["distance"]["value"] <= told["distance"]["upper"]
    assert told["pairs"]["count"] == 1770
    assert wayfare("demo", "--sample", "here.jsonl").code == 0
    lines = (tmp_path / "here.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == sample()


def test_bench_measures(wayfare):
    told = wayfare("bench", "--documents", "60", "--json").json()
    assert len(told) == 6
    assert all(math.isclose(row["a_second"], row["number"] / row["seconds"]) for row in told)

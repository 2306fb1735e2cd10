"""`wayfare index`, and searches of what it built."""

import csv
import io
import json

import wayfare as wf
from wayfare.cli.sample import sample


def test_an_index_from_the_first_file_to_the_last_check(wayfare, files):
    told = wayfare(
        "index", "build", "mine.index", "news.jsonl", "--id-column", "id", "--label-column", "label",
        "--eta", "0.4", "--json",
    ).json()  # fmt: skip
    assert (told["documents"], told["eta"], told["facets"]) == (60, 0.4, ["label"])
    lines = [text | {"id": f"new-{text['id']}"} for text in sample()[:3]]
    (files / "new.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = wayfare("index", "add", "mine.index", "new.jsonl", "--id-column", "id", "--json").json()
    assert told["documents"] == 63
    outcome = wayfare("index", "delete", "mine.index", "new-markets-1", "markets-2")
    assert outcome.code == 0
    assert "61 documents" in outcome.err
    assert wayfare("index", "compact", "mine.index", "--json").json()["deleted"] == 0
    assert "as it was written" in wayfare("index", "verify", "mine.index").out
    assert "61" in wayfare("index", "info", "mine.index").out
    with wf.Index.open("mine.index") as index:
        assert "new-markets-2" in index
        assert "markets-2" not in index


def test_search_of_an_index_is_the_library_s(wayfare, files):
    query = "the bank raises interest rates"
    with wf.Index.open("news.index") as index:
        expected = index.search(query, k=5)
        weather = index.search(query, k=2, where={"label": "weather"})
    (told,) = wayfare("search", "news.index", query, "-k", "5", "--json").json()
    assert [hit["id"] for hit in told["hits"]] == expected.ids
    assert [hit["upper"] for hit in told["hits"]] == expected.upper.tolist()
    assert told["exact"] is True
    outcome = wayfare("search", "news.index", query, "-k", "2", "--where", "label=weather", "--csv")
    assert [row["id"] for row in csv.DictReader(io.StringIO(outcome.out))] == weather.ids


def test_defaults_of_the_index_hold(wayfare, files):
    line = ("index", "build", "wmd.index", "news.jsonl", "--metric", "wmd")
    assert wayfare(*line).code == 0
    (told,) = wayfare("search", "wmd.index", "heavy rain", "-k", "1", "--json").json()
    place = told["hits"][0]["id"]
    expected = wf.distance("heavy rain", sample()[place]["text"], metric="wmd").value
    assert abs(told["hits"][0]["distance"] - expected) < 1e-6


def test_numbers_are_ids_too(wayfare, files):
    assert wayfare("index", "build", "n.index", "news.jsonl").code == 0
    assert wayfare("index", "delete", "n.index", "0", "59").code == 0
    assert wayfare("index", "info", "n.index", "--json").json()["documents"] == 58
    missing = wayfare("index", "delete", "n.index", "1000")
    assert missing.code == 1
    assert "1000" in missing.err


def test_ids_to_delete_come_from_standard_input(process, files):
    outcome = process("index", "delete", "news.index", "-", stdin="weather-1\nspace-2\n")
    assert outcome.code == 0, outcome.err
    with wf.Index.open(files / "news.index") as index:
        assert len(index) == 58
        assert "space-2" not in index


def test_failures_are_one_line(wayfare, files):
    (files / "broken.index").mkdir()
    (files / "broken.index" / "index.json").write_text("{}")
    for line in (
        ["index", "build", "news.index", "news.jsonl"],
        ["index", "add", "news.index", "news.jsonl", "--id-column", "id"],
        ["index", "info", "nowhere.index"],
        ["index", "verify", "broken.index"],
        ["search", "broken.index", "rain"],
        ["search", "news.index", "rain", "--where", "colour=red"],
    ):
        outcome = wayfare(*line)
        assert outcome.code == 1, line
        assert outcome.err.startswith("wayfare: ")
        assert outcome.err.count("\n") == 1
    assert wayfare("search", "news.index", "rain", "--where", "colour").code == 2


def test_documents_come_from_standard_input_and_bad_ones_are_counted(process, files):
    news = (files / "news.jsonl").read_bytes() + b"not json\n"
    line = ("index", "build", "piped.index", "-", "--format", "jsonl", "--json")
    assert process(*line, stdin=news).code == 1
    outcome = process(*line, "--on-error", "skip", stdin=news)
    assert outcome.json()["documents"] == 60
    assert "1 record skipped" in outcome.err

"""Printed numbers, against the notes on the paper and its source."""

import re

import pytest

from wayfare.paper import published as p


def test_the_published_version(shared):
    notes = " ".join((shared / "paper/NOTES.md").read_text().split())
    said = re.search(r"gives WFR errors (.*?): two cells differ", notes)[1]
    found = dict(re.findall(r"(\w+) ([\d.]+)", said))
    assert {name: float(value) for name, value in found.items()} == {
        name: mean for name, (mean, _) in p.PUBLISHED["wfr"].items()
    }
    differ = {n for n in p.DATASETS if p.PUBLISHED["wfr"][n][0] != p.PREPRINT["wfr"][n][0]}
    assert differ == {"bbcsport", "20news"}


def test_sato(shared):
    notes = " ".join((shared / "paper/NOTES.md").read_text().split())
    words = re.search(
        r"competitive \(bbcsport (.*?) for tf-idf L1/L1; WMD with tf-idf (.*?)\)", notes
    )
    plain = [float(one) for one in re.findall(r"(\d+\.\d)", words[1])]
    moved = [float(one) for one in re.findall(r"(\d+\.\d)", words[2])]
    assert plain == [mean for mean, _ in p.SATO["l1-tfidf"].values()]
    assert moved == [mean for mean, _ in p.SATO["wmd-tfidf"].values()]


ROWS = {
    "wmd": "WMD",
    "s-wmd": "S-WMD",
    "wfr": "WFR",
    "wme-wmd": r"WME\(512\)\+WMD",
    "wme-wfr": r"WME\(512\)\+WFR",
}


@pytest.mark.parametrize("row", ROWS)
def test_table_2(shared, row):
    source = (shared / "paper/wfr-document-distance.tex.txt").read_text()
    line = re.search(rf"^\s*{ROWS[row]}\s*&.*$", source, re.MULTILINE)[0]
    cells = [re.findall(r"\d+\.\d+", cell) for cell in line.split("&")[1:]]
    for name, numbers in zip(p.DATASETS, cells, strict=True):
        mean, deviation = p.PREPRINT[row][name]
        assert [mean] + ([] if deviation is None else [deviation]) == [float(n) for n in numbers]


def test_statistics_and_pruning(shared):
    source = (shared / "paper/wfr-document-distance.tex.txt").read_text()
    bare = re.sub(r"\\textbf\{([\d.]+)\}", r"\1", source)
    names = ("bbcsports", "twitter", "recipe2", "ohsumed", "classic", "reuters", "amazon", "20news")
    for name, said in zip(p.DATASETS, names, strict=True):
        line = re.search(rf"^\s*{said} *& .*$", bare, re.MULTILINE)[0]
        assert [float(n) for n in re.findall(r"[\d.]+", line.split("&", 1)[1])] == list(
            p.STATISTICS[name]
        )
        line = re.search(rf"^\s*{said.upper()} .*%.*$", source, re.MULTILINE)[0]
        assert [float(n) for n in re.findall(r"([\d.]+)\\%", line)] == list(p.PRUNING[name])


def test_the_bar_is_the_papers_row():
    assert p.BAR == {
        "bbcsport": 0.8,
        "twitter": 26.4,
        "classic": 2.6,
        "reuters": 3.2,
        "amazon": 4.8,
        "20news": 22.3,
    }

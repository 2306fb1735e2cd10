"""The command, end to end, on a small dataset of our own."""

import json

import pytest
from own_data import write_data

from wayfare.cli import main
from wayfare.errors import InputError
from wayfare.paper import Scope, reproduce
from wayfare.paper.methods import ROWS

MEASURED = ["l1-tfidf", "hellinger", "wfr", "wmd"]
MARK = "QUICK: a seeded sample"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    said = capsys.readouterr()
    return ended.value.code or 0, said.out, said.err


def test_everything_in_haste(data, tmp_path):
    tiny = Scope(0, 40, 1, 8, 2, 1, 1, 3, 20, 20)
    settings = {"scope": tiny, "rows": MEASURED, "n_jobs": 1}
    report = reproduce("all", data, tmp_path, **settings)
    text = report.read_text()
    assert text.startswith("# The paper, reproduced\n\n**QUICK")
    assert "Vectors and splits differ from the paper's" in text.split("##")[0]
    for row in MEASURED:
        assert ROWS[row].title in text
    sections = text.split("\n## ")[1:]
    assert [one.split("\n")[0].split(":")[0] for one in sections] == [
        "The datasets",
        "Table 2",
        "Table 1 and Figure 1",
        "Task 1",
        "Pruning",
        "Timing",
    ]
    assert all(MARK in section for section in sections)
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["quick"] is True
    assert MARK in found["mark"]
    for name in found["figures"]:
        content = (tmp_path / name).read_bytes()
        assert content[:4] == b"\x89PNG" if name.endswith("png") else b"<svg" in content
    assert {"task1.svg", "table2.png", "wfr-b-c.svg", "pruning.png", "timing.png"} <= set(
        found["figures"]
    )
    # WMD says that A is nearer to B, WFR that C is, proven.
    table1 = found["tasks"]["table1"]
    assert table1["A"]["wmd"] < table1["C"]["wmd"]
    assert table1["A"]["lower"] > table1["C"]["upper"]
    prices = sum(word["wmd_price"] for word in table1["words"] if word["document"] == "C")
    assert prices == pytest.approx(table1["C"]["wmd"])
    shares = found["tasks"]["pruning"][0]["rounds"]
    assert sorted(shares, reverse=True) == shares
    made = sorted((tmp_path / "cells").iterdir())
    times = [path.stat().st_mtime_ns for path in made]
    reproduce("all", data, tmp_path, **settings)
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "cells").iterdir())] == times


def test_the_command(data, tmp_path, capsys):
    line = ["reproduce", "table2", "--data", data, "-o", tmp_path, "--rows", "l1-nbow,hellinger"]
    code, out, err = run(capsys, *line, "--quick", "--seed", 3, "--json")
    assert code == 0, err
    results = json.loads((tmp_path / "results.json").read_text())
    assert json.loads(out)["results"].endswith("results.json")
    assert {line["row"] for line in results["tasks"]["table2"]["lines"]} == {"l1-nbow", "hellinger"}
    assert results["command"].endswith("--rows l1-nbow,hellinger --quick --seed 3")
    assert str(data) not in (tmp_path / "report.md").read_text()
    whole = run(capsys, *line, "--clean")
    assert whole[0] == 0, whole[2]
    assert MARK not in whole[1]
    assert "± " in whole[1]
    again = json.loads((tmp_path / "results.json").read_text())
    assert again["clean"] is True
    assert again["tasks"]["datasets"][0]["removed"] >= 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--datasets", "imdb"], "datasets: 'imdb' came; give some of bbcsport"),
        (["--rows", "lda"], "rows: 'lda' came; give some of l1-nbow"),
    ],
)
def test_wrong_names_are_said_before_anything_runs(data, tmp_path, capsys, more, said):
    code, _, err = run(capsys, "reproduce", "table2", "--data", data, "-o", tmp_path / "out", *more)
    assert code == 1
    assert said in err
    assert not (tmp_path / "out").exists()


def test_a_folder_without_data_is_said(tmp_path):
    with pytest.raises(InputError, match="holds no dataset"):
        reproduce("pruning", tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match="holds no concept_project"):
        reproduce("task1", tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match="task: 'table9' came"):
        reproduce("table9", tmp_path, tmp_path / "out")

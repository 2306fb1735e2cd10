"""Many clients at once, for a short while: every answer is right. benchmarks/load.py does it longer."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "benchmarks" / "load.py"


@pytest.fixture(scope="module")
def bench():
    import sys

    spec = importlib.util.spec_from_file_location("load_benchmark", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_every_answer_of_a_busy_server_is_right(bench, index, address):
    queries = [
        "interest rates rise",
        "a rocket lands",
        "rain and wind",
        "bread and butter",
        "a late goal",
    ]
    questions = [bench.Question.of(index, query) for query in queries]
    outcome = bench.load(address, questions, clients=50, seconds=3.0)
    assert outcome.wrong == []
    assert outcome.refused == {}
    assert len(outcome.times) >= 50
    assert outcome.seconds < 30


def test_a_wrong_answer_would_be_seen(bench, index):
    question = bench.Question.of(index, "interest rates rise")
    hit = {"id": "x", "distance": 0.5, "lower": 0.4, "upper": 0.6}
    assert "other documents" in question.fault({"exact": True, "hits": [hit]})
    assert question.fault({"exact": False, "hits": []}) == "not exact"
    assert "outside" in question.fault({"exact": False, "hits": [hit | {"lower": 0.55}]})

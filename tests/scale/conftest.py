"""A small cluster of real processes, and the same documents as files, as one index, and as shards."""

import json
import random
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")

WORDS = [
    "rain",
    "wind",
    "snow",
    "river",
    "bank",
    "rates",
    "loan",
    "money",
    "goal",
    "match",
    "team",
    "player",
    "evening",
    "quiet",
    "garden",
    "flower",
    "book",
    "reader",
    "music",
    "song",
    "cat",
    "dog",
    "house",
    "street",
    "light",
    "dark",
    "sun",
    "moon",
    "star",
    "sea",
]


@pytest.fixture(scope="session")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def documents() -> list[dict]:
    rng = random.Random(7)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(1, 9))) for _ in range(240)]
    texts[200:203] = texts[10:13]  # copies that end up in other shards
    return [{"id": f"d{n:03d}", "text": t, "label": "ab"[n % 2]} for n, t in enumerate(texts)]


def write_lines(path: Path, documents: list[dict]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def files(tmp_path_factory, documents) -> str:
    folder = tmp_path_factory.mktemp("documents")
    write_lines(folder / "a.jsonl", documents[:150])
    write_lines(folder / "b.jsonl", documents[150:])
    return str(folder / "*.jsonl")

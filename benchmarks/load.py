"""A server under load: clients that ask as fast as they are answered, and every answer compared.

    python benchmarks/load.py [--clients 50] [--seconds 30] [--data reuters]

Serves an index of the shared data on loopback in a process of its own, and asks it from this one. Right
is an answer whose documents are those of `Index.search`, and whose intervals hold its distances.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import wayfare as wf

SOURCE = Path(__file__).resolve().parents[1] / "src"
SHARED = Path(os.environ.get("WAYFARE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
K = 10


@dataclass
class Outcome:
    """What the clients saw."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    refused: dict[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        p50, p99 = (1e3 * np.percentile(self.times, p) for p in (50, 99))
        return (
            f"{len(self.times):>9,} {len(self.times) / self.seconds:>8,.0f} {p50:>8.1f} {p99:>8.1f} "
            f"{len(self.wrong):>6} {sum(self.refused.values()):>8}"
        )


@dataclass(frozen=True)
class Question:
    """A query, and what the library answers to it."""

    body: bytes
    ids: list[Any]
    distances: list[float]

    @classmethod
    def of(cls, index: wf.Index, query: str) -> Question:
        """The question that this text is."""
        hits = index.search(query, k=K)
        body = json.dumps({"query": query, "k": K}).encode()
        return cls(body, hits.ids, hits.distances.tolist())

    def fault(self, answer: dict[str, Any]) -> str | None:
        """What is wrong with an answer."""
        hits = answer["hits"]
        if answer["exact"] and {hit["id"] for hit in hits} != set(self.ids):
            return f"other documents: {[hit['id'] for hit in hits]}, not {self.ids}"
        for hit in hits:
            if not hit["lower"] <= hit["distance"] <= hit["upper"]:
                return f"{hit['id']}: the distance is outside its interval"
        for hit, known in zip(hits, self.distances, strict=False):
            if answer["exact"] and not hit["lower"] * 0.999 <= known <= hit["upper"] * 1.001:
                return f"{hit['id']}: {hit['distance']} where {known} was found"
        return None if answer["exact"] else "not exact"


def load(url: str, questions: Sequence[Question], clients: int, seconds: float) -> Outcome:
    """Ask from `clients` threads for `seconds`, each its next question when the last is answered."""
    outcome, lock = Outcome(), threading.Lock()
    end = time.perf_counter() + seconds

    def client(number: int) -> None:
        order = random.Random(number)
        line = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        while time.perf_counter() < end:
            question = order.choice(questions)
            started = time.perf_counter()
            line.request("POST", "/api/search", question.body, {"Content-Type": "application/json"})
            answer = line.getresponse()
            raw = answer.read()
            took = time.perf_counter() - started
            fault = question.fault(json.loads(raw)) if answer.status == 200 else None
            with lock:
                if answer.status == 200:
                    outcome.times.append(took)
                    outcome.wrong += [fault] if fault else []
                else:
                    outcome.refused[answer.status] = outcome.refused.get(answer.status, 0) + 1
        line.close()

    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    outcome.seconds = time.perf_counter() - started
    return outcome


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of `wayfare serve`, in a process of its own."""
    run = "from wayfare.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", run, "serve", str(folder), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    assert process.stderr is not None
    try:
        yield next(
            found[0] for line in process.stderr if (found := re.search(r"http://\S+/", line))
        )
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stderr.close()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--data", default="reuters", help="a file of the shared data, by name")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        file = SHARED / "data" / f"{given.data}.jsonl.gz"
        index = wf.Index.build_from_file(f"{place}/i", file, id="id", label="label")
        texts = [document.text or "" for document, _ in zip(index, range(400), strict=False)]
        questions = [Question.of(index, " ".join(text.split()[:12])) for text in texts[::4]]
        with served(Path(place, "i")) as url:
            outcome = load(url, questions, given.clients, given.seconds)
        print(f"{given.data}, {len(index):,} documents, k = {K}, {given.clients} clients")
        print("  answers     /s    p50 ms   p99 ms  wrong  refused")
        print(outcome)
        for fault in outcome.wrong[:5]:
            print(fault)


if __name__ == "__main__":
    main()

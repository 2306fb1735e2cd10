"""Time and memory of word vectors and tokens: `python benchmarks/vectors.py`.

Writes a made-up GloVe text file (400,000 words, 100 dimensions, 0.3 GB) to a temporary folder and
opens it there, first without and then with the cache, each in a process of its own. Needs a
gigabyte of disk and about half a minute.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS, DIM, ASKED, DOCUMENTS, LENGTH = 400_000, 100, 50_000, 40_000, 40


def write(path: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(0)
    rows = [" ".join(f"{x:.5f}" for x in row) for row in rng.normal(0, 0.4, size=(2000, DIM))]
    with path.open("w", encoding="utf-8") as file:
        for i in range(WORDS):
            file.write(f"{word(i)} {rows[i % len(rows)]}\n")


def word(number: int) -> str:
    """A made-up word of two to five syllables, another one for each number."""
    syllables = "ba ne ti ro su ka le mi do fu ga re pi to lu".split()  # noqa: SIM905
    spelt = ""
    while number or len(spelt) < 4:
        number, last = divmod(number, len(syllables))
        spelt += syllables[last]
    return spelt


def opened(path: str) -> dict[str, float]:
    """Load, look up, embed: run in a new process, which imports nothing before the clock starts."""
    started = time.perf_counter()
    from wayfare import WordVectors

    imported = time.perf_counter()
    vectors = WordVectors.load(path)
    found = "bane" in vectors
    loaded = time.perf_counter()
    assert found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    asked = [word(i) for i in range(0, WORDS, WORDS // ASKED)]
    before = time.perf_counter()
    vectors.embed(asked)
    return {
        "import": imported - started,
        "load": loaded - imported,
        "peak": peak / (1024 if sys.platform == "linux" else 1024**2),
        "embed": time.perf_counter() - before,
    }


def defaults() -> dict[str, float]:
    """The built-in vectors and the tokenizer, in a new process."""
    started = time.perf_counter()
    from wayfare import WordVectors
    from wayfare.text import Tokenizer

    vectors = WordVectors.default()
    loaded = time.perf_counter()
    vectors.embed([word(i) for i in range(ASKED)])
    embedded = time.perf_counter()
    texts = [" ".join(word(i * j) for j in range(LENGTH)) for i in range(DOCUMENTS)]
    rates = {}
    for name, tokenizer, prefix in [
        ("ascii", Tokenizer(), ""),
        ("stop", Tokenizer(stop_words="english"), ""),
        ("unicode", Tokenizer(), "é "),
    ]:
        documents = [prefix + text for text in texts]
        tokenizer(prefix)
        before = time.perf_counter()
        for document in documents:
            tokenizer(document)
        rates[name] = DOCUMENTS / (time.perf_counter() - before)
    return {"load": loaded - started, "embed": embedded - loaded, **rates}


def measured(*arguments: str, cache: Path) -> dict[str, float]:
    command = [sys.executable, __file__, *arguments]
    environment = os.environ | {"WAYFARE_CACHE": str(cache)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    numbers: dict[str, float] = json.loads(done.stdout)
    return numbers


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, cache = Path(folder, "glove.txt"), Path(folder, "cache")
        write(path)
        size = path.stat().st_size / 1e6
        time.sleep(3)  # a file is remembered by its times only when it has been left alone
        first = measured("opened", str(path), cache=cache)
        again = measured("opened", str(path), cache=cache)
        built_in = measured("defaults", cache=cache)
    rows = [
        (f"GloVe text, {WORDS:,} x {DIM}, {size:.0f} MB: first load", first["load"], "s"),
        ("  peak memory of that process", first["peak"], "MB"),
        ("  opened again in a new process, first lookup included", again["load"], "s"),
        ("  peak memory of that process", again["peak"], "MB"),
        (f"  embed {ASKED:,} words, just opened", again["embed"], "s"),
        ("built-in vectors: import and load", built_in["load"], "s"),
        (f"  embed {ASKED:,} words", built_in["embed"], "s"),
        (f"tokenizer, ASCII, {LENGTH} words each", built_in["ascii"], "documents/s"),
        ("  with English stop words", built_in["stop"], "documents/s"),
        ("  with accents", built_in["unicode"], "documents/s"),
    ]
    for what, number, unit in rows:
        shown = f"{number:12,.0f}" if number >= 100 else f"{number:12.3f}"
        print(f"{what:<62}{shown} {unit}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1] == "opened":
        print(json.dumps(opened(sys.argv[2])))
    else:
        print(json.dumps(defaults()))

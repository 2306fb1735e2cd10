"""The command line as people meet it: in this process, or in one of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import wayfare as wf
from wayfare.cli import main
from wayfare.cli.sample import sample, write_sample


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    def json(self):
        assert self.code == 0, self.err
        return json.loads(self.out)


@pytest.fixture
def wayfare(capfd, tmp_path, monkeypatch):
    """Run a command line in this process, in an empty folder; nothing is a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
        code = ended.value.code
        said = capfd.readouterr()
        return Outcome(0 if code is None else code, said.out, said.err)

    return run


@pytest.fixture
def process(tmp_path):
    """The same in a process of its own; standard input is text or bytes."""
    source = Path(__file__).resolve().parents[2] / "src"

    def run(*arguments, stdin="", **settings):
        command = [sys.executable, "-c", "from wayfare.cli import main; main()", *arguments]
        done = subprocess.run(
            command,
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(source)},
            timeout=120,
            check=False,
            **settings,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def files(tmp_path):
    """The files that the examples of help pages and docs name."""
    write_sample(tmp_path / "news.jsonl")
    texts = sample()
    with (tmp_path / "other.jsonl").open("w") as file:
        for text in texts[::7]:
            file.write(json.dumps(text | {"text": text["text"].lower() + " So they say."}) + "\n")
    with (tmp_path / "pairs.csv").open("w") as file:
        file.write("first,second,label\n")
        for n in range(0, 60, 5):
            words = texts[n]["text"].split()
            file.write(f'"{texts[n]["text"]}","{" ".join(words[: len(words) // 2])}",1\n')
            file.write(f'"{texts[n]["text"]}","{texts[(n + 17) % 60]["text"]}",0\n')
    for name, start in (("train", 0), ("test", 1)):
        some = texts[start :: 2 if name == "train" else 12]
        lines = "".join(json.dumps(text) + "\n" for text in some)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    glove = "".join(f"word{n} {n % 7} {n % 5} {n % 3 + 1}\n" for n in range(50))
    (tmp_path / "glove.txt").write_text(glove)
    (tmp_path / "words.txt").write_text("word3\nword7\n")
    wf.Index.build_from_file(
        tmp_path / "news.index", tmp_path / "news.jsonl", id="id", label="label"
    ).close()
    return tmp_path

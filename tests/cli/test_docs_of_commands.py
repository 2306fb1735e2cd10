"""What README and docs say of the command line: its lines run, its commands and options are there."""

import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from wayfare.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SPOKEN = re.compile(r"(?:`|^\$? ?|\| )wayfare ([a-z][^`\n]*)", re.MULTILINE)


def command_of(words):
    """The command that a line names, and what follows it."""
    command, rest = get_command(app), list(words)
    while hasattr(command, "commands") and rest and rest[0] in command.commands:
        command = command.commands[rest.pop(0)]
    return command, rest


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_are_there(page):
    for line in SPOKEN.findall(page.read_text(encoding="utf-8")):
        words = line.split()
        command, rest = command_of(words)
        assert command is not get_command(app), f"{page.name}: wayfare {line}"
        options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        for word in rest:
            if word.startswith("-") and word != "-":
                assert word.rstrip(".,;:") in {*options, "--help", "--debug"}, (
                    f"{page.name}: {line}"
                )


def test_links_of_the_readme_lead_somewhere():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (ROOT / link).exists(), f"{name}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_scripts_that_pages_name_are_there(page):
    for script in re.findall(r"python ((?:benchmarks|docs)/[\w/]+\.py)", page.read_text("utf-8")):
        assert (ROOT / script).is_file(), f"{page.name}: {script}"


@pytest.fixture
def shim(tmp_path):
    """What a shell has to know, for `wayfare` to be this one."""
    if shutil.which("bash") is None or shutil.which("zcat") is None:
        pytest.skip("the lines are of a shell that is not here")
    path = tmp_path / "bin" / "wayfare"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m wayfare "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    found = f"{path.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": found, "PYTHONPATH": str(ROOT / "src")}


def test_the_lines_of_the_shell_run(files, shim):
    page = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    (lines,) = [
        block for block in re.findall(r"^```\n(.*?)^```", page, re.M | re.S) if "<" in block
    ]
    (files / "yesterday.txt").write_text("Rates rise")
    (files / "today.txt").write_text("The bank lifts its rates")
    (files / "queries.txt").write_text("heavy rain\na rocket lands\n")
    (files / "ids.txt").write_text("weather-1\nspace-2\n")
    with gzip.open(files / "news.jsonl.gz", "wb") as packed:
        packed.write((files / "news.jsonl").read_bytes())
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", lines],
        cwd=files,
        env=os.environ | shim,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "certified" in done.stdout
    assert done.stdout.count('"exact": true') == 2
    assert "58 documents" in done.stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("wayfare se", ["search", "serve"]),
        ("wayfare distance --met", ["--metric"]),
        ("wayfare distance --metric wm", ["wmd", "wmd-wfr-cost"]),
        ("wayfare vectors c", ["convert", "clear"]),
    ],
)
def test_completion_that_was_installed_completes(typed, offered, shim, tmp_path):
    """`wayfare --install-completion` in a home of its own, and then a Tab in that bash."""
    words = typed.split()
    script = f"""
        wayfare --install-completion bash >&2
        source ~/.bash_completions/wayfare.sh
        complete -p wayfare | grep -q -- '-o default'  # where nothing is offered, files are
        COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}
        _wayfare_completion wayfare
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-eu", "-c", script],
        env=os.environ | shim | {"HOME": str(tmp_path), "SHELL": "/bin/bash"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(offered)

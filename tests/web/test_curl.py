"""The console examples of docs/web.md, run as they are printed: shell, server and curl."""

import doctest
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from served import SOURCE, serving

PAGE = Path(__file__).resolve().parents[2] / "docs" / "web.md"
PRINTED = "http://127.0.0.1:8765/"  # in the page; a test takes a port that is free
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples():
    """Each command of the page, and what is printed below it."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, answer = part.partition("\n")
            yield command, answer


ALL = list(examples())
CURL = [example for example in ALL if example[0].startswith("curl ")]


def agrees(printed, came):
    return doctest.OutputChecker().check_output(printed.replace("…", "..."), came, FLAGS)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder after the commands of the page that make the index; and the server's address."""
    folder = tmp_path_factory.mktemp("page")
    code = "from wayfare.cli import main; main()"
    serve = None
    for command, printed in ALL:
        name, *arguments = shlex.split(command)
        if name != "wayfare":
            continue
        if arguments[0] == "serve":
            serve = (arguments[1:], printed)
            break
        subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
            check=True,
        )
    assert serve, "the page does not serve anything"
    (index, *rest), said = serve
    with serving(folder / index, *rest) as (url, _):
        line = f"wayfare: serving 60 documents of {folder / index} at {url} (Ctrl+C ends it)\n"
        assert line.replace(str(folder / index), index).replace(url, PRINTED) == said
        yield folder, url


def test_the_page_has_examples():
    assert len(CURL) >= 2
    assert all(PRINTED in command for command, _ in CURL)


@pytest.mark.parametrize(("command", "printed"), CURL, ids=lambda text: text[:60])
def test_curl_gets_what_is_printed(command, printed, place):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    folder, url = place
    done = subprocess.run(
        [*shlex.split(command.replace(PRINTED, url)), "--silent", "--show-error", "--noproxy", "*"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "option --json" in done.stderr:
        pytest.skip("this curl has no --json, which came with 7.82")
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert agrees(printed, done.stdout + "\n"), done.stdout


def test_other_answers_would_not_pass():
    _, printed = CURL[0]
    assert not agrees(printed, '{"error": {"code": "no_such_path"}}\n')

"""An index served in this process, or by the command line in a process of its own."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from wayfare import Index
from wayfare.cli.sample import sample
from wayfare.web import Limits, create_app

SOURCE = Path(__file__).resolve().parents[2] / "src"

# Documents that would do harm, were a word of them ever taken for anything but text.
HOSTILE = {
    "script": "<script>document.title = 'owned'</script> fishing boats in the harbour",
    "image": '<img src=x onerror="document.title=`owned`"> fishing nets on the quay',
    "control": "fishing \x00 with \x07 a bell \x1b[31m and \u202e backwards",
    "surrogate": "fishing \ud800 half of a pair",
}
LABEL = "<b>hostile</b>"


def build(folder):
    texts = sample()
    return Index.build(
        folder,
        [*(text["text"] for text in texts), *HOSTILE.values()],
        ids=[*(text["id"] for text in texts), *HOSTILE],
        labels=[*(text["label"] for text in texts), *[LABEL] * len(HOSTILE)],
    )


@contextmanager
def visiting(index, *, token=None, hosts=(), **limits):
    app = create_app(index, limits=Limits(**limits), token=token, hosts=hosts)
    # Faults must come back as answers, as they would from a server.
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as one:
        yield one


@contextmanager
def serving(folder, *arguments):
    """The command line in a process of its own; its address and the process."""
    command = [sys.executable, "-c", "from wayfare.cli import main; main()", "serve", str(folder)]
    process = subprocess.Popen(
        [*command, "--port", "0", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    )
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if found := re.search(r"http://\S+/", line):
                break
        else:
            raise AssertionError(f"the server did not start: {''.join(said)}")
        yield found[0], process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
        process.stderr.close()

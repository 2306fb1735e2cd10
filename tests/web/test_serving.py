"""The server as a process: it starts, answers, and ends when it is told to."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import pytest
from served import SOURCE, serving

from wayfare.cli import main


def ask(url, path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url + path, data, {"Content-Type": "application/json", **headers}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_answers_and_ends_quietly(folder, number):
    with serving(folder) as (url, process):
        assert ask(url, "api/search", {"query": "interest rates", "k": 3})["exact"] is True
        answers = []
        clients = [
            threading.Thread(
                target=lambda: answers.append(ask(url, "api/search", {"query": "rain", "k": 5}))
            )
            for _ in range(4)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""
    assert len(answers) == 4


def test_the_address_is_told_on_a_line_for_programs(folder):
    line = [sys.executable, "-c", "from wayfare.cli import main; main()", "serve", str(folder)]
    with subprocess.Popen(
        [*line, "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
    ) as process:
        try:
            told = json.loads(process.stdout.readline())
            assert told["documents"] == 64
            assert ask(told["url"], "healthz") == {"status": "ok"}
        finally:
            process.terminate()
    assert process.returncode == 0


def test_a_public_server_wants_its_token(folder, tmp_path):
    token = tmp_path / "token"
    token.write_text("correct horse battery\n")
    with serving(folder, "--host", "0.0.0.0", "--public", "--token-file", str(token)) as (url, _):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(url, "api/index")
        told = ask(url, "api/index", Authorization="Bearer correct horse battery")
        assert told["documents"] > 60


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--host", "0.0.0.0"], "pass --public"),
        (["--host", "0.0.0.0", "--public"], "--token-file"),
        (["--token-file", "absent"], "No such file"),
    ],
)
def test_what_is_unsafe_or_missing_is_said_in_one_line(folder, capfd, monkeypatch, arguments, says):
    monkeypatch.delenv("WAYFARE_TOKEN", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["serve", str(folder), "--check", *arguments])
    assert ended.value.code == 1
    error = capfd.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_an_index_that_is_not_there(capfd, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["serve", str(tmp_path / "nothing"), "--check"])
    assert ended.value.code == 1
    assert "nothing" in capfd.readouterr().err

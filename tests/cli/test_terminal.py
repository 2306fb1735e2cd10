"""The command line on a real terminal of 80 columns: bars, colours, folded tables."""

import itertools
import json
import re
import time

import pytest

pytest.importorskip("termios", reason="a terminal of one's own wants Unix")

from terminal import Terminal
from wayfare.cli.sample import sample

CODE = "from wayfare.cli import main; main()"
A, B = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"
CONTROL = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def lines_of(shown):
    """What stays on the terminal: a bar clears its line when it goes."""
    return CONTROL.sub("", shown.rsplit("\x1b[2K")[-1]).replace("\r", "").splitlines()


def feed_until(terminal, words, patience=60):
    """Documents one by one, until the terminal shows these words."""
    texts, end = itertools.cycle(sample()), time.monotonic() + patience
    for at, text in enumerate(texts):
        terminal.process.stdin.write((json.dumps(text | {"id": at}) + "\n").encode())
        terminal.process.stdin.flush()
        time.sleep(0.05)
        if words in terminal.shown:
            return
        assert time.monotonic() < end, f"waited in vain for {words!r}: {terminal.shown!r}"


@pytest.mark.parametrize("pipe_output", [True, False])
def test_a_bar_for_what_takes_over_a_second(tmp_path, pipe_output):
    line = ("search", "-", "heavy rain", "--format", "jsonl", "--id-column", "id", "-k", "2")
    terminal = Terminal(CODE, *line, cwd=tmp_path, pipe_output=pipe_output)
    feed_until(terminal, "reading texts")
    shown, piped = terminal.end()
    assert terminal.process.returncode == 0, shown
    assert "reading texts" not in piped
    answer = piped if pipe_output else shown
    assert "exact: no other document is nearer" in answer
    if pipe_output:  # the terminal had the bar, and the pipe has the answer as every pipe has it
        assert "\x1b" not in piped
        assert piped.count("\n") == 4


def test_nothing_but_the_answer_under_a_second(tmp_path):
    terminal = Terminal(CODE, "vectors", "info", "default", "--json", cwd=tmp_path)
    shown, _ = terminal.end()
    assert json.loads(shown)["entries"] == 32_000


@pytest.mark.parametrize(
    "line",
    [
        ("explain", A, B + " after a long night of rain", "--eta", "0.4"),
        ("distance", A, B),
        ("search", "news.jsonl", "heavy rain", "-k", "3", "--id-column", "id"),
        ("match", "pairs.csv", "--label-column", "label"),
        ("vectors", "list"),
        ("index", "info", "news.index"),
    ],
    ids=lambda line: line[0],
)
def test_a_table_fits_eighty_columns(line, files):
    terminal = Terminal(CODE, *line, cwd=files)
    shown, _ = terminal.end()
    assert terminal.process.returncode == 0, shown
    assert max(map(len, lines_of(shown))) <= 80
    assert "…" not in shown  # folded, not cut


def test_a_failure_is_one_line_on_a_terminal_too(tmp_path):
    terminal = Terminal(CODE, "distance", A, B, "--eta", "0", cwd=tmp_path)
    shown, _ = terminal.end()
    assert terminal.process.returncode == 1
    assert shown == "wayfare: eta: 0.0 came; give a positive, finite number, such as 0.5\r\n"

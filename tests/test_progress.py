"""Bars: on a terminal after a second, by the clock; never in a pipe; never two at once."""

import subprocess
import sys

import pytest

pytest.importorskip("termios", reason="a terminal of one's own wants Unix")

from terminal import Terminal

WORK = """
import sys, time
from wayfare.progress import Progress
with Progress("counting [sheep]", total=4, unit="sheep") as bar:
    {work}
print("done", bar.done)
"""
ONE_LONG_STEP = "time.sleep(2); bar.advance(4)"
SHORT = "bar.advance(4)"
NESTED = """
    with Progress("inner", total=2) as inner:
        time.sleep(2)
        inner.advance(2)
    bar.advance(4)
"""


def on_a_terminal(work):
    shown, _ = Terminal(WORK.format(work=work)).end()
    return shown


def test_a_bar_comes_by_the_clock_and_goes_again():
    shown = on_a_terminal(ONE_LONG_STEP)
    assert "counting [sheep]" in shown
    assert "0/4" in shown
    assert shown.endswith("done 4\r\n")
    assert "\x1b[2K" in shown  # the line of the bar is cleared
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1  # the cursor is back


def test_without_a_unit_the_time_is_shown():
    code = WORK.replace(', total=4, unit="sheep"', "").format(work="time.sleep(2)")
    shown, _ = Terminal(code).end()
    assert "counting [sheep]" in shown
    assert "0:00:0" in shown
    assert "0/" not in shown


def test_nothing_under_a_second():
    assert on_a_terminal(SHORT) == "done 4\r\n"


def test_one_bar_at_a_time():
    shown = on_a_terminal(NESTED)
    assert "counting" in shown
    assert "inner" not in shown


def test_a_failure_under_a_bar_leaves_a_clean_terminal():
    shown = on_a_terminal("time.sleep(2); sys.exit('it went wrong')")
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1
    assert shown.endswith("it went wrong\r\n")


def test_silence_in_a_pipe():
    code = WORK.format(work=ONE_LONG_STEP)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b""
    assert done.stdout == b"done 4\n"

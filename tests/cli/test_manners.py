"""How the command line behaves: help, errors, pipes, interrupts."""

import csv
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.main import get_command

from wayfare.cli import app, main

A, B = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"
ESCAPE = re.compile(r"\x1b")


def commands(group=None, path=()):
    """Every command with its path, groups included."""
    group = group or get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands())


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_has_an_example_that_runs(path, wayfare, files):
    shown = wayfare(*path, "--help")
    assert shown.code == 0
    assert "Example: wayfare" in shown.out.replace("\n", " ")
    examples = ALL[path].epilog.removeprefix("Example: ").split("   or: ")
    for example in examples:
        line = shlex.split(example)
        assert line[: len(path) + 1] == ["wayfare", *path]
        outcome = wayfare(*line[1:])
        assert outcome.code == 0, outcome.err


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_option_says_what_it_does(path):
    for parameter in ALL[path].params:
        assert parameter.help, f"{parameter.name} of {' '.join(path)}"
        if parameter.param_type_name == "argument":  # help texts speak of FIRST, QUERY and so on
            assert parameter.metavar == parameter.metavar.upper(), parameter.name
    assert ALL[path].help


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_speaks_to_machines(path, wayfare, files):
    """Its example answers with one JSON document, and with CSV whose rows are all as wide."""
    example = ALL[path].epilog.removeprefix("Example: ").split("   or: ")[0]
    line = shlex.split(example)[1:]
    told = wayfare(*line, "--json").json()
    assert told or told == 0
    outcome = wayfare(*line, "--csv")
    assert outcome.code == 0, outcome.err
    head, *rows = csv.reader(io.StringIO(outcome.out))
    assert len(set(head)) == len(head)
    assert rows
    assert {len(row) for row in rows} == {len(head)}
    both = wayfare(*line, "--json", "--csv")
    assert both.code == 2
    assert both.out == ""


def test_help_lists_commands_in_their_order(wayfare):
    from wayfare.cli.app import COMMANDS

    listed = re.findall(r"^│ (\w+) ", wayfare("--help").out, re.MULTILINE)
    assert listed == list(COMMANDS)


def test_help_starts_quickly():
    """In processor time, which a busy machine does not stretch as it does the clock."""
    resource = pytest.importorskip("resource", reason="only Unix counts the time of children")

    source = Path(__file__).resolve().parents[2] / "src"
    took = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = "from wayfare.cli import main; main(['--help'])"
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": str(source)},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(took) < 0.3, took


def test_the_package_runs_as_a_module():
    source = Path(__file__).resolve().parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-m", "wayfare", "--version"],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("wayfare ")


def test_choices_are_the_library_s():
    from typing import get_args

    from wayfare.cli import options
    from wayfare.metrics import METRICS
    from wayfare.readers import FORMATS
    from wayfare.weighting import WEIGHTINGS

    def choices(option):
        return {
            c
            for part in (*get_args(get_args(option)[0]), get_args(option)[0])
            for c in (get_args(part) or [part])
            if isinstance(c, str)
        }

    assert choices(options.Metric) == set(METRICS)
    assert choices(options.Weighting) == set(WEIGHTINGS)
    assert choices(options.FileFormat) == set(FORMATS)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["distance", A, B, "--eta", "-1"], "eta: -1.0 came; give a positive"),
        (["distance", A, B, "--tol", "0"], "tol: 0.0 came"),
        (["distance", "--files", "nowhere.txt", "b"], "there is no file 'nowhere.txt'"),
        (["distance", A, B, "--vectors", "nowhere.txt"], "no file or folder 'nowhere.txt'"),
        (["distance", A, B, "--stop-words", "klingon"], "give english, none, or a file"),
        (["distance", "-", "-"], "only one can come from standard input"),
        (["explain", A, "rain", "--metric", "wmd-wfr-cost", "--eta", "0.01"], "no plan"),
        (["explain", A, B, "--svg", "no/such/folder/plan.svg"], "No such file"),
        (["explain", A, B, "--figure", "plan.xyz"], "ends in .png"),
        (["search", "nowhere.jsonl", "rain"], "no index, file or folder 'nowhere.jsonl'"),
        (["search", "news.jsonl", "rain", "--text-column", "body"], "no column 'body'"),
        (["search", "news.jsonl", "rain", "--where", "label=x"], "only an index"),
        (["search", "news.xyz", "rain"], "format: 'news.xyz' does not tell it"),
        (["match", "news.jsonl"], "no column 'first'"),
        (["match", "pairs.csv", "--label-column", "second"], "give 1 for a match"),
        (["vectors", "info", "empty.txt"], "empty.txt"),
        (["vectors", "convert", "glove.txt", "x.txt", "--words", "no.txt"], "--words: there is no"),
        (["search", "news.jsonl", "--queries", "no.txt"], "--queries: there is no file 'no.txt'"),
        (["search", "nowhere.index", "rain"], "there is no index, file or folder 'nowhere.index'"),
        (["classify", "train.jsonl", "--folds", "99"], "cv: Cannot have number of splits"),
        (["embed", "news.jsonl", "-o", "no/v.npy"], "there is no folder 'no'"),
        (["demo", "--sample", "no/news.jsonl"], "wayfare: no/news.jsonl: No such file"),
        (["index", "build", "news.index", "news.jsonl"], "pass --overwrite"),
        (["index", "add", "news.index", "news.jsonl"], "name their column by --id-column"),
        (["index", "info", "nowhere"], "wayfare index build makes an index"),
    ],
)
def test_an_error_is_one_line_with_a_remedy(line, says, wayfare, files):
    (files / "empty.txt").write_text("")
    (files / "news.xyz").write_text("")
    outcome = wayfare(*line)
    assert outcome.code == 1
    assert outcome.out == ""
    assert outcome.err.startswith("wayfare: ")
    assert outcome.err.count("\n") == 1
    assert says in outcome.err


@pytest.mark.parametrize(
    "line",
    [
        ["distance", A],
        ["distance", A, B, "--metric", "euclid"],
        ["distance", A, B, "--json", "--csv"],
        ["distance", A, B, "--nonsense"],
        ["nonsense"],
        ["search", "news.jsonl", "rain", "-k", "0"],
        ["match", "pairs.csv", "--precision", "0.9"],
        ["vectors", "nonsense"],
        # Options that would do nothing, and be believed to.
        ["search", "news.index", "rain", "--weighting", "tfidf"],
        ["search", "news.index", "rain", "--id-column", "id"],
        ["search", "news.jsonl", "rain", "--queries", "words.txt"],
        ["match", "pairs.csv", "-k", "3"],
        ["match", "news.jsonl", "other.jsonl", "--first-column", "text"],
        ["classify", "train.jsonl", "test.jsonl", "-k", "3", "--folds", "4"],
    ],
)
def test_wrong_usage_is_2(line, wayfare, files):
    outcome = wayfare(*line)
    assert outcome.code == 2
    assert outcome.err
    assert "Traceback" not in outcome.err


def test_what_may_surprise_is_noted(wayfare, files):
    (files / "a.txt").write_text(A)
    told = wayfare("distance", "a.txt", B)
    assert told.code == 0
    assert told.err == "wayfare: 'a.txt' is read as a text; --files reads the file of that name\n"
    for line in (["distance", "the", B], ["search", "news.index", "the"]):
        told = wayfare(*line)
        assert told.code == 0
        assert told.err.count("\n") == 1
        assert "'the' has a vector, or all are stop words" in told.err
    assert wayfare("distance", "x" * 5000, "\0").code == 0


def test_a_fault_of_ours_is_one_line_too_and_debug_shows_it(wayfare, monkeypatch):
    import wayfare as package

    def broken(*_, **__):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr(package, "distance", broken)
    outcome = wayfare("distance", A, B)
    assert outcome.code == 1
    assert outcome.err.count("\n") == 1
    assert "ZeroDivisionError: oh no" in outcome.err
    assert "--debug" in outcome.err
    with pytest.raises(ZeroDivisionError):
        main(["distance", A, B, "--debug"])


def test_debug_shows_the_traceback(process):
    outcome = process("distance", A, B, "--eta", "-1", "--debug")
    assert outcome.code == 1
    assert "Traceback" in outcome.err
    assert "InputError" in outcome.err
    plain = process("distance", A, B, "--eta", "-1")
    assert "Traceback" not in plain.err


def test_what_stands_after_two_dashes_is_text(wayfare):
    told = wayfare("distance", "--json", "--", "--debug", "--debug").json()
    assert told["value"] == 0.0


def test_a_pipe_gets_no_escape_codes_and_no_folding(process, files):
    for line in (["demo"], ["distance", A, B], ["explain", A, B], ["vectors", "list"]):
        outcome = process(*line)
        assert outcome.code == 0
        assert not ESCAPE.search(outcome.out + outcome.err)
        assert not re.search(r" +$", outcome.out, re.MULTILINE)
    outcome = process("search", "news.jsonl", "rain", "-k", "3")
    assert sum("." in line and "[" in line for line in outcome.out.splitlines()) == 3


def test_words_of_documents_are_not_markup(process, files):
    (files / "bad.txt").write_text("[bold red]rain[/] \x1b[31m wind\n[/nonsense] rain\n")
    outcome = process("search", "bad.txt", "rain")
    assert outcome.code == 0, outcome.err
    assert "[bold red]rain[/]" in outcome.out
    assert not ESCAPE.search(outcome.out)


def test_a_reader_that_goes_away_is_no_error(files):
    source = Path(__file__).resolve().parents[2] / "src"
    command = [sys.executable, "-c", "from wayfare.cli import main; main()", "search", "news.jsonl"]
    command += ["rain", "-k", "60", "--json"]
    # Larger than what a pipe holds, so that the writer meets the closed end.
    news = (files / "news.jsonl").read_text() * 1
    (files / "news.jsonl").write_text(news.replace('."}', "." + " and so on" * 400 + '"}'))
    with subprocess.Popen(
        command,
        cwd=files,
        env=os.environ | {"PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        running.stdout.read(10)
        running.stdout.close()
        said = running.stderr.read().decode()
        running.wait(60)
    assert said == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_an_interrupt_is_clean(tmp_path):
    source = Path(__file__).resolve().parents[2] / "src"
    command = [
        sys.executable,
        "-c",
        # Who started the tests in the background had them ignore interrupts, and children inherit that.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from wayfare.cli import main; print('ready', flush=True); main()",
        "distance",
        "rain",
        "-",
    ]
    with subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(source)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout.readline() == b"ready\n"
        time.sleep(0.5)  # it waits for standard input by now
        running.send_signal(signal.SIGINT)
        running.wait(30)
        said = running.stderr.read().decode()
    assert running.returncode == 130
    assert "Traceback" not in said


def test_help_imports_nothing_heavy():
    source = Path(__file__).resolve().parents[2] / "src"
    code = (
        "import sys\nfrom wayfare.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'numba', 'sklearn', 'pyarrow', 'pandas', 'tokenizers', 'ot'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_version(wayfare):
    import wayfare as package

    assert wayfare("--version").out == f"wayfare {package.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(process, shell):
    env = {"_WAYFARE_COMPLETE": f"complete_{shell}", "COMP_WORDS": "wayfare dis", "COMP_CWORD": "1"}
    env |= {"_TYPER_COMPLETE_ARGS": "wayfare dis", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    source = Path(__file__).resolve().parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", "from wayfare.cli import main; main()"],
        env=os.environ | env | {"PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "distance" in done.stdout

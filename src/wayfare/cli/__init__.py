"""The command line: `wayfare COMMAND`, a file each.

app.py         the app: which commands there are, how errors end, what is said where
options.py     options that commands share, so that each is spelled and explained once
documents.py   texts, corpora and vectors from what was given: arguments, files, standard input
output.py      a table, JSON or CSV
sample.py      the sample corpus that ships with the package

A new command is a file with `add_to(app)`, and its name in `app.COMMANDS`. Nothing heavy is imported
before a command runs: `wayfare --help` must not wait for numpy.
"""

from __future__ import annotations

from wayfare.cli.app import app, main

__all__ = ["app", "main"]

# Two commands matter: `make demo` and `make test`. Both need Python 3.11 or newer and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The GPU path is tested on the CPU too, so any build of PyTorch will do; the `gpu` extra pins none.
TORCH ?= torch==2.13.0

.PHONY: demo test lint types docs browser unit fmt clean

demo: $(VENV)/.installed
	$(BIN)/wayfare demo

test: lint types docs browser unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Warnings are errors: a page or a docstring that Sphinx cannot read is a fault like any other.
docs: $(VENV)/.dev
	$(BIN)/sphinx-build --quiet --fail-on-warning --builder html docs docs/_build

# The tests of the page want a real browser: taken from Debian where that can be, and never asked twice.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing chromium for the tests of the page" \
	    && { timeout 300 apt-get install --yes --quiet chromium chromium-driver >/dev/null 2>&1 \
	      || { timeout 60 apt-get update --quiet >/dev/null 2>&1 \
	        && timeout 300 apt-get install --yes --quiet chromium chromium-driver >/dev/null 2>&1; }; }; } \
	  || echo "*** NO BROWSER: the tests of the page will skip (as root: apt-get install chromium chromium-driver) ***"

# pytest closes the run, so that its own last line is the last line of `make test`. A file's tests stay on one
# core: they share what is slow to make.
unit: $(VENV)/.dev
	$(BIN)/pytest --numprocesses auto --dist loadfile

fmt: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' '$(TORCH)'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

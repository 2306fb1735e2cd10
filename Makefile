# Two commands matter: `make demo` and `make test`. Both need Python 3.11 or newer and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The GPU path is tested on the CPU too, so any build of PyTorch will do; the `gpu` extra pins none.
TORCH ?= torch==2.13.0

.PHONY: demo test lint types docs unit fmt clean

demo: $(VENV)/.installed
	$(BIN)/wayfare demo

test: lint types docs unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# Warnings are errors: a page or a docstring that Sphinx cannot read is a fault like any other.
docs: $(VENV)/.dev
	$(BIN)/sphinx-build --quiet --fail-on-warning --builder html docs docs/_build

# pytest closes the run, so that its own last line is the last line of `make test`.
unit: $(VENV)/.dev
	$(BIN)/pytest

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

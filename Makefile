# Each target does its own set-up on a machine that has only Python and make.

PYTHON ?= python3
VENV := .venv

.PHONY: demo test test-matrix test-editors bench browser environment

demo: environment  ## Trace torchvision's ResNet-18, then show what an editor would show of examples/.
	$(VENV)/bin/python -m dev.demo

test: environment  ## Formatter, linter, type checker and all tests, on $(PYTHON) and the newest torch.
	$(VENV)/bin/python -m ruff format --check .
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m mypy
	$(VENV)/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile

test-matrix:  ## The worker's tests on the oldest and the newest Python and torch that pyproject.toml claims.
	$(PYTHON) -m dev.matrix

test-editors: environment  ## The VS Code extension in the real editor, which is installed below .cache/.
	$(VENV)/bin/python -m dev.vscode

bench: environment  ## Latency of an edit beside that of a fresh script.
	$(VENV)/bin/python -m benchmarks.latency

browser: environment  ## Chromium for the tests of the graph view, which are left out without one.
	$(VENV)/bin/python -m dev.chromium

environment:
	$(PYTHON) -m dev.environment $(VENV)

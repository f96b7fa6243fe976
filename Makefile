# Each target does its own set-up on a machine that has only Python and make.

PYTHON ?= python3
# Folders of tests that `make test` leaves out, beside those that need an editor.
WITHOUT ?=
VENV := .venv

.PHONY: demo test test-matrix test-editors test-other-editors vsix bench browser environment

demo: environment  ## Trace torchvision's ResNet-18, then show what an editor would show of examples/.
	$(VENV)/bin/python -m dev.demo

test: environment  ## Formatter, linter, type checker and all tests, on $(PYTHON) and the newest torch.
	$(VENV)/bin/python -m ruff format --check .
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m mypy
	$(VENV)/bin/python -m pytest -n auto --maxprocesses 4 --dist loadfile $(addprefix --ignore ,tests/editors $(WITHOUT))

test-matrix:  ## The worker's tests on the oldest and the newest Python and torch that pyproject.toml claims.
	$(PYTHON) -m dev.matrix

test-editors: environment test-other-editors  ## Everything in the real editors: VS Code, installed below .cache/, and the others.
	$(VENV)/bin/python -m dev.vscode

test-other-editors: environment browser  ## Neovim and JupyterLab, installed below .cache/, and Debian's Emacs and Vim.
	$(VENV)/bin/python -m dev.neovim
	$(VENV)/bin/python -m dev.jupyterlab
	$(VENV)/bin/python -m dev.classic_editors
	$(VENV)/bin/python -m pytest tests/editors

vsix: environment  ## The VS Code extension for this machine, with the server in it, below dist/.
	$(VENV)/bin/python -m dev.vsix

bench: environment  ## Latency of an edit beside that of a fresh script.
	$(VENV)/bin/python -m benchmarks.latency

browser: environment  ## Chromium for the tests of the graph view, which are left out without one.
	$(VENV)/bin/python -m dev.chromium

environment:
	$(PYTHON) -m dev.environment $(VENV)

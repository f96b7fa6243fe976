# Each target does its own set-up on a machine that has only Python and make.

PYTHON ?= python3
# Ends of the range of versions that `make test-matrix` runs: oldest, newest.
ENDS ?= oldest newest
VENV := .venv
# Most tests wait for processes, so one more of them than there are cores runs at once. A process without tests takes
# some from another: files differ much in length.
PYTEST := $(VENV)/bin/python -m pytest -n $$(( $$(nproc) + 1 )) --maxprocesses 4 --dist worksteal

.PHONY: demo test ready test-long reliability test-matrix test-editors test-other-editors vsix bench bench-check install environment oldest browser other-editors vscode-tools

demo: environment  ## Trace torchvision's ResNet-18, then show what an editor would show of examples/.
	$(VENV)/bin/python -m dev.demo

test: environment  ## Formatter, linter, type checker and all tests that need no editor, on $(PYTHON) and the newest torch.
	$(VENV)/bin/python -m ruff format --check .
	$(VENV)/bin/python -m ruff check .
	$(VENV)/bin/python -m mypy
	$(PYTEST) --ignore tests/editors --durations 30

ready: environment  ## In five minutes at most: formatter, linter, type checker, and the tests that the change since main can reach.
	$(VENV)/bin/python -m dev.ready

test-long: environment  ## Random editing sessions, and the benchmarks against torch's own answers: for a release.
	FXLSP_SESSIONS=$${FXLSP_SESSIONS-0:30} $(PYTEST) -m long

reliability: environment  ## Attacks on a server, some hours, for a release; goes on where it was stopped. With SHORT=1 two minutes, as CI does; SEED=N for the same again.
	$(VENV)/bin/python -m benchmarks.reliability $(if $(SHORT),--short,--resume .cache/reliability.json) $(if $(SEED),--seed $(SEED))

test-matrix:  ## The tests that versions matter to, on the oldest and the newest Python and torch that pyproject.toml claims.
	$(PYTHON) -m dev.matrix $(ENDS)

test-editors: environment test-other-editors  ## Everything in the real editors: VS Code, installed below .cache/, and the others.
	$(VENV)/bin/python -m dev.editors.vscode

test-other-editors: environment other-editors  ## Neovim and JupyterLab, installed below .cache/, and Debian's Emacs and Vim.
	$(PYTEST) tests/editors

vsix: environment  ## The VS Code extension for this machine, with the server in it, below dist/.
	$(VENV)/bin/python -m dev.vsix

bench: environment  ## Latency of an edit beside that of a fresh script.
	$(VENV)/bin/python -m benchmarks.latency

bench-check: environment  ## Whether edits and typing got slower than written down: ratios of one run.
	$(VENV)/bin/python -m benchmarks.speed_check

install: environment oldest vscode-tools other-editors  ## All that these targets need: `make -j3 install` does it side by side.

environment:
	$(PYTHON) -m dev.environment $(VENV)

oldest:
	$(PYTHON) -m dev.matrix --install oldest

browser:  ## Chromium for the tests of the graph view, which are left out without one.
	$(PYTHON) -m dev.editors.chromium

# After the browser: two installations of Debian's packages exclude each other.
other-editors: browser
	$(PYTHON) -m dev.editors.classic_editors
	$(PYTHON) -m dev.editors.neovim
	$(PYTHON) -m dev.editors.jupyterlab

vscode-tools: browser
	$(PYTHON) -m dev.editors.vscode.tools

"""What pyproject.toml claims, and what else says the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dev.environment import OLDEST
from dev.interpreters import find, probe
from dev.matrix import claimed
from fxlsp import __version__
from fxlsp.tracing.processes.start import OLDEST_PYTHON, OLDEST_TORCH

PROJECT = Path(__file__).parents[1]


def test_the_worker_refuses_what_is_older_than_pyproject_claims() -> None:
    oldest, _ = claimed(PROJECT / "pyproject.toml")
    assert oldest.python == ".".join(map(str, OLDEST_PYTHON)) == ".".join(map(str, OLDEST))
    assert oldest.torch == f"torch=={'.'.join(map(str, OLDEST_TORCH))}.*"


def test_the_matrix_reads_its_ends_from_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\n"
        'requires-python = ">=3.10"\n'
        'classifiers = ["Programming Language :: Python :: 3.9", "Programming Language :: Python :: 3.12", "Typing"]\n'
        'optional-dependencies = { torch = ["torch>=2.6,<2.16"] }\n'
    )
    oldest, newest = claimed(tmp_path / "pyproject.toml")
    assert (oldest.python, oldest.torch) == ("3.10", "torch==2.6.*")
    assert (newest.python, newest.torch) == ("3.12", "torch==2.15.*")


def test_an_interpreter_is_found_by_its_version_or_not_at_all() -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert find(here) == sys.executable
    assert find("2.5") is None


def test_a_program_that_is_no_interpreter_has_no_version(tmp_path: Path) -> None:
    program = tmp_path / "python3.10"
    program.write_text("#!/bin/sh\nexit 127\n")
    program.chmod(0o755)
    assert probe(str(program)) is None


def test_the_package_runs_as_a_program() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "fxlsp", "--version"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"fxlsp {__version__}\n"


def test_what_the_server_runs_in_imports_no_torch() -> None:
    program = "import sys, fxlsp.cli.main, fxlsp.server.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=PROJECT, check=False).returncode == 0

"""A workspace in which every file tries to run something, on the command line.

A command traces, so it runs what it traces, contained. Nothing else of the workspace runs: no file that Python imports
by itself, no configuration, no interpreter, if another one is named.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.test_hostile_workspace import marker, workspace

__all__ = ["marker", "workspace"]

pytestmark = pytest.mark.real
COMMANDS = {
    "check": ("check", "net.py"),
    "check all": ("check", "."),
    "trace": ("trace", "net.py:Net", "--init", "Net()", "--inputs", "torch.randn(2, 3)"),
    "list": ("trace", "net.py"),
    "graph": ("graph", "net.py:Net", "--init", "Net()", "--inputs", "torch.randn(2, 3)", "-o", "graph.html"),
    "notebook": ("trace", "notebook.ipynb:Net"),
    "doctor": ("doctor",),
    "trust": ("trust", "--list"),
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "FXLSP_TRUST"}
    command = [sys.executable, "-m", "fxlsp", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_with_a_named_interpreter_nothing_of_the_workspace_runs_uncontained(
    name: str, workspace: Path, marker: Path
) -> None:
    command = COMMANDS[name]
    python = () if command[0] == "trust" else ("--python", sys.executable)
    ran = run(workspace, *command, *python)
    assert ran.returncode in (0, 1, 2), ran.stderr
    assert not marker.exists(), (ran.stdout, ran.stderr)


def test_doctor_names_what_it_runs_of_the_workspace(workspace: Path, marker: Path) -> None:
    ran = run(workspace, "doctor")
    # A shell script that starts Python: what can be done with it is the workspace's, so it is named.
    assert marker.exists()
    assert f"this command runs {workspace / '.venv/bin/python'}, which belongs to this folder" in ran.stdout


def test_doctor_runs_nothing_of_the_workspace_if_it_shall_not(workspace: Path, marker: Path) -> None:
    ran = run(workspace, "doctor", "--no-run")
    assert not marker.exists()
    assert f"{workspace / '.venv/bin/python'} (set by 'python'): not run, as --no-run asks" in ran.stdout
    assert "settings" in ran.stdout
    assert ran.returncode == 0

"""Runs of the command, with a fake worker where torch does not matter."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fxlsp.cli.main import main
from tests.support.warm import start_process

WORKERS = Path(__file__).parents[1] / "engine" / "workers"


@dataclass(frozen=True)
class Ran:
    """Result of a run of the command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Fxlsp = Callable[..., Ran]


@pytest.fixture(autouse=True)
def forked(warm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the supervisors of commands in this process forked from the warm process."""
    monkeypatch.setattr("fxlsp.engine.connection.process.start_process", start_process)


@pytest.fixture
def fxlsp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fxlsp:
    """Return a function that runs ``fxlsp`` in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as error:
            code = int(error.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


@pytest.fixture
def fake_python(tmp_path: Path) -> str:
    """Return an "interpreter" that runs the fake worker, whatever its arguments."""
    return interpreter(tmp_path, "good")


def interpreter(folder: Path, worker: str) -> str:
    """Create a program that runs one of the engine's fake workers; return its path."""
    path = folder / f"python-{worker}"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{WORKERS / worker}.py" "$2"\n')
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """Return a file with a class to trace."""
    path = tmp_path / "model.py"
    path.write_text("from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n")
    return path

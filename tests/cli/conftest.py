"""Running the command, under a fake worker where it does not matter what torch says."""

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
    """What a run of the command left."""

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
    """Commands that run in this process have their supervisors forked."""
    monkeypatch.setattr("fxlsp.engine.connection.process.start_process", start_process)


@pytest.fixture
def fxlsp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fxlsp:
    """Runs ``fxlsp`` in an empty folder."""
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
    """An "interpreter" that runs the engine's fake worker, whatever it is told to run."""
    return interpreter(tmp_path, "good")


def interpreter(folder: Path, worker: str) -> str:
    """A program that runs one of the engine's fake workers."""
    path = folder / f"python-{worker}"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{WORKERS / worker}.py" "$2"\n')
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    """A file with a class to trace."""
    path = tmp_path / "model.py"
    path.write_text("from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n")
    return path

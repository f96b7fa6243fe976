"""Recordings of programs in a folder of a project, whose modules are found from that folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fxlsp.recording.recording_file import read_recording
from tests.cli.conftest import Fxlsp

BLOCKS = """
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x)
"""
OPTIONS = """
from dataclasses import dataclass


@dataclass
class Options:
    width: int = 8
"""
NET = """
from torch import nn

from models.blocks import Block
from options import Options


class Net(nn.Module):
    def __init__(self, options: Options):
        super().__init__()
        self.block = Block(options.width)

    def forward(self, x):
        return self.block(x)
"""
TRAIN = """
import json
import sys

import torch
from models.net import Net
from options import Options

make = {"net": Net}["net"]
make(Options(**json.loads('{"width": 24}')))(torch.randn(5, 24))
"""
ELSEWHERE = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'code'))\n" + TRAIN
RECIPE = "Net(options=Options(width=24))(torch.randn(5, 24))"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project whose modules are in a folder without a marker of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    code = {"models/blocks.py": BLOCKS, "models/net.py": NET, "options.py": OPTIONS, "train.py": TRAIN}
    write(folder / "code", code)
    write(folder, {"scripts/start.py": ELSEWHERE})
    return folder


def folders_of_net() -> tuple[str, ...]:
    (file,) = (Path(os.environ["XDG_CACHE_HOME"]) / "fxlsp").glob("recording-*.json")
    return next(each.folders for each in read_recording(str(file)) if each.name == "Net")


def assert_is_traced(fxlsp: Fxlsp, target: Path, recipe: str = RECIPE) -> None:
    ran = fxlsp("trace", f"{target}:Net")
    assert f"Net: {recipe} (recorded: " in ran.out.partition("\n")[0]
    assert ran.code == 0


RUNS = {
    "a script of the folder": ("code", ["train.py"], ("code",)),
    "a module of the folder": ("code", ["-m", "train"], ("code",)),
    "a script in a folder of the working directory": ("", ["code/train.py"], ("code",)),
    "a script that adds the folder": ("", ["scripts/start.py"], ("code", "scripts")),
}


@pytest.mark.parametrize("name", RUNS)
def test_modules_are_found_as_in_the_run(
    name: str, fxlsp: Fxlsp, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, command, folders = RUNS[name]
    monkeypatch.chdir(project / folder)
    assert fxlsp("record", "--", sys.executable, *command).code == 0
    assert folders_of_net() == folders
    assert_is_traced(fxlsp, project / "code" / "models" / "net.py")


@pytest.mark.parametrize("package", [False, True], ids=["plain folder", "package"])
def test_the_working_folder_of_a_check_and_what_it_is_given_make_no_difference(
    package: bool, fxlsp: Fxlsp, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if package:
        (project / "code" / "models" / "__init__.py").touch()
    monkeypatch.chdir(project / "code")
    assert fxlsp("record", "--", sys.executable, "train.py").code == 0
    net = project / "code" / "models" / "net.py"
    for working in (project.parent, project, net.parent):
        monkeypatch.chdir(working)
        for checked in (net, project):
            found = fxlsp("check", str(checked), "--format", "json").json
            assert [each for each in found["models"] if each["status"] not in ("traced", "covered")] == []
            assert found["problems"] == []
        assert_is_traced(fxlsp, net)


def test_a_project_inside_of_another_imports_from_the_outer_one_as_in_the_run(
    fxlsp: Fxlsp, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "inner").mkdir()
    (project / "inner" / "pyproject.toml").touch()
    text = NET.replace("models.blocks", "shared.blocks").replace("from options", "from inner.options")
    write(project, {"inner/net.py": text, "inner/options.py": OPTIONS, "shared/blocks.py": BLOCKS})
    net = project / "inner" / "net.py"
    write(
        project,
        {"inner/run.py": TRAIN.replace("models.net", "inner.net").replace("from options", "from inner.options")},
    )
    monkeypatch.chdir(project)
    assert fxlsp("record", "--", sys.executable, "-m", "inner.run").code == 0
    assert folders_of_net() == (".",)
    assert_is_traced(fxlsp, net)


def test_a_folder_that_is_gone_counts_for_nothing(fxlsp: Fxlsp, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert fxlsp("record", "--", sys.executable, "scripts/start.py").code == 0
    (project / "scripts" / "start.py").unlink()
    (project / "scripts").rmdir()
    assert_is_traced(fxlsp, project / "code" / "models" / "net.py")

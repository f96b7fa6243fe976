"""The benchmark over repositories tells what is traced or covered, and why the others are not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.repositories.checked import Checked, Model
from benchmarks.repositories.summary import totals

pytestmark = pytest.mark.long

FILE = """
import torch

class Part(torch.nn.Module):
    def forward(self, x):
        return x + 1

class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)

print(Whole()(torch.ones(2)))
"""
NEEDS_PACKAGE = """
import missing_package.parts as parts
import torch

class Base(parts.Base, torch.nn.Module):
    def forward(self, x):
        return x
"""


def test_a_repository_is_checked_in_its_own_folder(tmp_path: Path) -> None:
    repository = tmp_path / "some-repository"
    repository.mkdir()
    (repository / "models.py").write_text(FILE, encoding="utf-8")
    (repository / "other.py").write_text(NEEDS_PACKAGE, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "benchmarks.coverage", str(repository), "--json", str(out)]
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": ""}
    process = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
    checked = json.loads(out.read_text(encoding="utf-8"))
    assert checked["name"] == "some-repository"
    assert [(model["target"], model["status"], model["missing"]) for model in checked["models"]] == [
        ("models.py:Part", "covered", None),
        ("models.py:Whole", "traced", None),
        ("other.py:Base", "failed", "missing_package"),
    ]
    assert checked["seconds"] > 0
    if sys.platform == "linux":
        assert checked["megabytes"] > 50
    assert "  traced     call-site            models.py:Whole\n" in process.stdout
    assert "   100.0 %" in process.stdout


def test_a_module_of_the_repository_itself_is_no_missing_package(tmp_path: Path) -> None:
    (tmp_path / "src" / "own").mkdir(parents=True)
    (tmp_path / "utils.py").touch()
    missing = {}
    for name in ("own.net", "utils", "einops"):
        entry = {"target": "a.py:A", "status": "failed", "recipe": None, "covered_by": None}
        reason = f"cannot load a.py: ModuleNotFoundError: No module named '{name}'"
        missing[name] = Model.from_json({**entry, "reason": reason}, str(tmp_path)).missing
    assert missing == {"own.net": None, "utils": None, "einops": "einops"}


def test_reasons_of_one_kind_are_counted_together() -> None:
    reasons = [f"Net{number} needs the arguments a, b: say how to make it" for number in range(3)] + ["odd 1", "odd 2"]
    models = [Model(f"m.py:N{at}", "skipped", why, None, False, None, None) for at, why in enumerate(reasons)]
    lines = list(totals([Checked("one", tuple(models), None, 1.0, None)]))
    assert lines[-2:] == [
        "     3  skipped: needs arguments   e.g. m.py:N0, m.py:N1, m.py:N2",
        "     2  skipped: odd N   e.g. m.py:N3, m.py:N4",
    ]

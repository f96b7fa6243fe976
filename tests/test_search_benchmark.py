"""What the benchmark of the search says of classes: which cannot run, and which take names that do not exist."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.corpora import impossible
from benchmarks.corpora.classes import BareClass, unresolved

PROJECT = Path(__file__).parents[1]
NET = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.nowhere(x)\n"


def test_a_class_that_cannot_run_is_known_by_the_text_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, other = tmp_path / "nets.py", tmp_path / "later" / "nets.py"
    other.parent.mkdir()
    file.write_text(NET)
    other.write_text(NET.replace("self.nowhere(x)", "x"))
    entry: impossible.FileEntry = {
        "sha1": hashlib.sha1(NET.encode()).hexdigest(),
        "classes": {"Net": "nothing that runs sets nowhere"},
    }
    monkeypatch.setattr(impossible, "entries", lambda: {"nets.py": entry})
    assert impossible.cannot_run(str(file), "Net") == "nothing that runs sets nowhere"
    assert impossible.cannot_run(str(file), "Other") is None
    assert impossible.cannot_run(str(other), "Net") is None


def test_each_class_that_cannot_run_has_a_reason_of_a_known_kind() -> None:
    reasons = {reason for entry in impossible.entries().values() for reason in entry["classes"].values()}
    assert len(reasons) > 100
    assert [reason for reason in reasons if not any(kind.fullmatch(reason) for kind in impossible.KINDS)] == []


def test_the_files_with_classes_that_cannot_run_are_of_the_corpus() -> None:
    for name, entry in impossible.entries().items():
        assert name.startswith("test_")
        assert len(entry["sha1"]) == 40
        assert entry["classes"]


@pytest.mark.long
def test_a_run_for_the_rules_alone_counts_them_and_leaves_no_folder_behind(tmp_path: Path) -> None:
    models, scratch, out = tmp_path / "models", tmp_path / "scratch", tmp_path / "out.json"
    models.mkdir()
    scratch.mkdir()
    (models / "nets.py").write_text(NET + "\n\nclass Other(Net):\n    def forward(self, x):\n        return x @ x.T\n")
    command = [
        sys.executable,
        "-m",
        "benchmarks.search",
        str(models),
        "--half",
        "all",
        "--rules-only",
        "--json",
        str(out),
    ]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    ran = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(answer["name"], answer["status"]) for answer in answers] == [("Net", "fails"), ("Other", "found")]
    assert "calls further  finds  rule" in ran.stdout
    assert list(scratch.glob("fxlsp-search-*")) == []


@pytest.mark.long
def test_a_run_that_is_ended_twice_leaves_no_folder_behind(tmp_path: Path) -> None:
    models, scratch = tmp_path / "models", tmp_path / "scratch"
    models.mkdir()
    scratch.mkdir()
    nets = (NET.replace("class Net", f"class Net{number}") for number in range(500))
    (models / "nets.py").write_text("\n\n".join(nets))
    command = [sys.executable, "-m", "benchmarks.search", str(models), "--half", "all", "--rules-only"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline().startswith("fails")
        run.terminate()
        run.terminate()
        run.stdout.read()
    assert list(scratch.glob("fxlsp-search-*")) == []


IMPORTS = """
import sys
import numpy as np
import torch.nn as nn
from torch import nn as layers
from torch.nn import Nowhere
import torch.nowhere
try:
    from torch.nn import Newer
except ImportError:
    Newer = None
_module = sys.modules[__name__]
blocks = _module
del sys

def lacking():
    return missing

def helper():
    return lacking()

def complete():
    return 1

"""


@pytest.mark.parametrize(
    ("expression", "missing"),
    [
        pytest.param("missing", "missing", id="a name"),
        pytest.param("helper()", "missing", id="a name of what a helper calls"),
        pytest.param("np.cumproduct(x)", "np.cumproduct", id="what NumPy has dropped"),
        pytest.param("nn.functional.nowhere(x)", "nn.functional.nowhere", id="what a module of a module has not"),
        pytest.param("layers.Nowhere()", "layers.Nowhere", id="what a module has not that is imported from another"),
        pytest.param("Nowhere()", "Nowhere", id="an import of a name that is not there"),
        pytest.param("torch.nn", "torch.nn", id="an import of a module that is not there"),
        pytest.param("blocks.Nowhere()", "Nowhere", id="a name of a module of the project"),
        pytest.param("blocks.helper()", "missing", id="what a name of a module of the project needs"),
        pytest.param("np.float(x)", None, id="what the benchmark gives back"),
        pytest.param("np.random.rand(2) + nn.Linear(2, 2).weight", None, id="names that are there"),
        pytest.param("blocks.complete() + blocks._module.complete()", None, id="names of the project that are there"),
        pytest.param("blocks.__name__", None, id="what every module has"),
        pytest.param("(lambda np: np.cumproduct)(x)", None, id="an attribute of something else of that name"),
        pytest.param("Newer.thing", None, id="what is imported under a condition"),
    ],
)
def test_names_that_are_not_there_are_reported(expression: str, missing: str | None, tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text(f"{IMPORTS}class Net(nn.Module):\n    def forward(self, x):\n        return {expression}\n")
    assert unresolved(BareClass(str(file), "Net", False)) == missing

"""The benchmark over corpora tells what fits torch and what does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.corpora.comparison import compare

pytestmark = pytest.mark.long

FILE = """
import missing_package.parts
import torch
from missing_package import Base
from missing_package.parts import helper

class Plain(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin = torch.nn.Linear(4, width)

    def forward(self, x):
        x = self.lin(x)
        for _ in range(2):
            x = x.relu() + 1
        return x

class Branching(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x

class Broken(torch.nn.Module):
    def __init__(self):
        raise ValueError("not today")

TESTCASES = [
    (Plain, lambda: ([3], {}), lambda: ([torch.rand(2, 4)], {})),
    (Plain, lambda: ([], {"width": 5}), lambda: ([torch.rand(2, 4)], {})),
    (Branching, lambda: ([], {}), lambda: ([torch.rand(2)], {})),
    (Broken, lambda: ([], {}), lambda: ([torch.rand(2)], {})),
]
"""


def test_a_folder_is_held_against_torch(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(FILE, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "benchmarks.corpus", str(tmp_path), "--half", "all", "--json", str(out)]
    root = Path(__file__).parents[1]
    subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": ""}, check=True, capture_output=True)
    cases = {case["key"]: case for case in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    assert list(cases) == [f"models.py:{name}" for name in ("Plain", "Plain#2", "Branching", "Broken")]
    for name in ("Plain", "Plain#2", "Branching"):
        case = cases[f"models.py:{name}"]
        assert (case["reference"], case["failure"], case["differences"], case["wrong"]) == ("", "", [], []), case
        assert case["runs"]
    assert cases["models.py:Plain"]["misses"] == []
    assert cases["models.py:Branching"]["traceable"] is False
    assert cases["models.py:Broken"]["reference"] == "not built: ValueError: not today"


def location(line: int) -> dict[str, Any]:
    return {"file": "m.py", "line": line, "column": 1, "end_line": line, "end_column": 2}


def node(target: str, shape: list[int] | None, line: int) -> dict[str, Any]:
    output = None if shape is None else {"shape": shape, "dtype": "float32"}
    return {
        "name": target,
        "op": "call_method",
        "target": target,
        "location": location(line),
        "output": output,
        "opaque": False,
    }


def report(*nodes: dict[str, Any]) -> dict[str, Any]:
    verdict = {"traceable": True, "error": None}
    return {
        "verdict": verdict,
        "mode": "train",
        "complete": True,
        "opaque": 0,
        "nodes": list(nodes),
        "modules": [],
        "calls": [],
        "problems": [],
        "timing_ms": {},
    }


def reference(names: list[str], *operations: tuple[str, list[int], int, bool]) -> dict[str, Any]:
    rows = [
        {"name": name, "lines": number, "shapes": [shape], "touched": touched, "leaf": None}
        for number, (name, shape, _, touched) in enumerate(operations)
    ]
    stacks = [[("m.py", line)] for _, _, line, _ in operations]
    return {
        "trace": {"traceable": True, "mode": "train", "nodes": names},
        "eager": {"error": None, "operations": rows, "stacks": stacks, "calls": {}},
    }


def test_operations_are_matched_by_line_name_and_shape() -> None:
    there = reference(["relu", "relu_"], ("relu", [2], 3, True), ("relu", [4], 3, True), ("arange", [9], 4, False))
    good = compare("k", there, report(node("relu", [2], 3), node("relu_", [4], 3)))
    assert (good.differences, good.misses, good.wrong) == ([], [], [])
    bad = compare("k", there, report(node("relu", [2], 3), node("relu_", [5], 3)))
    assert bad.wrong == ["relu_ at m.py:3: [[4]], ours [[5]]"]
    unknown = compare("k", there, report(node("relu", [2], 3), node("relu_", None, 3)))
    assert unknown.misses == ["unknown shape: function relu at m.py:3"]
    elsewhere = compare("k", there, report(node("relu", [2], 3), node("relu_", [4], 5)))
    assert elsewhere.misses == ["missing: function relu at m.py:3", "extra: relu_ at m.py:5"]


def test_constants_need_not_be_nodes_of_a_traceable_model() -> None:
    there = reference(["mul"], ("mul", [2], 3, False), ("mul", [2], 3, True), ("get", [2], 4, True))
    assert compare("k", there, report(node("mul", [2], 3))).misses == []

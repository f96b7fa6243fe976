"""A baseline hides what is known, by code, class and statement, and reports what is gone."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fxlsp.cli.check.baseline import Baseline, RunScope
from fxlsp.cli.check.selection import CodeSelection
from fxlsp.cli.exit_codes import UsageError
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document
from tests.cli.conftest import Fxlsp

MODEL = """\
from torch import nn


class {name}(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # problem FX101
            x = x + 1
        y = x.view(3)  # problem
        z = x.view(3)  # problem
        return y + z
"""
STATEMENTS = [f"        v{number} = self.layer{number % 7}(x)" for number in range(12)]


@pytest.fixture
def check(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> Any:
    (tmp_path / "net.py").write_text(MODEL.format(name="Net"))

    def run(*arguments: str) -> Any:
        return fxlsp("check", "net.py", "--format", "json", "--python", fake_python, "--baseline", "b.json", *arguments)

    return run


def codes(ran: Any) -> list[str]:
    return sorted(problem["code"] for problem in ran.json["problems"])


def test_known_problems_are_not_reported_and_new_ones_are(check: Any, tmp_path: Path) -> None:
    assert check("--baseline-mode", "write").code == 0
    assert [(each["code"], each["scope"], each["statement"], each["count"]) for each in read(tmp_path)] == [
        ("FX101", "Net", "if x.sum() > 0:", 1),
        ("FX401", "Net", "y = x.view(3)", 1),
        ("FX401", "Net", "z = x.view(3)", 1),
    ]
    ran = check()
    assert (ran.code, codes(ran), ran.err) == (0, [], "")
    file = tmp_path / "net.py"
    file.write_text(
        "import math\n\n" + file.read_text().replace("return y", "w = x.view(4)  # problem\n        return y")
    )
    ran = check()
    assert (ran.code, codes(ran)) == (1, ["FX401"])
    assert ran.json["problems"][0]["location"]["line"] == 12


def test_what_is_gone_is_reported_fails_on_request_and_can_be_pruned(check: Any, tmp_path: Path) -> None:
    check("--baseline-mode", "write")
    file = tmp_path / "net.py"
    file.write_text(file.read_text().replace("z = x.view(3)  # problem", "z = x.view(9)"))
    ran = check()
    assert (ran.code, codes(ran)) == (0, [])
    assert "fxlsp: gone, 1 time: FX401 in net.py: Net: z = x.view(3)\n" in ran.err
    assert check("--baseline-mode", "strict").code == 1
    # A run of other codes does not judge these.
    assert check("--baseline-mode", "strict", "--select", "FX1").code == 0
    assert check("--baseline-mode", "prune").err == "fxlsp: b.json lists 2 problems\n"
    assert check("--baseline-mode", "strict").code == 0


def test_an_update_leaves_the_entries_of_other_files_and_codes(check: Any, tmp_path: Path) -> None:
    check("--baseline-mode", "write")
    (tmp_path / "other.py").write_text("")
    known = read(tmp_path)
    other = {"file": "other.py", "code": "FX101", "scope": "", "statement": "x", "count": 1}
    absent = {**other, "file": "removed.py"}
    (tmp_path / "b.json").write_text(json.dumps({"version": 1, "problems": [*known, other, absent]}))
    (tmp_path / "net.py").write_text(MODEL.format(name="Net").replace("# problem FX101", ""))
    check("--baseline-mode", "update", "--select", "FX4")
    assert {(each["file"], each["code"]) for each in read(tmp_path)} >= {("net.py", "FX101"), ("other.py", "FX101")}
    check("--baseline-mode", "update")
    assert [(each["file"], each["code"]) for each in read(tmp_path)] == [
        ("net.py", "FX401"),
        ("net.py", "FX401"),
        ("other.py", "FX101"),
    ]


def test_wrong_use_is_reported_before_anything_is_traced_and_loses_nothing(
    check: Any, fxlsp: Fxlsp, tmp_path: Path
) -> None:
    assert "there is no baseline b.json: write one by --baseline-mode write" in check().err
    (tmp_path / "b.json").write_text('{"version": 7, "problems": []}')
    ran = check()
    assert (ran.code, ran.out) == (2, "")
    assert "b.json is no baseline: ValueError: version 7" in ran.err
    assert check("--baseline-mode", "write").code == 2
    assert json.loads((tmp_path / "b.json").read_text())["version"] == 7
    assert "needs --baseline FILE" in fxlsp("check", "--baseline-mode", "prune").err


def test_moved_lines_neither_lose_nor_find_a_problem(tmp_path: Path) -> None:
    random = Random(4)
    for number in range(20):
        path = tmp_path / f"net{number}.py"
        lines = random.choices(STATEMENTS, k=15)
        marked = {line for line in lines if random.random() < 0.4}
        baseline = Baseline(tmp_path / "b.json")
        before = problems(path, lines, marked)
        assert len(baseline.remaining(*before)) == len(before[0])
        scope = RunScope(frozenset({str(path)}), CodeSelection())
        baseline.write_found(scope)
        again = Baseline.read(tmp_path / "b.json")
        for _ in range(50):
            lines.insert(random.randrange(len(lines)), lines.pop(random.randrange(len(lines))))
            if random.random() < 0.3:
                lines.insert(random.randrange(len(lines)), f"        # {random.random()}")
            assert again.remaining(*problems(path, lines, marked)) == []
            assert again.stale(scope) == []
        found, document = problems(path, [*lines, "        new = x.view(7)"], {*marked, "        new = x.view(7)"})
        assert [problem.location and problem.location.line for problem in again.remaining(found, document)] == [
            len(lines) + 4
        ]
        (tmp_path / "b.json").unlink()


def test_merged_branches_may_list_a_problem_twice(tmp_path: Path) -> None:
    found, document = problems(tmp_path / "net.py", ["        v = self.fc(x)"] * 2, {"        v = self.fc(x)"})
    assert len(found) == 2
    one = Baseline(tmp_path / "b.json")
    one.remaining(found[:1], document)
    one.write_found(RunScope(frozenset({str(tmp_path / "net.py")}), CodeSelection()))
    listed = read(tmp_path)
    (tmp_path / "b.json").write_text(json.dumps({"version": 1, "problems": [*listed, *listed]}))
    assert Baseline.read(tmp_path / "b.json").remaining(found, document) == []


def test_a_problem_without_a_place_is_judged_by_a_run_of_its_file(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("")
    entry = {"file": "", "code": "FX903", "scope": "b.py:Net", "statement": "", "count": 1}
    (tmp_path / "b.json").write_text(json.dumps({"version": 1, "problems": [entry]}))
    baseline = Baseline.read(tmp_path / "b.json")
    of_a, of_b = (RunScope(frozenset({str(tmp_path / name)}), CodeSelection()) for name in ("a.py", "b.py"))
    assert baseline.stale(of_a) == []
    assert len(baseline.stale(of_b)) == 1


def problems(path: Path, lines: list[str], marked: set[str]) -> Any:
    """Return a problem for each marked line of a method, and what returns the text of the file."""
    text = "class Net:\n    def other(self): ...\n    def forward(self, x):\n" + "\n".join(lines) + "\n"
    path.write_text(text)
    document = Document("", str(path), None, text)
    found = [
        Problem("FX101", "warning", "m", Location(str(path), number, 9, number, len(line) + 1))
        for number, line in enumerate(lines, 4)
        if line in marked
    ]
    return found, lambda _: document


def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    for text in ("", "[]", '{"version": 1}', '{"version": 1, "problems": [{"file": 3}]}'):
        path.write_text(text)
        with pytest.raises(UsageError, match="is no baseline"):
            Baseline.read(path)


def read(folder: Path) -> Any:
    return json.loads((folder / "b.json").read_text())["problems"]

"""The forms for other programs: read by readers that others wrote, with the same problems at the same places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from junitparser import JUnitXml
from sarif_pydantic import Sarif

from fxlsp.cli.check.fingerprints import Fingerprint
from fxlsp.cli.check.formats.checked import CheckedRun
from fxlsp.cli.check.formats.github import github_lines
from fxlsp.cli.check.formats.junit import junit_text
from fxlsp.cli.check.results import ModelEntry
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from tests.cli.conftest import Fxlsp

TEXT = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        if x.sum() > 0:  # problem FX101
            y = 1
        y = x.view(3)  # problem
        y = x.view(3)  # problem
        return y  # problem FX316


class Fine(nn.Module):
    def forward(self, x): ...


def make():
    class Local(nn.Module):
        def forward(self, x): ...
"""


@pytest.fixture
def check(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> Any:
    """Checks two files; the name of one has to be quoted in a URI."""
    for name in ("net.py", "a b%.py"):
        (tmp_path / "models").mkdir(exist_ok=True)
        (tmp_path / "models" / name).write_text(f"{TEXT}# Of {name}.\n")

    def run(form: str, *arguments: str) -> Any:
        return fxlsp("check", "models", "--format", form, "--python", fake_python, *arguments)

    return run


def places(check: Any) -> list[tuple[str, str, int, int, int, int]]:
    """Return code and place of each problem of the JSON."""
    found = []
    for problem in check("json").json["problems"]:
        place = problem["location"]
        spans = (place["line"], place["column"], place["end_line"], place["end_column"])
        found.append((problem["code"], Path(place["file"]).name, *spans))
    return sorted(found)


def test_sarif_is_valid_and_has_the_same_problems_span_for_span(check: Any) -> None:
    ran = check("sarif")
    assert ran.code == 1
    (run,) = Sarif.model_validate_json(ran.out).runs
    assert json.loads(ran.out)["runs"][0]["columnKind"] == "unicodeCodePoints"
    assert [rule.id for rule in run.tool.driver.rules or []] == ["FX101", "FX316", "FX401"]
    found = []
    for result in run.results or []:
        (place,) = result.locations or []
        physical = place.physical_location
        assert physical is not None
        assert physical.region is not None
        assert physical.artifact_location is not None
        region, uri = physical.region, unquote(str(physical.artifact_location.uri))
        assert uri.startswith("models/")
        span = (region.start_line, region.start_column, region.end_line, region.end_column)
        found.append((result.rule_id, uri.partition("/")[2], *span))
    assert sorted(found, key=str) == sorted(places(check), key=str)
    fingerprints = [tuple((result.partial_fingerprints or {}).items()) for result in run.results or []]
    assert len(set(fingerprints)) == len(fingerprints)


def test_junit_has_a_case_for_each_model_that_fails_with_its_errors_and_warnings(check: Any, tmp_path: Path) -> None:
    assert check("junit", "-o", "report.xml").out == ""
    (suite,) = JUnitXml.fromfile(str(tmp_path / "report.xml"))
    assert (suite.tests, suite.failures, suite.skipped) == (6, 2, 2)
    cases = {(case.classname, case.name): case for case in suite}
    assert {name for file, name in cases if file == "models/net.py"} == {"Net", "Fine", "make.<locals>.Local"}
    (failure,) = cases["models/net.py", "Net"].result
    assert failure.message.startswith("FX401: it fails")
    assert "net.py:8:5: error[FX401]" in failure.text
    assert "warning[FX101]" in failure.text
    assert "FX316" not in failure.text
    assert "FX316" in cases["models/net.py", "Net"].system_out
    assert cases["models/net.py", "Fine"].is_passed


def test_a_model_that_was_not_made_is_no_passed_test() -> None:
    # Its problem is in the baseline, or ignored.
    entry = ModelEntry("net.py:Net", Location("/f/net.py", 1, 1, 1, 2), "failed", "TypeError: boom")
    (suite,) = JUnitXml.fromstring(junit_text(CheckedRun([entry], [], "/f", 1.0)).encode())
    (case,) = suite
    assert case.is_skipped
    assert case.result[0].message == "TypeError: boom"


def test_gitlabs_issues_have_what_it_requires_and_names_that_survive_moved_lines(check: Any, tmp_path: Path) -> None:
    issues = check("gitlab").json
    for issue in issues:
        assert issue["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert issue["location"]["path"] in {"models/net.py", "models/a b%.py"}
        assert issue["location"]["lines"]["begin"] >= 1
        assert issue["description"]
        assert issue["check_name"] in issue["description"]
    names = {issue["fingerprint"] for issue in issues}
    assert len(names) == len(issues) == len(places(check))
    file = tmp_path / "models" / "net.py"
    file.write_text("# a line\n\n" + file.read_text())
    assert {issue["fingerprint"] for issue in check("gitlab").json} == names


def test_github_gets_one_command_a_problem(check: Any) -> None:
    lines = check("github").out.splitlines()
    assert len(lines) == len(places(check))
    page = "https://github.com/fxlsp/fxlsp/blob/main/docs/problems/FX101.md"
    expected = f"line=6,endLine=6,col=5,endColumn=15,title=FX101::it fails%0A{page}"
    assert f"::warning file=models/net.py,{expected}" in lines
    assert f"::warning file=models/a b%25.py,{expected}" in lines
    assert any(line.startswith("::notice ") and "FX316" in line for line in lines)


def test_what_a_form_cannot_hold_is_escaped() -> None:
    place = Location("/f/n,1:2.py", 3, 2, 5, 7)
    hostile = Problem("FX401", "error", "a%b\r\n\x1b[31m\ud800 ]]> & <", place, model="n,1:2.py:Net")
    run = CheckedRun([], [(hostile, Fingerprint("n", "FX401", "", ""))], "/f", 1.0)
    (line,) = github_lines(run)
    assert line.startswith("::error file=n%2C1%3A2.py,line=3,endLine=5,title=FX401::a%25b%0D%0A")
    (suite,) = JUnitXml.fromstring(junit_text(run).encode())
    (case,) = suite
    assert "\x1b" not in case.result[0].text
    assert "]]> & <" in case.result[0].text


@pytest.mark.parametrize("form", ["full", "concise", "github", "gitlab", "sarif", "junit", "json"])
def test_a_run_without_models_is_a_valid_result_in_every_form(fxlsp: Fxlsp, tmp_path: Path, form: str) -> None:
    (tmp_path / "empty.py").write_text("")
    ran = fxlsp("check", "empty.py", "--format", form)
    assert ran.code == 0
    if form in ("gitlab", "json", "sarif"):
        json.loads(ran.out)

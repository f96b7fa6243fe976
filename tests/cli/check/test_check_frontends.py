"""``fxlsp check --frontends``, with a fake worker: its problems are on the lines that name their codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.frontend_codes import BREAK_AT_VALUE, EXPORT_FIXED
from tests.cli.conftest import Fxlsp, Ran

TEXT = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        x = x.view(2, -1)  # FX704
        return x if x.sum() > 0 else -x  # FX801
"""
BOTH = ("--frontends", "export,compile")


@pytest.fixture
def check(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> Any:
    """Checks a folder that holds one file, and others if they were written."""

    def run(text: str, *arguments: str, form: str = "json") -> Ran:
        (tmp_path / "code").mkdir(exist_ok=True)
        (tmp_path / "code" / "model.py").write_text(text)
        return fxlsp("check", "code", "--format", form, "--python", fake_python, *arguments)

    return run


def found(ran: Ran) -> list[tuple[str, str, int]]:
    return [(each["code"], each["severity"], each["location"]["line"]) for each in ran.json["problems"]]


def test_front_ends_are_not_asked_without_the_option(check: Any) -> None:
    ran = check(TEXT)
    assert (ran.code, found(ran)) == (0, [])
    assert "frontends" not in ran.json["models"][0]


def test_problems_of_front_ends_are_information(check: Any) -> None:
    ran = check(TEXT, *BOTH)
    assert ran.code == 0
    assert found(ran) == [(EXPORT_FIXED, "info", 6), (BREAK_AT_VALUE, "info", 7)]
    verdicts = ran.json["models"][0]["frontends"]
    assert [(each["frontend"], each["verdict"]) for each in verdicts] == [("export", "problem"), ("compile", "problem")]
    assert [each["problems"][0]["code"] for each in verdicts] == [EXPORT_FIXED, BREAK_AT_VALUE]
    assert found(check(TEXT, "--frontends", "compile")) == [(BREAK_AT_VALUE, "info", 7)]
    assert found(check(TEXT, *BOTH, "--select", "FX7")) == [(EXPORT_FIXED, "info", 6)]


def test_what_the_workspace_uses_is_a_warning(check: Any, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("model = torch.compile(Net())\n")
    ran = check(TEXT, *BOTH)
    assert ran.code == 1
    assert found(ran) == [(BREAK_AT_VALUE, "warning", 7), (EXPORT_FIXED, "info", 6)]


def test_settings_and_comments_decide_as_of_other_problems(check: Any, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "pyproject.toml").write_text('[tool.fxlsp]\nseverities.FX7 = "error"\n')
    ran = check(TEXT.replace("# FX801", "# fxlsp: ignore[FX8] # FX801"), *BOTH)
    assert (ran.code, found(ran)) == (1, [(EXPORT_FIXED, "error", 6)])


def test_a_problem_has_the_words_of_torch_without_its_own_context(check: Any) -> None:
    problems = check(TEXT, *BOTH).json["problems"]
    words = "It stops.\n  Hint: go on\nSee https://torch.example/page"
    assert [each["message"] for each in problems] == [f"torch.export: {words}", f"torch.compile: {words}"]


def test_a_front_end_that_could_not_be_asked_is_not_checked(check: Any) -> None:
    text = f"{TEXT}# unasked\n"
    ran = check(text, *BOTH, "--strict", form="full")
    assert ran.code == 3
    assert "no problems" in ran.out
    assert ran.out.splitlines()[-2:] == [
        "  code/model.py:4:7: code/model.py:Net: torch.export could not be asked: cannot feed it",
        "  code/model.py:4:7: code/model.py:Net: torch.compile could not be asked: cannot feed it",
    ]


def test_an_unknown_front_end_is_bad_usage(check: Any) -> None:
    ran = check(TEXT, "--frontends", "onnx")
    assert (ran.code, ran.out) == (2, "")
    assert "'onnx' is not one of fx, export, compile" in ran.err

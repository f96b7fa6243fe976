"""Baselines and comments about other front ends are judged by the runs that could find their problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.check.test_check_frontends import PARTS
from tests.cli.conftest import Fxlsp, Ran

HEAD = """\
from torch import nn

# fxlsp: Net()(torch.randn(2, 4))
class Net(nn.Module):
    def forward(self, x):
"""
TEXT = f"{HEAD}        return x if x.sum() > 0 else -x  # FX801\n"
GONE = f"{HEAD}        return x if x.sum() > 0 else -x\n"
COMMENTED = f"{HEAD}        return x if x.sum() > 0 else -x  # fxlsp: ignore[FX801]\n"
COMPILE = ("--frontends", "compile")


@pytest.fixture
def check(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> Any:
    def run(text: str, *arguments: str) -> Ran:
        (tmp_path / "net.py").write_text(text)
        return fxlsp("check", "net.py", "--format", "json", "--python", fake_python, *arguments)

    return run


@pytest.fixture
def baseline(check: Any, tmp_path: Path) -> Any:
    """Checks with a baseline that lists a graph break."""
    assert check(TEXT, *COMPILE, "--baseline", "b.json", "--baseline-mode", "write").code == 0

    def run(text: str, mode: str, *arguments: str) -> tuple[bool, list[str]]:
        """Return whether an entry is gone, and the codes that are listed then."""
        ran = check(text, *arguments, "--baseline", "b.json", "--baseline-mode", mode)
        return "gone, 1 time: FX801" in ran.err, [
            each["code"] for each in json.loads((tmp_path / "b.json").read_text())["problems"]
        ]

    return run


@pytest.mark.parametrize("mode", ["strict", "prune", "update"])
@pytest.mark.parametrize(
    ("options", "suffix"),
    [((), ""), (("--frontends", "export"), ""), (COMPILE, "# unasked\n"), (COMPILE, "# fails\n")],
    ids=["none", "export", "unasked", "no trace"],
)
def test_a_run_without_the_front_end_does_not_judge_its_entries(
    baseline: Any, mode: str, options: tuple[str, ...], suffix: str
) -> None:
    is_gone, listed = baseline(GONE + suffix, mode, *options)
    assert (is_gone, "FX801" in listed) == (False, True)


def test_a_run_with_the_front_end_judges_its_entries(baseline: Any) -> None:
    assert baseline(TEXT, "strict", *COMPILE) == (False, ["FX801"])
    assert baseline(GONE, "strict", *COMPILE) == (True, ["FX801"])
    assert baseline(GONE, "prune", *COMPILE) == (False, [])


@pytest.mark.parametrize("suffix", ["# frontend hangs\n", "# fails\n"], ids=["limit of time", "no trace"])
def test_a_file_without_a_model_is_not_judged_where_a_model_was_not_followed(
    baseline: Any, fxlsp: Fxlsp, tmp_path: Path, fake_python: str, suffix: str
) -> None:
    def strict(text: str) -> bool:
        (tmp_path / "net.py").write_text(text)
        options = ("--python", fake_python, *COMPILE, "--baseline", "b.json", "--baseline-mode")
        return "gone, 1 time: FX801" in fxlsp("check", "net.py", "ops.py", *options, "strict").err

    (tmp_path / "ops.py").write_text("def log(x): print(x)\n")
    in_ops = TEXT.replace("# FX801", "# FX801 in ops.py")
    baseline(in_ops, "update", *COMPILE)
    assert not strict(in_ops)
    assert not strict(GONE + suffix)
    assert strict(GONE)


def unused(ran: Ran) -> list[str]:
    return [each["code"] for each in ran.json["unused_ignores"]]


@pytest.mark.parametrize(
    ("options", "suffix"),
    [((), ""), (("--frontends", "export"), ""), (COMPILE, "# unasked\n"), (COMPILE, "# frontend dies\n")],
    ids=["none", "export", "unasked", "died"],
)
def test_a_comment_is_not_useless_where_the_front_end_gave_no_whole_verdict(
    check: Any, options: tuple[str, ...], suffix: str
) -> None:
    assert unused(check(COMMENTED + suffix, *options)) == []


@pytest.mark.parametrize(("first", "later"), [("FX702", "FX701"), ("FX704", "FX704")], ids=["refused", "fixed"])
def test_a_comment_behind_the_first_problem_of_an_export_is_not_useless(check: Any, first: str, later: str) -> None:
    text = COMMENTED.replace("[FX801]", f"[{later}]").replace(
        "        return", f"        y = int(x.sum())  # {first}\n        return"
    )
    assert unused(check(text, "--frontends", "export")) == []


def test_a_comment_is_not_useless_where_a_trace_was_not_asked_about(check: Any) -> None:
    text = PARTS.replace("# FX801", "# fxlsp: ignore[FX801]")
    assert unused(check(text, *COMPILE)) == ["FX801"]
    # By the second recipe no class is covered that was not: nobody is asked about that.
    assert unused(check(text.replace("# large() runs Wide", "# guessed"), *COMPILE)) == []


def test_a_comment_that_suppresses_nothing_in_a_whole_verdict_is_useless(check: Any) -> None:
    assert unused(check(COMMENTED, *COMPILE)) == ["FX801"]
    assert unused(check(f"{COMMENTED.rstrip()} # FX801\n", *COMPILE)) == []

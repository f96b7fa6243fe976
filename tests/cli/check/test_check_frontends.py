"""``fxlsp check --frontends``, with a fake worker: its problems are on the lines that name their codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.codes import OPERATION_FAILS
from fxlsp.report.frontend_codes import (
    BREAK_AT_CODE,
    BREAK_AT_VALUE,
    COMPILE_DIED,
    COMPILE_FAILS,
    EXPORT_FIXED,
)
from tests.cli.conftest import Fxlsp, Ran

TEXT = """\
from torch import nn

# fxlsp: Net()(torch.randn(2, 4))
class Net(nn.Module):
    def forward(self, x):
        x = x.view(2, -1)  # FX704
        return x if x.sum() > 0 else -x  # FX801
"""
PARTS = """\
import torch
from torch import nn


class Narrow(nn.Module):
    def forward(self, x):
        return x


class Wide(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x  # FX801


class Net(nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block()

    def forward(self, x):
        return self.block(x)


def small():
    return Net(Narrow)


def large():
    return Net(Wide)


def test():
    small()(torch.randn(1, 8))


# small() runs Narrow
# large() runs Wide
"""
"""Its classes are covered by two recipes of ``Net``."""
ELSEWHERE = TEXT.replace("# FX704", "").replace("# FX801", "# FX801 in ops.py")
"""Its only problem is in a function of another file."""
BOTH = ("--frontends", "export,compile")
COMPILE = ("--frontends", "compile")


@pytest.fixture
def check(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> Any:
    """Checks a folder of a project that holds one file, and others if they were written."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "code").mkdir()

    def run(text: str, *arguments: str, form: str = "json") -> Ran:
        (tmp_path / "code" / "model.py").write_text(text)
        return fxlsp("check", "code", "--format", form, "--python", fake_python, *arguments)

    return run


@pytest.fixture
def used(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("model = torch.compile(Net())\n")


def found(ran: Ran) -> list[tuple[str, str, int]]:
    return [(each["code"], each["severity"], each["location"]["line"]) for each in ran.json["problems"]]


def asked(folder: Path) -> list[str]:
    """Return the front ends that the worker was asked for, in order."""
    return [each["frontend"] for each in questions(folder)]


def questions(folder: Path) -> list[dict[str, Any]]:
    """Return the requests for verdicts, in order."""
    log = (folder / "code" / "log.jsonl").read_text().splitlines()
    return [each for each in map(json.loads, log) if each.get("frontend")]


def test_front_ends_are_not_asked_without_the_option(check: Any) -> None:
    ran = check(TEXT)
    assert (ran.code, found(ran)) == (0, [])
    assert "frontends" not in ran.json["models"][0]


def test_problems_of_front_ends_are_information(check: Any) -> None:
    ran = check(TEXT, *BOTH)
    assert ran.code == 0
    assert found(ran) == [(EXPORT_FIXED, "info", 6), (BREAK_AT_VALUE, "info", 7)]
    verdicts = ran.json["models"][0]["frontends"]
    assert [(each["frontend"], each["verdict"]) for each in verdicts] == [("export", "ok"), ("compile", "problem")]
    assert [each["problems"][0]["code"] for each in verdicts] == [EXPORT_FIXED, BREAK_AT_VALUE]
    assert found(check(TEXT, *COMPILE)) == [(BREAK_AT_VALUE, "info", 7)]
    assert found(check(TEXT, *BOTH, "--select", "FX7")) == [(EXPORT_FIXED, "info", 6)]


def differing(ran: Ran) -> list[str]:
    """Return the lines about models on which front ends differ."""
    _, _, rest = ran.out.partition("Front ends differ on:\n")
    return [each.strip() for each in rest.split("\n") if each.startswith("  ")] if rest else []


def test_the_models_on_which_front_ends_differ_are_named(check: Any) -> None:
    text = TEXT.replace("# FX704", "")
    (line,) = differing(check(text, *BOTH, form="full"))
    assert line.endswith("model.py:Net: export: with any batch · compile: with any batch")
    (line,) = differing(check(TEXT, "--frontends", "fx,export,compile", form="full"))
    assert "model.py:Net: fx: traceable · export: " in line
    assert differing(check(TEXT, *BOTH, form="full")) == []
    assert differing(check(text.replace("# FX801", ""), *BOTH, form="full")) == []
    assert differing(check(text, *COMPILE, form="full")) == []
    assert differing(check(text, form="full")) == []


def test_a_front_end_without_a_verdict_does_not_differ(check: Any) -> None:
    assert differing(check(TEXT.replace("# FX704", "") + "# frontend dies\n", *BOTH, form="full")) == []


def test_of_many_models_on_which_front_ends_differ_the_first_ones_are_named(check: Any) -> None:
    class_ = TEXT.partition("\n\n")[2].replace("# FX704", "")
    text = "from torch import nn\n" + "".join(f"\n\n{class_.replace('Net', f'Net{number}')}" for number in range(12))
    lines = differing(check(text, *BOTH, form="full"))
    assert len(lines) == 11
    assert lines[-1] == "and 2 more models: --format json has all"


@pytest.mark.usefixtures("used")
def test_what_the_project_uses_is_a_warning(check: Any) -> None:
    ran = check(TEXT, *BOTH)
    assert ran.code == 1
    assert found(ran) == [(BREAK_AT_VALUE, "warning", 7), (EXPORT_FIXED, "info", 6)]


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{TEXT}# guessed\n", BREAK_AT_VALUE),
        (TEXT.replace("# FX801", "# FX899 of machine"), COMPILE_FAILS),
        (f"{TEXT}# frontend hangs\n", COMPILE_DIED),
    ],
    ids=["guessed inputs", "missing hardware", "limit of time"],
)
def test_what_may_be_due_to_guesses_or_to_the_machine_stays_information(check: Any, text: str, code: str) -> None:
    ran = check(text, *COMPILE)
    assert (ran.code, [(each["code"], each["severity"]) for each in ran.json["problems"]]) == (0, [(code, "info")])


@pytest.mark.usefixtures("used")
def test_a_process_that_ends_itself_is_a_warning_at_the_model(check: Any) -> None:
    ran = check(f"{TEXT}# frontend dies\n", *COMPILE)
    assert (ran.code, found(ran)) == (1, [(COMPILE_DIED, "warning", 4)])


def test_settings_and_comments_decide_as_of_other_problems(check: Any, tmp_path: Path) -> None:
    (tmp_path / "code" / "pyproject.toml").write_text('[tool.fxlsp]\nseverities.FX7 = "error"\n')
    ran = check(TEXT.replace("# FX801", "# fxlsp: ignore[FX8] # FX801"), *BOTH)
    assert (ran.code, found(ran)) == (1, [(EXPORT_FIXED, "error", 6)])


@pytest.mark.usefixtures("used")
def test_settings_of_the_model_decide_about_problems_in_files_without_a_model(check: Any, tmp_path: Path) -> None:
    (tmp_path / "code" / "ops.py").write_text("def log(x): print(x)\n")
    ran = check(ELSEWHERE, *COMPILE)
    assert (ran.code, found(ran)) == (1, [(BREAK_AT_VALUE, "warning", 1)])
    assert ran.json["problems"][0]["location"]["file"].endswith("ops.py")
    (tmp_path / "code" / "pyproject.toml").write_text('[tool.fxlsp]\nignore = ["FX8"]\n')
    assert (check(ELSEWHERE, *COMPILE).code, found(check(ELSEWHERE, *COMPILE))) == (0, [])


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize("first", ["a.py", "z.py"], ids=["guessed first", "guessed last"])
def test_a_place_that_models_share_has_the_severity_of_the_sure_one(check: Any, tmp_path: Path, first: str) -> None:
    (tmp_path / "code" / "ops.py").write_text("def gate(x): return x\n")
    (tmp_path / "code" / first).write_text(ELSEWHERE.replace("Net", "Other") + "# guessed\n")
    ran = check(ELSEWHERE, *COMPILE)
    assert (ran.code, found(ran)) == (1, [(BREAK_AT_VALUE, "warning", 1)])


def test_a_problem_has_the_words_of_torch_without_its_own_context(check: Any) -> None:
    problems = check(TEXT, *BOTH).json["problems"]
    words = "It stops.\n  Hint: go on\nSee https://torch.example/page"
    assert [each["message"] for each in problems] == [f"torch.export: {words}", f"torch.compile: {words}"]


def test_breaks_without_a_place_are_one_problem_with_the_words_of_each(check: Any) -> None:
    text = TEXT.replace("# FX704", "# FX802 nowhere").replace("# FX801", "# FX802 nowhere")
    ran = check(text, *COMPILE)
    assert found(ran) == [(BREAK_AT_CODE, "info", 4)]
    message = ran.json["problems"][0]["message"]
    assert "It stops on line 6." in message
    assert "It stops on line 7." in message


def test_an_operation_that_fails_in_every_front_end_is_one_problem(check: Any) -> None:
    text = TEXT.replace("# FX704", "# problem FX401 # FX799 # FX899")
    ran = check(text, *BOTH)
    assert found(ran) == [(OPERATION_FAILS, "error", 6), (BREAK_AT_VALUE, "info", 7)]
    codes = [problem["code"] for each in ran.json["models"][0]["frontends"] for problem in each["problems"]]
    assert codes == ["FX799", COMPILE_FAILS, BREAK_AT_VALUE]
    assert [code for code, *_ in found(check(text, *BOTH, "--select", "FX7"))] == ["FX799"]


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize(
    ("severity", "codes"),
    [("hint", [COMPILE_FAILS, OPERATION_FAILS]), ("warning", [OPERATION_FAILS])],
)
def test_a_failure_hides_no_more_severe_one(check: Any, tmp_path: Path, severity: str, codes: list[str]) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.fxlsp]\nseverities.FX401 = "{severity}"\n')
    ran = check(TEXT.replace("# FX704", "# problem FX401 # FX899").replace("# FX801", ""), *COMPILE)
    assert (ran.code, [each["code"] for each in ran.json["problems"]]) == (1, codes)


def test_a_front_end_that_could_not_be_asked_is_not_checked(check: Any) -> None:
    ran = check(f"{TEXT}# unasked\n", *BOTH, "--strict", form="full")
    assert ran.code == 3
    assert "no problems" in ran.out
    assert ran.out.splitlines()[-2:] == [
        "  code/model.py:4:7: code/model.py:Net: torch.export could not be asked: cannot feed it",
        "  code/model.py:4:7: code/model.py:Net: torch.compile could not be asked: cannot feed it",
    ]
    assert ran.err == "fxlsp: 1 model not checked: code/model.py:Net\n"


@pytest.mark.parametrize(
    "model",
    [
        "# fxlsp: net(torch.randn(2, 4))\nnet = nn.Sequential(nn.Linear(4, 4))\n",
        "# fxlsp: make()(torch.randn(2, 4))\ndef make():\n    return Net()\n",
    ],
    ids=["instance", "factory"],
)
def test_what_makes_or_is_a_model_is_not_checked_either(check: Any, model: str) -> None:
    name = "make" if "make" in model else "net"
    head = TEXT if name == "make" else "from torch import nn\n\n\n"
    ran = check(f"{head}\n\n{model}# unasked\n", *COMPILE, "--select=FX8", "--strict", form="full")
    assert ran.code == 3
    assert f"code/model.py:{name}: torch.compile could not be asked: " in ran.out


@pytest.mark.usefixtures("used")
def test_a_warning_of_a_front_end_does_not_say_that_there_is_no_graph(check: Any) -> None:
    ran = check(f"{TEXT}# refused\n", *COMPILE, form="full")
    assert "warning[FX801]" in ran.out
    assert ran.out.splitlines()[-2:] == [
        "Not checked:",
        "  code/model.py:4:7: code/model.py:Net: there is no graph",
    ]


def test_a_model_without_inputs_is_not_asked_about(check: Any, tmp_path: Path) -> None:
    ran = check(TEXT.replace("# fxlsp: Net()(torch.randn(2, 4))", ""), *BOTH, form="full")
    assert "torch.compile could not be asked: no inputs are known" in ran.out
    assert asked(tmp_path) == []


def test_the_recipe_that_covers_a_part_is_asked_about_too(check: Any, tmp_path: Path) -> None:
    check(PARTS, *COMPILE)
    assert [each["recipe"]["init"] for each in questions(tmp_path)] == ["small()", "large()"]


def test_front_ends_are_asked_once_behind_fixes(check: Any, tmp_path: Path) -> None:
    assert found(check(TEXT, *COMPILE, "--fix")) == [(BREAK_AT_VALUE, "info", 7)]
    assert asked(tmp_path) == ["compile"]


def test_an_unknown_front_end_is_bad_usage(check: Any) -> None:
    ran = check(TEXT, "--frontends", "onnx")
    assert (ran.code, ran.out) == (2, "")
    assert "'onnx' is not one of fx, export, compile" in ran.err

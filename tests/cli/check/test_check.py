from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.codes import page_url
from tests.cli.conftest import Fxlsp, Ran, interpreter

FAILING = "from torch import nn\n\n\nclass Net(nn.Module):  # fails\n    def forward(self, x): ...\n"

PARENT_AND_CHILD = """\
from torch import nn

# runs: Child


class Child(nn.Module):
    def forward(self, x):
        return x


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        return self.child(x)
"""


@pytest.fixture
def check(fxlsp: Fxlsp, tmp_path: Path, fake_python: str) -> Any:
    """Checks a folder that holds one file."""

    def run(text: str, *arguments: str, form: str = "json") -> Ran:
        folder = tmp_path / "code"
        folder.mkdir(exist_ok=True)
        (folder / "model.py").write_text(text)
        return fxlsp("check", "code", "--format", form, "--python", fake_python, *arguments)

    return run


def standing(ran: Ran) -> dict[str, str]:
    """The status of each model by its name."""
    return {model["target"].rpartition(":")[2]: model["status"] for model in ran.json["models"]}


def test_a_class_whose_forward_ran_in_another_trace_is_covered(check: Any) -> None:
    ran = check(PARENT_AND_CHILD)
    assert ran.code == 0
    assert standing(ran) == {"Child": "covered", "Parent": "traced"}
    assert ran.json["models"][0]["covered_by"] == "code/model.py:Parent"
    assert ran.json["environment"] == {"python": "3.11.0", "torch": "2.99.0"}


def test_a_parent_without_a_forward_is_no_model(check: Any) -> None:
    ran = check(PARENT_AND_CHILD.replace("def forward(self, x):\n        return self.child(x)", "def extra(self): ..."))
    assert standing(ran) == {"Child": "traced"}


def test_a_covered_class_is_traced_too_if_a_comment_asks_for_it(check: Any) -> None:
    ran = check(PARENT_AND_CHILD.replace("class Child", "# fxlsp: Child()(1)\nclass Child"))
    assert standing(ran) == {"Child": "traced", "Parent": "traced"}


def test_each_class_with_a_forward_has_an_entry(check: Any) -> None:
    ran = check(
        "from torch import nn\n\n\n"
        "class Outer(nn.Module):\n"
        "    class Inner(nn.Module):\n"
        "        def forward(self, x): ...\n\n\n"
        "def make():\n"
        "    class Local(nn.Module):\n"
        "        def forward(self, x): ...\n"
    )
    assert standing(ran) == {"Outer.Inner": "traced", "make.<locals>.Local": "skipped"}
    assert ran.json["models"][1]["reason"] == "it is made inside a function"


def test_a_model_without_a_graph_is_a_problem(check: Any) -> None:
    ran = check(FAILING)
    assert ran.code == 1
    (model,) = ran.json["models"]
    assert (model["status"], model["reason"]) == ("failed", "no such argument")
    (problem,) = ran.json["problems"]
    assert (problem["code"], problem["severity"], problem["model"]) == ("FX903", "warning", "code/model.py:Net")
    assert (problem["location"]["line"], problem["location"]["column"]) == (4, 7)


def test_a_comment_that_is_no_recipe_is_a_problem_at_the_comment(check: Any) -> None:
    ran = check(PARENT_AND_CHILD.replace("class Parent", "# fxlsp: Parent(\nclass Parent"))
    (problem,) = ran.json["problems"]
    assert (problem["code"], problem["location"]["line"]) == ("FX907", 11)
    assert standing(ran)["Parent"] == "skipped"


def test_full_shows_the_place_and_a_summary(check: Any) -> None:
    ran = check(FAILING, form="full")
    assert ran.out.splitlines() == [
        "warning[FX903]: no such argument",
        "  --> code/model.py:4:7",
        "  |",
        "2 |",
        "3 |",
        "4 | class Net(nn.Module):  # fails",
        "  |       ^^^",
        "5 |     def forward(self, x): ...",
        "  |",
        "  = model: code/model.py:Net",
        f"  = help: {page_url('FX903')}",
        "",
        "1 model: 1 failed; 1 problem (1 warning)",
    ]


def test_concise_is_one_line_a_problem(check: Any) -> None:
    ran = check(FAILING, form="concise")
    assert ran.out == "code/model.py:4:7: FX903 warning: no such argument\n"


def test_a_comment_without_effect_is_a_hint_at_the_comment(check: Any) -> None:
    ran = check(FAILING.replace("class Net", "# fxlsp Net()\nclass Net"), form="concise")
    assert "code/model.py:4:1: FX907 hint: This comment has no effect without a colon: " in ran.out


def test_a_folder_without_models_has_no_problems(check: Any) -> None:
    ran = check("print('hello')\n", form="full")
    assert (ran.code, ran.out) == (0, "0 models; no problems\n")


def test_a_file_that_is_not_text_is_a_problem(check: Any, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "bad.py").write_bytes(b"# \xff forward\n")
    ran = check(PARENT_AND_CHILD)
    assert ran.code == 1
    (problem,) = ran.json["problems"]
    assert (problem["code"], problem["model"]) == ("FX901", "code/bad.py")


def test_without_an_interpreter_nothing_is_checked(check: Any, tmp_path: Path) -> None:
    ran = check(PARENT_AND_CHILD, "--python", interpreter(tmp_path, "refuses"))
    assert ran.code == 2
    assert ran.json["failure"]["code"] == "FX906"
    assert "FX906" in ran.err


@pytest.mark.parametrize(
    ("comment", "codes"), [("# fxlsp: ignore", []), ("# fxlsp: ignore[FX9]", []), ("# fxlsp: ignore[FX1]", ["FX903"])]
)
def test_a_comment_silences_a_problem(check: Any, comment: str, codes: list[str]) -> None:
    ran = check(FAILING.replace("# fails", f"{comment} # fails"))
    assert [problem["code"] for problem in ran.json["problems"]] == codes
    assert ran.code == (1 if codes else 0)
    assert standing(ran) == {"Net": "failed"}


def test_settings_decide_how_severe_a_problem_is(check: Any, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    settings = tmp_path / "code" / "pyproject.toml"
    settings.write_text('[tool.fxlsp]\nseverities.FX9 = "hint"\n')
    ran = check(FAILING)
    assert (ran.code, [problem["severity"] for problem in ran.json["problems"]]) == (0, ["hint"])
    settings.write_text('[tool.fxlsp]\nignore = ["FX903"]\n')
    assert check(FAILING).json["problems"] == []


def test_a_file_whose_only_class_does_not_parse_is_reported_at_the_mistake(check: Any) -> None:
    ran = check("from torch import nn\n\n\nclas Net(nn.Module):\n    def forward(self, x): ...\n")
    assert ran.code == 1
    (problem,) = ran.json["problems"]
    assert (problem["code"], problem["severity"]) == ("FX901", "error")
    assert problem["location"]["line"] == 4
    assert "cannot be read" in problem["message"]


CONFIGURED = '[tool.fxlsp.recipes]\n"model.py:Net" = "{}"\n'


@pytest.mark.parametrize("in_comment", [True, False])
def test_a_recipe_that_is_none_is_a_problem_where_it_is_written(check: Any, tmp_path: Path, in_comment: bool) -> None:
    (tmp_path / "code").mkdir()
    text = PARENT_AND_CHILD.replace("Child", "Net")
    if in_comment:
        text = text.replace("class Net", "# fxlsp: Net(\nclass Net")
    else:
        (tmp_path / "code" / "pyproject.toml").write_text(CONFIGURED.format("Net("))
    (problem,) = check(text).json["problems"]
    name, place = ("model.py", (6, 10)) if in_comment else ("pyproject.toml", (2, 19))
    assert problem["code"] == "FX907"
    assert problem["location"]["file"] == str(tmp_path / "code" / name)
    assert (problem["location"]["line"], problem["location"]["column"]) == place


LOCAL = """\
from torch import nn


def make():
    class Local(nn.Module):
        def forward(self, x): ...
    return Local
"""


def test_what_was_not_checked_is_named_at_the_end_with_the_reason(check: Any) -> None:
    ran = check(LOCAL, form="full")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "1 model: 1 skipped; no problems",
        "Not checked:",
        "  code/model.py:5:11: code/model.py:make.<locals>.Local: it is made inside a function",
    ]


@pytest.mark.parametrize("form", ["full", "concise", "json", "github"])
def test_what_was_not_checked_is_an_exit_code_if_it_is_asked_for(check: Any, form: str) -> None:
    ran = check(LOCAL, "--strict", form=form)
    assert ran.code == 3
    assert ran.err == "fxlsp: 1 model not checked: code/model.py:make.<locals>.Local\n"
    assert check(LOCAL, "--strict", "--exit-zero", form=form).code == 0


def test_models_that_were_followed_pass_the_strict_check(check: Any) -> None:
    ran = check(PARENT_AND_CHILD, "--strict", form="full")
    assert (ran.code, ran.err) == (0, "")
    assert "Not checked" not in ran.out


def test_a_problem_has_the_exit_code_of_problems_in_the_strict_check_too(check: Any) -> None:
    assert check(FAILING, "--strict").code == 1

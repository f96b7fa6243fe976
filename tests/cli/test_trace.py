from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Fxlsp, interpreter


def requested_recipe(folder: Path) -> Any:
    """The recipe with which the fake worker was last asked to trace."""
    return json.loads((folder / "log.jsonl").read_text().splitlines()[-1])["recipe"]


def test_json_names_the_target_as_it_was_typed(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    ran = fxlsp("trace", "model.py:Net", "--format", "json", "--python", fake_python)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["schema"] == 1
    assert ran.json["target"] == "model.py:Net"


def test_paths_are_those_of_the_module_tracer_example(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    ran = fxlsp("trace", "model.py:Net", "--format", "paths", "--python", fake_python)
    assert (ran.code, ran.out) == (0, "Node x is from module None\n")


def test_the_table_has_a_row_for_each_node(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    ran = fxlsp("trace", "model.py:Net", "--python", fake_python)
    heading, row = ran.out.splitlines()[2:4]
    assert heading.split()[:3] == ["node", "op", "target"]
    assert row.split()[:3] == ["x", "placeholder", "x"]
    assert row.endswith("model.py:5:5")


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("--init", "Net(", "init is not one Python expression"),
        ("--inputs", "torch.zeros(1", "inputs are not the arguments of one call"),
        ("--inputs", "1)(2", "inputs are not the arguments of one call"),
    ],
)
def test_an_option_that_is_no_python_is_bad_usage(
    fxlsp: Fxlsp, model_file: Path, fake_python: str, option: str, text: str, words: str
) -> None:
    ran = fxlsp("trace", "model.py:Net", option, text, "--python", fake_python)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


def test_without_a_written_recipe_the_worker_finds_one(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    fxlsp("trace", "model.py:Net", "--python", fake_python)
    assert requested_recipe(model_file.parent) == {"init": None, "inputs": None, "source": None}


def test_a_comment_is_a_recipe(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    comment = "# fxlsp: Net()(torch.randn(1, 3))\nclass Net"
    model_file.write_text(model_file.read_text().replace("class Net", comment))
    fxlsp("trace", "model.py:Net", "--python", fake_python)
    recipe = {"init": "Net()", "inputs": "torch.randn(1, 3)", "source": "comment"}
    assert requested_recipe(model_file.parent) == recipe


def test_a_call_in_the_file_is_a_recipe(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    model_file.write_text(f"import torch\n{model_file.read_text()}\n\nNet()(torch.randn(2, 3))\n")
    fxlsp("trace", "model.py:Net", "--python", fake_python)
    recipe = {"init": "Net()", "inputs": "torch.randn(2, 3)", "source": "call-site"}
    assert requested_recipe(model_file.parent) == recipe


def test_a_setting_of_the_project_is_a_recipe(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    settings = '[tool.fxlsp.recipes]\n"model.py:Net" = "Net()(torch.randn(4, 3))"\n'
    (model_file.parent / "pyproject.toml").write_text(settings)
    fxlsp("trace", "model.py:Net", "--python", fake_python)
    recipe = {"init": "Net()", "inputs": "torch.randn(4, 3)", "source": "config"}
    assert requested_recipe(model_file.parent) == recipe


def test_options_win_over_what_is_written(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    model_file.write_text(f"import torch\n{model_file.read_text()}\n\nNet()(torch.randn(2, 3))\n")
    fxlsp("trace", "model.py:Net", "--init", "Net().eval()", "--inputs", "x, mask=None", "--python", fake_python)
    recipe = {"init": "Net().eval()", "inputs": "x, mask=None", "source": "option"}
    assert requested_recipe(model_file.parent) == recipe


def test_inputs_alone_feed_the_model_that_is_written(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    model_file.write_text(f"import torch\n{model_file.read_text()}\n\nNet()(torch.randn(2, 3))\n")
    fxlsp("trace", "model.py:Net", "--inputs", "torch.randn(9, 3)", "--python", fake_python)
    recipe = {"init": "Net()", "inputs": "torch.randn(9, 3)", "source": "option"}
    assert requested_recipe(model_file.parent) == recipe


@pytest.mark.parametrize(
    ("sizes", "inputs"),
    [
        ("(9, 3)", "torch.randn(9, 3)"),
        ("(9, 3), (1, 2)", "torch.randn(9, 3), torch.randn(1, 2)"),
        pytest.param("9, 3", "9, 3", id="two numbers"),
    ],
)
def test_the_sizes_of_inputs_are_enough(
    fxlsp: Fxlsp, model_file: Path, fake_python: str, sizes: str, inputs: str
) -> None:
    fxlsp("trace", "model.py:Net", "--init", "Net()", "--inputs", sizes, "--python", fake_python)
    assert requested_recipe(model_file.parent) == {"init": "Net()", "inputs": inputs, "source": "option"}
    fxlsp("trace", "model.py:Net", "--inputs", sizes, "--python", fake_python)
    assert requested_recipe(model_file.parent)["inputs"] == inputs


def test_another_way_to_make_the_model_is_not_fed_what_fits_the_written_one(
    fxlsp: Fxlsp, model_file: Path, fake_python: str
) -> None:
    model_file.write_text(f"import torch\n{model_file.read_text()}\n\nNet()(torch.randn(2, 3))\n")
    fxlsp("trace", "model.py:Net", "--init", "Net(9)", "--python", fake_python)
    assert requested_recipe(model_file.parent) == {"init": "Net(9)", "inputs": None, "source": "option"}


def test_a_comment_that_is_no_recipe_is_reported_at_its_place(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    model_file.write_text(model_file.read_text().replace("class Net", "# fxlsp: Net(\nclass Net"))
    ran = fxlsp("trace", "model.py:Net", "--python", fake_python)
    assert (ran.code, ran.out) == (2, "")
    assert "model.py:4:10: FX907" in ran.err


def test_a_model_without_a_graph_is_one_message_and_a_failure_object(
    fxlsp: Fxlsp, model_file: Path, fake_python: str
) -> None:
    ran = fxlsp("trace", "model.py:Failing", "--format", "json", "--python", fake_python)
    assert ran.code == 2
    assert ran.json["target"] == "model.py:Failing"
    assert ran.json["failure"]["code"] == "FX903"
    assert ran.err == "fxlsp: FX903 no such argument\n"


def test_a_crash_is_reported_on_the_line_that_ran(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    ran = fxlsp("trace", "model.py:Dying", "--python", fake_python)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("fxlsp: model.py:5:5: FX905")
    assert "SIGSEGV" in ran.err


def test_a_missing_file_is_one_message(fxlsp: Fxlsp) -> None:
    ran = fxlsp("trace", "missing.py:Net")
    assert (ran.code, ran.out, ran.err) == (2, "", "fxlsp: FX902 there is no file missing.py\n")


def test_a_file_without_a_name_lists_its_models_in_the_order_of_the_text(fxlsp: Fxlsp, model_file: Path) -> None:
    model_file.write_text(
        f"{model_file.read_text()}\n\nclass After(Net): ...\n\n\n# fxlsp: make()\ndef make():\n    return Net()\n"
    )
    ran = fxlsp("trace", "model.py")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        "fxlsp: FX902 'model.py' names no model of the file; it has",
        "  model.py:Net",
        "  model.py:After",
        "  model.py:make",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "nothing.py has no models"),
        ("def f(:\n", "nothing.py does not parse: write the name of a model behind it, nothing.py:Name"),
    ],
)
def test_a_file_without_models_has_none_to_list(fxlsp: Fxlsp, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "nothing.py").write_text(text)
    assert fxlsp("trace", "nothing.py").err == f"fxlsp: FX902 {words}\n"


@pytest.mark.parametrize("target", ["modle.py:Net", "modle.py", "./modle.py:Net"])
def test_a_missing_file_names_the_one_that_is_meant(fxlsp: Fxlsp, model_file: Path, target: str) -> None:
    where = target.partition(":")[0]
    meant = where.replace("modle", "model")
    assert fxlsp("trace", target).err == f"fxlsp: FX902 there is no file {where}; did you mean {meant}?\n"


def test_a_missing_interpreter_is_one_message(fxlsp: Fxlsp, model_file: Path) -> None:
    ran = fxlsp("trace", "model.py:Net", "--python", "./nowhere/python")
    assert (ran.code, ran.out) == (2, "")
    assert f"{model_file.parent}/nowhere/python, which does not exist" in ran.err


def test_an_interpreter_that_refuses_says_why(fxlsp: Fxlsp, model_file: Path) -> None:
    ran = fxlsp("trace", "model.py:Net", "--python", interpreter(model_file.parent, "refuses"))
    assert (ran.code, ran.out) == (2, "")
    assert "FX906" in ran.err


def test_a_mistake_in_the_settings_is_reported_and_left_out(fxlsp: Fxlsp, model_file: Path, fake_python: str) -> None:
    (model_file.parent / "pyproject.toml").write_text("[tool.fxlsp]\nhints = 3\n")
    ran = fxlsp("trace", "model.py:Net", "--format", "paths", "--python", fake_python)
    assert ran.code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["trace"],
        ["trace", "model.py:Net", "--batch"],
        ["trace", "--batch", "gone.jsonl"],
        ["trace", "model.py:Net", "--format", "yaml"],
        ["check", "gone"],
        ["check", "--jobs", "0"],
        ["serve", "--tcp", "nonsense"],
        ["frobnicate"],
        [],
    ],
)
def test_bad_usage_is_exit_code_2(fxlsp: Fxlsp, arguments: list[str]) -> None:
    ran = fxlsp(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "fxlsp" in ran.err

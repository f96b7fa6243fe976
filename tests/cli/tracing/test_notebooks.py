"""Notebooks on the command line, with the real torch: places are told by cell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Fxlsp

SETUP = "%matplotlib inline\nimport torch\nfrom torch import nn\nwidth = 8\n"

NET = """\
%%time
# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, width)

    def forward(self, x):
        y = self.fc(x)
        return y @ y
"""


def code(text: str, **metadata: Any) -> dict[str, Any]:
    lines = text.splitlines(keepends=True)
    return {"cell_type": "code", "metadata": metadata, "source": lines, "outputs": [], "execution_count": None}


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    cells = [
        markdown("# A net\nand what it does"),
        code(SETUP),
        code("x = (\n"),
        code("for f in *; do echo; done", vscode={"languageId": "shellscript"}),
        code(NET),
    ]
    path = tmp_path / "nb.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}))
    return path


def test_a_trace_of_a_notebook_shows_cells_and_lines_in_them(fxlsp: Fxlsp, notebook: Path) -> None:
    ran = fxlsp("trace", "nb.ipynb:Net", "--format", "json", "--python", sys.executable)
    assert [node["name"] for node in ran.json["nodes"]] == ["x", "fc", "matmul", "output"]
    location = ran.json["nodes"][1]["location"]
    assert location == {
        "file": str(notebook),
        "line": 9,
        "column": 13,
        "end_line": 9,
        "end_column": 23,
        "function": "forward",
        "cell": 5,
    }
    assert ran.json["nodes"][1]["stack"][0]["cell"] == 5
    assert ran.json["nodes"][1]["output"]["shape"] == [2, 8]
    assert ran.json["modules"][1]["location"]["cell"] == 5
    (problem,) = ran.json["problems"]
    assert (problem["code"], problem["location"]["cell"], problem["location"]["line"]) == ("FX401", 5, 10)


def test_check_finds_the_models_of_notebooks_and_what_is_wrong_in_their_cells(fxlsp: Fxlsp, notebook: Path) -> None:
    ran = fxlsp("check", ".", "--format", "json", "--python", sys.executable)
    (model,) = ran.json["models"]
    assert (model["target"], model["status"]) == ("nb.ipynb:Net", "traced")
    assert (model["location"]["cell"], model["location"]["line"]) == (5, 3)
    places = [(each["code"], each["location"]["cell"], each["location"]["line"]) for each in ran.json["problems"]]
    assert places == [("FX901", 3, 1), ("FX401", 5, 10)]
    full = fxlsp("check", "nb.ipynb", "--format", "full", "--python", sys.executable).out
    assert "--> nb.ipynb:cell 5:10:16" in full
    assert "10 |         return y @ y" in full


@pytest.mark.parametrize("text", ["print(1)", "[]", '{"cells": 1}', '{"cells": [{}]}'])
def test_a_file_that_is_no_notebook_is_one_message(fxlsp: Fxlsp, tmp_path: Path, text: str) -> None:
    (tmp_path / "nb.ipynb").write_text(text)
    ran = fxlsp("trace", "nb.ipynb:Net", "--python", sys.executable)
    assert ran.code == 2
    assert "nb.ipynb cannot be read: it is not a Jupyter notebook" in ran.err


def test_a_notebook_of_another_language_holds_no_models(fxlsp: Fxlsp, notebook: Path) -> None:
    text = notebook.read_text().replace('"language_info": {"name": "python"}', '"kernelspec": {"language": "R"}')
    notebook.write_text(text)
    assert fxlsp("check", "nb.ipynb", "--format", "json", "--python", sys.executable).json["models"] == []

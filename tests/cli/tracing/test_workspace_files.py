from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fxlsp.cli.exit_codes import UsageError
from fxlsp.cli.tracing.workspace_files import python_files, used_frontends
from fxlsp.report.frontends import FrontendName


def names(folder: Path, *paths: str) -> list[str]:
    return [str(Path(found).relative_to(folder.resolve())) for found in python_files([str(folder / p) for p in paths])]


def make(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def test_folders_are_searched_but_for_what_was_installed_or_made(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/c.py", "a/notes.txt", ".venv/lib/x.py", "venv/x.py", "a/__pycache__/x.py", "build/x.py")
    assert names(tmp_path, ".") == ["b.py", "a/c.py"]


def test_a_file_that_is_named_counts_whatever_it_is_called(tmp_path: Path) -> None:
    make(tmp_path, "script", "venv/x.py")
    assert names(tmp_path, "script", "venv/x.py") == ["script", "venv/x.py"]


def test_a_file_that_is_reached_twice_counts_once(tmp_path: Path) -> None:
    make(tmp_path, "a/b.py")
    assert names(tmp_path, "a", "a/b.py", ".") == ["a/b.py"]


def test_a_missing_path_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gone"):
        list(python_files([str(tmp_path / "gone")]))


def test_what_the_settings_exclude_is_left_out_unless_it_is_named(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "vendored/b.py", "sub/c_pb2.py", "sub/d.py", "sub/deep/vendored/e.py")
    (tmp_path / "pyproject.toml").write_text('[tool.fxlsp]\nexclude = ["vendored", "*_pb2.py"]\n')
    assert names(tmp_path, ".") == ["a.py", "sub/d.py"]
    assert names(tmp_path, "vendored/b.py") == ["vendored/b.py"]


COMPILES = "net = torch.compile(net)\n"


def uses(*paths: Path, asked: tuple[FrontendName, ...] = ("export", "compile"), torch: str = "2.14.1+cpu") -> set[str]:
    return set(used_frontends([str(path) for path in paths], asked, torch))


def test_a_front_end_is_used_if_a_file_of_the_project_uses_it(tmp_path: Path) -> None:
    make(tmp_path, "project/setup.py", "project/models/net.py", "project/train.py", "other/train.py")
    (tmp_path / "other" / "train.py").write_text(COMPILES)
    (tmp_path / "project" / "train.py").write_text("torch.onnx.export(net, (x,))\n")
    models = tmp_path / "project" / "models"
    assert uses(models) == {"export"}
    assert uses(models, torch="2.6.0") == set()
    assert uses(models / "net.py", asked=("fx", "compile")) == set()
    assert uses(models, tmp_path / "other" / "train.py") == {"export", "compile"}


def test_of_a_notebook_the_code_cells_count(tmp_path: Path) -> None:
    def write(kind: str) -> None:
        outputs: dict[str, Any] = {"outputs": [], "execution_count": None} if kind == "code" else {}
        cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": COMPILES, **outputs}
        text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        (tmp_path / "train.ipynb").write_text(text)

    write("markdown")
    assert uses(tmp_path) == set()
    write("code")
    assert uses(tmp_path) == {"compile"}


def test_no_file_is_read_for_torch_fx_alone_nor_behind_the_last_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a.py", "b.py")
    read: list[str] = []

    def frontends_of(path: str, _: bool) -> frozenset[str]:
        read.append(Path(path).name)
        return frozenset({"compile"})

    monkeypatch.setattr("fxlsp.cli.tracing.workspace_files._frontends_of", frontends_of)
    assert uses(tmp_path, asked=("fx",)) == set()
    assert read == []
    assert uses(tmp_path, asked=("compile",)) == {"compile"}
    assert read == ["a.py"]

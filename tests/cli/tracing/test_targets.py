from __future__ import annotations

from pathlib import Path

import pytest

from fxlsp.cli.tracing.targets import TargetError, parse_target, project_root


def test_a_file_is_named_by_its_real_path(model_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model_file.parent)
    target = parse_target("model.py:Outer.Inner")
    assert (target.file, target.module, target.name) == (str(model_file.resolve()), None, "Outer.Inner")
    assert target.text == "model.py:Outer.Inner"


def test_a_dotted_name_is_a_module() -> None:
    target = parse_target("torchvision.models:resnet18")
    assert (target.file, target.module, target.name) == (None, "torchvision.models", "resnet18")


@pytest.mark.parametrize(
    "text", ["", "model.py", "model.py:", ":Net", "a b:Net", "pkg:not a name", "pkg:1", "pkg:a..b"]
)
def test_what_names_no_model_is_refused(text: str) -> None:
    with pytest.raises(TargetError):
        parse_target(text)


@pytest.mark.parametrize("text", ["missing.py:Net", "folder/missing.py:Net"])
def test_a_missing_file_is_reported(text: str) -> None:
    with pytest.raises(TargetError, match="there is no file"):
        parse_target(text)


def test_the_project_is_the_nearest_folder_with_a_pyproject(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "package"
    inner.mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    assert project_root(str(inner / "model.py")) == str(tmp_path / "project")

"""Choice of the interpreter that traces."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fxlsp.engine.settings.interpreters import Interpreter, InterpreterError, choose_interpreter
from fxlsp.report.codes import NO_INTERPRETER


def environment(folder: Path, name: str = ".venv") -> str:
    (folder / name / "bin").mkdir(parents=True)
    path = folder / name / "bin" / "python"
    path.symlink_to(sys.executable)
    return str(path)


def test_without_anything_it_is_the_servers_own(tmp_path: Path) -> None:
    assert choose_interpreter(str(tmp_path)) == Interpreter(sys.executable, "server")
    assert choose_interpreter(None) == Interpreter(sys.executable, "server")


def test_a_virtual_environment_of_the_folder_or_above_is_found_by_its_own_path(tmp_path: Path) -> None:
    outer = environment(tmp_path, "venv")
    inner = tmp_path / "src" / "inner"
    inner.mkdir(parents=True)
    assert choose_interpreter(str(inner)) == Interpreter(outer, "environment")
    own = environment(inner)
    assert choose_interpreter(str(inner)) == Interpreter(own, "environment")


def test_the_setting_wins_over_the_editor_and_the_editor_over_the_folder(tmp_path: Path) -> None:
    environment(tmp_path)
    one, two = environment(tmp_path, "one"), environment(tmp_path, "two")
    assert choose_interpreter(str(tmp_path), one, two) == Interpreter(one, "setting")
    assert choose_interpreter(str(tmp_path), None, two) == Interpreter(two, "editor")


@pytest.mark.parametrize("setting", ["envs/one", "envs/one/bin/python"])
def test_a_setting_may_be_relative_and_may_name_an_environment(tmp_path: Path, setting: str) -> None:
    expected = environment(tmp_path, "envs/one")
    assert choose_interpreter(str(tmp_path), setting).path == expected


def test_a_setting_may_be_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = environment(tmp_path, "tools")
    monkeypatch.setenv("PATH", str(Path(path).parent))
    assert choose_interpreter(str(tmp_path / "elsewhere"), "python").path == path


def test_an_environment_of_the_folder_wins_over_a_command_of_its_name(tmp_path: Path) -> None:
    path = environment(tmp_path, "env")
    (tmp_path / "python3").mkdir()
    assert choose_interpreter(str(tmp_path), "env").path == path
    assert Path(choose_interpreter(str(tmp_path), "python3").path).is_absolute()
    assert not choose_interpreter(str(tmp_path), "python3").path.startswith(str(tmp_path))


def test_a_setting_that_names_nothing_is_an_error_and_no_other_is_taken(tmp_path: Path) -> None:
    environment(tmp_path)
    with pytest.raises(InterpreterError, match=r"The setting 'python' names .*/gone, which does not exist") as error:
        choose_interpreter(str(tmp_path), "./gone")
    assert error.value.failure.code == NO_INTERPRETER
    (tmp_path / "text").write_text("")
    with pytest.raises(InterpreterError, match="which is not a Python executable"):
        choose_interpreter(str(tmp_path), None, str(tmp_path / "text"))

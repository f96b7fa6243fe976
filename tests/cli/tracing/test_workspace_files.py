from __future__ import annotations

from pathlib import Path

import pytest

from fxlsp.cli.exit_codes import UsageError
from fxlsp.cli.tracing.workspace_files import python_files


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

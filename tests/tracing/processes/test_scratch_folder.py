"""Folders of temporary files go with what uses them, also when it is killed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fxlsp.tracing.processes.supervisor.scratch_folder import ScratchFolder, supervisor_folder
from tests.support.worker import Worker


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_folder_exists_until_its_last_holder_releases_it(temporary: Path) -> None:
    outer = ScratchFolder(str(temporary))
    inner = ScratchFolder(outer)
    outer.release()
    assert os.path.isdir(inner.path)
    inner.hold()
    inner.release()
    assert os.path.isdir(inner.path)
    inner.release()
    assert not list(temporary.iterdir())


def test_the_next_supervisor_removes_the_folder_of_a_killed_one(temporary: Path) -> None:
    killed = Worker()
    (left,) = temporary.glob("fxlsp-*")
    killed.process.kill()
    killed.close()
    assert left.is_dir()
    other = temporary / "fxlsp-other"
    other.mkdir()
    with supervisor_folder() as folder:
        assert not left.exists()
        assert other.is_dir()
        assert os.path.isdir(folder)


def test_the_folder_of_a_running_supervisor_is_left_alone(temporary: Path) -> None:
    running = Worker()
    (used,) = temporary.glob("fxlsp-*")
    with supervisor_folder():
        assert used.is_dir()
    running.close()
    assert not list(temporary.glob("fxlsp-*"))

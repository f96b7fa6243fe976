"""What ``fxlsp doctor`` says of the recordings of a project."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fxlsp.cli.doctor.workspace import recordings
from fxlsp.engine.storage.recordings import recording_path
from fxlsp.recording.recording_file import RecordedInstance, merge_into


def test_each_recording_is_listed_with_its_last_run_and_a_damaged_one_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").touch()
    (project / "net.py").write_text("class Net: pass\n")
    assert list(recordings(str(project))) == []
    path = recording_path(str(project))
    merge_into(path, [RecordedInstance("net.py", "Net", "train.py", time.time())], str(project))
    (project / "fxlsp-recording.json").write_text("{")
    own, damaged = recordings(str(project))
    assert (own.mark, damaged.mark) == ("ok", "warning")
    assert own.message.startswith(f"1 model in {path}, last recorded: train.py, ")
    assert damaged.message == f"{project / 'fxlsp-recording.json'} is damaged: it is not JSON"
    assert damaged.advice is not None

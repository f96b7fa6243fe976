"""The file of a recording: merged over runs, and read as data only."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fxlsp.recording.recording_file import (
    MOST_BYTES,
    CallNote,
    RecordedInstance,
    RecordingError,
    merge_into,
    read_recording,
)

NOW = time.time()
INSTANCE = RecordedInstance("net.py", "Net", "train.py", NOW, {"args": [4], "kwargs": {"depth": 2}}, at="train.py:3")
CALL = CallNote((1,), {"mask": None}, training=True, at="train.py:9")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "net.py").write_text("class Net:\n    class Inner:\n        pass\n")
    return tmp_path


def merged(workspace: Path, *instances: RecordedInstance) -> tuple[RecordedInstance, ...]:
    path = str(workspace / "recording.json")
    merge_into(path, instances, str(workspace))
    return read_recording(path)


def test_what_is_written_is_read_again(workspace: Path) -> None:
    instance = replace(INSTANCE, calls=(CALL, replace(CALL, training=False, autocast="cpu: bfloat16", dtype="float16")))
    assert merged(workspace, instance, replace(INSTANCE, name="Net.Inner", init=None)) == (
        instance,
        replace(INSTANCE, name="Net.Inner", init=None),
    )


def test_a_call_without_arguments_and_the_folders_of_imports_are_read_again(workspace: Path) -> None:
    instance = replace(INSTANCE, calls=(replace(CALL, args=()),), folders=("code", ".", "code/lib"))
    assert merged(workspace, instance) == (instance,)
    assert "folders" not in INSTANCE.to_json()


def test_a_later_run_adds_its_calls_and_comes_first(workspace: Path) -> None:
    merged(workspace, replace(INSTANCE, calls=(CALL,)), replace(INSTANCE, init=None, time=NOW - 1))
    later = replace(INSTANCE, time=NOW + 5, source="test.py", calls=(replace(CALL, args=(2,)),))
    first, second = merged(workspace, later)
    assert (first.source, first.time) == ("test.py", NOW + 5)
    assert [call.args for call in first.calls] == [(2,), (1,)]
    assert second.init is None


def test_old_runs_and_classes_that_are_gone_are_dropped(workspace: Path) -> None:
    found = merged(
        workspace,
        INSTANCE,
        replace(INSTANCE, init=None, time=NOW - 400 * 24 * 3600),
        replace(INSTANCE, name="Gone"),
        replace(INSTANCE, file="gone.py"),
    )
    assert found == (INSTANCE,)


def test_a_class_keeps_its_newest_instances(workspace: Path) -> None:
    many = [replace(INSTANCE, init={"args": [size], "kwargs": {}}, time=NOW + size) for size in range(20)]
    found = merged(workspace, *many)
    assert [each.init["args"] for each in found if each.init] == [[size] for size in range(19, 11, -1)]


def test_an_unchanged_recording_is_not_written_again(workspace: Path) -> None:
    merged(workspace, INSTANCE)
    before = os.stat(workspace / "recording.json").st_ino
    merged(workspace, INSTANCE)
    assert os.stat(workspace / "recording.json").st_ino == before


DAMAGED = {
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "nested too deeply": b"[" * 100_000,
    "another file": b'{"a": 1}',
    "a list": b"[]",
    "another version": b'{"fxlsp_recording": 2, "instances": []}',
    "no version": b'{"fxlsp_recording": true, "instances": []}',
    "no instances": b'{"fxlsp_recording": 1}',
    "an instance that is none": b'{"fxlsp_recording": 1, "instances": [3]}',
    "a name that is none": json.dumps(
        {"fxlsp_recording": 1, "instances": [{**INSTANCE.to_json(), "name": "__import__('os')"}]}
    ).encode(),
    **{
        f"a folder that is {what}": json.dumps(
            {"fxlsp_recording": 1, "instances": [{**INSTANCE.to_json(), "folders": folders}]}
        ).encode()
        for what, folders in {
            "absolute": ["/tmp"],
            "outside": ["code/../.."],
            "empty": [""],
            "of a drive": ["c:code"],
            "of Windows": ["..\\x"],
            "a number": [3],
            "no list": "code",
            "one of too many": ["code"] * 17,
        }.items()
    },
    "a call that is none": json.dumps(
        {"fxlsp_recording": 1, "instances": [{**INSTANCE.to_json(), "calls": [{"args": 1}]}]}
    ).encode(),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_file_is_refused_in_one_line_and_left_as_it_is(name: str, workspace: Path) -> None:
    path = workspace / "recording.json"
    path.write_bytes(DAMAGED[name])
    with pytest.raises(RecordingError) as refused:
        read_recording(str(path))
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)
    with pytest.raises(RecordingError):
        merge_into(str(path), [INSTANCE], str(workspace))
    assert path.read_bytes() == DAMAGED[name]


def test_a_large_file_is_refused_without_being_read(workspace: Path) -> None:
    path = workspace / "recording.json"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(RecordingError, match=f"more than {MOST_BYTES // 2**20} MB"):
        read_recording(str(path))


def test_a_full_disk_leaves_what_was_there(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = merged(workspace, INSTANCE)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("fxlsp.recording.recording_file.os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        merged(workspace, replace(INSTANCE, init=None))
    assert read_recording(str(workspace / "recording.json")) == before
    assert [each for each in os.listdir(workspace) if each.endswith(".tmp")] == []


def test_what_a_killed_program_has_left_is_removed_later(workspace: Path) -> None:
    left = workspace / "recording.json.abc.tmp"
    left.write_text("{")
    os.utime(left, (NOW - 7200, NOW - 7200))
    merged(workspace, INSTANCE)
    assert not left.exists()


def test_two_programs_at_once_lose_nothing(workspace: Path) -> None:
    (workspace / "many.py").write_text("".join(f"class C{number}: pass\n" for number in range(8)))
    text = (
        "import sys, time\n"
        "from fxlsp.recording.recording_file import RecordedInstance, merge_into\n"
        "for step in range(10):\n"
        "    instance = RecordedInstance('many.py', f'C{sys.argv[1]}', 'train.py', time.time(), "
        "{'args': [step], 'kwargs': {}})\n"
        "    merge_into(sys.argv[2], [instance], sys.argv[3])\n"
    )
    path = str(workspace / "recording.json")
    command = [sys.executable, "-c", text]
    running = [subprocess.Popen([*command, str(number), path, str(workspace)]) for number in range(4)]
    assert [each.wait(60) for each in running] == [0] * 4
    names = [each.name for each in read_recording(path)]
    assert {name: names.count(name) for name in names} == {f"C{number}": 8 for number in range(4)}

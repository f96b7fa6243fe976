"""What a trace may use beside time: memory, processes, open files, and bytes on the disk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import eventually
from tests.support.worker import Worker
from tests.tracing.processes.test_worker_death import MODEL, is_running

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists the children of a process")
NAME = "fxlsp-many"
FORK = f"libc = ctypes.CDLL(None); libc.prctl(15, b'{NAME}'); "
"""Python's own fork is refused by the audit hook. A process has a name (15 is ``PR_SET_NAME``), to be found by."""


def outcome(worker: Worker, write: Callable[..., str], statement: str, **limits: Any) -> dict[str, Any]:
    path = write(MODEL.format(statement=statement))
    return worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)", **limits)


def named_processes() -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdecimal() and (folder / "comm").read_text().strip() == NAME:
                found.append(int(folder.name))
    return [pid for pid in found if is_running(pid)]


def traces_again(worker: Worker, write: Callable[..., str]) -> bool:
    return worker.report(write(MODEL.format(statement="pass")) + ":Net", "Net()", "torch.randn(1, 4)").complete


@LINUX
@pytest.mark.parametrize("leaves", ["", "os.setsid(); "], ids=["in_its_group", "in_sessions_of_their_own"])
def test_a_model_that_starts_too_many_processes_is_ended_with_all_of_them(
    leaves: str, any_worker: Worker, write: Callable[..., str]
) -> None:
    bomb = f"{FORK}[libc.fork() for _ in range(7)]; {leaves}[time.sleep(0.1) for _ in iter(int, 1)]"
    message = outcome(any_worker, write, bomb, seconds=60, processes=16)
    assert (message["type"], message["limit"]) == ("failed", "processes")
    assert traces_again(any_worker, write)
    eventually(lambda: not named_processes())


@LINUX
def test_orphans_count_among_the_processes_of_a_trace(worker: Worker, write: Callable[..., str]) -> None:
    orphans = "[(libc.fork() or libc.fork() and os._exit(0)) for _ in range(40)]"
    bomb = f"{FORK}me = os.getpid(); {orphans}; [time.sleep(0.1) for _ in iter(int, 1)]"
    message = outcome(worker, write, bomb, seconds=60, processes=16)
    assert message["type"] == "failed"
    assert traces_again(worker, write)
    eventually(lambda: not named_processes())


@LINUX
def test_the_memory_of_its_processes_counts_for_a_model(any_worker: Worker, write: Callable[..., str]) -> None:
    act = f"{FORK}pids = [libc.fork() for _ in range(2)]; keep = b'x' * (700 * 2**20); time.sleep(60)"
    message = outcome(any_worker, write, act, seconds=60, megabytes=1600)
    assert (message["type"], message["limit"]) == ("failed", "memory")


def test_a_model_that_opens_too_many_files_fails_itself(any_worker: Worker, write: Callable[..., str]) -> None:
    report = any_worker.report(
        f"{write(MODEL.format(statement='keep = [open(os.devnull) for _ in range(600)]'))}:Net",
        "Net()",
        "torch.randn(1, 4)",
        open_files=300,
    )
    assert report.verdict.error is not None
    assert "Too many open files" in report.verdict.error.message
    assert traces_again(any_worker, write)


def test_a_temporary_file_that_grows_too_large_fails_the_model_itself(
    any_worker: Worker, write: Callable[..., str]
) -> None:
    act = "import tempfile; f = tempfile.TemporaryFile(); f.write(bytes(3 * 2**20)); f.flush()"
    path = write(MODEL.format(statement=act))
    report = any_worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)", written_megabytes=2)
    assert report.verdict.error is not None
    assert "File too large" in report.verdict.error.message


def test_a_model_that_writes_many_temporary_files_is_ended(any_worker: Worker, write: Callable[..., str]) -> None:
    act = (
        "import tempfile; "
        "[(open(tempfile.mkstemp()[1], 'wb').write(bytes(2**20)), time.sleep(0.01)) for _ in iter(int, 1)]"
    )
    message = outcome(any_worker, write, act, seconds=60, written_megabytes=20)
    assert (message["type"], message["limit"]) == ("failed", "written")
    assert traces_again(any_worker, write)

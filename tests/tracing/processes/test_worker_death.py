"""A worker's death is reported with its line, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.waiting import eventually
from tests.support.worker import Worker

MODEL = """
import ctypes, os, time
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)

    def forward(self, x):
        y = self.a(x)
        {statement}
        return y
"""
LINE = 13


DEATHS: list[tuple[str, float, dict[str, Any]]] = [
    ("while True: pass", 5.0, {"limit": "time"}),
    ("ctypes.string_at(0)", 30.0, {"signal": signal.SIGSEGV}),
    ("time.sleep(60)", 5.0, {"limit": "time"}),
    ("os._exit(3)", 30.0, {"exit": 3, "limit": None}),
    ("os.abort()", 30.0, {"signal": signal.SIGABRT}),
    ("os.kill(os.getpid(), 9)", 30.0, {"signal": signal.SIGKILL}),
]


@pytest.mark.parametrize(("statement", "seconds", "expected"), DEATHS)
def test_a_death_is_reported_with_the_line_that_was_running(
    statement: str, seconds: float, expected: dict[str, Any], worker: Any, write: Callable[..., str]
) -> None:
    check_that_a_death_is_told(statement, seconds, expected, worker, write)


@pytest.mark.parametrize(("statement", "seconds", "expected"), DEATHS[:2])
def test_the_death_of_a_spawned_worker_is_reported_alike(
    statement: str, seconds: float, expected: dict[str, Any], spawning_worker: Any, write: Callable[..., str]
) -> None:
    check_that_a_death_is_told(statement, seconds, expected, spawning_worker, write)


def check_that_a_death_is_told(
    statement: str, seconds: float, expected: dict[str, Any], worker: Any, write: Callable[..., str]
) -> None:
    path = write(MODEL.format(statement=statement))
    message = worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)", seconds=seconds)
    assert message["type"] == "failed"
    assert {name: message[name] for name in expected} == expected
    assert message["stage"] == "trace"
    user_lines = [entry for entry in message["stack"] if entry["file"] == path]
    assert user_lines[0] == {"file": path, "line": LINE, "function": "forward"}
    assert worker.report(write(MODEL.format(statement="pass")) + ":Net", "Net()", "torch.randn(1, 4)").complete


def test_a_model_over_the_memory_limit_is_ended(any_worker: Any, write: Callable[..., str]) -> None:
    path = write(MODEL.format(statement="keep = [bytearray(2**20) for _ in iter(int, 1)]"))
    message = any_worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)", megabytes=2000)
    assert (message["type"], message["limit"]) == ("failed", "memory")
    assert any(entry["file"] == path and entry["line"] == LINE for entry in message["stack"])


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="children of a process cannot be listed here")
def test_a_worker_that_is_killed_before_its_request_is_replaced(write: Callable[..., str]) -> None:
    worker = Worker()
    try:
        for pid in descendants_of(worker.process.pid):
            os.kill(pid, signal.SIGKILL)
        path = write(MODEL.format(statement="pass"))
        assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete
    finally:
        worker.close()


def test_what_user_code_prints_breaks_nothing(any_worker: Any, write: Callable[..., str]) -> None:
    path = write(MODEL.format(statement="print('x' * 1_000_000); os.write(1, b'raw'); os.write(2, b'raw')"))
    assert any_worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


def test_a_cancelled_trace_reports_nothing_more(any_worker: Any, write: Callable[..., str]) -> None:
    slow = write(MODEL.format(statement="time.sleep(60)"), "slow.py")
    cancelled = any_worker.ask(f"{slow}:Net", "Net()", "torch.randn(1, 4)")
    any_worker.next_stage("trace")
    any_worker.send({"type": "cancel", "id": cancelled})
    assert any_worker.report(write(MODEL.format(statement="pass")) + ":Net", "Net()", "torch.randn(1, 4)").complete


@pytest.mark.parametrize(
    "statement",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import subprocess; subprocess.run(['true'])",
        "os.system('true')",
        "open(os.path.join(os.path.dirname(__file__), 'written'), 'w')",
        "os.mkdir(os.path.join(os.path.dirname(__file__), 'written'))",
        "os.fork()",
    ],
)
def test_side_effects_are_refused(statement: str, worker: Any, write: Callable[..., str]) -> None:
    path = write(MODEL.format(statement=statement))
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert report.verdict.error is not None
    assert report.verdict.error.type == "RefusedError"
    assert not Path(path).with_name("written").exists()


def test_temporary_files_may_be_written_and_go_with_the_trace(worker: Any, write: Callable[..., str]) -> None:
    path = write(MODEL.format(statement="import tempfile; open(tempfile.mkstemp()[1], 'w').write('x')"))
    assert worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)").complete


@pytest.mark.parametrize("spawn", [False, True], ids=["forked", "started"])
def test_nothing_stays_among_the_temporary_files_when_the_server_has_gone(
    spawn: bool, write: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    path = write(MODEL.format(statement="import tempfile; tempfile.mkdtemp(); time.sleep(600)"))
    worker = Worker(spawn=spawn)
    worker.ask(f"{path}:Net", "Net()", "torch.randn(1, 4)", seconds=600)
    worker.next_stage("trace")
    assert list(temporary.glob("fxlsp-*/tmp*"))
    worker.close()
    assert not list(temporary.glob("fxlsp-*"))


def test_no_process_is_left_when_the_server_is_killed(tmp_path: Path) -> None:
    """A stand-in for the server starts a supervisor and a trace that never ends, and is killed."""
    model = tmp_path / "model.py"
    model.write_text(MODEL.format(statement="time.sleep(600)"), encoding="utf-8")
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(
        textwrap.dedent(
            f"""
            import sys, time
            sys.path.insert(0, {str(Path(__file__).parents[3])!r})
            from tests.support.worker import Worker
            worker = Worker()
            worker.ask({f"{model}:Net"!r}, "Net()", "torch.randn(1, 4)", seconds=600)
            worker.next_stage("trace")
            print(worker.process.pid, flush=True)
            time.sleep(600)
            """
        ),
        encoding="utf-8",
    )
    with subprocess.Popen([sys.executable, str(stand_in)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            supervisor = int(server.stdout.readline())
            # Both the worker that traces and the one that is ready beside it have a side process for the recovering
            # pass.
            eventually(lambda: len(descendants_of(supervisor)) == 4)
            processes = [supervisor, *descendants_of(supervisor)]
        finally:
            server.kill()
    eventually(lambda: not any(is_running(pid) for pid in processes))


def test_what_follows_a_failure_is_reported_as_unknown_where_following_it_takes_too_long(
    any_worker: Any, write: Callable[..., str]
) -> None:
    path = write(
        """
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                if x.sum() > 0:
                    x = x + 1
                while True:
                    pass
        """
    )
    report = any_worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)", seconds=10)
    assert [problem.code for problem in report.problems] == ["FX101", "FX905"]
    words = "The pass that goes on where torch.fx stops took too long: what lies behind that is not known"
    assert report.problems[1].message == words
    assert report.problems[1].severity == "warning"


def descendants_of(pid: int) -> list[int]:
    """Return the descendants of a process; none if it has ended, even while they are read."""
    try:
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [*children, *(descendant for child in children for descendant in descendants_of(child))]


def test_a_process_that_has_ended_has_no_descendants() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    assert descendants_of(process.pid) == []
    assert not is_running(process.pid)


def is_running(pid: int) -> bool:
    """Return whether a process exists and is no zombie that only waits to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False

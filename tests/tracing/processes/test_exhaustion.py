"""A system that has no more descriptors, processes or space costs traces, not the supervisor."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.waiting import eventually
from tests.support.worker import BOOTSTRAP, Worker

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of other processes, /proc")

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)

    def forward(self, x):
        return self.a(x)
"""
OF_WORKERS = 28
"""Descriptors for four spawned workers: two that wait for a request, and two that have just ended."""
BOOTSTRAPS = Path(__file__).parent / "bootstraps"


class Exhausted:
    """A supervisor, and what its system has no more of."""

    def __init__(self, lacking: Path, *, spawn: bool) -> None:
        self._lacking = lacking
        self.worker = Worker(BOOTSTRAPS / "exhausted.py", spawn=spawn)
        self.pid = self.worker.process.pid

    def lack(self, what: str) -> None:
        """Let the supervisor run out of something; "" ends that."""
        self._lacking.write_text(what, encoding="ascii")
        os.kill(self.pid, signal.SIGUSR2)
        eventually(lambda: not self._lacking.exists())

    @property
    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def is_traced(self, path: str) -> bool:
        """Trace a model; return whether there is a report, else check that the answer names the reason."""
        message = self.worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)")
        if message["type"] == "report":
            return True
        assert message["type"] == "failure", message
        failure = message["failure"]["failure"]
        assert failure["code"] == "FX905"
        assert "No process could be started to trace Net: the system reports " in failure["message"]
        return False


@pytest.fixture(params=[False, True], ids=["forked", "spawned"])
def exhausted(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Exhausted]:
    monkeypatch.setenv("FXLSP_TEST_BOOTSTRAP", str(BOOTSTRAP))
    monkeypatch.setenv("FXLSP_TEST_EXHAUSTED", str(tmp_path / "lacking"))
    supervisor = Exhausted(tmp_path / "lacking", spawn=request.param)
    yield supervisor
    supervisor.worker.close()


def test_without_descriptors_traces_fail_and_come_back(exhausted: Exhausted, write: Callable[..., str]) -> None:
    path = write(MODEL)
    assert exhausted.is_traced(path)
    before, traced = exhausted.descriptors, []
    forks = exhausted.worker.hello["fork"]
    for left in (0, 1, 2, 3, 5, 8, 10, 12, 14, 16) if forks else (3,):
        exhausted.lack(str(left))
        traced += [exhausted.is_traced(path) for _ in range(3)]
        exhausted.lack("")
    # A spawned one may take the descriptors of the one before.
    assert not all(traced) or not forks
    assert exhausted.is_traced(path)
    assert exhausted.descriptors <= before + OF_WORKERS


def test_without_processes_traces_fail_and_come_back(exhausted: Exhausted, write: Callable[..., str]) -> None:
    path = write(MODEL)
    assert exhausted.is_traced(path)
    before = exhausted.descriptors
    exhausted.lack("processes")
    # Those that wait for a request are used first.
    traced = [exhausted.is_traced(path) for _ in range(4)]
    exhausted.lack("")
    assert exhausted.is_traced(path)
    assert exhausted.descriptors <= before + OF_WORKERS
    if exhausted.worker.hello["fork"]:
        assert traced[-2:] == [False, False]


def links_of(pid: int) -> Iterator[str]:
    """Yield what the descriptors of a process refer to; it may close some meanwhile."""
    for name in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):
            yield os.readlink(f"/proc/{pid}/fd/{name}")


def test_without_a_place_for_temporary_files_traces_fail_and_come_back(
    exhausted: Exhausted, write: Callable[..., str]
) -> None:
    path = write(MODEL)
    assert exhausted.is_traced(path)
    (folder,) = {Path(link).parent for link in links_of(exhausted.pid) if link.endswith("/in-use")}
    hidden = folder.with_name(f"{folder.name}-hidden")
    folder.rename(hidden)
    folder.write_text("a file in the place of the folder", encoding="ascii")
    answers = []
    for _ in range(4):
        message = exhausted.worker.answer(f"{path}:Net", "Net()", "torch.randn(1, 4)")
        answers.append(message["type"])
    assert answers[-1] != "report"
    folder.unlink()
    hidden.rename(folder)
    assert [exhausted.is_traced(path) for _ in range(3)][-1]

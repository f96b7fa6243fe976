"""Workers that are spawned instead of forked: when that happens, and what differs.

What is the same is tested on both by ``any_worker``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.waiting import eventually
from tests.support.worker import BOOTSTRAP, Worker
from tests.tracing.processes.test_worker_death import descendants_of, is_running

WORKERS = Path(__file__).parent / "bootstraps"
MODEL = """
import os, sys, time
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.a = nn.Linear(4, width)

    def forward(self, x):
        return self.a(x)
"""


ASKING = MODEL.replace("return self.a(x)", "return self.a(x + 1 if self.training else x)")
"""Each pass reads the mode."""
CHOOSING = MODEL.replace(
    "return self.a(x)",
    "counting.calls[0] += 1\n        return self.a(x if x.sum() > 0 else -x).repeat(counting.calls[0], 1)",
).replace("import torch\n", "import torch\nimport counting\n")
"""Only data decide the branch, and each pass must find its files as they are when they are loaded."""


def test_where_a_forked_process_cannot_trace_processes_are_started(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FXLSP_TEST_BOOTSTRAP", str(BOOTSTRAP))
    worker = Worker(WORKERS / "unforkable.py")
    try:
        assert worker.hello["fork"] is False
        assert worker.report(write(MODEL) + ":Net", "Net()", "torch.randn(1, 4)").complete
    finally:
        worker.close()


def test_a_spawned_worker_needs_nothing_that_windows_lacks(
    write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FXLSP_TEST_BOOTSTRAP", str(BOOTSTRAP))
    spawned = Worker(WORKERS / "windows.py")
    try:
        assert spawned.hello["fork"] is False
        report = spawned.report(write(ASKING) + ":Net", "Net()", "torch.randn(1, 4)")
        assert "FX304" in [problem.code for problem in report.problems]
        slow = write(MODEL.replace("return self.a(x)", "time.sleep(60)"), "slow.py")
        message = spawned.answer(f"{slow}:Net", "Net()", "torch.randn(1, 4)", seconds=5)
        assert message["limit"] == "time"
        assert message["stack"][0]["file"] == slow
    finally:
        spawned.close()


@pytest.mark.parametrize("text", [ASKING, CHOOSING])
def test_what_a_started_process_reports_is_what_a_forked_one_does(
    text: str, worker: Worker, spawning_worker: Worker, write: Callable[..., str]
) -> None:
    write("calls = [0]\n", "counting.py")
    path = write(text)
    forked, spawned = (each.report(f"{path}:Net", "Net()", "torch.randn(1, 4)") for each in (worker, spawning_worker))
    assert replace(spawned, timing_ms={}) == replace(forked, timing_ms={})


def test_each_trace_has_a_process_of_its_own_and_others_are_ready_for_the_next(
    spawning_worker: Worker, write: Callable[..., str]
) -> None:
    path = write(MODEL.replace("return self.a(x)", "return self.a(x) * os.getpid()"))
    assert spawning_worker.hello["fork"] is False
    first, second = (spawning_worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)") for _ in range(2))
    assert first.nodes[-2].inputs != second.nodes[-2].inputs


def test_a_trace_cancelled_before_its_worker_is_ready_leaves_it_to_the_next(write: Callable[..., str]) -> None:
    worker = Worker(spawn=True)
    try:
        path = write(MODEL)
        for _ in range(5):
            worker.send({"type": "cancel", "id": worker.ask(f"{path}:Net", "Net()", "torch.randn(1, 4)")})
        assert worker.report(f"{path}:Net", "Net(16)", "torch.randn(1, 4)").complete
    finally:
        worker.close()


def test_packages_are_imported_ahead(spawning_worker: Worker, write: Callable[..., str]) -> None:
    spawning_worker.send({"type": "preload", "names": ["imaplib", "no_such_package"]})
    path = write(MODEL.replace("width=8", "width=8 + ('imaplib' in sys.modules)"))
    report = spawning_worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert report.nodes[-1].output == {"shape": [1, 9], "dtype": "float32"}


def test_a_crash_behind_the_first_pass_leaves_what_that_found(
    spawning_worker: Worker, write: Callable[..., str]
) -> None:
    path = write(MODEL.replace("return self.a(x)", "assert x.sum() > 0\n        os._exit(3)\n        return x"))
    report = spawning_worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert [problem.code for problem in report.problems] == ["FX101", "FX905"]
    words = "The pass that goes on where torch.fx stops ended early: what lies behind that is not known"
    assert report.problems[1].message == words


def test_spawned_workers_end_with_the_supervisor(write: Callable[..., str]) -> None:
    worker = Worker(spawn=True)
    path = write(MODEL.replace("return self.a(x)", "time.sleep(600)"))
    worker.ask(f"{path}:Net", "Net()", "torch.randn(1, 4)", seconds=600)
    worker.next_stage("trace")
    children = descendants_of(worker.process.pid)
    worker.process.kill()
    worker.close()
    assert children
    eventually(lambda: not any(is_running(child) for child in children))


def test_an_interpreter_that_cannot_trace_is_refused_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch is broken')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path)]))
    worker = Worker(spawn=True)
    worker.close()
    assert worker.hello["type"] == "refused"
    assert worker.hello["message"].endswith("cannot import torch: libtorch is broken")

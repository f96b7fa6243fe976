"""What a model's code does to the processes around it costs its own trace, and nothing else."""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Callable

import pytest

from fxlsp.tracing.model.loading.installed_only import NotInstalledError, only_installed_modules
from tests.support.waiting import eventually
from tests.support.worker import Worker
from tests.tracing.processes.test_worker_death import is_running

MODEL = """
import ctypes, json, os, signal, struct, sys, tempfile, time
import torch
from torch import nn

libc = ctypes.CDLL(None)

def frame(message):
    payload = json.dumps(message, separators=(",", ":")).encode()
    return struct.pack(">I", len(payload)) + payload

def to_all_descriptors(data):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, data)
        except OSError:
            pass

def with_junk_behind_answers(write):
    def writing(descriptor, data):
        is_answer = bytes(data[4:19]) == b'{{"type":"report'
        write(descriptor, bytes(data) + (struct.pack('>I', 4) + b'junk') * is_answer)
        return len(data)
    return writing

def print_for_a_while():
    # For longer than a supervisor may be silent. No started worker's supervisor ends it, so that it must end itself.
    try:
        os.setsid()
        for _ in range(4000):
            os.write(1, b"x")
            time.sleep(0.05)
    finally:
        os._exit(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        {act}
        return self.a(x)
"""
ACTS = {
    "junk": "to_all_descriptors(b'\\xff' * 64)",
    "no_json": "to_all_descriptors(struct.pack('>I', 4) + b'junk')",
    "deep_json": "to_all_descriptors(struct.pack('>I', 4000) + b'[' * 4000)",
    "false_checkpoint": "to_all_descriptors(frame({'type': 'holder', 'pid': -1}))",
    "foreign_checkpoint": "to_all_descriptors(frame({'type': 'holder', 'pid': 1}))",
    "false_death": "to_all_descriptors(frame({'type': 'died', 'id': 1}))",
    "answer_of_another": "to_all_descriptors(frame({'type': 'report', 'id': 10**6, 'report': {}}))",
    "kills_its_parent": "libc.kill(os.getppid(), 9)",
    "stops_its_parent": "libc.kill(os.getppid(), 19)",
    "kills_all": "libc.kill(-1, 9)",
    "junk_behind_its_answer": "os.write = with_junk_behind_answers(os.write)",
    "leaves_a_printing_process": "libc.fork() or print_for_a_while()",
    "closes_all": "os.closerange(3, 64)",
}
SIGNALS = ("kills_its_parent", "stops_its_parent", "kills_all")
FINE = MODEL.format(act="pass")


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the acts are of Linux")
def test_a_hostile_model_costs_its_own_trace_alone(act: str, any_worker: Worker, write: Callable[..., str]) -> None:
    if act in SIGNALS and "calls" not in any_worker.hello.get("contained", ()):
        pytest.skip("this system can refuse no signals: the act would end what runs the tests")
    path = write(MODEL.format(act=ACTS[act]), f"{act}.py")
    hostile = any_worker.ask(f"{path}:Net", "Net()", "torch.randn(1, 4)", seconds=10)
    message = any_worker.next()
    assert message["id"] == hostile
    if act == "junk_behind_its_answer":
        assert message["type"] == "report"
    after = any_worker.report(f"{write(FINE)}:Net", "Net()", "torch.randn(1, 4)")
    assert [node.name for node in after.nodes] == ["x", "a", "output"]
    assert after.complete
    assert after.problems == ()


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="no process can be adopted here")
def test_no_process_is_left_by_a_daemon_with_children(
    worker: Worker, write: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    act = (
        "r, w = os.pipe()\n"
        "        if libc.fork() == 0:\n"
        "            os.setsid()\n"
        "            for _ in range(4):\n"
        "                if libc.fork() == 0:\n"
        "                    os.setsid()\n"
        "                    libc.fork()\n"
        "                    break\n"
        "            os.write(w, b'%d ' % os.getpid())\n"
        "            time.sleep(600)\n"
        "        pids = b''\n"
        "        while pids.count(b' ') < 8:\n"
        "            pids += os.read(r, 999)\n"
        "        print(pids.decode(), flush=True)\n"
        "        raise ValueError(pids.decode())"
    )
    path = write(MODEL.format(act=act), "daemons.py")
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert report.verdict.error is not None
    pids = [int(pid) for pid in report.verdict.error.message.split()]
    assert len(pids) >= 8
    eventually(lambda: not any(is_running(pid) for pid in pids))


HARMLESS = """
import multiprocessing, multiprocessing.pool, socket, threading
import torch
from torch import nn

connection = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        with multiprocessing.Lock(), multiprocessing.RLock() as taken:
            assert taken
        semaphore = multiprocessing.Semaphore(2)
        assert semaphore.acquire() and semaphore.acquire() and not semaphore.acquire(block=False)
        event = multiprocessing.Event()
        threading.Thread(target=event.set).start()
        assert event.wait(10)
        multiprocessing.Queue()
        with multiprocessing.pool.ThreadPool(2) as pool:
            assert pool.map(abs, [-1, -2]) == [1, 2]

    def forward(self, x):
        return self.a(x)
"""


def test_locks_thread_pools_and_unused_sockets_do_no_harm(any_worker: Worker, write: Callable[..., str]) -> None:
    report = any_worker.report(f"{write(HARMLESS)}:Net", "Net()", "torch.randn(1, 4)")
    assert report.complete, report.problems


def test_the_supervisor_imports_nothing_of_the_workspace(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "workspace_package.py").write_text("raise SystemExit", encoding="utf-8")
    (tmp_path / "spaces" / "inner").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    with only_installed_modules():
        for name in ("workspace_package", "spaces"):
            with pytest.raises(NotInstalledError, match=name):
                __import__(name)
        sys.modules.pop("wave", None)
        __import__("wave")
    assert "workspace_package" not in sys.modules

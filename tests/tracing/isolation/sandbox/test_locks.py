"""A traced model holds no lock on a file of the user, and waits for none."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from benchmarks.reliability.system_calls import can_attack
from tests.support.waiting import PATIENCE
from tests.support.worker import Worker

PROJECT = Path(__file__).parents[4]
NET = """
import ctypes, fcntl, struct, threading
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        with open({path!r}, "rb") as file:
            {lock}
            fcntl.fcntl(file, fcntl.F_GETFD)
        return self.lin(x)
"""
LOCKS = {
    "flock": "fcntl.flock(file, fcntl.LOCK_EX)",
    "shared": "fcntl.flock(file, fcntl.LOCK_SH)",
    "at_once": "fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)",
    "lockf": "fcntl.lockf(file, fcntl.LOCK_SH)",
    "in_c": "ctypes.CDLL(None).flock(file.fileno(), 2)",
    "fcntl": "fcntl.fcntl(file, fcntl.F_SETLKW, struct.pack('hhqqi', fcntl.F_RDLCK, 0, 0, 0, 0))",
}


@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS)
def test_a_model_that_locks_its_data_neither_fails_nor_waits(lock: str, any_worker: Worker, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("data", encoding="utf-8")
    (tmp_path / "net.py").write_text(NET.format(path=str(data), lock=lock), encoding="utf-8")
    with data.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        fcntl.lockf(held, fcntl.LOCK_EX)
        report = any_worker.report(f"{tmp_path / 'net.py'}:Net", "Net()", "torch.randn(2, 4)", roots=(str(tmp_path),))
    assert report.verdict.error is None
    assert report.complete


def test_where_the_system_refuses_nothing_python_takes_no_lock(tmp_path: Path) -> None:
    data, scratch = tmp_path / "data", tmp_path / "scratch"
    data.write_text("data", encoding="utf-8")
    scratch.mkdir()
    program = f"""
        import fcntl, sys
        from fxlsp.tracing.isolation.sandbox.audit import refuse_side_effects
        refuse_side_effects({str(scratch)!r})
        user, own = open({str(data)!r}, "rb"), open({str(scratch / "own")!r}, "wb")
        for file in (user, own):
            fcntl.flock(file, fcntl.LOCK_EX)
        for file in (user.fileno(), own):
            fcntl.lockf(file, fcntl.LOCK_SH if file is not own else fcntl.LOCK_EX)
        print(flush=True)
        sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holding:
        assert holding.stdout is not None
        assert holding.stdout.readline() == b"\n"
        with data.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (scratch / "own").open("r+b") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        holding.communicate()


@pytest.mark.skipif(not can_attack(), reason="this system does not contain a process so far that it is safe")
def test_no_random_system_call_reaches_what_is_the_users(tmp_path: Path) -> None:
    # A process of its own, small: it is forked for each of hundreds of calls.
    program = """
        import json, pathlib, random, sys
        from benchmarks.reliability.system_calls import Target, attack
        print(json.dumps(attack(Target(pathlib.Path(sys.argv[1])), random.Random(7), 4)))
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path)]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True, timeout=4 * PATIENCE)
    wrong, count = json.loads(ran.stdout)
    assert wrong == []
    assert count > 1000

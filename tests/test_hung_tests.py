"""A test that hangs, or whose server does not answer, ends and says what it waited for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dev.environment import PROJECT
from dev.rpc import Connection, RpcError
from tests.support.worker import Worker

WAITS_FOR_A_PROCESS = """
import subprocess, sys

def test_hangs():
    program = "import time\\ndef sleeping():\\n    time.sleep(600)\\nsleeping()"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        try:
            process.wait()
        finally:
            process.kill()
"""
LOOPS = """
import asyncio

async def test_hangs():
    while True:
        await asyncio.sleep(0.001)
"""


@pytest.mark.parametrize("text", [WAITS_FOR_A_PROCESS, LOOPS], ids=["waits for a process", "loops"])
def test_a_test_that_hangs_is_cut_with_its_name_and_its_processes(text: str, tmp_path: Path) -> None:
    file = tmp_path / "test_hung.py"
    file.write_text(text, encoding="utf-8")
    options = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "--timeout", "2"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--timeout-method", "signal", str(file)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert ended.returncode == 1, ended.stdout
    assert "FAILED test_hung.py::test_hangs" in ended.stdout
    assert "Timeout (>2.0s) from pytest-timeout" in ended.stdout
    assert "processes of the test that was cut" in ended.stdout
    if text is WAITS_FOR_A_PROCESS:
        assert "def sleeping" in ended.stdout  # its command


def test_a_supervisor_that_sends_nothing_is_shown_with_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = tmp_path / "silent.py"
    # It ends when its connection is closed.
    text = "import socket, sys\nsocket.socket(fileno=int(sys.argv[1])).recv(1)\n"
    silent.write_text(text, encoding="utf-8")
    monkeypatch.setattr("tests.support.worker._SILENCE", 1.0)
    with pytest.raises(AssertionError, match=r"(?s)the supervisor sent nothing for 1 s:.*silent\.py"):
        Worker(silent)


async def test_a_server_that_does_not_answer_is_named_with_the_request() -> None:
    connection = await Connection.start([sys.executable, "-c", "import time; time.sleep(600)"], lambda *_: None)
    try:
        with pytest.raises(RpcError, match=f"process {connection.pid} has not answered initialize in 1 s"):
            await connection.request("initialize", {}, limit=1.0)
    finally:
        await connection.wait_ended(seconds=0.0)

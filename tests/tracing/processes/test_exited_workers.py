"""The supervisor answers for a worker that has exited, whatever its pipes and the other workers do."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fxlsp.tracing.processes.supervisor import spawned_worker
from fxlsp.tracing.processes.supervisor.pool import WorkerPool
from fxlsp.tracing.processes.supervisor.spawned_worker import SpawnedWorker
from fxlsp.tracing.processes.supervisor.supervisor import Supervisor
from fxlsp.tracing.processes.supervisor.worker_handle import ExitStatus, WorkerHandle
from fxlsp.wire.frames import Decoder, JsonMessage, encode
from fxlsp.wire.messages import PROTOCOL, Hello, TraceRequest
from tests.support.waiting import PATIENCE, eventually

ANSWER = {"type": "failure", "id": 1, "failure": {"target": "m.py:Net", "code": "FX901", "message": "no"}}
REQUEST: JsonMessage = {
    "type": "trace",
    "id": 1,
    "target": {"file": "m.py", "name": "Net"},
    "recipe": {"init": None, "inputs": None, "source": None},
    "overlays": {},
    "roots": [],
    "limits": {"seconds": 600.0, "megabytes": 1e9, "processes": 32, "open_files": 99, "written_megabytes": 1e9},
}


class StandInWorker(WorkerHandle):
    """Worker without a process: its pipes stay open after its end, as if a process that it has left behind had them."""

    def __init__(self, folder: Path, at_exit: Callable[[StandInWorker], object], lives: int = 0) -> None:
        """
        Args:
            at_exit: called before it says that it has exited.
            lives: how often it says that it has not.
        """
        super().__init__(str(folder))
        self.pid = os.getpid()
        self.report_pipe, self.reports = os.pipe()
        self.output_pipe, self.output = os.pipe()
        self.output_reads = self.kills = 0
        self.is_reaped = False
        self._at_exit, self._lives = at_exit, lives

    @property
    def pipes(self) -> tuple[int, int]:
        return self.report_pipe, self.output_pipe

    def read(self, pipe: int) -> list[bytes] | None:
        if pipe == self.report_pipe:
            return self._forwarded_frames(os.read(pipe, 2**20))
        self.output_reads += 1
        return [] if os.read(pipe, 1) else None

    def has_exited(self) -> bool:
        if self._lives:
            self._lives -= 1
            return False
        self._at_exit(self)
        return True

    def enforce_limits(self) -> None:
        """It uses nothing."""

    def _send(self, data: bytes) -> None:
        """It needs no request."""

    def _request_stack(self) -> None:
        raise AssertionError

    def _kill(self) -> None:
        self.kills += 1

    def _wait_for_exit(self) -> ExitStatus:
        self.is_reaped = True
        for descriptor in (self.report_pipe, self.reports, self.output_pipe):
            os.close(descriptor)
        return ExitStatus(exit=3, signal=None)


class PoolOfThese(WorkerPool):
    def __init__(self, workers: Iterable[WorkerHandle]) -> None:
        self._workers = iter(workers)

    def handshake(self, connection: socket.socket) -> Hello:
        return Hello(PROTOCOL)

    def prepare(self) -> None:
        """It has its workers."""

    def take(self, request: TraceRequest) -> WorkerHandle:
        return next(self._workers)

    def enforce_limits(self) -> None:
        """It has no processes."""

    def put_back(self, worker: WorkerHandle) -> bool:
        return False

    def discard(self, worker: WorkerHandle) -> None:
        """It has no processes."""

    def preload(self, names: Sequence[str]) -> str | None:
        return None

    def close(self) -> None:
        """It has no processes."""


@contextmanager
def supervised(*workers: WorkerHandle, requests: Sequence[JsonMessage] = (REQUEST,)) -> Iterator[Iterator[JsonMessage]]:
    """Send requests to a supervisor with these workers; give the messages that follow its first."""
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE)
    thread = threading.Thread(target=Supervisor(theirs, PoolOfThese(workers)).serve, daemon=True)
    thread.start()
    try:
        ours.sendall(b"".join(map(encode, requests)))
        messages = received(ours)
        assert next(messages)["type"] == "hello"
        yield messages
    finally:
        ours.close()
        thread.join(PATIENCE)
        theirs.close()
    assert not thread.is_alive()


def received(connection: socket.socket) -> Iterator[JsonMessage]:
    decoder = Decoder()
    while data := connection.recv(2**20):
        yield from decoder.feed(data)


def test_an_answer_that_came_with_the_exit_is_forwarded(tmp_path: Path) -> None:
    worker = StandInWorker(tmp_path, lambda worker: os.write(worker.reports, encode(ANSWER)))
    with supervised(worker) as messages:
        assert next(messages) == ANSWER
    os.close(worker.output)


def test_a_death_shows_while_something_is_printed_without_end(tmp_path: Path) -> None:
    worker = StandInWorker(tmp_path, lambda worker: None)
    with printing(worker.output), supervised(worker) as messages:
        death = next(messages)
    assert (death["type"], death["id"], death["exit"]) == ("failed", 1, 3)


def test_a_closed_output_is_not_looked_at_again(tmp_path: Path) -> None:
    worker = StandInWorker(tmp_path, lambda worker: None, lives=3)
    os.close(worker.output)
    with supervised(worker) as messages:
        next(messages)
    assert worker.output_reads == 1


def test_a_trace_does_not_wait_for_the_end_of_the_one_that_is_cancelled(tmp_path: Path) -> None:
    def answer(worker: StandInWorker) -> None:
        os.write(worker.reports, encode({**ANSWER, "id": worker.id}))

    cancelled, wanted = StandInWorker(tmp_path, answer, lives=3), StandInWorker(tmp_path, answer)
    requests = (REQUEST, {"type": "cancel", "id": 1}, {**REQUEST, "id": 2})
    with supervised(cancelled, wanted, requests=requests) as messages:
        assert next(messages) == {**ANSWER, "id": 2}
        assert (cancelled.kills, wanted.kills) == (1, 0)
        eventually(lambda: cancelled.is_reaped)
    for worker in (cancelled, wanted):
        os.close(worker.output)


def test_a_started_process_has_not_exited_before_its_messages_have_arrived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "worker.py"
    script.write_text(f"import os\nos.write(1, {encode(ANSWER)!r})\n", encoding="utf-8")
    monkeypatch.setattr(spawned_worker, "BOOTSTRAP", str(script))
    monkeypatch.setattr(spawned_worker, "_SILENT_SECONDS", 1e9)
    monkeypatch.setattr(spawned_worker, "_MOST_SECONDS", 1e9)
    worker = SpawnedWorker(str(tmp_path), ())
    worker.id = 1
    eventually(lambda: not worker.is_alive)
    assert [worker.has_exited(), worker.has_exited()] == [False, False]
    assert worker.read(worker.report_pipe) == [encode(ANSWER)]
    monkeypatch.setattr(spawned_worker, "_SILENT_SECONDS", 0.0)
    eventually(worker.has_exited)
    assert worker.reap().exit == 0


def test_a_started_process_that_is_cancelled_before_it_is_ready_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "worker.py"
    script.write_text("import time\ntime.sleep(600)\n", encoding="utf-8")
    monkeypatch.setattr(spawned_worker, "BOOTSTRAP", str(script))
    monkeypatch.setattr(spawned_worker, "START_SECONDS", 0.0)
    worker = SpawnedWorker(str(tmp_path), ())
    worker.assign(TraceRequest.from_json(dict(REQUEST)))
    worker.cancel()
    worker.enforce_limits()
    death = worker.reap()
    assert (death.signal, death.limit) == (signal.SIGKILL, None)


@contextmanager
def printing(descriptor: int) -> Iterator[None]:
    """Write to a pipe as much as is read from it, and close it at the end."""

    def write() -> None:
        with suppress(BrokenPipeError):
            while True:
                os.write(descriptor, b"printed" * 1000)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(PATIENCE)
        os.close(descriptor)

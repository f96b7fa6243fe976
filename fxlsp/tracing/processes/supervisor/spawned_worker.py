"""Worker that is spawned as a separate process, which imports torch itself.

It uses nothing that Windows lacks: it communicates over its standard streams, and its stack is written to a file in its
scratch folder.
"""

from __future__ import annotations

import errno
import math
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from ....wire.messages import (
    START_SECONDS,
    WIRE,
    DumpStack,
    Hello,
    Preload,
    Provisional,
    Refused,
    ReportMessage,
    TraceRequest,
    WorkerDied,
)
from ....wire.vocabulary import WireMessage
from ...isolation.child_processes.crash_dump import has_all_threads
from ...isolation.child_processes.fallback_report import ENDED_EARLY, with_reason
from .worker_handle import REAP_SECONDS, STACK_SECONDS, ExitStatus, WorkerHandle

BOOTSTRAP = str(Path(__file__).absolute().parents[2] / "bootstrap.py")
SPAWNED_OPTION = "--spawned"
STACK_FILE = "fxlsp-stack"
"""Name of the file in the scratch folder to which a dying worker writes its stack."""
_MAX_STACK = 2**20
"""Bytes of a stack that are read."""
_SILENT_SECONDS = 1.0
"""Time without a message after which everything has arrived from a process that has exited."""
_MOST_SECONDS = 10.0
"""The same if messages do not end: a process that it has left behind sends them."""
_ACCESS_VIOLATION = 0xC0000005
"""Exit code on Windows of what other systems report as a segmentation fault."""
_WHY_AT_LIMIT = {
    "time": "took too long",
    "memory": "needed too much memory",
    "processes": "started too many processes",
    "written": "wrote too much",
}


class SpawnedWorker(WorkerHandle):
    """Worker that accepts a request before it is ready, and sends it when it is."""

    def __init__(self, folder: str, names: Iterable[str]) -> None:
        """``names`` are packages to import before a request."""
        super().__init__(folder)
        self.hello: Hello | Refused | None = None
        """Its first message, about its interpreter."""
        self._request: TraceRequest | None = None
        """Its request, until it is ready to receive it."""
        self._fallback: bytes | None = None
        """The report to use if the worker dies before it sends a better one."""
        self._is_next_fallback = False
        self._exit_seen = math.inf
        """When it was first seen that the process has exited."""
        self._last_heard = -math.inf
        """When the last of its messages arrived."""
        try:
            self._process = subprocess.Popen(
                [sys.executable, BOOTSTRAP, SPAWNED_OPTION, self._scratch.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError:
            self._scratch.release()
            raise
        self.pid = self._process.pid
        try:
            self._reports, self._prints = _socket_pipes(self._process)
        except OSError:
            self._scratch.release()
            raise
        self.report_pipe = self._reports.socket.fileno()
        self.preload(names)

    @property
    def pipes(self) -> tuple[int, int]:
        return (self.report_pipe, self._prints.socket.fileno())

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def preload(self, names: Iterable[str]) -> None:
        """Make the worker import packages before it executes a request."""
        listed = tuple(names)
        if listed:
            self._pending_ready += 1
            self._send(Preload(listed).encoded())

    def withdraw_request(self) -> bool:
        """Take back a request that was not sent yet; return whether that was so.

        The worker is as good as new then.
        """
        if self._request is None:
            return False
        self._request, self.id = None, -1
        return True

    def read(self, pipe: int) -> list[bytes] | None:
        source = self._reports if pipe == self.report_pipe else self._prints
        try:
            data = source.socket.recv(2**20)
        except OSError:
            data = b""
        if not data:
            return None
        if source is self._reports:
            self._last_heard = time.monotonic()
            return self._forwarded_frames(data)
        self._append_output(data)
        return []

    def has_exited(self) -> bool:
        if self._process.poll() is None:
            return False
        now = time.monotonic()
        self._exit_seen = min(self._exit_seen, now)
        # A thread copies what it wrote: that has arrived once nothing comes any more.
        is_silent = now - max(self._exit_seen, self._last_heard) > _SILENT_SECONDS
        return is_silent or now - self._exit_seen > _MOST_SECONDS

    def cancel(self) -> None:
        self._request = None
        super().cancel()

    def enforce_limits(self) -> None:
        if self._request is None:
            super().enforce_limits()
        elif time.monotonic() - self._started > START_SECONDS:
            self._kill_at_limit("time")

    def _start(self, request: TraceRequest) -> None:
        self._request, self._started = request, time.monotonic()
        self._start_if_ready()

    def _start_if_ready(self) -> None:
        if self.is_ready and self._request is not None:
            request, self._request = self._request, None
            super()._start(request)

    def _handle(self, message: WireMessage | None, payload: bytes) -> bool:
        if self._is_next_fallback:
            self._fallback, self._is_next_fallback = payload, False
        elif isinstance(message, Provisional):
            self._is_next_fallback = True
        elif isinstance(message, (Hello, Refused)):
            self.hello = message
            # On Windows the started process is a virtual environment's python.exe, which starts another.
            if isinstance(message, Hello) and message.pid is not None:
                self.pid = message.pid
        else:
            is_forwarded = super()._handle(message, payload)
            self._start_if_ready()
            return is_forwarded
        return False

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def _request_stack(self) -> None:
        self._send(DumpStack().encoded())
        deadline = time.monotonic() + STACK_SECONDS
        while time.monotonic() < deadline and not has_all_threads(self._dumped_stack()):
            time.sleep(0.005)

    def _dumped_stack(self) -> bytes:
        path = os.path.join(self._scratch.path, STACK_FILE)
        # The code of a model may have put anything in its place, of which reading may never end.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with suppress(OSError), os.fdopen(os.open(path, flags), "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(_MAX_STACK)
        return b""

    def _kill(self) -> None:
        self._process.kill()
        if hasattr(os, "killpg"):
            # The worker leads a group of its own, to which the processes belong that it has started.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def final_message(self, death: WorkerDied) -> WireMessage:
        """Return the fallback report if the worker sent one, else the death."""
        answer = None if self._fallback is None else WIRE.decode(self._fallback)
        if not isinstance(answer, ReportMessage):
            return death
        return with_reason(answer, _WHY_AT_LIMIT.get(death.limit or "", ENDED_EARLY))

    def _wait_for_exit(self) -> ExitStatus:
        try:
            self._process.wait(0 if self.done else REAP_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
        code = self._process.wait()
        self._append_output(self._prints.read_rest(REAP_SECONDS))
        self._stack = self._dumped_stack()
        self._close()
        if code in (_ACCESS_VIOLATION, _ACCESS_VIOLATION - 2**32):
            return ExitStatus(exit=None, signal=signal.SIGSEGV)
        return ExitStatus(exit=code, signal=None) if code >= 0 else ExitStatus(exit=None, signal=-code)

    def _close(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._reports.close()
        self._prints.close()


def _socket_pipes(process: subprocess.Popen[bytes]) -> tuple[SocketPipe, SocketPipe]:
    """Return what the process writes to its standard output and error, as sockets.

    Raises:
        OSError: the system has no resources for them; the process was killed.
    """
    pipes = (process.stdin, process.stdout, process.stderr)
    _, output, errors = pipes
    assert output is not None
    assert errors is not None
    copied: list[SocketPipe] = []
    try:
        for pipe in (output, errors):
            copied.append(SocketPipe(pipe))  # noqa: PERF401  # those before a failure are closed
    except (OSError, RuntimeError) as error:
        process.kill()
        process.wait()
        for each in copied:
            each.close()
        for unused in (pipes[0], *pipes[1 + len(copied) :]):
            if unused is not None:
                unused.close()
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error
    reports, prints = copied
    return reports, prints


class SocketPipe:
    """Thread that copies from ``pipe`` to ``socket``, both of which it owns.

    Windows can wait for sockets, not for pipes.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        """
        Raises:
            OSError: there are no more descriptors.
            RuntimeError: there are no more threads.
        """
        self.socket, other_end = socket.socketpair()
        self._thread = threading.Thread(target=_copy, args=(pipe, other_end), daemon=True, name="fxlsp pipe")
        try:
            self._thread.start()
        except RuntimeError:
            self.socket.close()
            other_end.close()
            raise

    def read_rest(self, seconds: float) -> bytes:
        """Return what an exited process has still written, as far as it arrives in time.

        A process that it has left behind may go on writing.
        """
        data = b""
        deadline = time.monotonic() + seconds
        with suppress(OSError):
            while (left := deadline - time.monotonic()) > 0:
                self.socket.settimeout(left)
                piece = self.socket.recv(2**16)
                if not piece:
                    break
                data += piece
        return data

    def close(self) -> None:
        """Close the socket; the thread ends with the pipe, or at the next bytes."""
        self.socket.close()


def _copy(pipe: IO[bytes], other_end: socket.socket) -> None:
    with other_end, pipe, suppress(OSError):
        while data := os.read(pipe.fileno(), 2**16):
            other_end.sendall(data)

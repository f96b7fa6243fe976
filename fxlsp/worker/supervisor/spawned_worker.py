"""A child that is started as a process of its own, with torch imported by itself.

Uses nothing that Windows lacks: it speaks over its standard streams, and its stack is a file in its scratch folder.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

from ...wire.messages import (
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
from ...wire.vocabulary import WireMessage
from ..processes.fallback_report import ENDED_EARLY, with_reason
from .socket_pipe import Pump
from .worker_handle import REAP_SECONDS, STACK_SECONDS, Ending, Offspring

BOOTSTRAP = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bootstrap.py")
SPARE = "--spare"
STACK_FILE = "fxlsp-stack"
"""In the scratch folder: what a dying child tells of where it was."""
_START_SECONDS = 60.0
"""What it has to import torch once somebody waits for it."""
_ACCESS_VIOLATION = 0xC0000005
"""The exit code of what other systems call a segmentation fault."""
_WHY_AT_LIMIT = {"time": "took too long", "memory": "needed too much memory"}


class Spawned(Offspring):
    """Takes a request at once, and hands it over when it is ready."""

    def __init__(self, folder: str, names: Iterable[str]) -> None:
        """``names`` are packages to import ahead of its request."""
        super().__init__(folder)
        self.greeting: Hello | Refused | None = None
        """What it says about its interpreter."""
        self._request: TraceRequest | None = None
        """What it is to do, until it is ready to."""
        self._provisional: bytes | None = None
        """The answer to give if it does not live to give a better one."""
        self._holds_next = False
        self._process = subprocess.Popen(
            [sys.executable, BOOTSTRAP, SPARE, self._scratch],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.pid = self._process.pid
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._reports, self._prints = Pump(self._process.stdout), Pump(self._process.stderr)
        self.report_pipe = self._reports.socket.fileno()
        self.preload(names)

    @property
    def pipes(self) -> tuple[int, int]:
        return (self.report_pipe, self._prints.socket.fileno())

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def preload(self, names: Iterable[str]) -> None:
        """Have it import packages before it carries out a request."""
        listed = tuple(names)
        if listed:
            self._owed += 1
            self._hand_over(Preload(listed).encoded())

    def withdraw(self) -> bool:
        """Whether the request could be taken from it before it saw it: it is as good as new then."""
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
        if source is self._reports:
            return self._pass_on(data) if data else None
        self._printed(data)
        return []

    def enforce_limits(self) -> None:
        if self._request is None:
            super().enforce_limits()
        elif time.monotonic() - self._started > _START_SECONDS:
            self._end_at("time")

    def _begin(self, request: TraceRequest) -> None:
        self._request, self._started = request, time.monotonic()
        self._start_if_ready()

    def _start_if_ready(self) -> None:
        if self.is_ready and self._request is not None:
            request, self._request = self._request, None
            super()._begin(request)

    def _heard(self, message: WireMessage | None, payload: bytes) -> bool:
        if self._holds_next:
            self._provisional, self._holds_next = payload, False
        elif isinstance(message, Provisional):
            self._holds_next = True
        elif isinstance(message, (Hello, Refused)):
            self.greeting = message
            # On Windows, what was started is a virtual environment's python.exe, which starts another.
            if isinstance(message, Hello) and message.pid is not None:
                self.pid = message.pid
        else:
            is_passed_on = super()._heard(message, payload)
            self._start_if_ready()
            return is_passed_on
        return False

    def _hand_over(self, data: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def _ask_for_stack(self) -> None:
        self._hand_over(DumpStack().encoded())
        deadline = time.monotonic() + STACK_SECONDS
        while time.monotonic() < deadline and not self._told():
            time.sleep(0.005)

    def _told(self) -> bytes:
        with suppress(OSError), open(os.path.join(self._scratch, STACK_FILE), "rb") as file:
            return file.read()
        return b""

    def _kill(self) -> None:
        self._process.kill()

    def answer_for(self, death: WorkerDied) -> WireMessage:
        """Return the answer that it gave ahead, if it did."""
        answer = None if self._provisional is None else WIRE.decode(self._provisional)
        if not isinstance(answer, ReportMessage):
            return death
        return with_reason(answer, _WHY_AT_LIMIT.get(death.limit or "", ENDED_EARLY))

    def _reap(self) -> Ending:
        try:
            self._process.wait(0 if self.done else REAP_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
        code = self._process.wait()
        self._printed(self._prints.rest(REAP_SECONDS))
        self._stack = self._told()
        self._close()
        if code in (_ACCESS_VIOLATION, _ACCESS_VIOLATION - 2**32):
            return Ending(exit=None, signal=signal.SIGSEGV)
        return Ending(exit=code, signal=None) if code >= 0 else Ending(exit=None, signal=-code)

    def _close(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._reports.close()
        self._prints.close()

"""What the template knows of one running child: its pipes, its limits, how it ended."""

from __future__ import annotations

import math
import os
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Iterable, Mapping
from contextlib import suppress

from ..report.wire import Message, Splitter, decode, encode, framed
from .child import FAULT, STACK_SIGNAL, Pipes, become_child
from .death import end_group
from .last_words import TIME_LIMIT_MARK, parse_stack
from .sibling import resident_megabytes, write_all

_TAIL = 4096
"""Bytes kept of what a child prints."""
_GRACE_SECONDS = 1.0
"""A child's own watchdog ends it at its limit; after this much more the template does."""
_LOW_PRIORITY = 10
_REAP_SECONDS = 0.2
_STACK_SECONDS = 0.1
_PARSED = 512
"""Bytes; longer frames are results and pass on unread."""


class Offspring:
    """A forked child from its fork to its burial. It gets ready by itself, and waits for one request."""

    def __init__(self, close_in_child: Iterable[int]) -> None:
        """``close_in_child`` are descriptors of the template's that are none of the child's business."""
        self.id = -1
        """The request it carries out; -1 while it waits for one."""
        self.done = False
        """Whether its result has passed."""
        self._limits = {"seconds": math.inf, "megabytes": math.inf}
        self._started = time.monotonic()
        self._scratch = tempfile.mkdtemp(prefix="fxlsp-")
        self._stage = "start"
        self._splitter = Splitter()
        self._output = b""
        self._stack = b""
        self._limit: str | None = None
        job_end, self._job_pipe = os.pipe()
        self.report_pipe, report_end = os.pipe()
        self.stack_pipe, stack_end = os.pipe()
        self.output_pipe, output_end = os.pipe()
        theirs = Pipes(job_end, report_end, stack_end, output_end)
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for descriptor in (*close_in_child, *self.descriptors):
                    os.close(descriptor)
                become_child(theirs, self._scratch)
            except BaseException:
                traceback.print_exc()
            finally:
                # Whatever goes wrong, the template's own code must not run on here and end its children.
                os._exit(FAULT)
        for descriptor in theirs:
            os.close(descriptor)

    @property
    def pipes(self) -> tuple[int, int, int]:
        """The template's ends to read from."""
        return (self.report_pipe, self.stack_pipe, self.output_pipe)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Every descriptor that the template holds for this child."""
        return (self._job_pipe, *self.pipes) if self._job_pipe >= 0 else self.pipes

    def assign(self, request: Message, texts: Mapping[str, str]) -> None:
        """Give the child its request, with the unsaved texts that it names."""
        self.id = request["id"]
        self._limits = request["limits"]
        self._started = time.monotonic()
        with suppress(BrokenPipeError):
            # A child that died while it waited is found dead when its report pipe is read.
            write_all(self._job_pipe, encode({**request, "texts": dict(texts)}))
        os.close(self._job_pipe)
        self._job_pipe = -1

    def yield_to_others(self) -> None:
        """Leave the processors to whatever else wants them."""
        with suppress(OSError):
            os.setpriority(os.PRIO_PGRP, self.pid, _LOW_PRIORITY)

    def read(self, pipe: int) -> list[bytes] | None:
        """Frames to pass on; None when the child has closed its report pipe, and so has ended."""
        data = os.read(pipe, 2**20)
        if pipe == self.report_pipe:
            return self._pass_on(data) if data else None
        if pipe == self.stack_pipe:
            self._stack += data
        else:
            self._output = (self._output + data)[-_TAIL:]
        return []

    def _pass_on(self, data: bytes) -> list[bytes]:
        frames = []
        for payload in self._splitter.feed(data):
            message = decode(payload) if len(payload) <= _PARSED else {"type": "report"}
            if message["type"] == "stage":
                self._stage = message["name"]
            else:
                self.done = True
            frames.append(framed(payload))
        return frames

    def enforce_limits(self) -> None:
        """End the child if it is over its time or memory; its report pipe then closes."""
        if time.monotonic() - self._started > self._limits["seconds"] + _GRACE_SECONDS:
            self._end_at("time")
        elif resident_megabytes(self.pid) > self._limits["megabytes"]:
            self._end_at("memory")

    def _end_at(self, limit: str) -> None:
        if self._limit is not None:
            return
        self._limit = limit
        os.kill(self.pid, STACK_SIGNAL)
        os.set_blocking(self.stack_pipe, False)
        deadline = time.monotonic() + _STACK_SECONDS
        while time.monotonic() < deadline and not self._stack:
            time.sleep(0.005)
            with suppress(BlockingIOError):
                self._stack += os.read(self.stack_pipe, 2**16)
        os.killpg(self.pid, signal.SIGKILL)

    def bury(self) -> Message:
        """Reap the child and everything it left, and say how it ended: a ``failed`` message."""
        status = self._reap()
        for pipe in (self.stack_pipe, self.output_pipe):
            self._drain(pipe)
        for descriptor in self.descriptors:
            os.close(descriptor)
        shutil.rmtree(self._scratch, ignore_errors=True)
        stack = self._stack.decode("ascii", "replace")
        limit = "time" if stack.startswith(TIME_LIMIT_MARK) else self._limit
        return {
            "type": "failed",
            "id": self.id,
            "stage": self._stage,
            "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "limit": limit,
            "stack": parse_stack(stack),
            "stderr_tail": self._output.decode("utf-8", "replace"),
        }

    def _reap(self) -> int:
        """The exit status. A child that closed its pipe is about to end; one that is not is killed."""
        deadline = time.monotonic() + (0 if self.done else _REAP_SECONDS)
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() >= deadline:
                os.kill(self.pid, signal.SIGKILL)
                _, status = os.waitpid(self.pid, 0)
                break
            time.sleep(0.001)
        end_group(self.pid)
        return status

    def _drain(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        try:
            while data := os.read(pipe, 2**16):
                if pipe == self.stack_pipe:
                    self._stack += data
                else:
                    self._output = (self._output + data)[-_TAIL:]
        except BlockingIOError:
            # Something that the child left behind still holds the other end.
            pass

"""A child that is forked: from the template, or from a holder that is a fork of another child."""

from __future__ import annotations

import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeAlias

from ...wire.messages import CheckpointForked
from ...wire.vocabulary import WireMessage
from ..processes.fds import EXIT_INTERNAL_ERROR, WorkerPipes, write_all
from ..processes.lifetime import kill_group
from .worker_handle import REAP_SECONDS, STACK_SECONDS, Ending, Offspring
from .worker_main import STACK_SIGNAL, become_child

Fork: TypeAlias = "Callable[[Forked, WorkerPipes, str], int]"
"""Makes the process of a child, with its ends of the pipes and its scratch folder; its number."""


def fork_here(close_in_child: Iterable[int]) -> Fork:
    """From this process; ``close_in_child`` are descriptors that are none of the child's business."""

    def fork(child: Forked, pipes: WorkerPipes, scratch: str) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                for descriptor in (*close_in_child, *child.descriptors):
                    os.close(descriptor)
                become_child(pipes, scratch)
            except BaseException:
                traceback.print_exc()
            finally:
                # Whatever goes wrong, the template's own code must not run on here and end its children.
                os._exit(EXIT_INTERNAL_ERROR)
        return pid

    return fork


class Forked(Offspring):
    """Speaks over pipes, and leads a process group of its own."""

    def __init__(self, folder: str, fork: Fork) -> None:
        """Raises whatever ``fork`` raises."""
        super().__init__(folder)
        self.holder: int | None = None
        """A process that it has forked, for later traces of the same file, until somebody takes it over."""
        job_end, self._job_pipe = os.pipe()
        self.report_pipe, report_end = os.pipe()
        self._stack_pipe, stack_end = os.pipe()
        self._output_pipe, output_end = os.pipe()
        ours, holders_end = socket.socketpair()
        self._holders: socket.socket | None = ours
        theirs = WorkerPipes(job_end, report_end, stack_end, output_end, holders_end.detach())
        try:
            self.pid = fork(self, theirs, self._scratch)
        except BaseException:
            self._close()
            self._remove_scratch()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    @property
    def pipes(self) -> tuple[int, int, int]:
        """The template's ends to read from."""
        return (self.report_pipe, self._stack_pipe, self._output_pipe)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Every descriptor that the template holds for this child."""
        jobs = () if self._job_pipe < 0 else (self._job_pipe,)
        holders = () if self._holders is None else (self._holders.fileno(),)
        return (*self.pipes, *jobs, *holders)

    def take_holder(self) -> tuple[int, socket.socket] | None:
        """The holder that it has forked, and what to speak to it on, which then belong to whoever asked."""
        if self.holder is None or self._holders is None:
            return None
        taken = self.holder, self._holders
        self.holder = self._holders = None
        return taken

    def read(self, pipe: int) -> list[bytes] | None:
        data = os.read(pipe, 2**20)
        if pipe == self.report_pipe:
            return self._pass_on(data) if data else None
        self._keep(pipe, data)
        return []

    def _keep(self, pipe: int, data: bytes) -> None:
        if pipe == self._stack_pipe:
            self._stack += data
        else:
            self._printed(data)

    def _hand_over(self, data: bytes) -> None:
        with suppress(BrokenPipeError):
            write_all(self._job_pipe, data)
        os.close(self._job_pipe)
        self._job_pipe = -1

    def _ask_for_stack(self) -> None:
        os.kill(self.pid, STACK_SIGNAL)
        os.set_blocking(self._stack_pipe, False)
        deadline = time.monotonic() + STACK_SECONDS
        while time.monotonic() < deadline and not self._stack:
            time.sleep(0.005)
            with suppress(BlockingIOError):
                self._stack += os.read(self._stack_pipe, 2**16)

    def _heard(self, message: WireMessage | None, payload: bytes) -> bool:
        if isinstance(message, CheckpointForked):
            self.holder = message.pid
            return False
        return super()._heard(message, payload)

    def _kill(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)

    def _reap(self) -> Ending:
        status = self._status()
        for pipe in (self._stack_pipe, self._output_pipe):
            self._drain(pipe)
        self._close()
        return Ending(
            exit=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        )

    def _close(self) -> None:
        for descriptor in (*self.pipes, *(() if self._job_pipe < 0 else (self._job_pipe,))):
            os.close(descriptor)
        if self._holders is not None:
            self._holders.close()

    def _status(self) -> int:
        """The exit status. A child that closed its pipe is about to end; one that is not is killed."""
        deadline = time.monotonic() + (0 if self.done else REAP_SECONDS)
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() >= deadline:
                os.kill(self.pid, signal.SIGKILL)
                _, status = os.waitpid(self.pid, 0)
                break
            time.sleep(0.001)
        kill_group(self.pid)
        return status

    def _drain(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        # Blocking: something that the child left behind still holds the other end.
        with suppress(BlockingIOError):
            while data := os.read(pipe, 2**16):
                self._keep(pipe, data)

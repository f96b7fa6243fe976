"""Worker that is forked, from the supervisor or from a checkpoint."""

from __future__ import annotations

import os
import signal
import socket
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from ....wire.messages import CheckpointForked
from ....wire.vocabulary import WireMessage
from ...isolation.child_processes.fds import EXIT_INTERNAL_ERROR, WorkerPipes, close_supervisor_only, write_all
from ...isolation.child_processes.lifetime import is_own_child, kill_group
from ...isolation.sandbox.containment import Containment
from ..worker.worker_main import STACK_SIGNAL, run_worker
from .scratch_folder import ScratchFolder
from .worker_handle import REAP_SECONDS, STACK_SECONDS, ExitStatus, WorkerHandle

Fork: TypeAlias = "Callable[[ForkedWorker, WorkerPipes, str], int]"
"""Forks a worker's process, given the worker's ends of the pipes and its scratch folder; returns the process id."""


def fork_from_supervisor(close_in_child: Iterable[int], containment: Containment) -> Fork:
    """Return a function that forks this process.

    Args:
        close_in_child: Descriptors of the supervisor that the worker must not have.
        containment: What the operating system shall refuse to the worker.
    """

    def fork(worker: ForkedWorker, pipes: WorkerPipes, scratch: str) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                close_supervisor_only()
                for descriptor in (*close_in_child, *worker.descriptors):
                    os.close(descriptor)
                run_worker(pipes, scratch, containment)
            except BaseException:
                traceback.print_exc()
            finally:
                # Even after an error, the supervisor's own code must not continue here and kill its workers.
                os._exit(EXIT_INTERNAL_ERROR)
        return pid

    return fork


class TakenCheckpoint(NamedTuple):
    """Checkpoint that a worker has forked."""

    pid: int
    connection: socket.socket
    scratch: ScratchFolder
    """The worker's folder, held for the caller. Processes forked from the checkpoint can write to no other."""


_Pipe: TypeAlias = "tuple[int, int]"


def _open_pipes() -> tuple[_Pipe, _Pipe, _Pipe, _Pipe, tuple[socket.socket, socket.socket]]:
    """Return four pipes and a pair of sockets.

    Raises:
        OSError: there are not enough descriptors; none of them is open then.
    """
    opened: list[_Pipe] = []
    try:
        for _ in range(4):
            opened.append(os.pipe())  # noqa: PERF401  # those before a failure are closed
        jobs, reports, stacks, outputs = opened
        return jobs, reports, stacks, outputs, socket.socketpair()
    except OSError:
        for descriptor in (each for pipe in opened for each in pipe):
            os.close(descriptor)
        raise


class ForkedWorker(WorkerHandle):
    """Worker that communicates over pipes and leads a process group."""

    def __init__(self, folder: str | ScratchFolder, fork: Fork) -> None:
        """Fork the worker; an exception of ``fork`` is passed on."""
        super().__init__(folder)
        self.checkpoint_pid: int | None = None
        """Process id of a checkpoint that it has forked for later traces of the same file, until
        :meth:`take_checkpoint`."""
        try:
            jobs, reports, stacks, outputs, (own_end, checkpoint_end) = _open_pipes()
        except OSError:
            self._scratch.release()
            raise
        job_end, self._job_pipe = jobs
        self.report_pipe, report_end = reports
        self._stack_pipe, stack_end = stacks
        self._output_pipe, output_end = outputs
        self._checkpoint_socket: socket.socket | None = own_end
        worker_pipes = WorkerPipes(job_end, report_end, stack_end, output_end, checkpoint_end.detach())
        try:
            self.pid = fork(self, worker_pipes, self._scratch.path)
        except BaseException:
            self._close()
            self._scratch.release()
            raise
        finally:
            for descriptor in worker_pipes:
                os.close(descriptor)

    @property
    def pipes(self) -> tuple[int, int, int]:
        """The supervisor's ends of the pipes that it reads."""
        return (self.report_pipe, self._stack_pipe, self._output_pipe)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """All descriptors that the supervisor has open for this worker."""
        jobs = () if self._job_pipe < 0 else (self._job_pipe,)
        checkpoint_sockets = () if self._checkpoint_socket is None else (self._checkpoint_socket.fileno(),)
        return (*self.pipes, *jobs, *checkpoint_sockets)

    def take_checkpoint(self) -> TakenCheckpoint | None:
        """Return its checkpoint, which then belongs to the caller."""
        if self.checkpoint_pid is None or self._checkpoint_socket is None:
            return None
        taken = TakenCheckpoint(self.checkpoint_pid, self._checkpoint_socket, self._scratch)
        self._scratch.hold()
        self.checkpoint_pid = self._checkpoint_socket = None
        return taken

    def read(self, pipe: int) -> list[bytes] | None:
        data = os.read(pipe, 2**20)
        if not data:
            return None
        if pipe == self.report_pipe:
            return self._forwarded_frames(data)
        self._store(pipe, data)
        return []

    def has_exited(self) -> bool:
        if not hasattr(os, "waitid"):
            return False
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        return True

    def _store(self, pipe: int, data: bytes) -> None:
        if pipe == self._stack_pipe:
            self._stack += data
        else:
            self._append_output(data)

    def _send(self, data: bytes) -> None:
        with suppress(BrokenPipeError):
            write_all(self._job_pipe, data)
        os.close(self._job_pipe)
        self._job_pipe = -1

    def _request_stack(self) -> None:
        os.kill(self.pid, STACK_SIGNAL)
        os.set_blocking(self._stack_pipe, False)
        deadline = time.monotonic() + STACK_SECONDS
        while time.monotonic() < deadline:
            time.sleep(0.005)
            try:
                written = os.read(self._stack_pipe, 2**16)
            except BlockingIOError:
                written = b""
            self._stack += written
            if self._stack and not written:
                # Nothing more came: it is whole.
                break

    def _handle(self, message: WireMessage | None, payload: bytes) -> bool:
        if isinstance(message, CheckpointForked):
            if is_own_child(message.pid):
                self.checkpoint_pid = message.pid
            return False
        return super()._handle(message, payload)

    def _kill(self) -> None:
        # One that was just forked leads no group yet.
        for kill in (os.killpg, os.kill):
            with suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)

    def _wait_for_exit(self) -> ExitStatus:
        status = self._status()
        for pipe in (self._stack_pipe, self._output_pipe):
            self._drain(pipe)
        self._close()
        return ExitStatus(
            exit=os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        )

    def _close(self) -> None:
        for descriptor in (*self.pipes, *(() if self._job_pipe < 0 else (self._job_pipe,))):
            os.close(descriptor)
        if self._checkpoint_socket is not None:
            self._checkpoint_socket.close()
        self.checkpoint_pid = self._checkpoint_socket = None

    def _status(self) -> int:
        """Return the exit status; kill a worker that closed its pipe but does not exit."""
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
        deadline = time.monotonic() + REAP_SECONDS
        # A process that the worker left behind may hold the other end open, and go on writing.
        with suppress(BlockingIOError):
            while time.monotonic() < deadline and (data := os.read(pipe, 2**16)):
                self._store(pipe, data)

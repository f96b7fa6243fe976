"""Supervisor: the process that runs one worker for each trace.

It runs no workspace code. It is one thread that waits for the server and for its workers, so that the supervisor
responds whatever a worker does. Whether workers are forked or spawned is decided by the pool.
"""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from ....report.codes import DIED
from ....report.problems import Failure
from ....wire.frames import Decoder, WireError
from ....wire.messages import (
    WIRE,
    Bye,
    Cancel,
    FailureMessage,
    Hello,
    Log,
    Overlay,
    Preload,
    TraceRequest,
    WorkerDied,
)
from ....wire.vocabulary import UnknownMessage, WireMessage
from ...isolation.child_processes.fds import SUPERVISOR_ONLY
from .pool import WorkerPool
from .worker_handle import WorkerHandle

_POLL_SECONDS = 0.1
"""Interval at which running workers are checked: whether they have exited, and their limits."""
_RETRY_SECONDS = (0.05, 0.2)
"""Pauses before a worker is tried to be started again."""
_NEXT_WORKER_SECONDS = 0.3
"""Delay before the next worker is prepared beside a running trace: most traces are over by then."""


class Supervisor:
    """Server loop of one connection, which it serves until the server disconnects."""

    def __init__(self, connection: socket.socket, pool: WorkerPool) -> None:
        self._connection = connection
        self._pool = pool
        self._decoder = Decoder()
        self._texts: dict[str, str] = {}
        self._workers: dict[int, WorkerHandle] = {}
        self._next_worker_due = 0.0
        self._next_check = 0.0
        self._replaced = -1
        """Id of the last request whose worker was replaced by another."""
        self._selector = selectors.DefaultSelector()
        if isinstance(self._selector, selectors.EpollSelector):
            SUPERVISOR_ONLY.add(self._selector.fileno())
        self._is_closed = False

    def serve(self) -> None:
        """Send the handshake, then serve until ``bye`` or until the server disconnects."""
        try:
            self._handshake()
            while not self._is_closed:
                self._wait()
        finally:
            self._pool.close()

    def _handshake(self) -> None:
        answer = self._pool.handshake(self._connection)
        if isinstance(answer, Hello):
            self._send(replace(answer, remark=None))
            if answer.remark is not None:
                self._log("warning", answer.remark)
        else:
            self._is_closed = True
            if answer is not None:
                self._send(answer)
        self._selector.register(self._connection, selectors.EVENT_READ)

    def _wait(self) -> None:
        ready = self._selector.select(_POLL_SECONDS if self._workers else None)
        for key, _ in ready:
            if key.fileobj is self._connection:
                self._receive()
            else:
                self._forward(key.data, key.fd)
        if not self._workers or time.monotonic() >= self._next_check:
            self._next_check = time.monotonic() + _POLL_SECONDS
            self._check_workers()
        if not self._workers or time.monotonic() >= self._next_worker_due:
            # On a system without resources for one, the next request shows whether that has passed.
            with suppress(OSError):
                self._pool.prepare()

    def _check_workers(self) -> None:
        """Reap workers that have exited, and kill those that exceed a limit."""
        for worker in [worker for worker in self._workers.values() if worker.has_exited()]:
            self._reap_exited(worker)
        for worker in self._workers.values():
            worker.enforce_limits()
        self._pool.enforce_limits()

    def _reap_exited(self, worker: WorkerHandle) -> None:
        """Reap a worker whose pipes may be open still, in processes that it has left behind."""
        # It may have answered, and exited, since this loop has last looked for messages.
        for key, _ in self._selector.select(0):
            if key.data is worker:
                self._forward(worker, key.fd)
        if self._workers.get(worker.id) is worker:
            self._release(worker)
            self._reap(worker)

    def _receive(self) -> None:
        try:
            data = self._connection.recv(2**20)
            messages = [WIRE.parse(message) for message in self._decoder.feed(data)]
        except OSError:
            data, messages = b"", []
        except WireError as error:
            self._log("error", f"the tracing process does not understand the server: {error}")
            data, messages = b"", []
        if not data:
            self._is_closed = True
        for message in messages:
            self._handle(message)

    def _handle(self, message: WireMessage) -> None:
        match message:
            case Overlay():
                # The newest text of each path is enough: one that changes back is sent again.
                self._texts[message.path] = message.text
            case TraceRequest():
                texts = {os.path.realpath(path): self._texts[path] for path in message.overlays}
                self._start(replace(message, texts=texts))
            case Cancel():
                self._cancel(message.id)
            case Preload():
                self._preload(message.names)
            case Bye():
                self._is_closed = True
            case UnknownMessage():
                self._log("warning", f"unknown message {message.name!r}")
            case _:
                self._log("warning", f"unexpected message {message.type!r}")

    def _start(self, request: TraceRequest) -> None:
        worker = self._take(request)
        if worker is None:
            return
        # The editor waits for the newest trace: older ones, and front ends, have the processor time that it leaves.
        for each in self._workers.values() if request.frontend is None else (worker,):
            each.yield_to_others()
        worker.assign(request)
        self._track(worker)
        self._next_worker_due = time.monotonic() + _NEXT_WORKER_SECONDS

    def _take(self, request: TraceRequest) -> WorkerHandle | None:
        """Return a worker; None, after an answer that names the reason, if the system has no resources for one."""
        for pause in _RETRY_SECONDS:
            with suppress(OSError):
                return self._pool.take(request)
            time.sleep(pause)
        try:
            return self._pool.take(request)
        except OSError as error:
            text = f"No process could be started to trace {request.target.name}: the system reports {error.strerror!r}"
            failure = Failure(str(request.target), DIED, f"{text}. Trace again once it has resources.")
            self._send(FailureMessage(request.id, failure.to_json()))
            return None

    def _cancel(self, trace_id: int) -> None:
        worker = self._workers.get(trace_id)
        if worker is None:
            return
        self._release(worker)
        if worker.has_yielded or not self._pool.put_back(worker):
            # Its end takes a while, in which the next trace begins.
            worker.cancel()
            self._track(worker)

    def _forward(self, worker: WorkerHandle, pipe: int) -> None:
        if self._workers.get(worker.id) is not worker:
            return
        is_wanted = not worker.done
        frames = worker.read(pipe)
        if frames is not None:
            for frame in frames if is_wanted else ():
                self._send_bytes(frame)
        elif pipe == worker.report_pipe:
            self._release(worker)
            self._reap(worker)
        else:
            # A pipe at its end is always ready: the loop would not rest any more.
            self._selector.unregister(pipe)

    def _track(self, worker: WorkerHandle) -> None:
        self._workers[worker.id] = worker
        for pipe in worker.pipes:
            self._selector.register(pipe, selectors.EVENT_READ, worker)

    def _release(self, worker: WorkerHandle) -> None:
        """Stop tracking a worker."""
        del self._workers[worker.id]
        for pipe in worker.pipes:
            # One at its end was unregistered then.
            with suppress(KeyError):
                self._selector.unregister(pipe)

    def _reap(self, worker: WorkerHandle) -> None:
        death = worker.reap()
        self._pool.discard(worker)
        if worker.done:
            return
        if worker.assignment is not None and (worker.declined or self._is_replaced(worker, death)):
            self._start(worker.assignment)
        else:
            self._send(worker.final_message(death))

    def _is_replaced(self, worker: WorkerHandle, death: WorkerDied) -> bool:
        """Return whether another worker executes the request of one that was killed before it began; once a request."""
        if worker.has_started or death.signal is None or death.limit is not None or worker.id == self._replaced:
            return False
        self._replaced = worker.id
        return True

    def _preload(self, names: Sequence[str]) -> None:
        remark = None
        with suppress(OSError):
            remark = self._pool.preload(names)
        if remark is not None:
            self._log("info", remark)

    def _log(self, level: str, text: str) -> None:
        self._send(Log(level, text))

    def _send(self, message: WireMessage) -> None:
        self._send_bytes(message.encoded())

    def _send_bytes(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError:
            self._is_closed = True

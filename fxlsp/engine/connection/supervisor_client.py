"""Client of one interpreter's supervisor, which it starts and restarts."""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from fxlsp.engine.connection.connection import Connection, OnEarly, OnStage, Outcome
from fxlsp.engine.connection.handshake import StartError, connect
from fxlsp.engine.connection.process import BOOTSTRAP
from fxlsp.engine.connection.restart_limit import RestartLimit
from fxlsp.report.codes import NO_INTERPRETER
from fxlsp.report.problems import Failure
from fxlsp.report.report import Environment
from fxlsp.wire.messages import START_SECONDS, TraceRequest

__all__ = ["IDLE_SECONDS", "OnStage", "Outcome", "StartError", "SupervisorClient", "SupervisorState"]

IDLE_SECONDS = 600.0
"""Time without a trace after which the process is stopped; the next request starts it again."""

_log = logging.getLogger("fxlsp.engine")


class SupervisorState(enum.Enum):
    IDLE = "idle"
    """No process; the next request starts one."""
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    """The last start failed; a request after a pause tries again."""
    GAVE_UP = "gave up"
    """The process died too often; only :meth:`SupervisorClient.restart` tries again."""
    CLOSED = "closed"


class SupervisorClient:
    """Traces models under one interpreter. Use it on one loop, and :meth:`close` it."""

    def __init__(
        self,
        python: str,
        *,
        bootstrap: Path = BOOTSTRAP,
        executor: Executor | None = None,
        on_change: Callable[[], None] = lambda: None,
        handshake_seconds: float = START_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
        limit: RestartLimit | None = None,
    ) -> None:
        """
        Args:
            python: path of the interpreter.
            bootstrap: program of the supervisor.
            executor: decodes large reports; None is the loop's own.
            on_change: called after each change of ``state``.
            handshake_seconds: limit of the time from a start to its ``hello``.
            idle_seconds: time after the last trace after which the process is stopped.
            limit: limit of restarts; None is the default one.
        """
        self.python = python
        self.state = SupervisorState.IDLE
        self.environment: Environment | None = None
        """Versions, from the last successful start."""
        self.contained: tuple[str, ...] = ()
        """What the system refuses to a model's code (:class:`~fxlsp.wire.messages.Hello`), from that start too."""
        self.failure: Failure | None = None
        """Why the last start failed; None if it succeeded."""
        self._bootstrap = bootstrap
        self._executor = executor
        self._on_change = on_change
        self._handshake_seconds = handshake_seconds
        self._idle_seconds = idle_seconds
        self._limit = limit or RestartLimit()
        self._connection: Connection | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._active = 0
        self._closing: set[asyncio.Task[None]] = set()

    async def start(self) -> Environment:
        """Start the process if there is none, and wait until it has imported torch.

        Raises:
            StartError: it cannot be started; the error holds the failure to show.
        """
        return (await self._ready()).environment

    async def trace(
        self, request: TraceRequest, on_stage: OnStage | None = None, on_early: OnEarly | None = None
    ) -> Outcome:
        """Trace one model; see :meth:`.connection.Connection.trace`.

        A verdict of torch.export that needs a second export is asked for that too.
        """
        self._cancel_idle_timer()
        self._active += 1
        try:
            outcome = await self._traced(request, on_stage, on_early)
            if not outcome.needs_fixed_sizes:
                return outcome
            fixed = await self._traced(replace(request, fixed_sizes=True), on_stage, on_early)
            is_taken = fixed.frontend is not None and fixed.frontend.verdict == "ok"
            return outcome if is_taken else fixed
        except StartError as error:
            return Outcome(failure=replace(error.failure, target=str(request.target)))
        finally:
            self._active -= 1
            self._start_idle_timer()

    async def _traced(self, request: TraceRequest, on_stage: OnStage | None, on_early: OnEarly | None) -> Outcome:
        """Return the outcome of one request.

        Raises:
            StartError: there is no process, and none can be started.
        """
        outcome = await (await self._ready_for(request)).trace(request, on_stage, on_early)
        # Once more only: a trace that ends the supervisor would do so for ever.
        return await (await self._ready()).trace(request, on_stage, on_early) if outcome.lost else outcome

    async def restart(self) -> None:
        """Stop the process and forget its deaths; the next request starts a new one."""
        await self._stop_all()
        self._limit.reset()
        self.failure = None
        self._set_state(SupervisorState.IDLE)

    async def close(self) -> None:
        """Stop the process for good; pending requests fail with its exit."""
        self._set_state(SupervisorState.CLOSED)
        await self._stop_all()

    async def _ready_for(self, request: TraceRequest) -> Connection:
        """Return a connection to a process that has imported nothing of what the request edits."""
        connection = await self._ready()
        if connection.is_outdated_for(request.texts) and connection is self._connection:
            connection.retire()
            self._run_in_background(self._detach())
        return await self._ready()

    async def _ready(self) -> Connection:
        if self._connection is not None and not self._connection.ended:
            return self._connection
        if self._starting is None:
            self._check_start_allowed()
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(_retrieve_exception)
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            if starting.cancelled():
                raise StartError("The tracing process was ended while it started.") from None
            raise

    def _check_start_allowed(self) -> None:
        """Raise the last failure if a start now is not allowed.

        Raises:
            StartError: the client is closed, or must pause after a death.
        """
        if self.state is SupervisorState.CLOSED:
            raise StartError("The session is closing.")
        if self._limit.exhausted and self.state is not SupervisorState.GAVE_UP:
            self._give_up()
        if self.failure is not None and (self.state is SupervisorState.GAVE_UP or self._limit.pause):
            raise StartError.of(self.failure)

    def _give_up(self) -> None:
        reason = f" {self.failure.message}" if self.failure is not None else self._last_output()
        message = (
            f"The tracing process of {self.python} died five times in three minutes and is not started again.{reason}"
        )
        self.failure = Failure("", NO_INTERPRETER, f"{message} Restart it once the cause is removed.")
        _log.error("%s", self.failure.message)
        self._set_state(SupervisorState.GAVE_UP)

    def _last_output(self) -> str:
        tail = self._connection.process.tail if self._connection is not None else ()
        return f" Its last output: {tail[-1]}." if tail else ""

    async def _start(self) -> Connection:
        try:
            await asyncio.sleep(self._limit.pause)
            self._set_state(SupervisorState.STARTING)
            connection = await self._connect()
        except StartError as error:
            self._limit.record_death()
            if error.is_late:
                # Once more, for a pause: requests that wait meanwhile must not wait as long again, one after the other.
                self._limit.record_death()
            self.failure = error.failure
            self._set_state(SupervisorState.FAILED)
            raise
        finally:
            self._starting = None
        self._connection, self.environment, self.failure = connection, connection.environment, None
        self.contained = connection.contained
        self._watcher = asyncio.create_task(self._watch_exit(connection))
        self._set_state(SupervisorState.READY)
        self._start_idle_timer()
        return connection

    async def _connect(self) -> Connection:
        """Start a process; once more if it is killed meanwhile.

        Raises:
            StartError: it cannot be started.
        """
        try:
            return await connect(self.python, self._bootstrap, self._executor, self._handshake_seconds)
        except StartError as error:
            if not error.lost:
                raise
            self._limit.record_death()
        return await connect(self.python, self._bootstrap, self._executor, self._handshake_seconds)

    async def _watch_exit(self, connection: Connection) -> None:
        """Record an unexpected end of the process, and release its resources."""
        await connection.wait_ended()
        self._limit.record_death()
        _log.warning("The tracing process of %s ended by itself", self.python)
        self._run_in_background(connection.close())
        if self._connection is connection and self._starting is None:
            self._set_state(SupervisorState.IDLE)

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _start_idle_timer(self) -> None:
        """Stop the process after a time without traces.

        Torch takes half a gigabyte of memory.
        """
        self._cancel_idle_timer()
        if self._active == 0 and self.state is SupervisorState.READY:
            self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._stop_idle_process)

    def _stop_idle_process(self) -> None:
        self._set_state(SupervisorState.IDLE)
        self._run_in_background(self._detach())

    def _run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the end of a process in the background; :meth:`_stop_all` waits for it."""
        ending = asyncio.create_task(work)
        self._closing.add(ending)
        ending.add_done_callback(self._closing.discard)

    async def _stop_all(self) -> None:
        """Stop the process in whatever state it is."""
        await self._detach()
        await asyncio.gather(*self._closing)

    def _detach(self) -> Coroutine[Any, Any, None]:
        """Take the process out of use at once; awaiting the result waits for its end."""
        self._cancel_idle_timer()
        connection, self._connection = self._connection, None
        watching, self._watcher = self._watcher, None
        tasks = [task for task in (self._starting, watching) if task is not None]
        for task in tasks:
            task.cancel()
        return _close(tasks, connection)

    def _set_state(self, state: SupervisorState) -> None:
        if self.state not in (state, SupervisorState.CLOSED):
            self.state = state
            self._on_change()


async def _close(tasks: Sequence[asyncio.Task[Any]], connection: Connection | None) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)
    if connection is not None:
        await connection.close()


def _retrieve_exception(task: asyncio.Task[Connection]) -> None:
    """Retrieve the exception of a start that no caller waits for any more.

    asyncio would warn otherwise; ``failure`` holds the reason.
    """
    if not task.cancelled():
        task.exception()

"""What is said with one template process from its ``hello`` to its end."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from fxlsp.engine.connection.crash_failures import crash_failure, describe_exit
from fxlsp.engine.connection.process import Process
from fxlsp.report.codes import DIED
from fxlsp.report.problems import Failure
from fxlsp.report.report import Environment, Report
from fxlsp.wire.frames import WireError, text_digest
from fxlsp.wire.messages import (
    WIRE,
    Cancel,
    FailureMessage,
    Log,
    Overlay,
    Preload,
    ReportMessage,
    Stage,
    TraceRequest,
    WorkerDied,
)
from fxlsp.wire.vocabulary import UnknownMessage, WireMessage

OnStage = Callable[[str], None]
"""Called with ``load``, ``construct``, ``trace``, ``values`` and ``checks`` as a trace enters them."""

_GRACE_SECONDS = 15.0
"""What the template has, over the limit of a trace, to end it and say so; else the template is ended."""

_SPAWN_SECONDS = 60.0
"""What it has besides where it does not fork, and a trace may have to wait until a process has imported torch."""

_END_SECONDS = 1.0
"""What a process has to end by itself after it closed its channel."""

Answer = ReportMessage | FailureMessage | WorkerDied | None
"""To a request; None where the process is gone."""

_IDLE_SECONDS = 0.1
"""The template answers nothing while it imports: it does so when nobody is waiting."""
_MOST_REPEATED_IMPORTS = 3
"""Traces in a row that may each import the same packages anew before the next one waits for them instead."""

_log = logging.getLogger("fxlsp.engine")
_worker_log = logging.getLogger("fxlsp.worker")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request: a report, or the failure that stands in its place."""

    report: Report | None = None
    failure: Failure | None = None
    reads: Mapping[str, str] = field(default_factory=dict)
    """Digest of the text of each workspace file that was executed, by path."""
    imports: tuple[str, ...] = ()
    """Third-party packages that the trace loaded."""
    died: bool = False
    """The process that traced crashed, exited or was ended at a limit."""


class Connection:
    """Sends requests to a process that said ``hello``, and hands each answer to whom it is for."""

    def __init__(
        self, process: Process, environment: Environment, executor: Executor | None = None, *, forks: bool = True
    ) -> None:
        """``forks``: whether the process forks others, as it said."""
        self._grace_seconds = _GRACE_SECONDS if forks else _GRACE_SECONDS + _SPAWN_SECONDS
        self.process = process
        self.environment = environment
        self._executor = executor
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._on_stage: dict[int, OnStage] = {}
        self._sent: dict[str, str] = {}
        """Digest of the newest text sent, by path."""
        self._preloader = Preloader(lambda names: process.stream.send(Preload(names)))
        self._listening = asyncio.create_task(self._listen())

    @property
    def ended(self) -> bool:
        """The process is gone or does not speak the wire: nothing more can be asked of it."""
        return self._listening.done()

    async def wait_ended(self) -> None:
        await asyncio.wait({self._listening})

    async def trace(self, request: TraceRequest, on_stage: OnStage | None = None) -> Outcome:
        """The outcome of one trace. To cancel the task that awaits it is to cancel the trace."""
        number = next(self._ids)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        if on_stage is not None:
            self._on_stage[number] = on_stage
        self._preloader.trace_starts()
        try:
            self._send(number, request)
            outcome = await self._outcome(await self._answered(answer, request), request)
            self._preloader.trace_ended(outcome.imports, idle=len(self._answers) == 1)
            return outcome
        except asyncio.CancelledError:
            self.process.stream.send(Cancel(number))
            raise
        finally:
            self._answers.pop(number, None)
            self._on_stage.pop(number, None)

    async def close(self) -> None:
        """Ends the process; requests under way are answered with its death."""
        self._preloader.stop()
        await self.process.stop()
        await asyncio.wait({self._listening}, timeout=_END_SECONDS)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)

    def _send(self, number: int, request: TraceRequest) -> None:
        overlays = {path: text_digest(text) for path, text in request.texts.items()}
        for path, digest in overlays.items():
            if self._sent.get(path) != digest:
                self.process.stream.send(Overlay(path, digest, request.texts[path]))
                self._sent[path] = digest
        self.process.stream.send(replace(request, id=number, overlays=overlays, texts={}))

    async def _answered(self, answer: asyncio.Future[Answer], request: TraceRequest) -> Answer:
        if self.ended:
            return None
        done, _ = await asyncio.wait({answer}, timeout=request.limits.seconds + self._grace_seconds)
        if not done:
            _log.warning("The tracing process did not end %s at its limit; it is killed", request.target)
            self.process.kill()
        return await answer

    async def _outcome(self, message: Answer, request: TraceRequest) -> Outcome:
        loop = asyncio.get_running_loop()
        if message is None:
            return Outcome(failure=self._exit_failure(request), died=True)
        if isinstance(message, WorkerDied):
            failure = await loop.run_in_executor(self._executor, crash_failure, message, request)
            return Outcome(failure=failure, died=True)
        try:
            return await loop.run_in_executor(self._executor, _outcome_of, message)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            text = f"The tracing process sent an answer that fxlsp cannot read ({error!r})"
            return Outcome(failure=Failure(str(request.target), DIED, text), died=True)

    def _exit_failure(self, request: TraceRequest) -> Failure:
        end = describe_exit(self.process.exit_code)
        last = f" Its last output: {self.process.tail[-1]}" if self.process.tail else ""
        text = (
            f"The tracing process ended while it traced {request.target.name} ({end}); the next trace starts it again."
        )
        return Failure(str(request.target), DIED, text + last)

    async def _listen(self) -> None:
        try:
            while (message := await self.process.stream.receive()) is not None:
                self._dispatch(WIRE.parse(message))
        except WireError as error:
            _log.error("The tracing process sent data that is not a message: %s", error)
            self.process.kill()
        finally:
            await self._fail_pending()

    async def _fail_pending(self) -> None:
        """Answers what nobody will answer any more, once the exit code is known."""
        try:
            await self.process.wait(_END_SECONDS)
            self.process.kill()
            await self.process.wait(_END_SECONDS)
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_result(None)

    def _dispatch(self, message: WireMessage) -> None:
        match message:
            case Stage():
                if message.id in self._on_stage:
                    self._on_stage[message.id](message.name)
            case ReportMessage() | FailureMessage() | WorkerDied():
                answer = self._answers.get(message.id)
                if answer is not None and not answer.done():
                    answer.set_result(message)
            case Log():
                level = logging.getLevelName(message.level.upper())
                _worker_log.log(level if isinstance(level, int) else logging.INFO, "%s", message.message)
            case UnknownMessage():
                _log.debug("The tracing process sent an unknown message of type %s", message.name)
            case _:
                _log.debug("The tracing process sent a message of type %s, which is not for the server", message.type)


class Preloader:
    """Collects the packages that traces report, and tells the template of each once."""

    def __init__(self, preload: Callable[[tuple[str, ...]], None]) -> None:
        self._preload = preload
        self._sent_names: set[str] = set()
        self._waiting: set[str] = set()
        self._repeated_imports = 0
        self._timer: asyncio.TimerHandle | None = None

    def trace_starts(self) -> None:
        self.stop()
        if self._repeated_imports >= _MOST_REPEATED_IMPORTS:
            self._send_names()

    def trace_ended(self, imports: Iterable[str], idle: bool) -> None:
        """A trace imported these packages; ``idle`` if no other one is under way."""
        self._waiting |= set(imports) - self._sent_names
        if self._waiting:
            self._repeated_imports += 1
            if idle:
                self.stop()
                self._timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._send_names)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send_names(self) -> None:
        names = tuple(sorted(self._waiting))
        self._sent_names |= self._waiting
        self._waiting.clear()
        self._repeated_imports = 0
        self._preload(names)


def _outcome_of(message: ReportMessage | FailureMessage) -> Outcome:
    """The outcome that the answer to a request holds.

    Raises:
        KeyError, TypeError, AttributeError: it holds no report or failure.
    """
    reads = {read.path: read.digest for read in message.reads}
    if isinstance(message, ReportMessage):
        return Outcome(Report.from_json(message.report), None, reads, message.imports)
    return Outcome(None, Failure.from_json(message.failure), reads, message.imports)

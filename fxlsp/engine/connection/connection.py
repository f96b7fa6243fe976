"""Connection to one supervisor, from its ``hello`` to its end."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from fxlsp.engine.connection.crash_failures import crash_failure, crash_verdict, describe_exit
from fxlsp.engine.connection.preloader import Preloader
from fxlsp.engine.connection.process import Process
from fxlsp.report.codes import DIED
from fxlsp.report.frontends import FrontendVerdict
from fxlsp.report.problems import Failure
from fxlsp.report.report import Environment, Report
from fxlsp.wire.frames import WireError, text_digest
from fxlsp.wire.messages import (
    START_SECONDS,
    WIRE,
    Cancel,
    EarlyReport,
    FailureMessage,
    FrontendMessage,
    Hello,
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
"""Called with ``load``, ``construct``, ``trace``, ``values`` and ``checks`` as a trace enters these stages."""

_GRACE_SECONDS = 15.0
"""Time after the limit of a trace in which the supervisor must end it and report; then the supervisor is killed."""

_END_SECONDS = 1.0
"""Time in which a process that closed its stream must end."""

OnEarly = Callable[[Report, Mapping[str, str]], None]
"""Called with the graph of a trace whose problems are still to come, and the digests of the texts that were read."""

Answer = ReportMessage | FrontendMessage | FailureMessage | WorkerDied | None
"""Answer to a request; None if the supervisor ended."""

_log = logging.getLogger("fxlsp.engine")
_worker_log = logging.getLogger("fxlsp.worker")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a request: a report or the verdict of another front end, or the failure in its place."""

    report: Report | None = None
    failure: Failure | None = None
    frontend: FrontendVerdict | None = None
    needs_fixed_sizes: bool = False
    """The verdict holds only if that of the same request with ``fixed_sizes`` is "ok"."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """Digest of the text of each workspace file that was executed, by path."""
    imports: tuple[str, ...] = ()
    """Third-party packages that the trace imported."""
    died: bool = False
    """The worker crashed, exited or was killed at a limit."""
    lost: bool = False
    """The supervisor was killed by another process or the system: the trace may not be the reason."""


class Connection:
    """Sends requests to a supervisor and returns its answers to the callers."""

    def __init__(self, process: Process, hello: Hello, executor: Executor | None = None) -> None:
        """
        Args:
            process: a process that sent ``hello``.
            hello: that message.
            executor: decodes large reports; None is the loop's own.
        """
        # Where the supervisor spawns its workers, a trace may wait until one has imported torch.
        self._grace_seconds = _GRACE_SECONDS if hello.fork else _GRACE_SECONDS + START_SECONDS
        self.process = process
        self.environment = Environment(hello.python, hello.torch)
        self.contained = hello.contained
        self._executor = executor
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._on_stage: dict[int, OnStage] = {}
        self._on_early: dict[int, OnEarly] = {}
        self._early: dict[int, asyncio.Task[Report]] = {}
        """Graphs that precede their reports."""
        self._sent: dict[str, str] = {}
        """Digest of the newest text sent, by path."""
        self._preloader = Preloader(lambda names: process.stream.send(Preload(names)))
        self._is_retired = False
        self._listening = asyncio.create_task(self._listen())

    @property
    def ended(self) -> bool:
        """Whether the process ended or broke the protocol, so that no request can be sent."""
        return self._listening.done()

    def is_outdated_for(self, texts: Mapping[str, str]) -> bool:
        """Return whether the process has imported a file that is edited in ``texts``, so that it cannot trace it."""
        return self._preloader.is_outdated_for(texts)

    def retire(self) -> None:
        """Mark the traces that the end of the process will interrupt as lost: another process executes them."""
        self._is_retired = True

    async def wait_ended(self) -> None:
        await asyncio.wait({self._listening})

    async def trace(
        self, request: TraceRequest, on_stage: OnStage | None = None, on_early: OnEarly | None = None
    ) -> Outcome:
        """Return the outcome of one trace.

        Cancelling the task that awaits it cancels the trace.

        Args:
            request: the request.
            on_stage: called with each stage that the trace enters.
            on_early: called with the graph, if that is known before the problems.
        """
        number = next(self._ids)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        if on_stage is not None:
            self._on_stage[number] = on_stage
        if on_early is not None:
            self._on_early[number] = on_early
        self._preloader.trace_starts(request.texts)
        try:
            self._send(number, request)
            outcome = await self._outcome(number, await self._answered(answer, request), request)
            self._preloader.trace_ended(outcome.imports, idle=len(self._answers) == 1)
            return outcome
        except asyncio.CancelledError:
            self.process.stream.send(Cancel(number))
            raise
        finally:
            self._answers.pop(number, None)
            self._on_stage.pop(number, None)
            self._on_early.pop(number, None)
            if (early := self._early.pop(number, None)) is not None:
                early.cancel()

    async def close(self) -> None:
        """Stop the process; pending requests fail with its exit."""
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
        wants_early = number in self._on_early
        self.process.stream.send(replace(request, id=number, overlays=overlays, texts={}, early=wants_early))

    async def _answered(self, answer: asyncio.Future[Answer], request: TraceRequest) -> Answer:
        if self.ended:
            return None
        done, _ = await asyncio.wait({answer}, timeout=request.limits.seconds + self._grace_seconds)
        if not done:
            _log.warning("The tracing process did not end %s at its limit; it is killed", request.target)
            self.process.kill()
        return await answer

    async def _outcome(self, number: int, message: Answer, request: TraceRequest) -> Outcome:
        loop = asyncio.get_running_loop()
        if message is None:
            return Outcome(
                failure=self._exit_failure(request), died=True, lost=self.process.was_lost or self._is_retired
            )
        if isinstance(message, WorkerDied):
            failure = await loop.run_in_executor(self._executor, crash_failure, message, request)
            if request.frontend is not None:
                return Outcome(frontend=crash_verdict(message, request.frontend, failure), died=True)
            return Outcome(failure=failure, died=True)
        try:
            early = await self._early[number] if isinstance(message, ReportMessage) and message.follows_early else None
            return await loop.run_in_executor(self._executor, _outcome_of, message, early)
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
        """Resolve the pending requests once the exit code is known."""
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
            case EarlyReport():
                if message.id in self._on_early:
                    self._early[message.id] = asyncio.create_task(self._receive_early(message))
            case ReportMessage() | FrontendMessage() | FailureMessage() | WorkerDied():
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

    async def _receive_early(self, message: EarlyReport) -> Report:
        """Decode a graph, and give it to the caller whose trace still runs, unless a later graph has come meanwhile."""
        loop = asyncio.get_running_loop()
        report = await loop.run_in_executor(self._executor, Report.from_json, message.report)
        answer, last = self._answers.get(message.id), self._early.get(message.id)
        if answer is not None and not answer.done() and last is asyncio.current_task():
            self._on_early[message.id](report, _digests(message))
        return report


def _outcome_of(message: ReportMessage | FrontendMessage | FailureMessage, early: Report | None) -> Outcome:
    """Return the outcome that an answer holds; ``early`` is the report that has its graph, if that was sent before.

    Raises:
        KeyError, TypeError, AttributeError: the answer is not a valid report or failure.
    """
    if isinstance(message, FailureMessage):
        failure = Failure.from_json(message.failure)
        return Outcome(failure=failure, reads=_digests(message), imports=message.imports)
    if isinstance(message, FrontendMessage):
        return Outcome(frontend=message.verdict, needs_fixed_sizes=message.needs_fixed_sizes)
    report = Report.from_json(message.report)
    if early is not None:
        report = replace(report, nodes=early.nodes, modules=early.modules, calls=early.calls)
    if message.symbolic is not None:
        report = message.symbolic.applied(report)
    return Outcome(report, reads=_digests(message), imports=message.imports)


def _digests(message: EarlyReport | ReportMessage | FailureMessage) -> dict[str, str]:
    return {read.path: read.digest for read in message.reads}

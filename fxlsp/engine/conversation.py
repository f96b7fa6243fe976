"""What is said with one template process from its ``hello`` to its end."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable
from concurrent.futures import Executor

from fxlsp.engine.deaths import describe_exit, failure_of_death
from fxlsp.engine.preloading import Preloading
from fxlsp.engine.process import Process
from fxlsp.engine.requests import Outcome, TraceRequest, outcome_of
from fxlsp.report.codes import DIED
from fxlsp.report.problems import Failure
from fxlsp.report.report import Environment
from fxlsp.report.wire import Message, WireError, text_digest

OnStage = Callable[[str], None]
"""Called with ``load``, ``construct``, ``trace``, ``values`` and ``checks`` as a trace enters them."""

_GRACE_SECONDS = 15.0
"""What the template has, over the limit of a trace, to end it and say so; else the template is ended."""

_PROCESS_SECONDS = 60.0
"""What it has besides where it does not fork, and a trace may have to wait until a process has imported torch."""

_END_SECONDS = 1.0
"""What a process has to end by itself after it closed its channel."""

_log = logging.getLogger("fxlsp.engine")
_worker_log = logging.getLogger("fxlsp.worker")


class Conversation:
    """Sends requests to a process that said ``hello``, and hands each answer to whom it is for."""

    def __init__(
        self, process: Process, environment: Environment, executor: Executor | None = None, *, forks: bool = True
    ) -> None:
        """``forks``: whether the process forks others, as it said."""
        self._patience = _GRACE_SECONDS if forks else _GRACE_SECONDS + _PROCESS_SECONDS
        self.process = process
        self.environment = environment
        self._executor = executor
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Message]] = {}
        self._on_stage: dict[int, OnStage] = {}
        self._sent: dict[str, str] = {}
        """Digest of the newest text sent, by path."""
        self._preloading = Preloading(lambda names: process.channel.send({"type": "preload", "names": names}))
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
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        if on_stage is not None:
            self._on_stage[number] = on_stage
        self._preloading.trace_starts()
        try:
            self._send(number, request)
            outcome = await self._outcome(await self._answered(answer, request), request)
            self._preloading.trace_ended(outcome.imports, idle=len(self._answers) == 1)
            return outcome
        except asyncio.CancelledError:
            self.process.channel.send({"type": "cancel", "id": number})
            raise
        finally:
            self._answers.pop(number, None)
            self._on_stage.pop(number, None)

    async def close(self) -> None:
        """Ends the process; requests under way are answered with its death."""
        self._preloading.stop()
        await self.process.stop()
        await asyncio.wait({self._listening}, timeout=_END_SECONDS)
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)

    def _send(self, number: int, request: TraceRequest) -> None:
        overlays = {path: text_digest(text) for path, text in request.overlays.items()}
        for path, digest in overlays.items():
            if self._sent.get(path) != digest:
                overlay = {"type": "overlay", "path": path, "digest": digest, "text": request.overlays[path]}
                self.process.channel.send(overlay)
                self._sent[path] = digest
        place = {"file": request.file} if request.module is None else {"module": request.module}
        self.process.channel.send(
            {
                "type": "trace",
                "id": number,
                "target": {**place, "name": request.name},
                "recipe": _recipe(request),
                "overlays": overlays,
                "roots": list(request.roots),
                "tracer": request.tracer.to_json(),
                "sizes": request.sizes.to_json(),
                "limits": {"seconds": request.seconds, "megabytes": request.megabytes},
            }
        )

    async def _answered(self, answer: asyncio.Future[Message], request: TraceRequest) -> Message:
        if self.ended:
            return {"type": "gone"}
        done, _ = await asyncio.wait({answer}, timeout=request.seconds + self._patience)
        if not done:
            _log.warning("The tracing process did not end %s at its limit; it is killed", request.target)
            self.process.kill()
        return await answer

    async def _outcome(self, message: Message, request: TraceRequest) -> Outcome:
        loop = asyncio.get_running_loop()
        if message["type"] == "gone":
            return Outcome(failure=self._death(request), died=True)
        if message["type"] == "failed":
            failure = await loop.run_in_executor(self._executor, failure_of_death, message, request)
            return Outcome(failure=failure, died=True)
        try:
            return await loop.run_in_executor(self._executor, outcome_of, message)
        except (KeyError, TypeError, ValueError) as error:
            words = f"The tracing process answered in a way that fxlsp does not understand ({error!r})"
            return Outcome(failure=Failure(request.target, DIED, words), died=True)

    def _death(self, request: TraceRequest) -> Failure:
        end = describe_exit(self.process.exit_code)
        last = f" Its last output: {self.process.tail[-1]}" if self.process.tail else ""
        words = f"The tracing process ended while it traced {request.name} ({end}); the next trace starts it again."
        return Failure(request.target, DIED, words + last)

    async def _listen(self) -> None:
        try:
            while (message := await self.process.channel.receive()) is not None:
                self._dispatch(message)
        except WireError as error:
            _log.error("The tracing process does not speak the wire any more: %s", error)
            self.process.kill()
        finally:
            await self._hang_up()

    async def _hang_up(self) -> None:
        """Answers what nobody will answer any more, once the exit code is known."""
        try:
            await self.process.wait(_END_SECONDS)
            self.process.kill()
            await self.process.wait(_END_SECONDS)
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_result({"type": "gone"})

    def _dispatch(self, message: Message) -> None:
        kind, number = message["type"], message.get("id", 0)
        if kind == "stage" and number in self._on_stage:
            self._on_stage[number](message["name"])
        elif kind in ("report", "failure", "failed"):
            answer = self._answers.get(number)
            if answer is not None and not answer.done():
                answer.set_result(message)
        elif kind == "log":
            level = logging.getLevelName(str(message.get("level", "info")).upper())
            _worker_log.log(level if isinstance(level, int) else logging.INFO, "%s", message.get("message"))
        elif kind != "stage":
            _log.debug("The tracing process sent an unknown message of type %s", kind)


def _recipe(request: TraceRequest) -> Message:
    recipe: Message = {"init": request.init, "inputs": request.inputs, "source": request.source}
    if request.names_in is not None:
        recipe["file"] = request.names_in
    if request.only:
        recipe["only"] = True
    if request.alternatives:
        recipe["alternatives"] = [each.to_json() for each in request.alternatives]
    if request.guess is not None:
        recipe["guess"] = {"init": request.guess.init, "inputs": request.guess.inputs}
    return recipe

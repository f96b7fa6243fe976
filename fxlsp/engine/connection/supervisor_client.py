"""The client of one interpreter's template process: starts it when it is needed, and again when it died."""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

from fxlsp.engine.connection.connection import Conversation, OnStage, Outcome
from fxlsp.engine.connection.handshake import StartError, start_conversation
from fxlsp.engine.connection.process import BOOTSTRAP
from fxlsp.engine.connection.restart_limit import RestartLimit
from fxlsp.report.codes import NO_INTERPRETER
from fxlsp.report.problems import Failure
from fxlsp.report.report import Environment
from fxlsp.wire.messages import TraceRequest

__all__ = ["IDLE_SECONDS", "OnStage", "Outcome", "StartError", "Template", "TemplateState"]

IDLE_SECONDS = 600.0
"""After so long without a trace the process leaves; the next request starts it again."""

_log = logging.getLogger("fxlsp.engine")


class TemplateState(enum.Enum):
    IDLE = "idle"
    """No process; the next request starts one."""
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    """The last start failed; a request after a pause tries again."""
    GAVE_UP = "gave up"
    """It died too often; only :meth:`Template.restart` tries again."""
    CLOSED = "closed"


class Template:
    """Traces under one interpreter. Use it on one loop, and :meth:`close` it."""

    def __init__(
        self,
        python: str,
        *,
        bootstrap: Path = BOOTSTRAP,
        executor: Executor | None = None,
        on_change: Callable[[], None] = lambda: None,
        handshake_seconds: float = 60.0,
        idle_seconds: float = IDLE_SECONDS,
        limit: RestartLimit | None = None,
    ) -> None:
        """
        Args:
            python: path of the interpreter.
            executor: decodes large reports; None is the loop's own.
            on_change: called after each change of ``state``.
            idle_seconds: how long after the last trace the process leaves.
        """
        self.python = python
        self.state = TemplateState.IDLE
        self.environment: Environment | None = None
        """Versions, from the last start that succeeded."""
        self.failure: Failure | None = None
        """Why the last start failed; None once one succeeded."""
        self._bootstrap = bootstrap
        self._executor = executor
        self._on_change = on_change
        self._handshake_seconds = handshake_seconds
        self._idle_seconds = idle_seconds
        self._limit = limit or RestartLimit()
        self._conversation: Conversation | None = None
        self._starting: asyncio.Task[Conversation] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._under_way = 0
        self._endings: set[asyncio.Task[None]] = set()

    async def start(self) -> Environment:
        """Starts the process if there is none, and waits until it has imported torch.

        Raises:
            StartError: it cannot be started; the error holds the failure to show.
        """
        return (await self._ready()).environment

    async def trace(self, request: TraceRequest, on_stage: OnStage | None = None) -> Outcome:
        """Traces one model. To cancel the task that awaits this is to cancel the trace."""
        self._stay()
        self._under_way += 1
        try:
            conversation = await self._ready()
            return await conversation.trace(request, on_stage)
        except StartError as error:
            return Outcome(failure=replace(error.failure, target=str(request.target)))
        finally:
            self._under_way -= 1
            self._rest_if_idle()

    async def restart(self) -> None:
        """Ends the process and forgets earlier deaths; the next request starts a new one."""
        await self._end()
        self._limit.forget()
        self.failure = None
        self._become(TemplateState.IDLE)

    async def close(self) -> None:
        """Ends the process for good; requests under way are answered with its death."""
        self._become(TemplateState.CLOSED)
        await self._end()

    async def _ready(self) -> Conversation:
        if self._conversation is not None and not self._conversation.ended:
            return self._conversation
        if self._starting is None:
            self._refuse_start()
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(_retrieve)
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            if starting.cancelled():
                raise StartError("The tracing process was ended while it started.") from None
            raise

    def _refuse_start(self) -> None:
        """Answers at once where a start is known to be of no use now."""
        if self.state is TemplateState.CLOSED:
            raise StartError("The session is closing.")
        if self._limit.exhausted and self.state is not TemplateState.GAVE_UP:
            self._give_up()
        if self.failure is not None and (self.state is TemplateState.GAVE_UP or self._limit.pause):
            raise StartError.of(self.failure)

    def _give_up(self) -> None:
        last = f" {self.failure.message}" if self.failure is not None else self._last_words()
        words = f"The tracing process of {self.python} died five times in three minutes and is not started again.{last}"
        self.failure = Failure("", NO_INTERPRETER, f"{words} Restart it by hand once the cause is mended.")
        _log.error("%s", self.failure.message)
        self._become(TemplateState.GAVE_UP)

    def _last_words(self) -> str:
        tail = self._conversation.process.tail if self._conversation is not None else ()
        return f" Its last output: {tail[-1]}." if tail else ""

    async def _start(self) -> Conversation:
        try:
            await asyncio.sleep(self._limit.pause)
            self._become(TemplateState.STARTING)
            conversation = await start_conversation(
                self.python, self._bootstrap, self._executor, self._handshake_seconds
            )
        except StartError as error:
            self._limit.died()
            self.failure = error.failure
            self._become(TemplateState.FAILED)
            raise
        finally:
            self._starting = None
        self._conversation, self.environment, self.failure = conversation, conversation.environment, None
        self._watching = asyncio.create_task(self._watch(conversation))
        self._become(TemplateState.READY)
        self._rest_if_idle()
        return conversation

    async def _watch(self, conversation: Conversation) -> None:
        """Notices a death that nobody asked for, and frees what the process leaves."""
        await conversation.wait_ended()
        self._limit.died()
        _log.warning("The tracing process of %s ended by itself", self.python)
        self._finish(conversation.close())
        if self._conversation is conversation and self._starting is None:
            self._become(TemplateState.IDLE)

    def _stay(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _rest_if_idle(self) -> None:
        """Torch takes half a gigabyte of memory: it goes when nobody has traced for a while."""
        self._stay()
        if self._under_way == 0 and self.state is TemplateState.READY:
            self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._rest)

    def _rest(self) -> None:
        self._become(TemplateState.IDLE)
        self._finish(self._detach())

    def _finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs the end of a process in the background; :meth:`_end` waits for it."""
        ending = asyncio.create_task(work)
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    async def _end(self) -> None:
        """Ends what runs, in whatever state it is."""
        await self._detach()
        await asyncio.gather(*self._endings)

    def _detach(self) -> Coroutine[Any, Any, None]:
        """Takes the process out of use at once; the result is to be awaited for its end."""
        self._stay()
        conversation, self._conversation = self._conversation, None
        watching, self._watching = self._watching, None
        tasks = [task for task in (self._starting, watching) if task is not None]
        for task in tasks:
            task.cancel()
        return _ended(tasks, conversation)

    def _become(self, state: TemplateState) -> None:
        if self.state not in (state, TemplateState.CLOSED):
            self.state = state
            self._on_change()


async def _ended(tasks: Sequence[asyncio.Task[Any]], conversation: Conversation | None) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)
    if conversation is not None:
        await conversation.close()


def _retrieve(task: asyncio.Task[Conversation]) -> None:
    """A start for which nobody waits any more may fail without a warning of asyncio's: ``failure`` keeps the reason."""
    if not task.cancelled():
        task.exception()

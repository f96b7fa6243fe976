"""One running request for the verdict of a front end, and those that were lost with their supervisor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from fxlsp.engine.connection.connection import Outcome
from fxlsp.engine.connection.frontend_requests import frontend_request, not_asked, not_fed, verdict_of
from fxlsp.engine.connection.supervisor_pool import SupervisorPool
from fxlsp.engine.running.frontends.answers import Question
from fxlsp.engine.running.trace_jobs import TraceJobs
from fxlsp.engine.state.snapshot import ModelState
from fxlsp.report.codes import NO_INTERPRETER
from fxlsp.report.frontends import FrontendVerdict

_MOST_LOST = 2
"""Requests on the same texts that may be lost with their supervisor before that is the verdict."""

_log = logging.getLogger("fxlsp.engine")


class LostRequests:
    """Counts, of each question, the requests on the same texts that were lost with their supervisor."""

    def __init__(self) -> None:
        self._counts: dict[Question, tuple[Mapping[str, str], int]] = {}

    def clear(self) -> None:
        """Forget all."""
        self._counts.clear()

    def is_final(self, question: Question, texts: Mapping[str, str], outcome: Outcome) -> bool:
        """Count an outcome; return whether it is the verdict, and not a loss after which to ask again."""
        failure = outcome.failure
        is_lost = outcome.frontend is None and (outcome.died or failure is None or failure.code == NO_INTERPRETER)
        if not is_lost:
            self._counts.pop(question, None)
            return True
        last, count = self._counts.get(question, ({}, 0))
        self._counts[question] = (texts, count + 1 if last == texts else 1)
        return self._counts[question][1] >= _MOST_LOST


class RunningRequest:
    """Request for a verdict on the texts that a model has now."""

    def __init__(
        self,
        question: Question,
        state: ModelState,
        jobs: TraceJobs,
        supervisors: SupervisorPool,
        lost: LostRequests,
        *,
        is_requested: bool,
    ) -> None:
        """
        Args:
            question: what to ask.
            state: the state of the model, with a report.
            jobs: makes the request, as for a trace.
            supervisors: processes.
            lost: counts the requests that are lost.
            is_requested: whether a command waits for the verdict.
        """
        assert state.report is not None
        self.question = question
        self.report = state.report
        """The report of the texts that were sent."""
        self.is_requested = is_requested
        """Whether a command waits for the verdict."""
        sent = jobs.send(question.key)
        # Of a file that is not open, the text is the one that the trace has read.
        changed = {path: digest for path, digest in sent.digests().items() if path in state.texts}
        self.texts: Mapping[str, str] = {**state.texts, **changed}
        """Digests of the texts that were sent, by path."""
        self._request = frontend_request(jobs.request(question.key, sent), self.report.recipe, question.name)
        self._supervisors = supervisors
        self._lost = lost
        self.task: asyncio.Task[None] | None = None
        """The task that waits for the verdict."""

    async def verdict(self) -> FrontendVerdict | None:
        """Return the verdict; None if the request was lost with its supervisor, and is to be repeated."""
        name = self.question.name
        if self.report.recipe.inputs is None:
            return not_fed(name)
        try:
            outcome = await self._supervisors.get(self.question.key.python).trace(self._request)
            is_final = self._lost.is_final(self.question, self.texts, outcome)
            return verdict_of(name, outcome) if is_final or self.is_requested else None
        except Exception as error:
            _log.error("internal error in fxlsp: a front end could not be asked", exc_info=error)
            return not_asked(name, f"internal error in fxlsp: {error}")

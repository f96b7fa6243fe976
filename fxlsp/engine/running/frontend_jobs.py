"""Requests for the verdicts of torch.export and torch.compile: by a command, or by the setting while the user rests.

One at a time. Nothing that an edit waits for does: such a request starts only while no trace runs or waits, or by the
user's command, and ends with the first edit of what its model reads. What runs by the setting ends with any trace.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import get_args

from fxlsp.engine.connection.connection import Outcome
from fxlsp.engine.connection.frontend_requests import frontend_request, not_asked, not_fed, verdict_of
from fxlsp.engine.connection.supervisor_pool import SupervisorPool
from fxlsp.engine.running.plan import is_being_edited, under_cursor
from fxlsp.engine.running.trace_jobs import OnTraced, TraceJobs
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import FrontendAnswer, ModelKey, ModelState, Status
from fxlsp.report.codes import NO_INTERPRETER
from fxlsp.report.frontends import FrontendVerdict, OtherFrontend
from fxlsp.report.report import Report

REST_SECONDS = 2.0
"""Seconds without an edit after which the front ends of the setting are asked."""
_MOST_LOST = 2
"""Requests on the same texts that may be lost with their supervisor before that is the verdict."""
_NAMES: tuple[OtherFrontend, ...] = get_args(OtherFrontend)

_log = logging.getLogger("fxlsp.engine")


@dataclass(frozen=True, slots=True)
class _Question:
    """Front end to ask about a model."""

    key: ModelKey
    name: OtherFrontend


@dataclass(slots=True)
class _RunningRequest:
    question: _Question
    report: Report
    """The report of the texts that were sent."""
    texts: Mapping[str, str]
    """Digests of these texts, by path."""
    is_requested: bool
    task: asyncio.Task[None] = field(init=False)


class FrontendJobs:
    """Asks front ends about models, one at a time, and records their answers in the session."""

    def __init__(
        self,
        session: Session,
        supervisors: SupervisorPool,
        jobs: TraceJobs,
        is_working: Callable[[], bool],
        on_answer: OnTraced,
        rest_seconds: float = REST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            session: the session to change.
            supervisors: processes.
            jobs: the traces.
            is_working: whether there is other work that answers to edits.
            on_answer: called with the files whose answers have changed.
            rest_seconds: seconds without an edit after which the front ends of the setting are asked.
            clock: seconds.
        """
        self._session = session
        self._models = session.models
        self._supervisors = supervisors
        self._jobs = jobs
        self._is_working = is_working
        self._on_answer = on_answer
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._edited_at = clock()
        self._is_stopped = False
        """Whether the user has stopped the requests of the setting until the next edit."""
        self._requested: dict[_Question, asyncio.Future[FrontendVerdict | None]] = {}
        """What commands wait for, in their order."""
        self._running: _RunningRequest | None = None
        self._ending: set[asyncio.Task[None]] = set()
        """Cancelled requests that have not ended yet."""
        self._lost: dict[_Question, tuple[Mapping[str, str], int]] = {}
        """Texts and number of the requests that were lost with their supervisor."""
        self._timer: asyncio.TimerHandle | None = None

    async def ask(self, path: str, name: str) -> tuple[FrontendVerdict, ...] | None:
        """Return the verdicts of all front ends on a model, once its trace of the present text is there.

        Verdicts on these texts that are known are not asked again. A class that only the trace of another model covers
        is asked about with that one.

        Returns:
            None if there is no such trace, or if an edit or the end of the session ends the request.
        """
        key = self._key_of(path, name)
        if key is None:
            return None
        futures = [self._request(_Question(key, each)) for each in _NAMES]
        # Known ones are shown, others are asked.
        self._on_answer(frozenset({key.file}))
        self._start_next()
        # Unlike `gather`, it leaves them to other commands that wait for the same verdicts if this one is cancelled.
        await asyncio.wait(futures)
        found = [verdict for verdict in (each.result() for each in futures) if verdict is not None]
        return tuple(found) if len(found) == len(futures) else None

    def edited(self) -> None:
        """Record that a document was opened or edited."""
        self._edited_at = self._clock()
        self._is_stopped = False

    def update(self) -> None:
        """Follow a change of the session: show the answers that apply, end and start requests."""
        for key in self._models.answers:
            if key in self._models.states:
                self._models.show_answers(key, self._applying(key))
        if self._running is not None and self._is_outdated(self._running):
            self._end_requests(self._running.question.key)
        self._start_next()

    def stop(self) -> None:
        """End all requests; those of the setting start again after the next edit."""
        self._is_stopped = True
        self._lost.clear()
        self.cancel()

    def cancel(self) -> None:
        """End all requests."""
        self._end_requests()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    @property
    def is_busy(self) -> bool:
        """Whether a request is running or waiting."""
        return self._running is not None or bool(self._requested) or self._timer is not None

    async def close(self) -> None:
        """End all requests and wait for their end."""
        self.stop()
        await asyncio.gather(*self._ending, return_exceptions=True)

    # Answers

    def _applying(self, key: ModelKey) -> tuple[FrontendAnswer, ...]:
        """Return the answers that apply to the present text of a model and are to be shown."""
        wanted = self._wanted(key)
        found = ((name, self._answer(_Question(key, name))) for name in _NAMES)
        return tuple(each for name, each in found if each is not None and (each.is_requested or name in wanted))

    def _answer(self, question: _Question) -> FrontendAnswer | None:
        """Return the answer on the present text, by the recipe of the report, under the same versions."""
        answer, state = self._models.answers.get(question.key, {}).get(question.name), self._state(question.key)
        if answer is None or state.report is None or state.failure is not None:
            return None
        is_same_run = (answer.recipe, answer.environment) == (state.report.recipe, state.report.environment)
        return answer if is_same_run and self._is_present(answer.texts) else None

    def _is_present(self, texts: Mapping[str, str]) -> bool:
        return self._session.holds(texts) and not is_being_edited(self._session, texts)

    def _wanted(self, key: ModelKey) -> tuple[OtherFrontend, ...]:
        """Return the front ends that the settings name for a model of an open file."""
        is_open = key.file in self._session.documents and not self._session.is_excluded(key.file)
        return self._session.folder_of(key.file).settings.frontends if is_open else ()

    def _state(self, key: ModelKey) -> ModelState:
        return self._models.states.get(key) or ModelState(key)

    def _key_of(self, path: str, name: str) -> ModelKey | None:
        """Return the model that a command is about: the one whose report the lens shows, or that covers it."""
        states = [state for key, state in self._models.states.items() if (key.file, key.name) == (path, name)]
        states.sort(key=lambda state: (state.report is None, state.covered_by is None))
        return None if not states else states[0].covered_by or states[0].key

    # Requests

    def _request(self, question: _Question) -> asyncio.Future[FrontendVerdict | None]:
        future: asyncio.Future[FrontendVerdict | None] = asyncio.get_running_loop().create_future()
        known = self._answer(question)
        if known is not None and known.verdict.verdict in ("ok", "problem"):
            self._record(question, known.verdict, known.texts, known, is_requested=True)
            future.set_result(known.verdict)
            return future
        if self._running is not None and self._running.question == question:
            self._running.is_requested = True
        return self._requested.setdefault(question, future)

    def _start_next(self) -> None:
        if self._running is not None:
            return
        for question in tuple(self._requested):
            if self._is_ready(question.key):
                self._start(question, is_requested=True)
                return
            if not self._is_working():
                # No trace of the present text is to come.
                _resolve(self._requested.pop(question), None)
        if self._requested:
            self._start_later(self._rest_seconds)
            return
        wanted = next(self._by_settings(), None)
        if wanted is None:
            return
        rest = self._rest_seconds - (self._clock() - self._edited_at)
        if rest <= 0 and not self._is_working():
            self._start(wanted, is_requested=False)
        else:
            self._start_later(rest if rest > 0 else self._rest_seconds)

    def _by_settings(self) -> Iterator[_Question]:
        """Yield what the settings ask for and is not known, first of the model under the cursor."""
        if self._is_stopped or not any(folder.settings.frontends for folder in self._session.folders):
            return
        first: dict[tuple[str, str], ModelKey] = {}
        for key, state in self._models.states.items():
            if state.report is not None:
                first.setdefault((key.file, key.name), key)
        for key in sorted(filter(self._is_ready, first.values()), key=self._distance):
            for name in self._wanted(key):
                if self._answer(_Question(key, name)) is None:
                    yield _Question(key, name)

    def _distance(self, key: ModelKey) -> int:
        cursor = self._session.cursor
        return 0 if under_cursor(self._session, key) else 1 if cursor is not None and cursor[0] == key.file else 2

    def _is_ready(self, key: ModelKey) -> bool:
        state = self._models.states.get(key)
        is_fresh = state is not None and state.status is Status.FRESH and state.failure is None
        return is_fresh and self._models.states[key].report is not None and self._session.is_trusted(key.file)

    def _start_later(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._start_next()

    def _start(self, question: _Question, *, is_requested: bool) -> None:
        state = self._state(question.key)
        assert state.report is not None
        sent = self._jobs.send(question.key)
        # Of a file that is not open, the text is the one that the trace has read.
        texts = {**state.texts, **{path: digest for path, digest in sent.digests().items() if path in state.texts}}
        self._models.set_asked_texts(texts)
        running = self._running = _RunningRequest(question, state.report, texts, is_requested)
        request = frontend_request(self._jobs.request(question.key, sent), state.report.recipe, question.name)

        async def run() -> None:
            if is_requested:
                self._models.set_asking(question.key, question.name)
                self._on_answer(frozenset())
            try:
                if running.report.recipe.inputs is None:
                    verdict: FrontendVerdict | None = not_fed(question.name)
                else:
                    verdict = self._verdict(running, await self._supervisors.get(question.key.python).trace(request))
            except Exception as error:
                _log.error("internal error in fxlsp: a front end could not be asked", exc_info=error)
                verdict = not_asked(question.name, f"internal error in fxlsp: {error}")
            self._finish(running, verdict)

        running.task = asyncio.get_running_loop().create_task(run())

    def _verdict(self, running: _RunningRequest, outcome: Outcome) -> FrontendVerdict | None:
        """Return the verdict of an outcome; None if it was lost with its supervisor and is to be asked for again."""
        failure, question = outcome.failure, running.question
        is_lost = outcome.frontend is None and (outcome.died or failure is None or failure.code == NO_INTERPRETER)
        if not is_lost:
            self._lost.pop(question, None)
            return verdict_of(question.name, outcome)
        texts, count = self._lost.get(question, ({}, 0))
        self._lost[question] = (running.texts, count + 1 if texts == running.texts else 1)
        is_final = running.is_requested or self._lost[question][1] >= _MOST_LOST
        return verdict_of(question.name, outcome) if is_final else None

    def _finish(self, running: _RunningRequest, verdict: FrontendVerdict | None) -> None:
        """Record the end of the running request, and start the next one."""
        if self._running is not running:
            return
        self._running = None
        question, changed = running.question, frozenset[str]()
        self._models.set_asking(question.key, None)
        future = self._requested.pop(question, None)
        if verdict is None:
            self._edited_at = self._clock()
        elif question.key in self._models.states:
            self._record(question, verdict, running.texts, running.report, is_requested=running.is_requested)
            places = (each.location for each in verdict.problems)
            changed = frozenset({question.key.file, *(place.file for place in places if place is not None)})
        if future is not None:
            _resolve(future, verdict)
        self._on_answer(changed)

    def _record(
        self,
        question: _Question,
        verdict: FrontendVerdict,
        texts: Mapping[str, str],
        run: Report | FrontendAnswer,
        *,
        is_requested: bool,
    ) -> None:
        answer = FrontendAnswer(verdict, texts, run.recipe, run.environment, is_requested)
        self._models.set_answer(question.key, question.name, answer)

    def _is_outdated(self, running: _RunningRequest) -> bool:
        question = running.question
        state = self._state(question.key)
        is_same = state.report is not None and state.report.recipe == running.report.recipe
        if not is_same or state.failure is not None or not self._is_present(running.texts):
            return True
        is_unwanted = self._jobs.is_busy or question.name not in self._wanted(question.key)
        return is_unwanted and not running.is_requested

    def _end_requests(self, key: ModelKey | None = None) -> None:
        """End the requests about one model, or all."""
        for question in [each for each in self._requested if key in (None, each.key)]:
            _resolve(self._requested.pop(question), None)
        running = self._running
        if running is None or key not in (None, running.question.key):
            return
        self._running = None
        self._models.set_asking(running.question.key, None)
        self._ending.add(running.task)
        running.task.add_done_callback(self._ending.discard)
        running.task.cancel()


def _resolve(future: asyncio.Future[FrontendVerdict | None], verdict: FrontendVerdict | None) -> None:
    if not future.done():
        future.set_result(verdict)

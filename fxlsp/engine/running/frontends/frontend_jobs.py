"""Requests for the verdicts of torch.export and torch.compile: by a command, or by the setting while the user rests.

One at a time. Nothing that an edit waits for does: such a request starts only while no trace runs or waits, or by the
user's command, and ends with the first edit of what its model reads. What runs by the setting ends with any trace.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

from fxlsp.engine.connection.supervisor_pool import SupervisorPool
from fxlsp.engine.running.frontends.answers import NAMES, Answers, Question
from fxlsp.engine.running.frontends.frontend_request import LostRequests, RunningRequest
from fxlsp.engine.running.plan import under_cursor
from fxlsp.engine.running.trace_jobs import OnTraced, TraceJobs
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey
from fxlsp.report.frontends import FrontendVerdict

REST_SECONDS = 2.0
"""Seconds without an edit after which the front ends of the setting are asked."""


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
        self._answers = Answers(session)
        self._supervisors = supervisors
        self._jobs = jobs
        self._is_working = is_working
        self._on_answer = on_answer
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._edited_at = clock()
        self._is_stopped = False
        """Whether the user has stopped the requests of the setting until the next edit."""
        self._requested: dict[Question, asyncio.Future[FrontendVerdict | None]] = {}
        """What commands wait for, in their order."""
        self._running: RunningRequest | None = None
        self._ending: set[asyncio.Task[None]] = set()
        """Cancelled requests that have not ended yet."""
        self._lost = LostRequests()
        self._timer: asyncio.TimerHandle | None = None

    async def ask(self, path: str, name: str) -> tuple[FrontendVerdict, ...] | None:
        """Return the verdicts of all front ends on a model, once its trace of the present text is there.

        Verdicts on these texts that are known are not asked again. A class that only the trace of another model covers
        is asked about with that one.

        Returns:
            None if there is no such trace, or if an edit or the end of the session ends the request.
        """
        key = self._answers.key_of(path, name)
        if key is None:
            return None
        futures = [self._request(Question(key, each)) for each in NAMES]
        # Known verdicts are shown, others are asked.
        self._on_answer(frozenset({key.file}))
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
        self._answers.show()
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

    def _request(self, question: Question) -> asyncio.Future[FrontendVerdict | None]:
        future: asyncio.Future[FrontendVerdict | None] = asyncio.get_running_loop().create_future()
        known = self._answers.find(question)
        if known is not None and known.verdict.verdict in ("ok", "problem"):
            self._answers.record(question, known.verdict, known.texts, known, is_requested=True)
            future.set_result(known.verdict)
            return future
        if self._running is not None and self._running.question == question:
            self._running.is_requested = True
        return self._requested.setdefault(question, future)

    def _ready_requests(self) -> list[Question]:
        """Return what commands ask about models that have a trace of the present text, and answer what has none."""
        ready = [each for each in self._requested if self._answers.is_ready(each.key)]
        if not self._is_working():
            # No trace of the present text is to come.
            for question in self._requested.keys() - {*ready}:
                _resolve(self._requested.pop(question), None)
        return ready

    def _start_next(self) -> None:
        ready = self._ready_requests()
        if ready and self._running is not None and not self._running.is_requested:
            # What the setting has asked is asked again once the commands have their verdicts.
            self._end_running()
        if self._running is not None:
            return
        if ready:
            self._start(ready[0], is_requested=True)
        elif self._requested:
            self._start_later(self._rest_seconds)
        elif (wanted := next(self._by_settings(), None)) is not None:
            rest = self._rest_seconds - (self._clock() - self._edited_at)
            if rest <= 0 and not self._is_working():
                self._start(wanted, is_requested=False)
            else:
                self._start_later(rest if rest > 0 else self._rest_seconds)

    def _by_settings(self) -> Iterator[Question]:
        """Yield what the settings ask for and is not known, first of the model under the cursor."""
        if self._is_stopped or not any(folder.settings.frontends for folder in self._session.folders):
            return
        first: dict[tuple[str, str], ModelKey] = {}
        for key, state in self._models.states.items():
            if state.report is not None:
                first.setdefault((key.file, key.name), key)
        for key in sorted(filter(self._answers.is_ready, first.values()), key=self._distance):
            for name in self._answers.named_by_settings(key):
                if self._answers.find(Question(key, name)) is None:
                    yield Question(key, name)

    def _distance(self, key: ModelKey) -> int:
        cursor = self._session.cursor
        return 0 if under_cursor(self._session, key) else 1 if cursor is not None and cursor[0] == key.file else 2

    def _start_later(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._start_next()

    def _start(self, question: Question, *, is_requested: bool) -> None:
        running = self._running = RunningRequest(
            question,
            self._answers.state(question.key),
            self._jobs,
            self._supervisors,
            self._lost,
            is_requested=is_requested,
        )
        self._models.set_asked_texts(running.texts)
        running.task = asyncio.get_running_loop().create_task(self._run(running))

    async def _run(self, running: RunningRequest) -> None:
        if running.is_requested:
            self._models.set_asking(running.question.key, running.question.name)
            self._on_answer(frozenset())
        self._finish(running, await running.verdict())

    def _finish(self, running: RunningRequest, verdict: FrontendVerdict | None) -> None:
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
            self._answers.record(question, verdict, running.texts, running.report, is_requested=running.is_requested)
            places = (each.location for each in verdict.problems)
            changed = frozenset({question.key.file, *(place.file for place in places if place is not None)})
        if future is not None:
            _resolve(future, verdict)
        self._on_answer(changed)

    def _is_outdated(self, running: RunningRequest) -> bool:
        question = running.question
        state = self._answers.state(question.key)
        is_same = state.report is not None and state.report.recipe == running.report.recipe
        if not is_same or state.failure is not None or not self._answers.is_present(running.texts):
            return True
        is_unwanted = self._jobs.is_busy or question.name not in self._answers.named_by_settings(question.key)
        return is_unwanted and not running.is_requested

    def _end_requests(self, key: ModelKey | None = None) -> None:
        """End the requests about one model, or all."""
        for question in [each for each in self._requested if key in (None, each.key)]:
            _resolve(self._requested.pop(question), None)
        if self._running is not None and key in (None, self._running.question.key):
            self._end_running()

    def _end_running(self) -> None:
        running, self._running = self._running, None
        if running is None or running.task is None:
            return
        self._models.set_asking(running.question.key, None)
        self._ending.add(running.task)
        running.task.add_done_callback(self._ending.discard)
        running.task.cancel()


def _resolve(future: asyncio.Future[FrontendVerdict | None], verdict: FrontendVerdict | None) -> None:
    if not future.done():
        future.set_result(verdict)

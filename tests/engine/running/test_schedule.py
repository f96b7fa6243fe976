"""Order and number of the jobs that run at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest
import pytest_asyncio

from fxlsp.engine.running.schedule import Scheduler
from tests.support.waiting import eventually_async

Job = Callable[[], Coroutine[Any, Any, None]]


class Jobs:
    """Jobs that run until the test ends them, and a record of them."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.ended: list[str] = []
        self._gates: dict[str, asyncio.Event] = {}

    def job(self, name: str) -> Job:
        async def run() -> None:
            self.started.append(name)
            try:
                await self._gates.setdefault(name, asyncio.Event()).wait()
                self.ended.append(name)
            except asyncio.CancelledError:
                self.ended.append(f"{name} cancelled")
                raise

        return run

    def let_end(self, name: str) -> None:
        self._gates.setdefault(name, asyncio.Event()).set()


@pytest_asyncio.fixture
async def scheduler() -> AsyncIterator[Scheduler[str]]:
    made: Scheduler[str] = Scheduler(limit=1)
    yield made
    await made.close()


@pytest.fixture
def jobs() -> Jobs:
    return Jobs()


async def test_for_one_key_one_job_runs_and_the_newest_of_the_others_waits(
    scheduler: Scheduler[str], jobs: Jobs
) -> None:
    for name in ("first", "second", "third"):
        scheduler.submit("key", jobs.job(name))
    await eventually_async(lambda: jobs.started == ["first"])
    assert scheduler.is_waiting("key")
    jobs.let_end("first")
    await eventually_async(lambda: jobs.started == ["first", "third"])


async def test_no_more_jobs_run_than_the_limit_and_the_most_wanted_comes_first(
    scheduler: Scheduler[str], jobs: Jobs
) -> None:
    for name, priority in (("a", 0), ("b", 3), ("c", 1), ("d", 1)):
        scheduler.submit(name, jobs.job(name), priority=priority)
        jobs.let_end(name)
    await eventually_async(lambda: len(jobs.ended) == 4)
    assert jobs.started == ["a", "c", "d", "b"]


async def test_a_job_that_waits_is_passed_over_twice_at_most(scheduler: Scheduler[str], jobs: Jobs) -> None:
    for name in ("first", "second", "third", "other", "patient"):
        jobs.let_end(name)

    def job(name: str) -> Job:
        async def run() -> None:
            await jobs.job(name)()
            # Edited again while it ran.
            if len(jobs.started) < 6:
                scheduler.submit("edited", job("edited"))

        jobs.let_end(name)
        return run

    scheduler.submit("edited", job("edited"))
    scheduler.submit("other", jobs.job("other"), priority=1)
    scheduler.submit("patient", jobs.job("patient"), priority=8, is_patient=True)
    await eventually_async(lambda: "patient" in jobs.ended)
    assert jobs.started == ["edited", "edited", "edited", "other", "edited", "edited", "patient"]


async def test_a_cancelled_job_makes_room_for_the_one_that_waits(scheduler: Scheduler[str], jobs: Jobs) -> None:
    scheduler.submit("key", jobs.job("old"))
    await eventually_async(lambda: jobs.started == ["old"])
    scheduler.submit("key", jobs.job("new"))
    scheduler.cancel("key")
    await eventually_async(lambda: jobs.started == ["old", "new"])
    assert jobs.ended == ["old cancelled"]


async def test_what_is_withdrawn_never_runs(scheduler: Scheduler[str], jobs: Jobs) -> None:
    scheduler.submit("a", jobs.job("a"))
    scheduler.submit("b", jobs.job("b"))
    scheduler.withdraw("b")
    assert scheduler.waiting() == frozenset()
    jobs.let_end("a")
    await eventually_async(lambda: jobs.ended == ["a"])
    assert jobs.started == ["a"]


async def test_a_job_that_raises_is_logged_and_the_next_one_runs(
    scheduler: Scheduler[str], jobs: Jobs, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken() -> None:
        raise RuntimeError("oh")

    caplog.set_level(logging.ERROR)
    scheduler.submit("a", broken)
    scheduler.submit("b", jobs.job("b"))
    await eventually_async(lambda: jobs.started == ["b"])
    assert "internal error in fxlsp" in caplog.text


async def test_closing_cancels_what_runs_and_forgets_what_waits(jobs: Jobs) -> None:
    scheduler: Scheduler[str] = Scheduler(limit=1)
    scheduler.submit("a", jobs.job("a"))
    scheduler.submit("b", jobs.job("b"))
    await eventually_async(lambda: jobs.started == ["a"])
    await scheduler.close()
    scheduler.submit("c", jobs.job("c"))
    assert jobs.ended == ["a cancelled"]
    assert jobs.started == ["a"]
    assert len(asyncio.all_tasks()) == 1


async def test_an_urgent_job_need_not_wait_for_others_but_for_urgent_ones(jobs: Jobs) -> None:
    urgent = {"edited", "edited too"}
    scheduler: Scheduler[str] = Scheduler(limit=1, is_urgent=lambda key: key in urgent)
    for name, priority in (("elsewhere", 3), ("edited", 1), ("edited too", 1), ("elsewhere too", 3)):
        scheduler.submit(name, jobs.job(name), priority=priority)
    await eventually_async(lambda: jobs.started == ["elsewhere", "edited"])
    jobs.let_end("edited")
    await eventually_async(lambda: jobs.started == ["elsewhere", "edited", "edited too"])
    jobs.let_end("edited too")
    await eventually_async(lambda: "edited too" in jobs.ended)
    assert "elsewhere too" not in jobs.started
    await scheduler.close()


async def test_a_job_that_was_passed_over_does_not_hold_up_an_urgent_one(jobs: Jobs) -> None:
    scheduler: Scheduler[str] = Scheduler(limit=1, is_urgent=lambda key: key == "edited")
    for name, priority in (("first", 3), ("due", 3), ("second", 1), ("third", 1)):
        scheduler.submit(name, jobs.job(name), priority=priority)
    jobs.let_end("first")
    jobs.let_end("second")
    await eventually_async(lambda: jobs.started == ["first", "second", "third"])
    scheduler.submit("edited", jobs.job("edited"), priority=0)
    await eventually_async(lambda: jobs.started == ["first", "second", "third", "edited"])
    await scheduler.close()


async def test_a_job_that_waits_and_is_submitted_again_has_the_new_priority(
    scheduler: Scheduler[str], jobs: Jobs
) -> None:
    scheduler.submit("running", jobs.job("running"))
    for name in ("a", "b", "opened"):
        scheduler.submit(name, jobs.job(name), priority=8, is_patient=True)
        jobs.let_end(name)
    scheduler.submit("opened", jobs.job("opened"), priority=0)
    jobs.let_end("running")
    await eventually_async(lambda: len(jobs.ended) == 4)
    assert jobs.started == ["running", "opened", "a", "b"]

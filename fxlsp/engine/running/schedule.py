"""Schedule of jobs: a few at once, by priority, one running and waiting per key.

When a running trace gives way to a newer text is decided in :mod:`.pacing`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Job = Callable[[], Coroutine[Any, Any, None]]

_MOST_PASSED = 2
"""Later jobs that may start before one that waits: the model under the cursor, edited all the time, comes first and
leaves the others a third of the time."""

_log = logging.getLogger("fxlsp.engine")


def default_limit() -> int:
    """Return the number of traces that run at once: one core is left to the editor.

    The cores are those that this process may use, which a cpuset may make fewer than the machine has.
    """
    cores = os.cpu_count() or 1
    if sys.platform == "linux":
        cores = min(cores, len(os.sched_getaffinity(0)))
    return max(1, cores - 1)


@dataclass(slots=True)
class _Waiting:
    job: Job
    priority: int
    number: int
    """Number of the submission."""
    is_patient: bool
    passed: int = 0
    """How many jobs that were submitted later have started before it."""

    @property
    def order(self) -> tuple[int, int]:
        is_due = self.passed >= _MOST_PASSED and not self.is_patient
        return (-1 if is_due else self.priority, self.number)


class Scheduler(Generic[Key]):
    """Runs jobs as tasks of the running loop.

    A job decides what to do when it starts, not when it is submitted.
    """

    def __init__(self, limit: int | None = None, is_urgent: Callable[[Key], bool] = lambda key: False) -> None:
        """
        Args:
            limit: number of jobs at once; None is one less than there are cores.
            is_urgent: whether the user waits for a key now. Such a job may start beyond the limit, by one, while none
                of the running ones is urgent.
        """
        self._is_urgent = is_urgent
        self._limit = limit or default_limit()
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Key, _Waiting] = {}
        self._running: dict[Key, asyncio.Task[None]] = {}
        self._submitted = 0
        self._closed = False

    def submit(self, key: Key, job: Job, *, priority: int = 0, is_patient: bool = False) -> None:
        """Run a job once the running one of its key has ended.

        It takes the place of the job that waits for ``key``, with a priority of its own. Of the jobs that are ready,
        that with the lowest ``priority`` starts first, unless one has been passed over twice.

        Args:
            key: of several jobs of one key, the newest is run.
            job: what to run.
            priority: the lowest comes first; 0 or more.
            is_patient: whether it may be passed over without end.
        """
        if self._closed:
            return
        waiting = self._waiting.get(key)
        if waiting is None:
            self._submitted += 1
            self._waiting[key] = _Waiting(job, priority, self._submitted, is_patient)
        else:
            waiting.job, waiting.priority, waiting.is_patient = job, priority, is_patient
        self._start_ready()

    def withdraw(self, key: Key) -> None:
        """Remove the job that waits for ``key``; a running one continues."""
        self._waiting.pop(key, None)

    def cancel(self, key: Key) -> None:
        """Cancel the running job of ``key``; a waiting one starts once that has ended."""
        running = self._running.get(key)
        if running is not None:
            running.cancel()

    def is_waiting(self, key: Key) -> bool:
        return key in self._waiting

    def waiting(self) -> frozenset[Key]:
        return frozenset(self._waiting)

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting or self._running)

    async def close(self) -> None:
        """Cancel all jobs and wait for their end; later submissions are ignored."""
        self._closed = True
        self._waiting.clear()
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start_ready(self) -> None:
        while (key := self._next_key()) is not None:
            self._start(key, self._waiting.pop(key))

    def _has_capacity_for(self, key: Key) -> bool:
        if len(self._running) < self._limit:
            return True
        one_beyond = len(self._running) == self._limit
        return one_beyond and self._is_urgent(key) and not any(map(self._is_urgent, self._running))

    def _next_key(self) -> Key | None:
        """Return the key of the job to start now, if any. One that waits for capacity holds up no urgent one."""
        ready = (key for key in self._waiting if key not in self._running and self._has_capacity_for(key))
        return min(ready, key=lambda key: self._waiting[key].order, default=None)

    def _start(self, key: Key, waiting: _Waiting) -> None:
        for other in self._waiting.values():
            other.passed += other.number < waiting.number
        task = self._loop.create_task(waiting.job())
        self._running[key] = task
        task.add_done_callback(lambda ended: self._ended(key, ended))

    def _ended(self, key: Key, task: asyncio.Task[None]) -> None:
        del self._running[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("internal error in fxlsp: a trace could not be made", exc_info=error)
        if not self._closed:
            self._start_ready()

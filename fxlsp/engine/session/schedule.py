"""Schedule of jobs: a few at once, by priority, one running and waiting per key."""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Job = Callable[[], Coroutine[Any, Any, None]]

_CHEAP_MS = 200.0
_LONGEST_PAUSE = 0.3
_REST_SECONDS = 0.5
"""Time without an edit after which the next one starts its trace at once: the user does not type on."""

_log = logging.getLogger("fxlsp.engine")


def pause_before(cost_ms: float) -> float:
    """Return the pause after an edit that follows another one before a model is traced again, in seconds.

    0 for a trace of at most 200 ms, else half of the time above that, at most 0.3 s.

    Args:
        cost_ms: time of the last trace in milliseconds.
    """
    return min(_LONGEST_PAUSE, max(0.0, cost_ms - _CHEAP_MS) / 2000)


class EditPauses:
    """Pauses between edits and traces: only edits in close succession have one.

    A trace that the next edit cancels costs less than the wait for an edit that does not come.
    """

    def __init__(self) -> None:
        self._edited_at = -math.inf
        self._follows_another = False

    def edited(self, now: float) -> None:
        """Record an edit at a time in seconds."""
        self._follows_another = now - self._edited_at < _REST_SECONDS
        self._edited_at = now

    def before(self, cost_ms: float) -> float:
        """Return the seconds between the last edit and the trace of a model; ``cost_ms`` as in :func:`pause_before`."""
        return pause_before(cost_ms) if self._follows_another else 0.0


def worth_finishing(running_ms: float, cost_ms: float) -> bool:
    """Return whether a running trace of outdated texts may continue.

    That is so once it is half done; its result is shown as stale.
    """
    return running_ms >= cost_ms / 2


def default_limit() -> int:
    """Return the number of traces that run at once: one core is left to the editor."""
    return max(1, (os.cpu_count() or 1) - 1)


@dataclass(frozen=True, slots=True)
class _Waiting:
    job: Job
    ready_at: float
    order: tuple[int, int]
    """Priority, then the number of the submission."""


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
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def submit(self, key: Key, job: Job, *, priority: int = 0, pause: float = 0.0) -> None:
        """Run a job after the running one of its key has ended and a pause has passed.

        It replaces the job that waits for ``key``. Of the jobs that are ready, that with the lowest ``priority`` starts
        first.

        Args:
            pause: seconds from now.
        """
        if self._closed:
            return
        self._submitted += 1
        self._waiting[key] = _Waiting(job, self._loop.time() + pause, (priority, self._submitted))
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
        self._stop_timer()
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start_ready(self) -> None:
        self._stop_timer()
        while (key := self._next_key()) is not None and self._has_capacity_for(key):
            self._start(key, self._waiting.pop(key))
        self._set_timer()

    def _has_capacity_for(self, key: Key) -> bool:
        if len(self._running) < self._limit:
            return True
        one_beyond = len(self._running) == self._limit
        return one_beyond and self._is_urgent(key) and not any(map(self._is_urgent, self._running))

    def _next_key(self) -> Key | None:
        ready = {key: waiting.order for key, waiting in self._waiting.items() if self._may_start(key, waiting)}
        return min(ready, key=lambda key: ready[key], default=None)

    def _may_start(self, key: Key, waiting: _Waiting) -> bool:
        return key not in self._running and waiting.ready_at <= self._loop.time()

    def _start(self, key: Key, waiting: _Waiting) -> None:
        task = self._loop.create_task(waiting.job())
        self._running[key] = task
        task.add_done_callback(lambda ended: self._ended(key, ended))

    def _ended(self, key: Key, task: asyncio.Task[None]) -> None:
        del self._running[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("internal error in fxlsp: a trace could not be made", exc_info=error)
        if not self._closed:
            self._start_ready()

    def _set_timer(self) -> None:
        """Start jobs again when the next pause ends.

        The end of a running job starts the next ones by itself.
        """
        now = self._loop.time()
        pauses = [waiting.ready_at for waiting in self._waiting.values() if waiting.ready_at > now]
        if pauses:
            self._timer = self._loop.call_at(min(pauses), self._start_ready)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

"""Notice of recordings that a program has written while the session runs.

Most are in the user's cache folder, outside of the workspace, where no editor watches for the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Executor

from fxlsp.engine.state.recorded_recipes import Recordings

WATCH_SECONDS = 2.0
"""Time between two looks at the recordings of open files."""

_log = logging.getLogger("fxlsp.engine")


class RecordingWatch:
    """Looks at the recordings that were asked for, on a thread: a folder of a network may not answer for a while."""

    def __init__(
        self,
        recordings: Recordings,
        executor: Executor,
        on_change: Callable[[], None],
        seconds: float = WATCH_SECONDS,
    ) -> None:
        """
        Args:
            on_change: called when a recording that was looked for has been written or deleted.
        """
        self._recordings = recordings
        self._executor = executor
        self._on_change = on_change
        self._seconds = seconds
        self._requested = asyncio.Event()
        self._is_looking = False
        """Whether a look that was requested is under way."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Watch until :meth:`close`."""
        self._task = asyncio.create_task(self._watch())
        self._task.add_done_callback(self._ended)

    def look_now(self) -> None:
        """Look at once: a recording may have changed."""
        self._requested.set()

    @property
    def is_busy(self) -> bool:
        """Whether a look that was requested has not ended."""
        return self._requested.is_set() or self._is_looking

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._requested.wait(), self._seconds)
            self._is_looking = self._requested.is_set()
            self._requested.clear()
            if await loop.run_in_executor(self._executor, self._recordings.take_changes):
                self._on_change()
            self._is_looking = False

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("internal error in fxlsp: recordings are not watched any more", exc_info=error)

"""SIGTERM during a check, such as that of ``timeout``: it ends the work, and what was found is printed."""

from __future__ import annotations

import asyncio
import math
import signal
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_TWICE_SECONDS = 1.0
"""Time within which a second signal is the same request."""


class Termination:
    """Whether a check is to end early, and the work that ends then."""

    def __init__(self) -> None:
        self.is_requested = False
        self._work: asyncio.Task[None] | None = None

    @contextmanager
    def at_signal(self) -> Iterator[None]:
        """Let SIGTERM request the end; one that comes a second later ends the process as it always does.

        GNU's ``timeout`` sends two at once. Signals can be handled in the main thread alone.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGTERM)
        if before in (None, signal.SIG_IGN):
            # It was installed by C, or whoever started this process does not want it to end.
            yield
            return
        requested_at = math.inf

        def request(number: int, frame: FrameType | None) -> None:
            nonlocal requested_at
            if time.monotonic() - requested_at > _TWICE_SECONDS:
                signal.signal(signal.SIGTERM, before)
                signal.raise_signal(signal.SIGTERM)
            requested_at = min(requested_at, time.monotonic())
            self.request()

        signal.signal(signal.SIGTERM, request)
        try:
            yield
        finally:
            signal.signal(signal.SIGTERM, before)

    def request(self) -> None:
        """End the work that runs, and what begins later at once."""
        self.is_requested = True
        if self._work is not None:
            self._work.get_loop().call_soon_threadsafe(self._work.cancel)

    async def run(self, work: Coroutine[Any, Any, None]) -> bool:
        """Run to the end, or until that is requested; return whether it came to its end."""
        self._work = asyncio.create_task(work)
        if self.is_requested:
            self._work.cancel()
        try:
            with suppress(asyncio.CancelledError):
                await self._work
                return True
            if not self.is_requested:
                raise asyncio.CancelledError
            return False
        finally:
            self._work.cancel()
            self._work = None

    def leave_out_late(self) -> None:
        """Raise ``CancelledError`` if the end was requested: what comes after it may be its consequence."""
        if self.is_requested:
            raise asyncio.CancelledError

"""SIGTERM during a check, such as that of ``timeout``: it ends the work, and what was found is printed."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any


class Termination:
    """Whether a check is to end early, and the work that ends then."""

    def __init__(self) -> None:
        self.is_requested = False
        self._work: asyncio.Task[None] | None = None

    @contextmanager
    def at_signal(self) -> Iterator[None]:
        """Let SIGTERM request the end, once: a second one ends the process as it always does.

        Signals can be handled in the main thread alone.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGTERM)

        def request(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGTERM, before)
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

"""Output of a process, copied to the log in limited amounts."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque

_LINES_PER_WINDOW = 200
_WINDOW_SECONDS = 10.0
_LINE_CHARACTERS = 500
_TAIL_LINES = 20

_log = logging.getLogger("fxlsp.worker")


class OutputLog:
    """Log of what user code prints; lines above a limit are counted, not logged.

    The last lines are available for messages.
    """

    def __init__(self) -> None:
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._partial = b""
        self._window_ends = 0.0
        self._logged = 0
        self._suppressed = 0

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines that are not blank, oldest first."""
        return tuple(self._tail)

    async def follow(self, stream: asyncio.StreamReader) -> None:
        """Log the stream until its end."""
        while data := await stream.read(2**16):
            self._feed(data)
        self._feed(b"\n")
        self._report_suppressed()

    def _feed(self, data: bytes) -> None:
        *lines, rest = (self._partial + data).split(b"\n")
        self._partial = rest[:_LINE_CHARACTERS]
        for line in lines:
            text = line[: 4 * _LINE_CHARACTERS].decode("utf-8", "replace").rstrip()[:_LINE_CHARACTERS]
            if text:
                self._tail.append(text)
                self._write(text)

    def _write(self, text: str) -> None:
        now = time.monotonic()
        if now >= self._window_ends:
            self._report_suppressed()
            self._window_ends = now + _WINDOW_SECONDS
            self._logged = 0
        if self._logged < _LINES_PER_WINDOW:
            self._logged += 1
            _log.info("%s", text)
        else:
            self._suppressed += 1

    def _report_suppressed(self) -> None:
        if self._suppressed:
            _log.info("... and %d more lines of output", self._suppressed)
        self._suppressed = 0

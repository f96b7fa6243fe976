"""Thread of a spawned worker that receives messages whatever the traced code does."""

from __future__ import annotations

import os
import queue
import threading

from ....wire.frames import Decoder
from ....wire.messages import WIRE, DumpStack, Preload, TraceRequest
from ....wire.vocabulary import WireMessage
from ...isolation.child_processes.crash_dump import dump_all_threads

_exit = os._exit
"""Bound before the crash dump is installed: the supervisor is gone, so that there is no reader for a dump."""


class CommandReader:
    """Thread that reads messages from a pipe, and ends the process when that closes."""

    def __init__(self, pipe: int, stack: int) -> None:
        """``stack`` is the descriptor to which the stack is written on request."""
        self._pipe = pipe
        self._stack = stack
        self._messages: queue.SimpleQueue[TraceRequest | Preload] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True, name="fxlsp commands").start()

    def next(self) -> TraceRequest | Preload:
        """Wait for the next message to execute, and return it."""
        return self._messages.get()

    def _read(self) -> None:
        decoder = Decoder()
        try:
            while data := os.read(self._pipe, 2**20):
                for message in decoder.feed(data):
                    self._handle(WIRE.parse(message))
        finally:
            _exit(1)

    def _handle(self, message: WireMessage) -> None:
        if isinstance(message, DumpStack):
            dump_all_threads(self._stack)
        elif isinstance(message, (TraceRequest, Preload)):
            self._messages.put(message)

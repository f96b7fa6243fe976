"""What a spare is told, heard on a thread of its own: it is to be heard whatever the traced code does."""

from __future__ import annotations

import faulthandler
import os
import queue
import threading

from ...wire.frames import Decoder
from ...wire.messages import WIRE, DumpStack, Preload, TraceRequest
from ...wire.vocabulary import WireMessage

_exit = os._exit
"""Taken before last words are arranged: who told this process what to do is gone, and nobody would hear them."""


class CommandReader:
    """Reads messages from a pipe until it closes, which ends this process."""

    def __init__(self, pipe: int, stack: int) -> None:
        """``stack`` is the descriptor to tell the running stack on when that is asked for."""
        self._pipe = pipe
        self._stack = stack
        self._messages: queue.SimpleQueue[TraceRequest | Preload] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True, name="fxlsp commands").start()

    def next(self) -> TraceRequest | Preload:
        """The next one to carry out."""
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
            # Of all threads: the main one, which traces, comes last.
            faulthandler.dump_traceback(file=self._stack, all_threads=True)
        elif isinstance(message, (TraceRequest, Preload)):
            self._messages.put(message)

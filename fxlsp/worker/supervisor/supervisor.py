"""The template: a process that has one child for each trace, with torch imported before it is asked for.

It runs nothing of the workspace. It is one thread that waits on the server and on its children, so that whatever a
child does, the template answers. Where the children come from is the nursery's business.
"""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Sequence
from dataclasses import replace

from ...wire.frames import Decoder, WireError
from ...wire.messages import WIRE, Bye, Cancel, Hello, Log, Overlay, Preload, TraceRequest
from ...wire.vocabulary import UnknownMessage, WireMessage
from .pool import Nursery
from .worker_handle import Offspring

_POLL_SECONDS = 0.1
"""How often limits of running children are looked at."""
_SPARE_SECONDS = 0.3
"""How long a trace is left alone before the next child gets ready beside it: most are over by then."""


class Template:
    """Serves one server over ``connection`` until it goes."""

    def __init__(self, connection: socket.socket, nursery: Nursery) -> None:
        self._connection = connection
        self._nursery = nursery
        self._decoder = Decoder()
        self._texts: dict[str, str] = {}
        self._children: dict[int, Offspring] = {}
        self._spare_due = 0.0
        self._selector = selectors.DefaultSelector()
        self._over = False

    def serve(self) -> None:
        """Greet, and work until the server says ``bye`` or its end of the connection closes."""
        try:
            self._greet()
            while not self._over:
                self._wait()
        finally:
            self._nursery.close()

    def _greet(self) -> None:
        greeting = self._nursery.greeting(self._connection)
        if isinstance(greeting, Hello):
            self._say(replace(greeting, remark=None))
            if greeting.remark is not None:
                self._log("warning", greeting.remark)
        else:
            self._over = True
            if greeting is not None:
                self._say(greeting)
        self._selector.register(self._connection, selectors.EVENT_READ)

    def _wait(self) -> None:
        for key, _ in self._selector.select(_POLL_SECONDS if self._children else None):
            if key.fileobj is self._connection:
                self._receive()
            else:
                self._hear(key.data, key.fd)
        for child in self._children.values():
            child.enforce_limits()
        self._nursery.enforce_limits()
        if not self._children or time.monotonic() >= self._spare_due:
            self._nursery.prepare()

    def _receive(self) -> None:
        try:
            data = self._connection.recv(2**20)
            messages = [WIRE.parse(message) for message in self._decoder.feed(data)]
        except OSError:
            data, messages = b"", []
        except WireError as error:
            self._log("error", f"the tracing process does not understand the server: {error}")
            data, messages = b"", []
        if not data:
            self._over = True
        for message in messages:
            self._handle(message)

    def _handle(self, message: WireMessage) -> None:
        match message:
            case Overlay():
                # The newest text of each path is enough: one that changes back is sent again.
                self._texts[message.path] = message.text
            case TraceRequest():
                texts = {os.path.realpath(path): self._texts[path] for path in message.overlays}
                self._start(replace(message, texts=texts))
            case Cancel():
                self._cancel(message.id)
            case Preload():
                self._preload(message.names)
            case Bye():
                self._over = True
            case UnknownMessage():
                self._log("warning", f"unknown message {message.name!r}")
            case _:
                self._log("warning", f"unexpected message {message.type!r}")

    def _start(self, request: TraceRequest) -> None:
        child = self._nursery.take(request)
        child.assign(request)
        for older in self._children.values():
            # Whoever asked last is waited for now: a long trace goes on with what that one leaves.
            older.yield_to_others()
        self._children[child.id] = child
        for pipe in child.pipes:
            self._selector.register(pipe, selectors.EVENT_READ, child)
        self._spare_due = time.monotonic() + _SPARE_SECONDS

    def _cancel(self, trace_id: int) -> None:
        child = self._children.get(trace_id)
        if child is None:
            return
        self._release(child)
        if not self._nursery.take_back(child):
            child.done = True
            self._bury(child)

    def _hear(self, child: Offspring, pipe: int) -> None:
        if self._children.get(child.id) is not child:
            return
        frames = child.read(pipe)
        if frames is None:
            self._release(child)
            self._bury(child)
            return
        for frame in frames:
            self._send(frame)

    def _release(self, child: Offspring) -> None:
        """Its request is answered, or will not be."""
        del self._children[child.id]
        for pipe in child.pipes:
            self._selector.unregister(pipe)

    def _bury(self, child: Offspring) -> None:
        death = child.bury()
        self._nursery.forget(child)
        if child.done:
            return
        if child.declined and child.assignment is not None:
            self._start(child.assignment)
        else:
            self._say(child.answer_for(death))

    def _preload(self, names: Sequence[str]) -> None:
        remark = self._nursery.preload(names)
        if remark is not None:
            self._log("info", remark)

    def _log(self, level: str, text: str) -> None:
        self._say(Log(level, text))

    def _say(self, message: WireMessage) -> None:
        self._send(message.encoded())

    def _send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError:
            self._over = True

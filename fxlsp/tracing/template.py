"""The template: a process with torch imported that forks one child for each trace.

It runs nothing of the workspace. It is one thread that waits on the server and on its children, so that whatever a
child does, the template answers.
"""

from __future__ import annotations

import gc
import importlib
import os
import selectors
import signal
import socket
import threading
import time
from typing import Any

import torch

from ..report.wire import Decoder, Message, WireError, encode
from .death import adopt_orphans, end_group, end_orphans
from .devices import let_defaults_be_cpu
from .distribution import stay_alone
from .fakes import let_init_be_skipped
from .offspring import Offspring
from .torch_private import never_start_accelerators
from .warmup import warm_up
from .weights import leave_weights_unread

_POLL_SECONDS = 0.1
"""How often limits of running children are looked at."""
_SPARE_SECONDS = 0.3
"""How long a trace is left alone before the next child gets ready beside it: most are over by then."""


class Template:
    """Serves one server over ``connection`` until it goes."""

    def __init__(self, connection: socket.socket, hello: Message, remark: str | None = None) -> None:
        """``remark`` is a warning for the log, told after the greeting."""
        self._connection = connection
        self._hello = hello
        self._remark = remark
        self._decoder = Decoder()
        self._texts: dict[str, str] = {}
        self._children: dict[int, Offspring] = {}
        self._spare: Offspring | None = None
        self._spare_due = 0.0
        self._selector = selectors.DefaultSelector()
        self._over = False

    def serve(self) -> None:
        """Prepare, greet, and work until the server says ``bye`` or its end of the connection closes."""
        # Before any package is imported that could keep the originals.
        never_start_accelerators()
        let_defaults_be_cpu()
        stay_alone()
        leave_weights_unread()
        let_init_be_skipped()
        warm_up()
        adopt_orphans()
        gc.collect()
        gc.freeze()
        self._selector.register(self._connection, selectors.EVENT_READ)
        self._send(encode(self._hello))
        if self._remark is not None:
            self._log("warning", self._remark)
        self._make_spare()
        try:
            while not self._over:
                self._wait()
        finally:
            for child in self._all_children():
                end_group(child.pid)
            end_orphans(set())

    def _wait(self) -> None:
        for key, _ in self._selector.select(_POLL_SECONDS if self._children else None):
            if key.fileobj is self._connection:
                self._receive()
            else:
                self._hear(key.data, key.fd)
        for child in self._children.values():
            child.enforce_limits()
        if self._spare is None and (not self._children or time.monotonic() >= self._spare_due):
            self._make_spare()

    def _receive(self) -> None:
        try:
            data = self._connection.recv(2**20)
            messages = self._decoder.feed(data)
        except (OSError, WireError):
            data, messages = b"", []
        if not data:
            self._over = True
        for message in messages:
            self._handle(message)

    def _handle(self, message: Message) -> None:
        kind = message["type"]
        if kind == "overlay":
            # The newest text of each path is enough: one that changes back is sent again.
            self._texts[message["path"]] = message["text"]
        elif kind == "trace":
            self._trace(message)
        elif kind == "cancel":
            self._cancel(message["id"])
        elif kind == "preload":
            self._preload(message["names"])
        elif kind == "bye":
            self._over = True
        else:
            self._log("warning", f"unknown message {kind!r}")

    def _trace(self, request: Message) -> None:
        overlays: dict[str, str] = request.get("overlays", {})
        texts = {os.path.realpath(path): self._texts[path] for path in overlays}
        if self._spare is None:
            self._make_spare()
        child, self._spare = self._spare, None
        assert child is not None
        child.assign(request, texts)
        for older in self._children.values():
            # Whoever asked last is waited for now: a long trace goes on with what that one leaves.
            older.yield_to_others()
        self._children[child.id] = child
        for pipe in child.pipes:
            self._selector.register(pipe, selectors.EVENT_READ, child)
        self._spare_due = time.monotonic() + _SPARE_SECONDS

    def _make_spare(self) -> None:
        """Fork a child ahead of its request: it gets ready while nobody waits for it."""
        theirs = [descriptor for child in self._all_children() for descriptor in child.descriptors]
        self._spare = Offspring([self._connection.fileno(), *theirs])

    def _all_children(self) -> list[Offspring]:
        return [*self._children.values(), *([] if self._spare is None else [self._spare])]

    def _cancel(self, trace_id: int) -> None:
        child = self._children.get(trace_id)
        if child is not None:
            child.done = True
            self._bury(child)

    def _hear(self, child: Offspring, pipe: int) -> None:
        if child.id not in self._children:
            return
        frames = child.read(pipe)
        if frames is None:
            self._bury(child)
            return
        for frame in frames:
            self._send(frame)

    def _bury(self, child: Offspring) -> None:
        del self._children[child.id]
        for pipe in child.pipes:
            self._selector.unregister(pipe)
        failed = child.bury()
        end_orphans({other.pid for other in self._all_children()})
        if not child.done:
            self._send(encode(failed))

    def _preload(self, names: list[str]) -> None:
        """Import installed packages here, so that children find them loaded, if that leaves this process quiet."""
        if not self._stays_quiet(names):
            self._log("info", f"{', '.join(names[:3])} start threads or CUDA: imported for each trace anew")
            return
        for name in names:
            _import(name)
        gc.collect()
        gc.freeze()
        self._replace_spare()

    def _replace_spare(self) -> None:
        """The one that stands ready was forked before what has just been imported."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.done = True
            spare.bury()
        self._make_spare()

    def _stays_quiet(self, names: list[str]) -> bool:
        """Try the imports in a fork: forking is safe only from a process without other threads."""
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            threads = _threads()
            for name in names:
                _import(name)
            os._exit(0 if _threads() <= threads and not torch.cuda.is_initialized() else 1)  # type: ignore[no-untyped-call]
        _, status = os.waitpid(pid, 0)
        return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0

    def _log(self, level: str, text: str) -> None:
        self._send(encode({"type": "log", "level": level, "message": text}))

    def _send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError:
            self._over = True


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception:
        # The child that needs it will say why it cannot be imported, at the line that imports it.
        return None


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return threading.active_count()

"""What the server and the process that reads a workspace send each other; and the reading, in that process.

The server sends one :class:`ReadOrder`. The process answers with a :class:`Parsing` before each file that it parses,
with :class:`SummariesRead` whenever some files are read, and with :class:`ReadAll` at the end. The frames are those of
:mod:`fxlsp.wire.frames`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fxlsp.report.serialization import JsonObject
from fxlsp.wire.frames import Splitter, framed
from fxlsp.wire.vocabulary import Vocabulary, WireMessage

if TYPE_CHECKING:
    from fxlsp.engine.settings.exclusion import Exclusion
    from fxlsp.source.models.file_summary import FileSummary

_NICENESS = 5
"""Traces, and whatever the user waits for, come first; but a training run on every core does not stop the reading."""
_BELOW_NORMAL = 0x4000
"""The same on Windows, in its own number."""
_FRAME_CHARACTERS = 2**16
"""About the size of a frame: decoding one must not keep the server's other threads waiting."""


@dataclass(frozen=True, slots=True)
class FolderToRead(JsonObject):
    """A folder, and which of its files are left out."""

    path: str
    excluded_from: str
    """The folder to which ``patterns`` are relative."""
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadOrder(WireMessage):
    """Order to read folders: the only message from the server."""

    type: ClassVar[str] = "read"
    python_path: tuple[str, ...]
    """The server's ``sys.path``."""
    folders: tuple[FolderToRead, ...]
    left_out: tuple[str, ...]
    """Files that are not to be parsed."""


@dataclass(frozen=True, slots=True)
class Parsing(WireMessage):
    """The file that is parsed next, so that it is known which one did not end well."""

    type: ClassVar[str] = "parsing"
    path: str


@dataclass(frozen=True, slots=True)
class SummariesRead(WireMessage):
    """What some programs offer."""

    type: ClassVar[str] = "offers"
    files: dict[str, Any]
    """By name, as :meth:`~fxlsp.source.models.file_summary.FileSummary.to_json` has it: decoded on a thread of the
    server."""


@dataclass(frozen=True, slots=True)
class ReadAll(WireMessage):
    """End of the reading: everything has been sent."""

    type: ClassVar[str] = "read"


ORDERS = Vocabulary(ReadOrder)
"""To the process."""
ANSWERS = Vocabulary(Parsing, SummariesRead, ReadAll)
"""To the server."""


def read_order(folders: Sequence[tuple[str, Exclusion]], left_out: Iterable[str]) -> ReadOrder:
    """Return the order to read these folders, without parsing what is left out."""
    return ReadOrder(
        python_path=tuple(os.path.abspath(entry) for entry in sys.path),
        folders=tuple(FolderToRead(path, exclusion.folder, exclusion.patterns) for path, exclusion in folders),
        left_out=tuple(sorted(left_out)),
    )


def read_folders(connection: socket.socket) -> None:
    """Receive one order and answer it; end the process when the other side is gone."""
    ordered = _receive_order(connection)
    threading.Thread(target=_exit_with_server, args=(connection,), daemon=True, name="fxlsp-server-watch").start()
    _lower_priority()
    # What the server itself would import, wherever it would find it.
    sys.path[:] = ordered.python_path
    from fxlsp.engine.index.python_files import never_stop
    from fxlsp.engine.index.scan import folder_summaries
    from fxlsp.engine.settings.exclusion import Exclusion
    from fxlsp.engine.state.folders import combined_exclusion

    folders = [(each.path, Exclusion(each.excluded_from, each.patterns)) for each in ordered.folders]
    left_out, answers, is_excluded = (
        frozenset(ordered.left_out),
        _SummaryBatches(connection),
        combined_exclusion(folders),
    )

    def may_parse(path: str) -> bool:
        if path in left_out:
            return False
        connection.sendall(Parsing(path).encoded())
        return True

    for folder, _ in folders:
        for name, summary in folder_summaries(folder, never_stop, is_excluded, may_parse):
            answers.add(name, summary)
    answers.flush()
    connection.sendall(ReadAll().encoded())


class _SummaryBatches:
    """Puts what small files offer together, as the text of :class:`SummariesRead`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._texts: list[str] = []
        self._size = 0

    def add(self, name: str, summary: FileSummary) -> None:
        text = f"{json.dumps(name)}:{json.dumps(summary.to_json(), separators=(',', ':'))}"
        self._texts.append(text)
        self._size += len(text)
        if self._size >= _FRAME_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        payload = '{"type":"offers","files":{' + ",".join(self._texts) + "}}"
        self._texts, self._size = [], 0
        self._connection.sendall(framed(payload.encode("ascii")))


def _receive_order(connection: socket.socket) -> ReadOrder:
    splitter = Splitter()
    while data := connection.recv(2**16):
        for message in map(ORDERS.decode, splitter.feed(data)):
            assert isinstance(message, ReadOrder)
            return message
    # The server has changed its mind, or is gone.
    os._exit(0)


def _exit_with_server(connection: socket.socket) -> None:
    """Ends this process with the server, or when that wants no answer any more."""
    try:
        while connection.recv(2**16):
            pass
    finally:
        os._exit(1)


def _lower_priority() -> None:
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.kernel32.SetPriorityClass(ctypes.windll.kernel32.GetCurrentProcess(), _BELOW_NORMAL)
    else:
        os.nice(_NICENESS)

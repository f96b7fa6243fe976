"""Messages between server and index reader, and the reading in that process.

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
"""Traces and other work that the user waits for have priority, but a training run on every core does not stop the
reading."""
_BELOW_NORMAL = 0x4000
"""The corresponding priority class of Windows."""
_FRAME_CHARACTERS = 2**16
"""Approximate size of a frame: decoding one must not block the server's other threads."""


@dataclass(frozen=True, slots=True)
class FolderToRead(JsonObject):
    """Folder to read, and its exclusion."""

    path: str
    excluded_from: str
    """Folder to which ``patterns`` are relative."""
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadOrder(WireMessage):
    """Order to read folders: the only message from the server."""

    type: ClassVar[str] = "read"
    python_path: tuple[str, ...]
    """The server's ``sys.path``."""
    folders: tuple[FolderToRead, ...]
    left_out: tuple[str, ...]
    """Files that must not be parsed."""


@dataclass(frozen=True, slots=True)
class Parsing(WireMessage):
    """File that is parsed next.

    If the process dies, this file is the cause.
    """

    type: ClassVar[str] = "parsing"
    path: str


@dataclass(frozen=True, slots=True)
class SummariesRead(WireMessage):
    """Summaries of some programs."""

    type: ClassVar[str] = "offers"
    files: dict[str, Any]
    """Summaries by name, in the form of :meth:`~fxlsp.source.models.file_summary.FileSummary.to_json`, which a thread
    of the server decodes."""


@dataclass(frozen=True, slots=True)
class ReadAll(WireMessage):
    """End of the reading: everything has been sent."""

    type: ClassVar[str] = "read"


ORDERS = Vocabulary(ReadOrder)
"""Messages to the process."""
ANSWERS = Vocabulary(Parsing, SummariesRead, ReadAll)
"""Messages to the server."""


def read_order(folders: Sequence[tuple[str, Exclusion]], left_out: Iterable[str]) -> ReadOrder:
    """Return the order to read these folders, without parsing some files."""
    return ReadOrder(
        python_path=tuple(os.path.abspath(entry) for entry in sys.path),
        folders=tuple(FolderToRead(path, exclusion.folder, exclusion.patterns) for path, exclusion in folders),
        left_out=tuple(sorted(left_out)),
    )


def read_folders(connection: socket.socket) -> None:
    """Receive one order and answer it; exit when the server closes the connection."""
    ordered = _receive_order(connection)
    threading.Thread(target=_exit_with_server, args=(connection,), daemon=True, name="fxlsp-server-watch").start()
    _lower_priority()
    # Import from where the server itself would.
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
    """Sends summaries of small files together as one :class:`SummariesRead`."""

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
    # The server cancelled the reading, or has ended.
    os._exit(0)


def _exit_with_server(connection: socket.socket) -> None:
    """Exit when the server ends or closes the connection."""
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

"""What the server tells the process that reads a workspace, and what that answers; carried out in that process.

The frames are those of :mod:`fxlsp.report.wire`. One comes from the server:

- ``read {python_path: [folder], folders: [{path, excluded_from, patterns}], left_out: [path]}``. Files that are left
  out are not parsed.

The answers:

- ``parsing {path}``: before that file is parsed, so that it is known which one did not end well.
- ``offers {files: {name: offers}}``: what some programs offer, as :meth:`~fxlsp.source.offers.Offers.to_json` has it.
- ``read {}``: that was all.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fxlsp.report.wire import Message, Splitter, decode, encode, framed

if TYPE_CHECKING:
    from fxlsp.engine.exclusion import Exclusion
    from fxlsp.source.offers import Offers

_NICENESS = 5
"""Traces, and whatever the user waits for, come first; but a training run on every core does not stop the reading."""
_BELOW_NORMAL = 0x4000
"""The same on Windows, in its own number."""
_FRAME_CHARACTERS = 2**16
"""About the size of a frame: decoding one must not keep the server's other threads waiting."""


def order(folders: Sequence[tuple[str, Exclusion]], left_out: Iterable[str]) -> Message:
    """What to tell a process that is to read these folders, without parsing what is left out."""
    return {
        "type": "read",
        "python_path": [os.path.abspath(entry) for entry in sys.path],
        "folders": [
            {"path": path, "excluded_from": exclusion.folder, "patterns": exclusion.patterns}
            for path, exclusion in folders
        ],
        "left_out": sorted(left_out),
    }


def carry_out(connection: socket.socket) -> None:
    """Hears one order and answers it; ends the process when the other side is gone."""
    message = _heard(connection)
    threading.Thread(target=_end_with, args=(connection,), daemon=True, name="fxlsp-server-watch").start()
    _step_back()
    # What the server itself would import, wherever it would find it.
    sys.path[:] = message["python_path"]
    from fxlsp.engine.exclusion import Exclusion
    from fxlsp.engine.folders import exclusion_in
    from fxlsp.engine.indexing import folder_offers
    from fxlsp.engine.python_files import never

    folders = [(each["path"], Exclusion(each["excluded_from"], tuple(each["patterns"]))) for each in message["folders"]]
    left_out, answers, is_excluded = frozenset(message["left_out"]), _Answers(connection), exclusion_in(folders)

    def may_parse(path: str) -> bool:
        if path in left_out:
            return False
        connection.sendall(encode({"type": "parsing", "path": path}))
        return True

    for folder, _ in folders:
        for name, offers in folder_offers(folder, never, is_excluded, may_parse):
            answers.add(name, offers)
    answers.flush()
    connection.sendall(encode({"type": "read"}))


class _Answers:
    """Puts small ones together."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._texts: list[str] = []
        self._size = 0

    def add(self, name: str, offers: Offers) -> None:
        text = f"{json.dumps(name)}:{json.dumps(offers.to_json(), separators=(',', ':'))}"
        self._texts.append(text)
        self._size += len(text)
        if self._size >= _FRAME_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        payload = '{"type":"offers","files":{' + ",".join(self._texts) + "}}"
        self._texts, self._size = [], 0
        self._connection.sendall(framed(payload.encode("ascii")))


def _heard(connection: socket.socket) -> Message:
    splitter = Splitter()
    while data := connection.recv(2**16):
        payloads = splitter.feed(data)
        if payloads:
            return decode(payloads[0])
    # The server has changed its mind, or is gone.
    os._exit(0)


def _end_with(connection: socket.socket) -> None:
    """Ends this process with the server, or when that wants no answer any more."""
    try:
        while connection.recv(2**16):
            pass
    finally:
        os._exit(1)


def _step_back() -> None:
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.kernel32.SetPriorityClass(ctypes.windll.kernel32.GetCurrentProcess(), _BELOW_NORMAL)
    else:
        os.nice(_NICENESS)

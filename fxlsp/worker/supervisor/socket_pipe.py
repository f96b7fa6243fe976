"""A pipe that can be waited for as a socket: Windows can wait for sockets alone."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from typing import IO


class Pump:
    """Copies what arrives on ``pipe`` to ``socket``, on a thread, and owns both."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.socket, theirs = socket.socketpair()
        self._thread = threading.Thread(target=_copy, args=(pipe, theirs), daemon=True, name="fxlsp pump")
        self._thread.start()

    def rest(self, seconds: float) -> bytes:
        """What is still to come of an ended process, as far as it comes in this time."""
        data = b""
        self.socket.settimeout(seconds)
        with suppress(OSError):
            while piece := self.socket.recv(2**16):
                data += piece
        return data

    def close(self) -> None:
        """The thread ends with the pipe, or when it next has something to copy."""
        self.socket.close()


def _copy(pipe: IO[bytes], theirs: socket.socket) -> None:
    with theirs, pipe, suppress(OSError):
        while data := os.read(pipe.fileno(), 2**16):
            theirs.sendall(data)

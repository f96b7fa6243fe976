"""The wire protocol for fake supervisors.

Standard library alone, since they run outside fxlsp's own folder.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Iterator
from typing import Any

HELLO = {
    "type": "hello",
    "protocol": 1,
    "python": "3.11.0",
    "torch": "2.99.0",
    "executable": sys.executable,
    "fork": True,
    "positions": True,
}


class Wire:
    def __init__(self) -> None:
        self._socket = socket.socket(fileno=int(sys.argv[1]))
        self._lock = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        payload = json.dumps(message).encode()
        with self._lock:
            self._socket.sendall(struct.pack(">I", len(payload)) + payload)

    def stop_reading(self) -> None:
        """Make the server's further messages fail with a broken pipe."""
        self._socket.shutdown(socket.SHUT_RD)

    def send_raw(self, data: bytes) -> None:
        self._socket.sendall(data)

    def messages(self) -> Iterator[dict[str, Any]]:
        while header := self._receive(4):
            yield json.loads(self._receive(struct.unpack(">I", header)[0]))

    def _receive(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                return b""
            data += piece
        return data

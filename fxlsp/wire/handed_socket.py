"""The socket that a process of ours is handed by whoever starts it (``fxlsp.engine.connection.process_start``)."""

from __future__ import annotations

import os
import socket
import sys


def handed_socket(descriptor: str) -> socket.socket:
    """The one of that number, or one handed on standard input where a number cannot be inherited (``-``)."""
    if sys.platform == "win32":
        sys.stdout.write(f"{os.getpid()}\n")
        sys.stdout.flush()
        return socket.fromshare(sys.stdin.buffer.read())
    return socket.socket(fileno=int(descriptor))

"""Socket that a process of fxlsp inherits from the one that started it.

``fxlsp.engine.connection.process_start`` is the other side.
"""

from __future__ import annotations

import os
import socket
import sys


def handed_socket(descriptor: str) -> socket.socket:
    """Return the inherited socket with this descriptor number.

    On Windows, where no descriptor can be inherited, ``descriptor`` is ``-``: the process writes its id to standard
    output and reads the shared socket from standard input.
    """
    if sys.platform == "win32":
        sys.stdout.write(f"{os.getpid()}\n")
        sys.stdout.flush()
        return socket.fromshare(sys.stdin.buffer.read())
    return socket.socket(fileno=int(descriptor))

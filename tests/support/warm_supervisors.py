"""Forks supervisors that have torch imported, for tests whose claim is not how one starts.

``python -c TEXT DESCRIPTOR BOOTSTRAP``, with this file's text, serves a listening socket that it inherits. It loads the
worker as ``bootstrap.py`` does, imports torch and prepares it once, and then forks a supervisor for each connection,
which takes some 10 ms in the place of 3 s. Linux only.

A client sends one message: the descriptors of the wire and of the output, and the environment as JSON that a null byte
ends. The answer is the supervisor's exit status, as ``os.waitpid`` gives it, in decimal. A connection that closes
before that kills its supervisor. Standard library alone, since it becomes the supervisor.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

MARK = "FXLSP_TEST_RUN"
"""Environment variable that marks every process of a test; its value has as many characters as :data:`UNMARKED`."""
UNMARKED = "0" * 32
"""Its value in this process."""

_CHUNK = 2**16
_PR_SET_PDEATHSIG = 1


class WarmSupervisors:
    """The loop that accepts connections and watches the supervisors it has forked."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._connections: dict[int, socket.socket] = {}
        """Of each supervisor, by its process id."""

    def serve(self) -> socket.socket:
        """Fork a supervisor for each connection until this process is ended; returns the wire in each of them."""
        woken, waking = socket.socketpair()
        waking.setblocking(False)
        # The end of a supervisor makes a byte readable here.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waking.fileno())
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    wire = self._accept()
                    if wire is not None:
                        woken.close()
                        waking.close()
                        return wire
                elif key.fileobj is woken:
                    woken.recv(_CHUNK)
                    self._report_ends()
                else:
                    self._kill(key.data)

    def _accept(self) -> socket.socket | None:
        """Fork; the wire in the new process, None in this one."""
        connection, _ = self._listener.accept()
        data, (wire, output), _, _ = socket.recv_fds(connection, _CHUNK, 2)
        while not data.endswith(b"\0"):
            data += connection.recv(_CHUNK)
        pid = os.fork()
        if pid == 0:
            connection.close()
            self._become_supervisor(json.loads(data[:-1]), output)
            return socket.socket(fileno=wire)
        os.close(wire)
        os.close(output)
        self._connections[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, pid)
        return None

    def _become_supervisor(self, environment: dict[str, str], output: int) -> None:
        """In a process just forked: be as one that a server has started."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        self._selector.close()
        self._listener.close()
        for connection in self._connections.values():
            connection.close()
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        os.chdir(os.sep)
        _adopt_environment(environment)

    def _report_ends(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                pid, status = ended
                connection = self._connections.pop(pid)
                # It is not registered any more if it was closed before.
                with suppress(KeyError):
                    self._selector.unregister(connection)
                with suppress(OSError):
                    connection.sendall(str(status).encode())
                connection.close()

    def _kill(self, pid: int) -> None:
        """Its client is gone; :meth:`_report_ends` does the rest."""
        self._selector.unregister(self._connections[pid])
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _prepared(bootstrap: str) -> Callable[[socket.socket], None]:
    """The worker's function that starts a supervisor, with torch imported and prepared."""
    # Not yet under the name "__main__", which would start a supervisor here.
    spec = importlib.util.spec_from_file_location("bootstrap", bootstrap)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.load_package()
    start: Callable[[socket.socket], None] = importlib.import_module(f"{program.PACKAGE}.tracing.start").start
    forks: Any = importlib.import_module(f"{program.PACKAGE}.tracing.forks")
    forks.prepare_torch()
    forks.prepare_torch = lambda: None  # it stays so in what is forked
    program.__name__ = "__main__"
    sys.modules["__main__"] = program
    sys.argv[0] = bootstrap
    return start


def _adopt_environment(environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    _show_mark(environment.get(MARK, UNMARKED).encode())


def _show_mark(mark: bytes) -> None:
    """Write the mark over this process's first environment, which is what /proc shows of it for good."""
    if len(mark) != len(UNMARKED):
        raise ValueError(f"{MARK} has {len(mark)} characters, not {len(UNMARKED)}")
    place = Path("/proc/self/environ").read_bytes().index(f"{MARK}=".encode()) + len(MARK) + 1
    fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    environment_begins = int(fields[50 - 3])  # field 50 of proc_pid_stat(5); the third follows the name
    ctypes.memmove(environment_begins + place, mark, len(mark))


def main() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    del sys.path[0]  # the current folder
    start = _prepared(sys.argv[2])
    wire = WarmSupervisors(socket.socket(fileno=int(sys.argv[1]))).serve()
    # Here, below no frame that catches errors: a trace looks at all of them.
    start(wire)
    os._exit(0)


if __name__ == "__main__":
    main()

"""Fork server with slow imports done, for tests not about process starts.

``python -c TEXT KIND DESCRIPTOR ...``, with this file's text, serves a listening socket that it inherits. KIND says
what it imports once and what the processes are that it forks, one for each connection:

- ``supervisor BOOTSTRAP``: supervisors, as ``bootstrap.py`` at that path starts them, with torch imported and prepared
  (some 10 ms in the place of 3 s);
- ``fxlsp FOLDER``: the command ``fxlsp`` of the checkout in that folder (some 10 ms in the place of 500).

A client (:mod:`tests.support.forked_process`) sends one message: the descriptors 0, 1, 2 and further ones of the
process, and environment, folder and arguments as JSON that a null byte ends. The answer is the exit status, as
``os.waitpid`` gives it, in decimal. A connection that closes before that kills the process. Linux only. Standard
library alone, since it becomes the project's interpreter.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MARK = "FXLSP_TEST_RUN"
"""Environment variable that marks every process of a test; its value has as many characters as :data:`UNMARKED`."""
UNMARKED = "0" * 32
"""Its value in this process."""

_CHUNK = 2**16
_MOST_DESCRIPTORS = 8
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Request:
    """Parameters of one process to fork."""

    descriptors: tuple[int, ...]
    """Descriptors 0, 1, 2 and further ones of the client, by their numbers in this process."""
    environment: dict[str, str]
    folder: str
    arguments: list[str]

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)


class ForkServer:
    """Loop that accepts connections and monitors the forked processes."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._woken, self._waking = socket.socketpair()
        self._connections: dict[int, socket.socket] = {}
        """The connections by process id."""

    def serve(self) -> Request:
        """Fork a process for each connection; return only in the forked processes."""
        self._waking.setblocking(False)
        # The end of a process makes a byte readable.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waking.fileno())
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    connection, _ = self._listener.accept()
                    request = _received(connection)
                    if request is None:
                        connection.close()
                        continue
                    pid = os.fork()
                    if pid == 0:
                        connection.close()
                        self._become(request)
                        return request
                    request.close()
                    self._connections[pid] = connection
                    self._selector.register(connection, selectors.EVENT_READ, pid)
                elif key.fileobj is self._woken:
                    self._woken.recv(_CHUNK)
                    self._report_ends()
                elif self._connections.get(key.data) is key.fileobj:
                    # Otherwise its process has ended, as another of these events said.
                    self._kill(key.data)

    def _become(self, request: Request) -> None:
        """Adopt, after a fork, the state of a process that the client has started."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        self._selector.close()
        for end in (self._listener, self._woken, self._waking, *self._connections.values()):
            end.close()
        for number, descriptor in enumerate(request.descriptors[:3]):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(request.folder)
        os.environ.clear()
        os.environ.update(request.environment)
        _show_mark(request.environment.get(MARK, UNMARKED).encode())

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
        """Kill a process whose client has gone; :meth:`_report_ends` reaps it."""
        self._selector.unregister(self._connections[pid])
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _received(connection: socket.socket) -> Request | None:
    """Return the request of a client; None if the client was killed before it had sent the whole."""
    data, descriptors, _, _ = socket.recv_fds(connection, _CHUNK, _MOST_DESCRIPTORS)
    while not data.endswith(b"\0"):
        more = connection.recv(_CHUNK)
        if not more:
            for descriptor in descriptors:
                os.close(descriptor)
            return None
        data += more
    return Request(tuple(descriptors), **json.loads(data[:-1]))


def _show_mark(mark: bytes) -> None:
    """Write the mark over the initial environment, which /proc shows for good."""
    if len(mark) != len(UNMARKED):
        raise ValueError(f"{MARK} has {len(mark)} characters, not {len(UNMARKED)}")
    place = Path("/proc/self/environ").read_bytes().index(f"{MARK}=".encode()) + len(MARK) + 1
    fields = Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    environment_begins = int(fields[50 - 3])  # field 50 of proc_pid_stat(5); the third follows the name
    ctypes.memmove(environment_begins + place, mark, len(mark))


def prepared_supervisor(bootstrap: str) -> Callable[[Request], None]:
    """Import and prepare torch; return the function that runs a supervisor."""
    # Not yet under the name "__main__", which would start a supervisor here.
    spec = importlib.util.spec_from_file_location("bootstrap", bootstrap)
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    program.load_package()
    start: Any = importlib.import_module(f"{program.PACKAGE}.tracing.processes.start")
    forks: Any = importlib.import_module(f"{program.PACKAGE}.tracing.processes.supervisor.fork_pool")
    forks.prepare_torch()
    _skip(forks, "prepare_torch")  # what it did stays so in what is forked
    # Warming up before a request makes the answer faster; here every process would wait for it.
    worker: Any = importlib.import_module(f"{program.PACKAGE}.tracing.processes.worker.worker_main")
    _skip(worker, "warm_up_plain_pass", "warm_up_recovering_pass")
    program.__name__ = "__main__"
    sys.modules["__main__"] = program
    sys.argv[0] = bootstrap
    return lambda request: start.start(socket.socket(fileno=request.descriptors[3]))


def _skip(module: Any, *functions: str) -> None:
    """Make these functions of the module do nothing.

    Raises:
        AttributeError: the module has no such function any more.
    """
    for name in functions:
        getattr(module, name)
        setattr(module, name, lambda: None)


def prepared_command(folder: str) -> Callable[[Request], None]:
    """Import all of fxlsp; return the function that runs the command ``fxlsp``."""
    sys.path.insert(0, folder)
    from fxlsp.cli.main import main
    from tests.support.warm import install

    install()

    def run(request: Request) -> None:
        sys.argv[:] = ["fxlsp", *request.arguments]
        # As they were at the start of this process, they would keep what they have read or not written.
        sys.stdin, sys.stdout, sys.stderr = (open(end, mode) for end, mode in ((0, "r"), (1, "w"), (2, "w")))  # noqa: SIM115
        sys.exit(main())

    return run


def main() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    kind, descriptor, argument = sys.argv[1:]
    del sys.path[0]  # the current folder
    become = {"supervisor": prepared_supervisor, "fxlsp": prepared_command}[kind](argument)
    request = ForkServer(socket.socket(fileno=int(descriptor))).serve()
    # Here, below no frame that catches errors: a trace looks at all of them.
    become(request)
    os._exit(0)


if __name__ == "__main__":
    main()

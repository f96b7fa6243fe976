"""First steps of a supervisor or spawned worker: report or refuse its interpreter.

Imports neither torch nor any module that does, so that it can report that torch is missing.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
import tempfile

from ...report.codes import NO_INTERPRETER
from ...wire.messages import PROTOCOL, Hello, Refused
from ..isolation.child_processes.fds import redirect_standard_streams, write_all
from ..isolation.child_processes.lifetime import die_with_parent
from ..isolation.sandbox.containment import Containment, working_containment
from .supervisor.scratch_folder import supervisor_folder
from .supervisor.spawn_pool import SpawnPool
from .supervisor.spawned_worker import BOOTSTRAP, STACK_FILE
from .supervisor.supervisor import Supervisor
from .worker.command_reader import CommandReader

OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = (2, 6)
NEWEST_PYTHON = (3, 13)
NEWEST_TORCH = (2, 15)
"""The versions that pyproject.toml claims and the tests run on; newer ones are tried, with a remark that they are
untested."""

_SPAWN = "FXLSP_SPAWN"
"""Environment variable: "1" spawns workers where they could be forked."""


def start(connection: socket.socket) -> None:
    """Run the supervisor on ``connection``; return when the server has disconnected."""
    die_with_parent(os.getppid())
    # User code that starts a process must not pass this connection on.
    connection.set_inheritable(False)
    if not hasattr(os, "fork") or os.environ.get(_SPAWN) == "1":
        with supervisor_folder() as folder:
            Supervisor(connection, SpawnPool(folder)).serve()
        return
    environment = dict(os.environ)
    containment = working_containment(os.getpid())
    hello = _hello(containment, forks=True)
    if isinstance(hello, Refused):
        connection.sendall(hello.encoded())
        return
    from .supervisor.fork_pool import ForkPool, NoForkError

    try:
        with supervisor_folder() as folder:
            # Some modules make a temporary folder when they are imported. One of a supervisor that is killed would
            # stay; its own folder is removed by the next supervisor.
            tempfile.tempdir = folder
            Supervisor(connection, ForkPool(hello, folder, containment)).serve()
    except NoForkError as error:
        sys.stderr.write(f"{error}: processes are started instead\n")
        sys.stderr.flush()
        _restart_without_fork(connection, environment)


def _restart_without_fork(connection: socket.socket, environment: dict[str, str]) -> None:
    """Restart this process without ``fork``, and without its imported torch.

    Args:
        connection: that of the server, which the new program inherits.
        environment: that of before torch was imported: torch notes folders in it that are gone by now.
    """
    connection.set_inheritable(True)
    os.execve(sys.executable, [sys.executable, BOOTSTRAP, *sys.argv[1:]], {**environment, _SPAWN: "1"})


def start_spawned_worker(scratch: str) -> None:
    """Run a worker of one request, which ends with the supervisor at the latest."""
    if hasattr(os, "setsid"):
        # A signal to its own group must not reach the supervisor, and one to this group reaches all that it started.
        os.setsid()
    ends = redirect_standard_streams()
    stack = os.open(os.path.join(scratch, STACK_FILE), os.O_WRONLY | os.O_CREAT)
    # Before torch is imported, which may start threads: they would not be restricted.
    containment = working_containment(os.getppid())
    containment.apply(scratch)
    # The import of torch looks for a temporary folder that it can write to.
    tempfile.tempdir = scratch
    reader = CommandReader(ends.commands, stack)
    hello = _hello(containment, forks=False)
    write_all(ends.reports, hello.encoded())
    if isinstance(hello, Hello):
        from .worker.spawned_main import run_spawned_worker

        run_spawned_worker(reader, ends.reports, stack, scratch)


def _hello(containment: Containment, forks: bool) -> Hello | Refused:
    refusal = _refusal()
    if refusal is not None:
        return Refused(NO_INTERPRETER, refusal)
    import torch

    return Hello(
        protocol=PROTOCOL,
        python=platform.python_version(),
        torch=str(torch.__version__),
        executable=sys.executable,
        pid=os.getpid(),
        fork=forks,
        positions=sys.version_info >= (3, 11),
        contained=containment.names,
        remark=untested(sys.version_info[:2], str(torch.__version__)),
    )


def untested(python: tuple[int, int], torch: str) -> str | None:
    """Return a remark on versions newer than the tested ones, else None."""
    if python <= NEWEST_PYTHON and _version(torch) <= NEWEST_TORCH:
        return None
    return (
        f"fxlsp was tested with Python up to {_dotted(NEWEST_PYTHON)} and torch up to {_dotted(NEWEST_TORCH)}; "
        f"{sys.executable} has Python {_dotted(python)} and torch {torch}, which may or may not work"
    )


def _refusal() -> str | None:
    here = f"{sys.executable} (Python {platform.python_version()})"
    if sys.version_info[:2] < OLDEST_PYTHON:
        return f"fxlsp needs Python {_dotted(OLDEST_PYTHON)} or later to trace, and {here} is older"
    try:
        import torch
    except ImportError as error:
        if error.name == "torch":
            return f"{here} has no torch: install torch there, or choose the interpreter of your project"
        return f"{here} cannot import torch: {error}"
    except Exception as error:
        return f"{here} cannot import torch: {type(error).__name__}: {error}"
    version = str(torch.__version__)
    if _version(version) < OLDEST_TORCH:
        return f"fxlsp needs torch {_dotted(OLDEST_TORCH)} or later, and {here} has torch {version}"
    return None


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.partition("+")[0].split(".")[:2] if part.isdecimal())


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))

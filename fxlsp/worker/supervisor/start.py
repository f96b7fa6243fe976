"""The first steps of a template process: say what this interpreter is, or why it will not do.

Imports neither torch nor any module that does, so that it can say that torch is missing.
"""

from __future__ import annotations

import os
import platform
import socket
import sys
import tempfile

from ...report.codes import NO_INTERPRETER
from ...wire.messages import PROTOCOL, Hello, Refused
from ..processes.fds import redirect_standard_streams, write_all
from ..processes.lifetime import die_with_parent
from .command_reader import Orders
from .spawn_pool import Spares
from .spawned_worker import BOOTSTRAP, STACK_FILE
from .supervisor import Template

OLDEST_PYTHON = (3, 10)
OLDEST_TORCH = (2, 6)
NEWEST_PYTHON = (3, 13)
NEWEST_TORCH = (2, 15)
"""What pyproject.toml claims, and the tests are run on; newer ones are tried, and said to be untested."""

_SPAWN = "FXLSP_SPAWN"
"""Environment variable: "1" starts a process for each trace where one could be forked."""


def start(connection: socket.socket) -> None:
    """Become the template that talks over ``connection``; returns when the server has gone."""
    die_with_parent(os.getppid())
    # User code that starts a process must not hand it this connection.
    connection.set_inheritable(False)
    if not hasattr(os, "fork") or os.environ.get(_SPAWN) == "1":
        with _scratch() as folder:
            Template(connection, Spares(folder)).serve()
        return
    greeting = _greeting(forks=True)
    if isinstance(greeting, Refused):
        connection.sendall(greeting.encoded())
        return
    from .fork_pool import Forks, NoForkError

    try:
        with _scratch() as folder:
            Template(connection, Forks(greeting, folder)).serve()
    except NoForkError as error:
        sys.stderr.write(f"{error}: processes are started instead\n")
        sys.stderr.flush()
        _start_over(connection)


def _scratch() -> tempfile.TemporaryDirectory[str]:
    """What the children may write to: it goes with the template, and all that killed ones have left in it."""
    return tempfile.TemporaryDirectory(prefix="fxlsp-", ignore_cleanup_errors=True)


def _start_over(connection: socket.socket) -> None:
    """Once more without fork, and without the torch that this process has imported."""
    os.environ[_SPAWN] = "1"
    connection.set_inheritable(True)
    os.execv(sys.executable, [sys.executable, BOOTSTRAP, *sys.argv[1:]])


def start_spare(scratch: str) -> None:
    """Become a process that carries out one request, and ends with it or with the template."""
    ends = redirect_standard_streams()
    stack = os.open(os.path.join(scratch, STACK_FILE), os.O_WRONLY | os.O_CREAT)
    orders = Orders(ends.commands, stack)
    greeting = _greeting(forks=False)
    write_all(ends.reports, greeting.encoded())
    if isinstance(greeting, Hello):
        from .spawned_main import become_spare

        become_spare(orders, ends.reports, stack, scratch)


def _greeting(forks: bool) -> Hello | Refused:
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
        remark=untested(sys.version_info[:2], str(torch.__version__)),
    )


def untested(python: tuple[int, int], torch: str) -> str | None:
    """What to say of versions that are newer than those fxlsp was tested with; None if they are not."""
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

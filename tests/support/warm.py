"""Fast start of supervisors and servers: forks of processes with imports done.

See :mod:`tests.support.fork_server`. Without such a process everything starts as for a user.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxlsp.engine.connection import process
from fxlsp.engine.connection.process_start import start_process as start_cold
from tests.support.fork_server import MARK, UNMARKED

SUPERVISORS = "FXLSP_TEST_SUPERVISORS"
"""Environment variable that names the socket of the process which forks supervisors."""
COMMANDS = "FXLSP_TEST_COMMANDS"
"""Environment variable that names the socket of the process which forks commands ``fxlsp``."""

_PROJECT = Path(__file__).parents[2]
_FORK_SERVER = Path(__file__).with_name("fork_server.py")
_FORKED = [sys.executable, "-I", "-S", str(Path(__file__).with_name("forked_process.py"))]


@contextmanager
def fork_servers(folder: Path) -> Iterator[None]:
    """Run both fork servers, with sockets in ``folder``.

    Processes that are started meanwhile find them by environment variables.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    with (
        _fork_server("supervisor", str(process.BOOTSTRAP), SUPERVISORS, folder / "supervisors"),
        _fork_server("fxlsp", str(_PROJECT), COMMANDS, folder / "commands"),
    ):
        yield


@contextmanager
def _fork_server(kind: str, argument: str, variable: str, path: Path) -> Iterator[None]:
    """Run one fork server; its socket exists at once, clients wait for the imports."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        server = subprocess.Popen(
            # As text: a frame with a file name would be taken for user code in a trace.
            [sys.executable, "-c", _FORK_SERVER.read_text(), kind, str(listener.fileno()), argument],
            pass_fds=[listener.fileno()],
            env={**os.environ, **one_thread, "CUDA_VISIBLE_DEVICES": "", MARK: UNMARKED},
            stdin=subprocess.DEVNULL,
        )
    os.environ[variable] = str(path)
    try:
        yield
    finally:
        del os.environ[variable]
        server.kill()
        server.wait()


def fxlsp(warm: bool = True) -> list[str]:
    """Return the command ``fxlsp``.

    Unless ``warm`` is set, it and its supervisors start as for a user.
    """
    if warm and COMMANDS in os.environ:
        return [*_FORKED, os.environ[COMMANDS], ""]
    return [sys.executable, "-m", "fxlsp"]


def supervisor(descriptor: int) -> list[str]:
    """Return the command that starts a supervisor on a socket."""
    if SUPERVISORS in os.environ:
        return [*_FORKED, os.environ[SUPERVISORS], str(descriptor)]
    return [sys.executable, str(process.BOOTSTRAP), str(descriptor)]


def install() -> None:
    """Fork every supervisor that this process starts under its own interpreter."""
    setattr(process, "start_process", start_process)  # noqa: B010  # the module has it from another one


async def start_process(python: str, bootstrap: Path, child_socket: socket.socket) -> asyncio.subprocess.Process:
    """Replacement of :func:`fxlsp.engine.connection.process_start.start_process`."""
    if not (SUPERVISORS in os.environ and python == sys.executable and bootstrap == process.BOOTSTRAP):
        return await start_cold(python, bootstrap, child_socket)
    return await asyncio.create_subprocess_exec(
        *supervisor(child_socket.fileno()),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        pass_fds=(child_socket.fileno(),),
        start_new_session=True,
        cwd=os.sep,
    )

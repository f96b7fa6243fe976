"""How each operating system starts a process with its socket, and ends it with all it started."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    from subprocess import CREATE_NO_WINDOW

    async def start_process(python: str, bootstrap: Path, child_socket: socket.socket) -> asyncio.subprocess.Process:
        """Starts ``bootstrap`` under ``python``; it talks over ``child_socket``, which it is handed on standard input.

        Raises:
            OSError: there is no such program, or it cannot be executed.
        """
        process = await asyncio.create_subprocess_exec(
            python,
            str(bootstrap),
            "-",
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            cwd=os.sep,
            env=_environment(),
            creationflags=CREATE_NO_WINDOW,
        )
        try:
            await _share_socket(child_socket, process)
        except BaseException:
            kill_process(process)
            raise
        return process

    async def _share_socket(child_socket: socket.socket, process: asyncio.subprocess.Process) -> None:
        """The process tells its number first: that of a virtual environment's ``python.exe`` is another one."""
        assert process.stdin is not None
        assert process.stdout is not None
        process_id = (await process.stdout.readline()).decode("utf-8", "replace").strip()
        if not process_id.isdecimal():
            raise OSError(process_id or "it ends at once")
        process.stdin.write(child_socket.share(int(process_id)))
        process.stdin.close()

    def kill_process(process: asyncio.subprocess.Process) -> None:
        """Ends the process at once; those that it started end when it no longer speaks to them."""
        with suppress(ProcessLookupError):
            process.kill()

else:

    async def start_process(python: str, bootstrap: Path, child_socket: socket.socket) -> asyncio.subprocess.Process:
        """Start ``bootstrap`` under ``python`` in a session of its own.

        It inherits ``child_socket`` and communicates over it.

        Raises:
            OSError: there is no such program, or it cannot be executed.
        """
        return await asyncio.create_subprocess_exec(
            python,
            str(bootstrap),
            str(child_socket.fileno()),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            pass_fds=(child_socket.fileno(),),
            start_new_session=True,
            cwd=os.sep,
            env=_environment(),
        )

    def kill_process(process: asyncio.subprocess.Process) -> None:
        """Ends the process and its session at once."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    """Ours, so that the project's settings hold, but for what a forking parent must not do (see ``tracing``)."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment.pop("__PYVENV_LAUNCHER__", None)
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**environment, **one_thread, "CUDA_VISIBLE_DEVICES": ""}

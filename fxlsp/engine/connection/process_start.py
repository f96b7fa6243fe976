"""Start and kill of a child process with a socket, on each operating system."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import suppress
from pathlib import Path

from fxlsp.engine.connection.environment import tracing_environment

if sys.platform == "win32":
    from subprocess import CREATE_NO_WINDOW

    async def start_process(python: str, bootstrap: Path, child_socket: socket.socket) -> asyncio.subprocess.Process:
        """Start ``bootstrap`` under ``python``, with a socket for messages.

        The process receives ``child_socket`` on its standard input.

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
            env=tracing_environment(os.environ),
            creationflags=CREATE_NO_WINDOW,
        )
        try:
            await _share_socket(child_socket, process)
        except BaseException:
            kill_process(process)
            await process.wait()
            raise
        return process

    async def _share_socket(child_socket: socket.socket, process: asyncio.subprocess.Process) -> None:
        """Duplicate the socket into the process.

        The process prints its id first: the ``python.exe`` of a virtual environment starts another process.
        """
        assert process.stdin is not None
        assert process.stdout is not None
        process_id = (await process.stdout.readline()).decode("utf-8", "replace").strip()
        if not process_id.isdecimal():
            raise OSError(process_id or "it ends at once")
        process.stdin.write(child_socket.share(int(process_id)))
        process.stdin.close()

    def kill_process(process: asyncio.subprocess.Process) -> None:
        """Kill the process. Processes that it started end when their stream to it closes."""
        with suppress(ProcessLookupError):
            process.kill()

else:

    async def start_process(python: str, bootstrap: Path, child_socket: socket.socket) -> asyncio.subprocess.Process:
        """Start ``bootstrap`` under ``python``, with a socket for messages.

        The process inherits ``child_socket`` and has a session of its own.

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
            env=tracing_environment(os.environ),
        )

    def kill_process(process: asyncio.subprocess.Process) -> None:
        """Kill the process and all others of its session."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

"""Child process with a socket for messages: a supervisor or an index reader."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Executor
from pathlib import Path

from fxlsp.engine.connection.framed_stream import FramedStream
from fxlsp.engine.connection.output_log import OutputLog
from fxlsp.engine.connection.process_start import kill_process, start_process
from fxlsp.wire.messages import Bye

BOOTSTRAP = Path(__file__).resolve().parents[2] / "tracing" / "bootstrap.py"
"""Run by path, so that nothing of the server's environment appears on the project's ``sys.path``."""

_STOP_SECONDS = 1.0
"""Time in which a process whose stream was closed must end; after that it is killed."""


class Process:
    """A running process. It ends when its stream is closed, also by our death."""

    def __init__(self, process: asyncio.subprocess.Process, stream: FramedStream) -> None:
        self._process = process
        self._output = OutputLog()
        assert process.stdout is not None
        self.was_killed = False
        """Whether this side has killed it."""
        self._following = asyncio.create_task(self._output.follow(process.stdout))
        self.stream = stream

    @classmethod
    async def start(cls, python: str, bootstrap: Path = BOOTSTRAP, executor: Executor | None = None) -> Process:
        """Start the program ``bootstrap`` under ``python``.

        Raises:
            OSError: there is no such program, or it cannot be executed.
        """
        own_socket, child_socket = socket.socketpair()
        with child_socket:
            # The stream first: if this is cancelled after the process has started, nothing else would stop the process.
            stream = await FramedStream.over(own_socket, executor)
            try:
                process = await start_process(python, bootstrap, child_socket)
            except BaseException:
                stream.close()
                raise
        return cls(process, stream)

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines of its standard output and error."""
        return self._output.tail

    @property
    def exit_code(self) -> int | None:
        """Exit code as of :mod:`subprocess`: negative for a signal, None if it runs."""
        return self._process.returncode

    def kill(self) -> None:
        """Kill the process and its session; :meth:`stop` must still be awaited."""
        if self._process.returncode is None:
            self.was_killed = True
            kill_process(self._process)

    @property
    def was_lost(self) -> bool:
        """Whether a signal of another process or of the system has ended it."""
        return not self.was_killed and self.exit_code is not None and self.exit_code < 0

    async def wait(self, seconds: float) -> None:
        """Wait for the end of the process, at most ``seconds``."""
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except asyncio.TimeoutError:
            return

    async def drain_output(self) -> None:
        """Read what an ended process has printed, for a short time.

        Processes that it started may hold its output open.
        """
        await asyncio.wait({self._following}, timeout=0.2)

    async def stop(self, seconds: float = _STOP_SECONDS) -> None:
        """Close the stream, wait for the end, and kill the process after ``seconds``.

        Afterwards neither process nor open file is left.
        """
        self.stream.send(Bye())
        self.stream.close()
        try:
            await self.wait(seconds)
        finally:
            self.kill()
            await self._process.wait()
            await self.stream.abort()
            await self._end_output()

    async def _end_output(self) -> None:
        await self.drain_output()
        self._following.cancel()
        await asyncio.gather(self._following, return_exceptions=True)
        self._process._transport.close()  # type: ignore[attr-defined]  # closes the pipe, which asyncio would keep

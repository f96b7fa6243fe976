"""A process that is spoken to over a socket, as a template is: how it is started and ended."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Executor
from pathlib import Path

from fxlsp.engine.connection.framed_stream import FramedStream
from fxlsp.engine.connection.output_log import OutputLog
from fxlsp.engine.connection.process_start import kill_process, start_process
from fxlsp.wire.messages import Bye

BOOTSTRAP = Path(__file__).resolve().parents[2] / "worker" / "bootstrap.py"
"""Run by path, so that nothing of the server's environment appears on the project's ``sys.path``."""

_STOP_SECONDS = 1.0
"""What a process has to end by itself after its channel is closed."""


class Process:
    """A running process. It ends by itself when the channel is closed, for instance by our death."""

    def __init__(self, process: asyncio.subprocess.Process, stream: FramedStream) -> None:
        self._process = process
        self._output = OutputLog()
        assert process.stdout is not None
        self._following = asyncio.create_task(self._output.follow(process.stdout))
        self.stream = stream

    @classmethod
    async def start(cls, python: str, bootstrap: Path = BOOTSTRAP, executor: Executor | None = None) -> Process:
        """Starts the program ``bootstrap`` under ``python``.

        Raises:
            OSError: there is no such program, or it cannot be executed.
        """
        own_socket, child_socket = socket.socketpair()
        with child_socket:
            # The channel comes first: were this cancelled after the process is there, nobody would end it.
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
        """As :class:`subprocess.Popen` gives it: a signal is negative; None while it runs."""
        return self._process.returncode

    def kill(self) -> None:
        """Ends the process and its session at once; :meth:`stop` is still to be awaited."""
        if self._process.returncode is None:
            kill_process(self._process)

    async def wait(self, seconds: float) -> None:
        """Waits for the end of the process, ``seconds`` at most."""
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except asyncio.TimeoutError:
            return

    async def drain_output(self) -> None:
        """Reads what an ended process has printed. What it left running may hold its output open: not for long."""
        await asyncio.wait({self._following}, timeout=0.2)

    async def stop(self, seconds: float = _STOP_SECONDS) -> None:
        """Closes the channel, waits for the end, kills after ``seconds``; afterwards nothing of it is left."""
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

"""JSON-RPC with a process over its standard input and output, framed as in LSP.

It is a second implementation beside pygls, so that the demo and the benchmarks do not depend on one library at both
ends.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

Json = Any

ANSWER_SECONDS = 90.0
"""Time limit for an answer, on the slowest machine: a server that is alive answers in milliseconds."""


class RpcError(Exception):
    """An error in answer to a request, or the end of the server."""


class Connection:
    """A server process and the connection to it."""

    def __init__(self, process: asyncio.subprocess.Process, on_message: Callable[[str, Json], Json]) -> None:
        self._process = process
        self._on_message = on_message
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, command: Sequence[str], on_message: Callable[[str, Json], Json], log: IO[bytes] | int | None = None
    ) -> Connection:
        """Start ``command`` and connect to it.

        Args:
            command: program and arguments.
            on_message: called with method and parameters of each notification and request of the server; what it
                returns is the answer to a request.
            log: where the server's standard error goes; None leaves it unchanged.
        """
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=log)
        return cls(process, on_message)

    @property
    def pid(self) -> int:
        return self._process.pid

    def notify(self, method: str, params: Json) -> None:
        self._write({"method": method, "params": params})

    async def request(self, method: str, params: Json, limit: float = ANSWER_SECONDS) -> Json:
        """Send a request and return the server's answer.

        Args:
            method: the method of the protocol.
            params: its parameters.
            limit: seconds to wait.

        Raises:
            RpcError: it answers with an error, or ends, or does not answer in time.
        """
        number = next(self._ids)
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._write({"id": number, "method": method, "params": params})
        try:
            return await asyncio.wait_for(answer, limit)
        except asyncio.TimeoutError:
            raise RpcError(f"process {self.pid} has not answered {method} in {limit:.0f} s") from None

    def close_input(self) -> None:
        """Close the server's input, as an editor that is killed does."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def pause_reading(self) -> None:
        """Leave what the server sends unread."""
        self._may_read.clear()

    def resume_reading(self) -> None:
        """Read again."""
        self._may_read.set()

    async def wait_ended(self, seconds: float) -> int:
        """Return the exit code of the server; kill it after ``seconds``."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._process.wait(), seconds)
        if self._process.returncode is None:
            self._process.kill()
        code = await self._process.wait()
        await self._listening
        return code

    def _write(self, message: dict[str, Json]) -> None:
        assert self._process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(asyncio.IncompleteReadError):
            while True:
                await self._may_read.wait()
                header = await self._process.stdout.readuntil(b"\r\n\r\n")
                length = int(header.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                self._dispatch(json.loads(await self._process.stdout.readexactly(length)))
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(RpcError("the server ended"))

    def _dispatch(self, message: dict[str, Json]) -> None:
        if "method" in message:
            result = self._on_message(message["method"], message.get("params"))
            if "id" in message:
                self._write({"id": message["id"], "result": result})
            return
        answer = self._answers.pop(message["id"])
        if answer.cancelled():
            return
        if "error" in message:
            answer.set_exception(RpcError(message["error"]["message"]))
        else:
            answer.set_result(message["result"])

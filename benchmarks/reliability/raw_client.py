"""Client that sends any bytes to a server and counts its answers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from contextlib import suppress

from dev.rpc import Json

STREAM_LIMIT = 2**26


class RawClient:
    """Server process, what was sent to it and what it answered. Use :meth:`start`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.answers: Counter[str] = Counter()
        """Number of answers by the JSON text of a request's id."""
        self.results: dict[str, Json] = {}
        """Results by the same keys."""
        self._news = asyncio.Event()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls) -> RawClient:
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        command = (sys.executable, "-m", "fxlsp", "serve")
        return cls(
            await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=nothing, limit=STREAM_LIMIT)
        )

    @property
    def has_ended(self) -> bool:
        return self._process.returncode is not None

    async def send(self, body: bytes) -> None:
        """Send a body with its header, once the server has read most of what was sent before."""
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            await self._process.stdin.drain()

    async def send_message(self, **message: Json) -> None:
        await self.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def request(self, key: Json, method: str, params: Json, seconds: float = 60.0) -> Json:
        """Send a request and return its result; None for an error.

        Raises:
            asyncio.TimeoutError: It has no answer.
        """
        await self.send_message(id=key, method=method, params=params)
        await self.until_answered(json.dumps(key), seconds)
        return self.results.get(json.dumps(key))

    async def until_answered(self, key: str, seconds: float) -> None:
        async def answered() -> None:
            while not self.answers[key] and not self._listening.done():
                self._news.clear()
                await self._news.wait()

        await asyncio.wait_for(answered(), seconds)

    async def stop(self) -> int:
        """End the session as an editor does; return the exit code."""
        with suppress(asyncio.TimeoutError):
            await self.request("the end", "shutdown", None)
        await self.send_message(method="exit")
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._process.wait(), 10.0)
        if self._process.returncode is None:
            self._process.kill()
        await self._listening
        return await self._process.wait()

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(asyncio.IncompleteReadError):
            while True:
                header = await self._process.stdout.readuntil(b"\r\n\r\n")
                length = int(header.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await self._hear(json.loads(await self._process.stdout.readexactly(length)))
        self._news.set()

    async def _hear(self, message: Json) -> None:
        if "method" in message:
            if "id" in message:
                await self.send_message(id=message["id"], result=None)
            return
        key = json.dumps(message["id"])
        self.answers[key] += 1
        if isinstance(message["id"], str):
            self.results[key] = message.get("result")
        self._news.set()

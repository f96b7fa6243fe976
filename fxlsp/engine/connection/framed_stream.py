"""Frames of the wire over a socket, for asyncio. Large ones are decoded on a thread, not on the loop."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Executor
from contextlib import suppress

from fxlsp.wire.frames import Decoder, JsonMessage
from fxlsp.wire.vocabulary import WireMessage

_LENGTH_BYTES = 4
_LARGE = 64 * 2**10
"""Bytes; decoding less takes well under a millisecond."""


class FramedStream:
    """One end of a connection to a template process."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, executor: Executor | None = None
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._executor = executor

    @classmethod
    async def over(cls, connected: socket.socket, executor: Executor | None = None) -> FramedStream:
        """A channel that owns the socket from here on."""
        reader, writer = await asyncio.open_connection(sock=connected, limit=2**20)
        return cls(reader, writer, executor)

    def send(self, message: WireMessage) -> None:
        """Queues the message; a connection that is gone is noticed by :meth:`receive`."""
        if not self._writer.is_closing():
            self._writer.write(message.encoded())

    async def receive(self) -> JsonMessage | None:
        """The next message as it travels, None at the end of the stream.

        Raises:
            WireError: the stream does not hold frames of this protocol.
        """
        decoder = Decoder()
        try:
            length = await self._reader.readexactly(_LENGTH_BYTES)
            decoder.feed(length)
            payload = await self._reader.readexactly(int.from_bytes(length, "big"))
        except (asyncio.IncompleteReadError, OSError):
            return None
        if len(payload) < _LARGE:
            return decoder.feed(payload)[0]
        messages = await asyncio.get_running_loop().run_in_executor(self._executor, decoder.feed, payload)
        return messages[0]

    def close(self) -> None:
        """Ends the stream; what was sent before is still delivered if the other side reads it."""
        self._writer.close()

    async def abort(self) -> None:
        """Frees what a closed channel still holds, once nobody is left to read what was sent."""
        self._writer.transport.abort()
        # Asyncio keeps how the connection was lost, and complains of an error that nobody asked for.
        with suppress(OSError):
            await self._writer.wait_closed()

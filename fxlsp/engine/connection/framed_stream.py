"""Frames of the wire protocol over a socket, for asyncio.

Large frames are decoded on a thread, not on the loop.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Executor
from contextlib import suppress

from fxlsp.wire.frames import Decoder, JsonMessage
from fxlsp.wire.vocabulary import WireMessage

_LENGTH_BYTES = 4
_LARGE = 64 * 2**10
"""Size in bytes; decoding less takes well under a millisecond."""


class FramedStream:
    """Server's end of the connection to a supervisor or index reader."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, executor: Executor | None = None
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._executor = executor

    @classmethod
    async def over(cls, connected: socket.socket, executor: Executor | None = None) -> FramedStream:
        """Return a stream over a connected socket, which it owns from then on."""
        reader, writer = await asyncio.open_connection(sock=connected, limit=2**20)
        return cls(reader, writer, executor)

    def send(self, message: WireMessage) -> None:
        """Queue a message. If the connection is gone, :meth:`receive` reports it."""
        if not self._writer.is_closing():
            self._writer.write(message.encoded())

    async def receive(self) -> JsonMessage | None:
        """Return the next message as JSON; None at the end of the stream.

        Raises:
            WireError: the data is not a frame of this protocol.
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
        """Close the stream; data sent before is delivered if the other side reads it."""
        self._writer.close()

    async def abort(self) -> None:
        """Discard the unsent data of a closed stream, once the other side has ended."""
        self._writer.transport.abort()
        # asyncio stores the error that ended the connection, and warns if it is never retrieved.
        with suppress(OSError):
            await self._writer.wait_closed()

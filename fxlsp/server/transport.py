"""Transports: standard input and output, one TCP connection, or one web socket."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import queue
import threading
from io import FileIO
from typing import Any, BinaryIO

from pygls.io_ import run_async, run_websocket

from fxlsp.server.session.server import Server

_FLUSH_SECONDS = 1.0
_READ_BYTES = 2**16
"""Bytes read at once: the capacity of a pipe on Linux."""

_log = logging.getLogger("fxlsp.server")


async def over_stdio(server: Server) -> None:
    """Serve until the editor sends ``exit`` or closes the server's input."""
    incoming, outgoing = _private_streams()
    writer = QueueWriter(outgoing)
    await _serve(server, _read_by_thread(incoming), writer)


async def over_tcp(server: Server, host: str, port: int) -> None:
    """Serve one client; return when it has disconnected."""
    connected: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    listener = await asyncio.start_server(lambda *streams: connected.put_nowait(streams), host, port)
    _log.warning("waiting for a client on %s", listener.sockets[0].getsockname())
    reader, writer = await connected.get()
    listener.close()
    await _serve(server, reader, writer)


async def over_websocket(server: Server, host: str, port: int) -> None:
    """Serve one client; return when it has disconnected.

    Raises:
        ImportError: the package ``websockets`` is not installed.
    """
    websockets = importlib.import_module("websockets.asyncio.server")
    done = asyncio.Event()

    async def serve_client(connection: Any) -> None:
        messages: Any = _YieldingConnection(connection)
        try:
            await run_websocket(messages, server.finished, server.protocol, _log, server.report_server_error)
        finally:
            await server.close()
            done.set()

    async with websockets.serve(serve_client, host, port) as listener:
        _log.warning("waiting for a client on %s", next(iter(listener.sockets)).getsockname())
        await done.wait()


async def _serve(server: Server, reader: asyncio.StreamReader, writer: QueueWriter | asyncio.StreamWriter) -> None:
    server.protocol.set_writer(writer)
    try:
        await run_async(server.finished, _YieldingReader(reader), server.protocol, _log, server.report_server_error)
    except asyncio.IncompleteReadError:
        _log.warning("the editor left in the middle of a message")
    finally:
        await server.close()
        writer.close()


class _YieldingReader:
    """Reader that lets the loop run between two messages.

    Work that a message started runs before the next message is read, which may have arrived with it: an edit must find
    the settings that were changed before it, and a request the results of all messages before it.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def readline(self) -> bytes:
        await asyncio.sleep(0)
        return await self._reader.readline()

    async def readexactly(self, n: int) -> bytes:
        return await self._reader.readexactly(n)


class _YieldingConnection:
    """Web socket that does the same as :class:`_YieldingReader`."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def recv(self, decode: bool) -> Any:
        await asyncio.sleep(0)
        return await self._connection.recv(decode=decode)

    async def send(self, data: bytes) -> None:
        await self._connection.send(data)

    async def close(self) -> None:
        await self._connection.close()


def _read_by_thread(stream: FileIO) -> asyncio.StreamReader:
    """Return a stream of what arrives on ``stream``, read by a thread.

    The loop cannot wait for everything that standard input may be, such as files, and most pipes of Windows. pygls's
    own reader changes threads for each line of a header, and waits each time that another thread computes.
    """
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()

    def read() -> None:
        # The loop may end before the input does.
        with contextlib.suppress(OSError, RuntimeError):
            while data := stream.read(_READ_BYTES):
                loop.call_soon_threadsafe(reader.feed_data, data)
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=read, name="fxlsp-stdin", daemon=True).start()
    return reader


class QueueWriter:
    """Writer with a thread of its own.

    An editor that does not read must not stop the loop.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="fxlsp-stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._queue.put(data)

    def close(self) -> None:
        """Wait until everything is written, one second at most."""
        self._queue.put(None)
        self._thread.join(_FLUSH_SECONDS)

    def _run(self) -> None:
        # A broken pipe ends the thread; the reader notices the end of the editor by itself.
        with contextlib.suppress(OSError):
            while (data := self._queue.get()) is not None:
                self._stream.write(data)
                self._stream.flush()


def _private_streams() -> tuple[FileIO, BinaryIO]:
    """Return standard input and output under descriptors that nothing else uses.

    A stray ``print`` must not reach the editor.
    """
    incoming, outgoing = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return incoming, outgoing

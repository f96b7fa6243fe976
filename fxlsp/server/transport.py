"""Transports: standard input and output, one TCP connection, or one web socket."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import queue
import threading
from collections.abc import Awaitable, Callable
from io import FileIO
from typing import Any, BinaryIO, Protocol

from pygls.io_ import run_async, run_websocket

from fxlsp.server.shared.server import Server

_FLUSH_SECONDS = 1.0
_READ_BYTES = 2**16
"""Bytes read at once: the capacity of a pipe on Linux."""

MOST_UNREAD_BYTES = 2**24
"""Bytes of messages that are read before their turn. A longer message is read whole."""
MOST_UNSENT_BYTES = 2**23
"""Bytes that wait for the editor to read them, above which its messages wait."""

_log = logging.getLogger("fxlsp.server")


class ByteReader(Protocol):
    """Stream of bytes from the editor."""

    async def readline(self) -> bytes: ...

    async def readexactly(self, n: int, /) -> bytes: ...


async def over_stdio(server: Server) -> None:
    """Serve until the editor sends ``exit`` or closes the server's input."""
    incoming, outgoing = _private_streams()
    writer = QueueWriter(outgoing)
    await _serve(server, ThreadReader(incoming, writer.wait_no_longer), writer, writer.drain)


async def over_tcp(server: Server, host: str, port: int) -> None:
    """Serve one client; return when it has disconnected."""
    connected: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    listener = await asyncio.start_server(lambda *streams: connected.put_nowait(streams), host, port)
    _log.warning("waiting for a client on %s", listener.sockets[0].getsockname())
    reader, writer = await connected.get()
    listener.close()
    writer.transport.set_write_buffer_limits(MOST_UNSENT_BYTES)
    await _serve(server, reader, writer, writer.drain)


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


async def _serve(
    server: Server,
    reader: ByteReader,
    writer: QueueWriter | asyncio.StreamWriter,
    drain: Callable[[], Awaitable[None]],
) -> None:
    server.protocol.set_writer(writer)
    messages = _YieldingReader(reader, drain)
    try:
        await run_async(server.finished, messages, server.protocol, _log, server.report_server_error)
    except asyncio.IncompleteReadError:
        _log.warning("the editor left in the middle of a message")
    finally:
        await server.close()
        writer.close()


class _YieldingReader:
    """Reader that lets the loop run between two messages.

    Work that a message started runs before the next message is read, which may have arrived with it: an edit must find
    the settings that were changed before it, and a request the results of all messages before it.

    No message is read while the editor leaves many answers unread: they would fill the memory.
    """

    def __init__(self, reader: ByteReader, drain: Callable[[], Awaitable[None]]) -> None:
        self._reader = reader
        self._drain = drain

    async def readline(self) -> bytes:
        await asyncio.sleep(0)
        with contextlib.suppress(OSError):
            await self._drain()
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


class ThreadReader:
    """Stream of what arrives on a file, read by a thread.

    The loop cannot wait for everything that standard input may be, such as files, and most pipes of Windows. pygls's
    own reader changes threads for each line of a header, and waits each time that another thread computes.
    """

    def __init__(self, stream: FileIO, at_end: Callable[[], None]) -> None:
        """
        Args:
            at_end: called on the loop when the input has ended.
        """
        self._loop, self._reader = asyncio.get_running_loop(), asyncio.StreamReader()
        self._stream, self._at_end = stream, at_end
        self._space = threading.Condition()
        self._unread = 0
        """Bytes that the thread has read and the loop has not taken."""
        self._wanted = 0
        """Bytes that the loop waits for at once."""
        threading.Thread(target=self._run, name="fxlsp-stdin", daemon=True).start()

    async def readline(self) -> bytes:
        line = await self._reader.readline()
        self._taken(len(line))
        return line

    async def readexactly(self, n: int) -> bytes:
        with self._space:
            self._wanted = n
            self._space.notify()
        data = await self._reader.readexactly(n)
        self._taken(n)
        return data

    def _taken(self, count: int) -> None:
        with self._space:
            self._unread -= count
            self._wanted = 0
            self._space.notify()

    def _run(self) -> None:
        # The loop may end before the input does.
        with contextlib.suppress(OSError, RuntimeError):
            while data := self._stream.read(_READ_BYTES):
                self._loop.call_soon_threadsafe(self._reader.feed_data, data)
                with self._space:
                    self._unread += len(data)
                    self._space.wait_for(lambda: self._unread <= MOST_UNREAD_BYTES + self._wanted)
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._reader.feed_eof)
            self._loop.call_soon_threadsafe(self._at_end)


class QueueWriter:
    """Writer with a thread of its own.

    An editor that does not read must not stop the loop.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._loop, self._lock = asyncio.get_running_loop(), threading.Lock()
        self._unsent = 0
        """Bytes that were not taken by the editor."""
        self._drained = asyncio.Event()
        self._drained.set()
        self._waits = True
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="fxlsp-stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        with self._lock:
            self._unsent += len(data)
        self._queue.put(data)

    async def drain(self) -> None:
        """Wait while the editor leaves more than :data:`MOST_UNSENT_BYTES` unread."""
        with self._lock:
            if not self._waits or self._unsent <= MOST_UNSENT_BYTES:
                return
            self._drained.clear()
        await self._drained.wait()

    def wait_no_longer(self) -> None:
        """End :meth:`drain`, now and later: the editor is gone."""
        self._waits = False
        self._drained.set()

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
                self._sent(len(data))
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.wait_no_longer)

    def _sent(self, count: int) -> None:
        with self._lock:
            was_full = self._unsent > MOST_UNSENT_BYTES
            self._unsent -= count
            is_drained = was_full and self._unsent <= MOST_UNSENT_BYTES
        if is_drained:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._drained.set)


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

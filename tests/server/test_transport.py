"""Neither an editor that never reads nor one that never stops to write fills the memory of the server."""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from io import FileIO

import pytest

from fxlsp.server import transport
from fxlsp.server.transport import QueueWriter, ThreadReader
from tests.support.waiting import PATIENCE

LIMIT = 10_000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MOST_UNREAD_BYTES", LIMIT)
    monkeypatch.setattr(transport, "MOST_UNSENT_BYTES", LIMIT)
    monkeypatch.setattr(transport, "_READ_BYTES", 1000)


class Input:
    """Pipe into which another thread writes all of ``data``, and how much it has got rid of."""

    def __init__(self, data: bytes) -> None:
        self.written, self._data = 0, data
        incoming, self._outgoing = os.pipe()
        self.ended = False
        self._stream = FileIO(incoming)
        self.reader = ThreadReader(self._stream, self._end)
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        with suppress(OSError):
            while self.written < len(self._data):
                self.written += os.write(self._outgoing, self._data[self.written : self.written + 1000])
        os.close(self._outgoing)

    def _end(self) -> None:
        self.ended = True

    async def close(self) -> None:
        while not self.ended:
            await self.reader.readline()
            # Behind the end of its input it does not wait, and nothing else of the loop would run.
            await asyncio.sleep(0)
        self._stream.close()


async def at_rest(value: Input) -> int:
    """Return what was written once no more is taken."""
    before = -1
    while before != value.written:
        before = value.written
        await asyncio.sleep(0.2)
    return before


async def test_what_is_not_read_in_time_waits_in_the_pipe() -> None:
    lines = b"".join(b"%d\n" % number for number in range(100_000))
    given = Input(lines)
    # 64 KiB are the pipe's.
    assert await at_rest(given) <= 2**16 + LIMIT + 4000
    assert not given.ended
    taken = [await given.reader.readline() for _ in range(100_000)]
    assert b"".join(taken) == lines
    assert await given.reader.readline() == b""
    await given.close()


async def test_a_message_above_the_limit_is_read_whole() -> None:
    given = Input(b"header\n" + bytes(50 * LIMIT) + b"end\n")
    assert await given.reader.readline() == b"header\n"
    assert await asyncio.wait_for(given.reader.readexactly(50 * LIMIT), PATIENCE) == bytes(50 * LIMIT)
    assert await given.reader.readline() == b"end\n"
    await given.close()


async def test_messages_wait_while_the_editor_leaves_answers_unread() -> None:
    incoming, outgoing = os.pipe()
    stream = os.fdopen(outgoing, "wb")
    writer = QueueWriter(stream)
    await asyncio.wait_for(writer.drain(), PATIENCE)
    for _ in range(200):
        writer.write(bytes(1000))
    waiting = asyncio.create_task(writer.drain())
    done, _ = await asyncio.wait([waiting], timeout=0.3)
    assert not done
    # One read of a pipe gives what is there, which may be a single message.
    with os.fdopen(incoming, "rb") as editor:
        assert await asyncio.wait_for(asyncio.to_thread(editor.read, 200_000), PATIENCE) == bytes(200_000)
        await asyncio.wait_for(waiting, PATIENCE)
    writer.close()
    with suppress(OSError):
        stream.close()


@pytest.mark.parametrize("how", ["input ended", "output closed"])
async def test_once_the_editor_is_gone_nothing_waits_for_it(how: str) -> None:
    incoming, outgoing = os.pipe()
    stream = os.fdopen(outgoing, "wb")
    writer = QueueWriter(stream)
    for _ in range(200):
        writer.write(bytes(1000))
    waiting = asyncio.create_task(writer.drain())
    await asyncio.sleep(0.1)
    if how == "input ended":
        writer.wait_no_longer()
    else:
        os.close(incoming)
    await asyncio.wait_for(waiting, PATIENCE)
    await asyncio.wait_for(writer.drain(), PATIENCE)
    if how == "input ended":
        os.close(incoming)
    writer.close()
    with suppress(OSError):
        stream.close()

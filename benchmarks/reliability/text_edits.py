"""Random edits in three encodings: the server's text is the reference's after each."""

from __future__ import annotations

import asyncio
import json
import time
from random import Random

from benchmarks.reliability.progress import Outcome, Share
from dev.rpc import Json
from fxlsp.server.main import make_server

URI, PATH = "file:///workspace/net.py", "/workspace/net.py"
PIECES = ("x", "é", "𝒳", "😀😀", "\n", "\r\n", "\r", "\x0c", "\u2028", "class A(nn.Module):\n", "    ", "'''", "(", "#")
TEXT = "from torch import nn\n\n\nclass Nét(nn.Module):\n    '''😀'''\n\n    def forward(self, x):\n        return x\n"
MOST_CHARACTERS = 4000
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


async def run_edits(share: Share) -> Outcome:
    """Edit in each encoding, a third of the share and of its time each."""
    wrong: list[str] = []
    counts: dict[str, int] = {}
    for encoding in _UNITS:
        deadline = time.monotonic() + share.seconds / len(_UNITS)
        random = Random(share.name(encoding))
        counts[encoding], faults = await _run(random, encoding, -(-share.left // len(_UNITS)), deadline)
        wrong += faults
    done = ", ".join(f"{count} in {encoding}" for encoding, count in counts.items())
    print(f"edits: {done}; {len(wrong)} faults", flush=True)
    return Outcome(sum(counts.values()), wrong)


async def _run(random: Random, encoding: str, most: int, deadline: float) -> tuple[int, list[str]]:
    session, text, count = _Session(encoding), TEXT, 0
    try:
        session.send("textDocument/didOpen", textDocument=_document(0) | {"languageId": "python", "text": text})
        while count < most and time.monotonic() < deadline:
            count += 1
            changes, text = _changes(random, text, encoding)
            session.send("textDocument/didChange", textDocument=_document(count), contentChanges=changes)
            if session.text != text:
                return count, [f"another text after {count} edits in {encoding}: {session.text!r} for {text!r}"]
            # What the server does after an edit has its turn.
            await asyncio.sleep(0)
    finally:
        await session.end()
    return count, []


class _Session:
    """Server in this process, since no request returns its text."""

    def __init__(self, encoding: str) -> None:
        self._server = make_server()
        self._server.protocol.set_writer(self, include_headers=False)
        capabilities = {"general": {"positionEncodings": [encoding]}}
        self.send("initialize", number=1, processId=None, rootUri=None, capabilities=capabilities)
        self.send("initialized")

    @property
    def text(self) -> str:
        return self._server.engine.snapshot.documents[PATH].text

    def send(self, method: str, number: int | None = None, **params: Json) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if number else {})
        protocol = self._server.protocol
        protocol.handle_message(json.loads(json.dumps(message), object_hook=protocol.structure_message))

    async def end(self) -> None:
        await self._server.close()

    def write(self, data: bytes) -> None:
        """Drop an answer."""

    def close(self) -> None:
        """Nothing is open."""


def _document(version: int) -> Json:
    return {"uri": URI, "version": version}


def _changes(random: Random, text: str, encoding: str) -> tuple[list[Json], str]:
    """Return one to three changes of one message, and the text after them."""
    changes: list[Json] = []
    for _ in range(random.randint(1, 3)):
        if len(text) > MOST_CHARACTERS or random.random() < 0.02:
            changes.append({"text": TEXT})
            text = TEXT
            continue
        start = random.randrange(len(text) + 1)
        end = min(len(text), start + random.choice((0, 0, 1, 2, 30)))
        piece = random.choice(PIECES)
        span = {"start": _position(text, start, encoding), "end": _position(text, end, encoding)}
        changes.append({"range": span, "text": piece})
        text = text[: _real(text, start)] + piece + text[_real(text, end) :]
    return changes, text


def _position(text: str, offset: int, encoding: str) -> Json:
    """Return the position of an offset, as LSP defines lines: they end with a line feed, a carriage return or both."""
    before = text[: _real(text, offset)].replace("\r\n", "\n").replace("\r", "\n")
    line = before.count("\n")
    codec, size = _UNITS[encoding]
    return {"line": line, "character": len(before.rpartition("\n")[2].encode(codec)) // size}


def _real(text: str, offset: int) -> int:
    """Return an offset that a position can name: none lies between a carriage return and its line feed."""
    return offset - 1 if text[offset - 1 : offset + 1] == "\r\n" and offset > 0 else offset

"""An editor without a window: an LSP client of the real server process.

It does what editors do: after a refresh request of the server it sends its requests again, and it stores the newest
problems of each document.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeVar

from dev.rpc import Connection, Json

T = TypeVar("T")

_CAPABILITIES = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "hover": {"contentFormat": ["plaintext"]},
        "codeLens": {},
        "inlayHint": {"resolveSupport": {"properties": ["tooltip"]}},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
        "synchronization": {},
    },
    "workspace": {
        "codeLens": {"refreshSupport": True},
        "inlayHint": {"refreshSupport": True},
        "configuration": True,
        "workspaceFolders": True,
    },
    "window": {"workDoneProgress": True},
}


@dataclass
class Buffer:
    """An open document."""

    uri: str
    text: str
    version: int = 1
    problems: list[Json] = field(default_factory=list)
    """As last published."""
    problems_version: int | None = None


class Editor:
    """Client with open documents. Use :func:`editor`."""

    def __init__(self) -> None:
        self.connection: Connection
        self.buffers: dict[str, Buffer] = {}
        self.log: list[str] = []
        """What the server logged for its user."""
        self.refreshed = asyncio.Event()
        """Set when the server requests a refresh of hints; cleared by the code that awaits it."""
        self.on_problems: Callable[[str, list[Json]], None] = lambda uri, problems: None
        """Called with the problems of a file, each time that the server publishes them."""
        self._activity = asyncio.Event()

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file; return its URI.

        Args:
            path: of the file.
            text: used in place of the text on disk.
        """
        uri = path.resolve().as_uri()
        buffer = self.buffers[uri] = Buffer(uri, path.read_text(encoding="utf-8") if text is None else text)
        document = {"uri": uri, "languageId": "python", "version": 1, "text": buffer.text}
        self.connection.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def replace(self, uri: str, old: str, new: str) -> None:
        """Replace the first ``old`` by ``new``, as one edit of one range."""
        start = self.buffers[uri].text.index(old)
        self.edit(uri, start, start + len(old), new)

    def edit(self, uri: str, start: int, end: int, new: str) -> None:
        """Replace the text between two offsets, as one edit of one range."""
        buffer = self.buffers[uri]
        span = {"start": _position(buffer.text, start), "end": _position(buffer.text, end)}
        buffer.text = buffer.text[:start] + new + buffer.text[end:]
        buffer.version += 1
        document = {"uri": uri, "version": buffer.version}
        changes = [{"range": span, "text": new}]
        self.connection.notify("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def save(self, uri: str) -> None:
        """Tell the server that the document was saved."""
        self.connection.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def close(self, uri: str) -> None:
        self.connection.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def hints(self, uri: str) -> list[Json]:
        """Return the inlay hints of the whole document."""
        everything = {"start": {"line": 0, "character": 0}, "end": _position(self.buffers[uri].text)}
        return await self._ask("textDocument/inlayHint", uri, range=everything) or []

    async def lenses(self, uri: str) -> list[Json]:
        """Return the code lenses of the document, each with its text."""
        lenses = await self._ask("textDocument/codeLens", uri) or []
        return [lens if "command" in lens else await self._resolved(lens) for lens in lenses]

    async def hover(self, uri: str, line: int, character: int) -> str | None:
        """Return the text of a hover, line and character from 0; None without one."""
        answer = await self._ask("textDocument/hover", uri, position={"line": line, "character": character})
        return None if answer is None else str(answer["contents"]["value"])

    async def until(self, ask: Callable[[], Awaitable[T | None]], seconds: float = 120.0) -> T:
        """Call ``ask`` now and after each message of the server, until it returns a value.

        Raises:
            asyncio.TimeoutError: there was none in ``seconds``.
        """
        return await asyncio.wait_for(self._until(ask), seconds)

    async def _until(self, ask: Callable[[], Awaitable[T | None]]) -> T:
        while True:
            self._activity.clear()
            answer = await ask()
            if answer is not None:
                return answer
            await self._activity.wait()

    async def _ask(self, method: str, uri: str, **params: Json) -> Json:
        return await self.connection.request(method, {"textDocument": {"uri": uri}, **params})

    async def _resolved(self, lens: Json) -> Json:
        return await self.connection.request("codeLens/resolve", lens)

    def _on_message(self, method: str, params: Json) -> Json:
        if method == "textDocument/publishDiagnostics":
            buffer = self.buffers.get(params["uri"])
            if buffer is not None:
                buffer.problems, buffer.problems_version = params["diagnostics"], params.get("version")
            self.on_problems(params["uri"], params["diagnostics"])
        if method == "window/logMessage":
            self.log.append(params["message"])
        if method == "workspace/inlayHint/refresh":
            self.refreshed.set()
        self._activity.set()
        return [None for _ in params["items"]] if method == "workspace/configuration" else None


@asynccontextmanager
async def editor(
    folder: Path,
    log: IO[bytes] | int | None = None,
    *,
    command: Sequence[str] = (sys.executable, "-m", "fxlsp", "serve", "--stdio"),
    trusted: bool = True,
) -> AsyncIterator[Editor]:
    """Run a server with ``folder`` open in an editor; at the end both are closed.

    Args:
        folder: the workspace folder.
        log: where the server's standard error goes.
        command: starts the server.
        trusted: whether the code of the folder may run.
    """
    made = Editor()
    made.connection = await Connection.start(command, made._on_message, log)
    try:
        await made.connection.request("initialize", _initialize_params(folder, trusted))
        made.connection.notify("initialized", {})
        yield made
        await made.connection.request("shutdown", None)
        made.connection.notify("exit", None)
    finally:
        await made.connection.wait_ended(seconds=30.0)


def _initialize_params(folder: Path, trusted: bool) -> Json:
    uri = folder.resolve().as_uri()
    return {
        "processId": os.getpid(),
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": folder.name}],
        "capabilities": _CAPABILITIES,
        "initializationOptions": {"trusted": trusted, "python": sys.executable},
    }


def _position(text: str, offset: int | None = None) -> dict[str, int]:
    """Return the LSP position of an offset into text, in UTF-16 units.

    Args:
        text: of the document.
        offset: by default its end.
    """
    lines = text[:offset].replace("\r\n", "\n").split("\n")
    return {"line": len(lines) - 1, "character": len(lines[-1].encode("utf-16-le")) // 2}

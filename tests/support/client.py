"""An LSP client for tests of the real server process, in either position encoding.

It behaves as an editor: it answers requests of the server, stores the newest problems, and repeats its requests after
messages of the server. An expectation is met or times out; nothing sleeps for a fixed time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from dev.rpc import ANSWER_SECONDS, Connection, Json
from tests.support.waiting import PATIENCE
from tests.support.warm import fxlsp

T = TypeVar("T")

Encoding = Literal["utf-8", "utf-16"]

_POLL = 0.02
"""Seconds between requests for whether the server is idle."""


@dataclass(frozen=True)
class Abilities:
    """Capabilities that the client declares."""

    encoding: Encoding = "utf-16"
    markdown: bool = False
    pulls: bool = False
    resolves_tooltips: bool = False
    progress: bool = False
    configuration: bool = False
    refreshes: bool = True
    fixes: bool = True
    tags: bool = False
    code_pages: bool = True
    versioned_edits: bool = True
    shows_documents: bool = False
    links: bool = True
    nested_symbols: bool = True
    resolves_symbols: bool = True
    call_hierarchy: bool = True
    notebooks: bool = False
    status: bool = False
    anything: bool = True
    """Otherwise no capability is declared, whatever the other fields are."""

    def to_json(self) -> Json:
        if not self.anything:
            return {}
        formats = ["markdown", "plaintext"] if self.markdown else ["plaintext"]
        text_document: dict[str, Json] = {
            "hover": {"contentFormat": formats},
            "codeLens": {},
            "inlayHint": {"resolveSupport": {"properties": ["tooltip"]}} if self.resolves_tooltips else {},
            "publishDiagnostics": {
                "versionSupport": True,
                "relatedInformation": True,
                "codeDescriptionSupport": self.code_pages,
                **({"tagSupport": {"valueSet": [1, 2]}} if self.tags else {}),
            },
        }
        text_document["definition"] = text_document["implementation"] = {"linkSupport": self.links}
        text_document["documentSymbol"] = {"hierarchicalDocumentSymbolSupport": self.nested_symbols}
        if self.call_hierarchy:
            text_document["callHierarchy"] = {}
        if self.fixes:
            kinds = {"codeActionKind": {"valueSet": ["quickfix"]}}
            text_document["codeAction"] = {"codeActionLiteralSupport": kinds, "isPreferredSupport": True}
        if self.pulls:
            text_document["diagnostic"] = {}
        refresh = {"refreshSupport": self.refreshes}
        return {
            **({"notebookDocument": {"synchronization": {}}} if self.notebooks else {}),
            "general": {"positionEncodings": [self.encoding]},
            "textDocument": text_document,
            "workspace": {
                "codeLens": refresh,
                "inlayHint": refresh,
                "diagnostics": refresh,
                "configuration": self.configuration,
                "workspaceFolders": True,
                "didChangeWatchedFiles": {"dynamicRegistration": True},
                "workspaceEdit": {"documentChanges": self.versioned_edits},
                "symbol": {"resolveSupport": {"properties": ["location.range"]}} if self.resolves_symbols else {},
            },
            "window": {"workDoneProgress": self.progress, "showDocument": {"support": self.shows_documents}},
            "experimental": {"fxlspStatus": self.status},
        }


@dataclass
class Buffer:
    """Open document."""

    uri: str
    text: str
    path: str = ""
    version: int = 1
    problems: list[Json] | None = None
    """As last published; None before the first time."""
    problems_version: int | None = None


@dataclass
class Client:
    """LSP client with a server process of its own; to be started by :meth:`start`."""

    abilities: Abilities
    settings: Mapping[str, Json] = field(default_factory=dict)
    """The answer to ``workspace/configuration``."""
    folder_settings: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """The answer for folders with settings of their own, by URI."""
    buffers: dict[str, Buffer] = field(default_factory=dict)
    picks: list[str] = field(default_factory=list)
    """Starts of the titles that the user picks in successive messages. Without one the message is closed."""
    takes_edits: bool = True
    """Whether edits requested by the server are applied."""
    published: dict[str, list[Json]] = field(default_factory=dict)
    """The newest problems of each file, open or not, by its URI."""
    heard: list[tuple[str, Json]] = field(default_factory=list)
    """All notifications and requests of the server: method and parameters."""
    times: list[tuple[str, float]] = field(default_factory=list)
    """Method of each request about a document, and the seconds until the answer."""
    greeting: Json = None
    """The answer to ``initialize``."""
    is_running: bool = True
    warm: bool = True
    """Whether its supervisors may be forked from a process with torch imported; else they start as for a user."""

    async def start(
        self, folders: Sequence[Path], options: Json, environment: Mapping[str, str], process_id: int | None
    ) -> None:
        """Start a server for a workspace of these folders."""
        self._news = asyncio.Event()
        self._folders = folders
        command = ["env", *(f"{name}={value}" for name, value in environment.items())]
        command += [*fxlsp(self.warm), "serve", "--stdio"]
        self.connection = await Connection.start(command, self._hear)
        self._introduction = {
            "processId": process_id,
            "rootUri": folders[0].as_uri() if folders else None,
            "workspaceFolders": [_folder(each) for each in folders],
            "capabilities": self.abilities.to_json(),
            "initializationOptions": options,
        }
        await self.begin()

    async def begin(self) -> None:
        """Initialize the server, as each page of an editor does that shares it."""
        self.greeting = await self.connection.request("initialize", self._introduction)
        self.connection.notify("initialized", {})

    async def move(self, folder: Path, settings: Mapping[str, Json]) -> None:
        """Replace the folders of the workspace by another one, with other settings."""
        self.settings = settings
        self.change_folders([folder], self._folders)
        self._folders = [folder]
        asked = self.count("workspace/configuration")
        self.connection.notify("workspace/didChangeConfiguration", {"settings": None})

        async def questions() -> int:
            return self.count("workspace/configuration")

        await self.until(questions, lambda count: count > asked)

    def change_folders(self, added: Sequence[Path] = (), removed: Sequence[Path] = ()) -> None:
        event = {"added": [_folder(each) for each in added], "removed": [_folder(each) for each in removed]}
        self.connection.notify("workspace/didChangeWorkspaceFolders", {"event": event})

    async def stop(self) -> int:
        """Shut the server down and return its exit code."""
        await self.connection.request("shutdown", None)
        self.connection.notify("exit", None)
        return await self.ended()

    async def ended(self) -> int:
        """Wait until the server exits and return its exit code."""
        self.is_running = False
        return await self.connection.wait_ended(PATIENCE)

    def open(self, path: Path, text: str | None = None) -> Buffer:
        text = path.read_text(encoding="utf-8") if text is None else text
        buffer = Buffer(path.as_uri(), text, str(path))
        self.buffers[buffer.uri] = buffer
        item = {"uri": buffer.uri, "languageId": "python", "version": 1, "text": text}
        self.connection.notify("textDocument/didOpen", {"textDocument": item})
        return buffer

    def close(self, buffer: Buffer) -> None:
        self.connection.notify("textDocument/didClose", {"textDocument": {"uri": buffer.uri}})

    def replace(self, buffer: Buffer, old: str, new: str) -> None:
        """Replace the first ``old`` by ``new``, without saving."""
        start = buffer.text.index(old)
        self.type(buffer, start, start + len(old), new)

    def type(self, buffer: Buffer, start: int, end: int, new: str) -> None:
        """Replace the text between two offsets by ``new``."""
        self._type(buffer, {"start": self.position(buffer, start), "end": self.position(buffer, end)}, new)

    def _type(self, buffer: Buffer, span: Json, new: str) -> None:
        start, end = (self.offset(buffer, span[side]) for side in ("start", "end"))
        buffer.text = buffer.text[:start] + new + buffer.text[end:]
        buffer.version += 1
        document = {"uri": buffer.uri, "version": buffer.version}
        change = {"textDocument": document, "contentChanges": [{"range": span, "text": new}]}
        self.connection.notify("textDocument/didChange", change)

    def position(self, buffer: Buffer, offset: int) -> dict[str, int]:
        lines = buffer.text[:offset].split("\n")
        return {"line": len(lines) - 1, "character": self._length(lines[-1])}

    def covered(self, buffer: Buffer, span: Json) -> str:
        """Return the text of an LSP range."""
        start, end = (self.offset(buffer, span[side]) for side in ("start", "end"))
        return buffer.text[start:end]

    async def ask(self, method: str, buffer: Buffer, **params: Json) -> Json:
        asked = time.perf_counter()
        answer = await self.connection.request(method, {"textDocument": {"uri": buffer.uri}, **params})
        self.times.append((method, time.perf_counter() - asked))
        return answer

    async def hints(self, buffer: Buffer) -> dict[str, str]:
        """Return the labels of the hints, by the text before them on their line."""
        everything = {"start": {"line": 0, "character": 0}, "end": self.position(buffer, len(buffer.text))}
        hints = await self.ask("textDocument/inlayHint", buffer, range=everything)
        return {self._before(buffer, hint["position"]): hint["label"] for hint in hints}

    async def lenses(self, buffer: Buffer) -> list[tuple[str, str]]:
        """Return the source line and the title of each lens."""
        lenses = await self.ask("textDocument/codeLens", buffer)
        lines = buffer.text.split("\n")
        return [(lines[lens["range"]["start"]["line"]].strip(), lens["command"]["title"]) for lens in lenses]

    async def command(self, name: str, *arguments: Json, limit: float = ANSWER_SECONDS) -> Json:
        params = {"command": name, "arguments": list(arguments)}
        return await self.connection.request("workspace/executeCommand", params, limit)

    async def hover(self, buffer: Buffer, expression: str) -> Json:
        """Request the hover on the second character of an expression."""
        position = self.position(buffer, buffer.text.index(expression) + 1)
        return await self.ask("textDocument/hover", buffer, position=position)

    async def actions(
        self, buffer: Buffer, expression: str, only: list[str] | None = None, problems: list[Json] | None = None
    ) -> list[Json]:
        """Request the code actions at the start of an expression and for problems."""
        position = self.position(buffer, buffer.text.index(expression))
        context = {"diagnostics": problems or [], **({} if only is None else {"only": only})}
        cursor = {"start": position, "end": position}
        return list(await self.ask("textDocument/codeAction", buffer, range=cursor, context=context))

    def apply(self, buffer: Buffer, edits: list[Json]) -> None:
        """Apply edits relative to the present text, from the end of the text."""
        places = [(self.offset(buffer, edit["range"]["start"]), index) for index, edit in enumerate(edits)]
        for _, index in sorted(places, reverse=True):
            self._type(buffer, edits[index]["range"], edits[index]["newText"])

    async def problems(self, buffer: Buffer) -> list[Json] | None:
        """Return the published problems; None unless they are of the present version."""
        return buffer.problems if buffer.problems_version == buffer.version else None

    async def until(self, ask: Callable[[], Awaitable[T]], accepted: Callable[[T], object]) -> T:
        """Repeat a request, now and after each message of the server, until accepted."""
        last: list[T] = []
        try:
            return await asyncio.wait_for(self._until(ask, accepted, last), PATIENCE)
        except (TimeoutError, asyncio.TimeoutError):
            raise AssertionError(f"not in {PATIENCE} s; last answer: {last}; heard: {self.heard[-5:]}") from None

    async def _until(self, ask: Callable[[], Awaitable[T]], accepted: Callable[[T], object], last: list[T]) -> T:
        while True:
            self._news.clear()
            answer = await ask()
            last[:] = [answer]
            if accepted(answer):
                return answer
            await self._news.wait()

    async def rest(self) -> Json:
        """Wait until the server is idle and return its answer to ``fxlsp.information``."""
        return await self._until_idle(True)

    async def work(self) -> None:
        """Wait until the server is not idle."""
        await self._until_idle(False)

    async def _until_idle(self, is_idle: bool) -> Json:
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while (facts := await self.command("fxlsp.information"))["atRest"] != is_idle:
            assert asyncio.get_running_loop().time() < deadline, f"not in {PATIENCE} s: {facts['text']}"
            # It sends no message when it becomes idle without news.
            await asyncio.sleep(_POLL)
        return facts

    def said(self, method: str) -> list[Json]:
        """Return the parameters of all messages of the server with this method, in order."""
        return [params for heard, params in self.heard if heard == method]

    def count(self, method: str) -> int:
        """Return the number of messages of the server with this method."""
        return sum(1 for heard, _ in self.heard if heard == method)

    def _hear(self, method: str, params: Json) -> Json:
        self.heard.append((method, params))
        if method == "textDocument/publishDiagnostics":
            self.published[params["uri"]] = params["diagnostics"]
        if method == "textDocument/publishDiagnostics" and params["uri"] in self.buffers:
            buffer = self.buffers[params["uri"]]
            buffer.problems, buffer.problems_version = params["diagnostics"], params.get("version")
        self._news.set()
        return self._answer(method, params)

    def _answer(self, method: str, params: Json) -> Json:
        if method == "workspace/configuration":
            return [dict(self._settings_for(item.get("scopeUri"))) for item in params["items"]]
        if method == "window/showMessageRequest":
            picked = self.picks.pop(0) if self.picks else None
            return next((item for item in params["actions"] if picked and item["title"].startswith(picked)), None)
        if method == "window/showDocument":
            return {"success": True}
        if method == "workspace/applyEdit":
            if self.takes_edits:
                self.apply_workspace_edit(params["edit"])
            return {"applied": self.takes_edits}
        return None

    def _settings_for(self, scope: str | None) -> Mapping[str, Json]:
        return self.settings if scope is None else self.folder_settings.get(scope, self.settings)

    def apply_workspace_edit(self, edit: Json) -> None:
        changes = dict(edit.get("changes") or {})
        for change in edit.get("documentChanges") or ():
            document = change["textDocument"]
            assert document["version"] == self.buffers[document["uri"]].version
            changes[document["uri"]] = change["edits"]
        for uri, edits in changes.items():
            self.apply(self.buffers[uri], edits)

    def _before(self, buffer: Buffer, position: Json) -> str:
        offset = self.offset(buffer, position)
        return buffer.text[buffer.text.rfind("\n", 0, offset) + 1 : offset].strip()

    def offset(self, buffer: Buffer, position: Json) -> int:
        lines = buffer.text.split("\n")
        before = sum(len(line) + 1 for line in lines[: position["line"]])
        line = lines[position["line"]]
        ends = [self._length(line[:column]) for column in range(len(line) + 1)]
        return before + ends.index(position["character"])

    def _length(self, text: str) -> int:
        if self.abilities.encoding == "utf-8":
            return len(text.encode())
        return len(text.encode("utf-16-le")) // 2


def _folder(path: Path) -> Json:
    return {"uri": path.as_uri(), "name": path.name}

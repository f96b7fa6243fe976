"""Execution of the steps of a scenario against a real server.

Answers are read when no trace is running or planned, except right after ``type!`` and ``undo!``, which do not wait.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from dev.rpc import Json
from tests.support.answer_text import Answers
from tests.support.client import Buffer, Client
from tests.support.scenario import Scenario, Step

Act = Callable[[str], Awaitable[list[str]]]

VARYING = re.compile(r'(Python (?=\d)|, torch (?=\d)|traced in |"id": "| \((?=/.*python))[\w.+/-]+')
"""Versions, times and identities, which are replaced by ``…``; the text around them remains."""
_VERDICTS_SECONDS = 240.0
"""Limit of a question to torch.export and torch.compile, for which three processes run torch one after another."""


class Actor:
    """Simulated user of the files of one scenario."""

    def __init__(self, client: Client, folder: Path, scenario: Scenario) -> None:
        self._client = client
        self._folder = folder
        self._scenario = scenario
        self._answers = Answers(client, folder)
        self._buffers: dict[str, Buffer] = {}
        self._undone: list[tuple[Buffer, str, str]] = []
        self._heard = 0
        self._asked: asyncio.Future[Json] | None = None
        """The answer to the question about a model that was asked last."""

    async def play(self) -> list[str]:
        """Execute all steps and return the answer to each."""
        for file in self._scenario.files:
            if file.is_open:
                self._buffers[file.name] = self._client.open(self._folder / file.name, file.text)
        await self._client.rest()
        answers = [await self._do(step) for step in self._scenario.steps]
        for buffer in self._buffers.values():
            self._client.close(buffer)
        return answers

    async def _do(self, step: Step) -> str:
        lines = await self._acts()[step.verb](step.argument)
        text = VARYING.sub(r"\1…", "\n".join(line.rstrip() for line in lines).strip("\n"))
        return f"{text}\n\n" if text else "\n"

    def _acts(self) -> dict[str, Act]:
        return {
            "hover": self._hover,
            "hints": self._hints,
            "tooltip": self._tooltip,
            "lenses": self._lenses,
            "problems": self._problems,
            "fixes": self._fixes,
            "fix": self._fix,
            "definition": self._links,
            "implementation": self._implementations,
            "symbols": self._symbols,
            "workspace-symbols": self._workspace_symbols,
            "incoming": self._incoming,
            "outgoing": self._outgoing,
            "type": self._type,
            "type!": self._type_on,
            "undo": self._undo,
            "undo!": self._undo_on,
            "write": self._write,
            "save": self._save,
            "run": self._run,
            "run-at": self._run_at,
            "pick": self._pick,
            "ask": self._ask_frontends,
            "ask!": self._ask_frontends_on,
            "end": self._end,
        }

    async def _hover(self, mark: str) -> list[str]:
        buffer, position = self._place(mark)
        return [*self._answers.hover(buffer.uri, await self._ask("hover", buffer, position=position))]

    async def _hints(self, name: str) -> list[str]:
        buffer = self._buffer(name)
        return [self._answers.hint(buffer.uri, hint) for hint in await self._all_hints(buffer)]

    async def _all_hints(self, buffer: Buffer) -> list[Json]:
        end = self._client.position(buffer, len(buffer.text))
        return list(await self._ask("inlayHint", buffer, range={"start": {"line": 0, "character": 0}, "end": end}))

    async def _tooltip(self, mark: str) -> list[str]:
        """Return the tooltip of the hint on the line of a mark."""
        buffer, position = self._place(mark)
        (hint,) = [each for each in await self._all_hints(buffer) if each["position"]["line"] == position["line"]]
        resolved = await self._client.connection.request("inlayHint/resolve", hint)
        return str(resolved["tooltip"]["value"]).split("\n")

    async def _lenses(self, name: str) -> list[str]:
        buffer = self._buffer(name)
        return [self._answers.lens(buffer.uri, lens) for lens in await self._ask("codeLens", buffer)]

    async def _problems(self, name: str) -> list[str]:
        buffer = self._buffer(name)
        report = await self._ask("diagnostic", buffer)
        return [line for problem in report["items"] for line in self._answers.problem(buffer.uri, problem)]

    async def _fixes(self, mark: str) -> list[str]:
        return [action["title"] for action in await self._actions(mark)]

    async def _fix(self, argument: str) -> list[str]:
        """``MARK | TITLE``: apply the fix whose title starts with TITLE."""
        mark, _, title = argument.partition(" |")
        (action,) = [each for each in await self._actions(mark) if each["title"].startswith(title.strip())]
        before = {name: buffer.text for name, buffer in self._buffers.items()}
        self._client.apply_workspace_edit(action["edit"])
        await self._client.rest()
        return self._changes(before)

    async def _actions(self, mark: str) -> list[Json]:
        buffer, position = self._place(mark)
        cursor = {"start": position, "end": position}
        return list(await self._ask("codeAction", buffer, range=cursor, context={"diagnostics": []}))

    async def _links(self, mark: str, method: str = "definition") -> list[str]:
        buffer, position = self._place(mark)
        found = await self._ask(method, buffer, position=position) or []
        return [self._answers.link(each) for each in (found if isinstance(found, list) else [found])] or ["nothing"]

    async def _implementations(self, mark: str) -> list[str]:
        return await self._links(mark, "implementation")

    async def _symbols(self, name: str) -> list[str]:
        buffer = self._buffer(name)
        symbols = await self._ask("documentSymbol", buffer)
        return [line for symbol in symbols for line in self._answers.symbol(buffer.uri, symbol)]

    async def _workspace_symbols(self, query: str) -> list[str]:
        found = await self._client.connection.request("workspace/symbol", {"query": query}) or []
        resolved = [await self._client.connection.request("workspaceSymbol/resolve", each) for each in found]
        return [f"{each['name']} {self._answers.link(each['location'])}" for each in resolved] or ["nothing"]

    async def _incoming(self, mark: str, side: str = "from") -> list[str]:
        buffer, position = self._place(mark)
        items = await self._ask("prepareCallHierarchy", buffer, position=position) or []
        method = {"from": "callHierarchy/incomingCalls", "to": "callHierarchy/outgoingCalls"}[side]
        lines = []
        for item in items:
            lines.append(self._answers.called(item))
            for call in await self._client.connection.request(method, {"item": item}) or []:
                at = call["from"]["uri"] if side == "from" else item["uri"]
                places = ", ".join(self._answers.span(at, span) for span in call["fromRanges"])
                lines.append(f"  {side} {self._answers.called(call[side])}, called at {places}")
        return lines or ["nothing"]

    async def _outgoing(self, mark: str) -> list[str]:
        return await self._incoming(mark, "to")

    async def _type(self, argument: str) -> list[str]:
        await self._type_on(argument)
        await self._client.rest()
        return []

    async def _type_on(self, argument: str) -> list[str]:
        """``OLD => NEW``: edit without saving; ``\\n`` is a line break."""
        old, new = _change(argument)
        buffer = next((each for each in self._buffers.values() if old in each.text), None)
        assert buffer is not None, f"no open file has {old!r}"
        self._undone.append((buffer, new, old))
        self._client.replace(buffer, old, new)
        return []

    async def _undo(self, _: str) -> list[str]:
        await self._undo_on("")
        await self._client.rest()
        return []

    async def _undo_on(self, _: str) -> list[str]:
        buffer, new, old = self._undone.pop()
        self._client.replace(buffer, new, old)
        return []

    async def _write(self, argument: str) -> list[str]:
        """``FILE | OLD => NEW``: change a file on disk that is not open."""
        name, _, change = argument.partition(" | ")
        path = self._folder / name
        old, new = _change(change)
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r}"
        path.write_text(text.replace(old, new), encoding="utf-8")
        changes = [{"uri": path.as_uri(), "type": 2}]
        self._client.connection.notify("workspace/didChangeWatchedFiles", {"changes": changes})
        await self._client.rest()
        return []

    async def _save(self, name: str) -> list[str]:
        document = {"uri": self._buffer(name).uri}
        self._client.connection.notify("textDocument/didSave", {"textDocument": document})
        await self._client.rest()
        return []

    async def _pick(self, title: str) -> list[str]:
        """Select the answer to the next question of the server."""
        self._client.picks.append(title)
        return []

    async def _run(self, argument: str) -> list[str]:
        """``COMMAND ARGUMENTS``: a JSON list, in which ``$`` is the folder's URI."""
        command, _, arguments = argument.partition(" ")
        return await self._command(command, *json.loads(arguments.replace('"$', f'"{self._folder.as_uri()}') or "[]"))

    async def _run_at(self, argument: str) -> list[str]:
        """``COMMAND MARK``: run a command that takes a position."""
        command, _, mark = argument.partition(" ")
        buffer, position = self._place(mark)
        return await self._command(command, buffer.uri, position["line"], position["character"])

    async def _command(self, command: str, *given: Json) -> list[str]:
        before = {name: buffer.text for name, buffer in self._buffers.items()}
        self._heard = len(self._client.heard)
        answer = await self._client.command(command, *given)
        await self._client.rest()
        is_text = isinstance(answer, dict) and answer.keys() == {"text"}
        said = answer["text"] if is_text else json.dumps(answer, indent=1, ensure_ascii=False)
        lines = [] if answer is None else said.split("\n")
        return [self._without_folder(line) for line in [*lines, *self._messages(), *self._changes(before)]]

    async def _ask_frontends(self, name: str) -> list[str]:
        """Ask the other front ends about a class of an open file."""
        self._start_asking(name)
        return await self._end("")

    async def _ask_frontends_on(self, name: str) -> list[str]:
        """Ask about a model whose front end does not answer; return while it runs."""
        self._start_asking(name)
        await self._client.work()
        return []

    def _start_asking(self, name: str) -> None:
        self._heard = len(self._client.heard)
        buffer = next(each for each in self._buffers.values() if f"class {name}(" in each.text)
        command = self._client.command("fxlsp.askFrontends", buffer.uri, name, limit=_VERDICTS_SECONDS)
        self._asked = asyncio.ensure_future(command)

    async def _end(self, _: str) -> list[str]:
        """Return the verdicts that were asked for, in the words of the lens."""
        assert self._asked is not None, "nothing was asked"
        answer = await self._asked
        await self._client.rest()
        verdicts = [] if answer is None else [f"{each['frontend']}: {each['summary']}" for each in answer["frontends"]]
        return [*verdicts, *self._messages()] or ["nothing"]

    def _messages(self) -> Iterator[str]:
        for method, params in self._client.heard[self._heard :]:
            if method in ("window/showMessage", "window/showMessageRequest"):
                yield f"message: {params['message']}"
                yield from (f"  [{action['title']}]" for action in params.get("actions", ()))

    def _changes(self, before: dict[str, str]) -> list[str]:
        return [line for name, text in before.items() for line in self._answers.changes(text, self._buffers[name].text)]

    def _without_folder(self, line: str) -> str:
        return line.replace(self._folder.as_uri(), "$").replace(str(self._folder), "$")

    def _ask(self, feature: str, buffer: Buffer, **params: Json) -> Awaitable[Json]:
        return self._client.ask(f"textDocument/{feature}", buffer, **params)

    def _buffer(self, name: str) -> Buffer:
        """Return the buffer of a name, by default the first."""
        return self._buffers[name] if name else next(iter(self._buffers.values()))

    def _place(self, mark: str) -> tuple[Buffer, Json]:
        """Return the present position of a mark, found by the text after it on its line."""
        file, offset = self._scenario.place(mark)
        buffer = self._buffers[file.name]
        line = file.text[offset : file.text.index("\n", offset)]
        occurrence = file.text[:offset].count(line)
        offset = -1
        for _ in range(occurrence + 1):
            offset = buffer.text.index(line, offset + 1)
        return buffer, self._client.position(buffer, offset)


def _change(argument: str) -> tuple[str, str]:
    old, _, new = argument.partition(" =>")
    return old.replace("\\n", "\n"), new.removeprefix(" ").replace("\\n", "\n")

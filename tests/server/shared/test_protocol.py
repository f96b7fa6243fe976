"""What pygls gets wrong and we must not, seen inside one process."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.ide.trace_view.report_index import ReportIndex, index_of
from fxlsp.server.main import make_server
from fxlsp.server.shared.server import Server
from tests.ide.builder import Trace, tensor
from tests.ide.nets import TEXT

URI = "file:///project/net.py"
PATH = "/project/net.py"


class Editor:
    """Hands messages to a server as a transport does, and keeps what it answers."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.sent: list[dict[str, Any]] = []
        server.protocol.set_writer(self, include_headers=False)

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    def close(self) -> None:
        """Nothing to close."""

    def say(self, method: str, params: Any, number: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        self.receive(message)

    def receive(self, message: dict[str, Any]) -> None:
        text = json.dumps(message)
        self.server.protocol.handle_message(json.loads(text, object_hook=self.server.protocol.structure_message))

    def change(self, version: int, *changes: dict[str, Any]) -> None:
        document = {"uri": URI, "version": version}
        self.say("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def open(self, text: str) -> None:
        document = {"uri": URI, "languageId": "python", "version": 0, "text": text}
        self.say("textDocument/didOpen", {"textDocument": document})

    def text(self) -> str:
        return self.server.engine.snapshot.documents[PATH].text

    def answer(self, number: int) -> dict[str, Any]:
        return next(message for message in self.sent if message.get("id") == number)


@pytest_asyncio.fixture
async def editor() -> AsyncIterator[Editor]:
    server = make_server()
    made = Editor(server)
    made.say("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, number=0)
    made.say("initialized", {})
    await asyncio.sleep(0)
    yield made
    await server.close()


def insertion(line: int, character: int, text: str) -> dict[str, Any]:
    place = {"line": line, "character": character}
    return {"range": {"start": place, "end": place}, "text": text}


async def test_a_thousand_changes_leave_nothing_behind(editor: Editor) -> None:
    editor.open("x = 1\n")
    before = editor.server.protocol.pending
    for version in range(1, 1001):
        editor.change(version, insertion(0, 0, "#"))
    await asyncio.sleep(0)
    assert editor.server.protocol.pending == before
    assert editor.text() == "#" * 1000 + "x = 1\n"


async def test_a_replaced_report_leaves_nothing_behind(editor: Editor) -> None:
    editor.open(TEXT)
    before = indexes()
    for version in range(1, 51):
        report = Trace(TEXT).node("y", "torch.relu(self.conv(x))", tensor(version, 3)).report()
        assert index_of(report).expressions(PATH)
        editor.change(version, insertion(0, 0, "#"))
    assert indexes() <= before


def indexes() -> int:
    """Return how many reports in memory have an index, which are the largest objects of a session."""
    gc.collect()
    return sum(type(each) is ReportIndex for each in gc.get_objects())


async def test_asynchronous_handlers_leave_nothing_behind(editor: Editor) -> None:
    before = editor.server.protocol.pending
    for _ in range(100):
        editor.say("workspace/didChangeConfiguration", {"settings": {"fxlsp": {}}})
    for _ in range(5):
        await asyncio.sleep(0)
    assert editor.server.protocol.pending == before


async def test_a_request_that_the_editor_refuses_leaves_nothing_behind(editor: Editor) -> None:
    protocol = editor.server.protocol
    before = protocol.pending
    future = protocol.send_request("workspace/codeLens/refresh", None, msg_id="refused")
    editor.receive({"jsonrpc": "2.0", "id": "refused", "error": {"code": -32601, "message": "no"}})
    assert future.exception() is not None
    assert protocol.pending == before


async def test_a_form_feed_and_a_line_separator_do_not_end_a_line(editor: Editor) -> None:
    editor.open("a = '\x0c\u2028'\nb = 2\n")
    editor.change(1, insertion(1, 0, "c"))
    assert editor.text() == "a = '\x0c\u2028'\ncb = 2\n"


async def test_characters_are_counted_in_the_units_agreed_on(editor: Editor) -> None:
    editor.open("a = '😀'\n")
    editor.change(1, insertion(0, 7, "!"))
    assert editor.text() == "a = '😀!'\n"


async def test_changes_of_one_message_count_in_the_text_before_each(editor: Editor) -> None:
    editor.open("ab\n")
    editor.change(1, insertion(0, 1, "\n"), insertion(1, 0, "c"))
    assert editor.text() == "a\ncb\n"


async def test_a_text_may_be_replaced_whole(editor: Editor) -> None:
    editor.open("a\nb\n")
    editor.change(1, {"text": "a\nc\n"})
    assert editor.text() == "a\nc\n"


async def test_a_replaced_line_touches_only_what_differs_in_it(editor: Editor) -> None:
    editor.open("import torch\nx = f(1)\n")
    before = editor.server.engine.snapshot.logs[PATH].opened
    span = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    editor.change(1, {"range": span, "text": "x = f(2)\n"})
    log = editor.server.engine.snapshot.logs[PATH].since(before)
    assert log is not None
    assert [(hunk.old_start, hunk.old_end) for hunk in log.hunks] == [(19, 20)]


async def test_documents_of_other_languages_are_left_alone(editor: Editor) -> None:
    document = {"uri": "file:///project/pyproject.toml", "languageId": "toml", "version": 0, "text": "[tool.fxlsp]\n"}
    editor.say("textDocument/didOpen", {"textDocument": document})
    change = {"textDocument": {"uri": document["uri"], "version": 1}, "contentChanges": [{"text": ""}]}
    editor.say("textDocument/didChange", change)
    editor.say("textDocument/didClose", {"textDocument": {"uri": document["uri"]}})
    assert editor.server.engine.snapshot.documents == {}


async def test_a_hover_on_a_document_that_is_not_open_is_nothing(editor: Editor) -> None:
    place = {"textDocument": {"uri": "file:///nowhere.py"}, "position": {"line": 0, "character": 0}}
    editor.say("textDocument/hover", place, number=7)
    assert editor.answer(7)["result"] is None


@pytest.mark.parametrize("kind", ["exit", "shutdown"])
async def test_goodbye_ends_the_session_with_code_0_only_after_a_shutdown(editor: Editor, kind: str) -> None:
    if kind == "shutdown":
        editor.say("shutdown", None, number=1)
    editor.say("exit", None)
    assert editor.server.finished.is_set()
    assert editor.server.exit_code == (0 if kind == "shutdown" else 1)


async def test_shutdown_with_requests_under_way_answers(editor: Editor) -> None:
    for number in range(3):
        editor.server.protocol.send_request("workspace/codeLens/refresh", None, msg_id=f"open-{number}")
    editor.say("shutdown", None, number=1)
    assert "error" not in editor.answer(1)


WRONG_PARAMS: list[tuple[str, Any]] = [
    ("textDocument/hover", {}),
    ("textDocument/hover", None),
    ("textDocument/hover", [1, 2]),
    ("textDocument/hover", "text"),
    ("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": 3}),
    ("textDocument/codeLens", {"textDocument": URI}),
    ("codeLens/resolve", {"command": 3}),
    ("workspace/executeCommand", {"arguments": []}),
    ("workspace/symbol", 3),
    ("textDocument/rename", {"textDocument": {"uri": URI}}),
]


@pytest.mark.parametrize(("method", "params"), WRONG_PARAMS)
async def test_a_request_with_wrong_parameters_is_answered_with_an_error(
    editor: Editor, method: str, params: Any
) -> None:
    with suppress(JsonRpcException):
        editor.say(method, params, number=7)
    await asyncio.sleep(0)
    assert editor.answer(7)["error"]["code"] == types.ErrorCodes.InvalidParams


@pytest.mark.parametrize("number", ["text", 2**53, -1, 0])
async def test_an_answer_has_the_id_of_its_request_whatever_it_is(editor: Editor, number: Any) -> None:
    editor.sent.clear()
    with suppress(JsonRpcException):
        editor.receive({"jsonrpc": "2.0", "id": number, "method": "textDocument/hover", "params": {}})
    assert [message["id"] for message in editor.sent] == [number]


async def test_a_request_after_shutdown_is_answered_with_an_error(editor: Editor) -> None:
    editor.say("shutdown", None, number=1)
    await asyncio.sleep(0)
    editor.say("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}, number=2)
    assert editor.answer(2)["error"]["code"] == types.ErrorCodes.InvalidRequest

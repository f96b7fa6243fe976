"""Random messages, right and wrong ones: the server stays, and answers each request once."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from benchmarks.reliability.progress import Outcome, Share
from benchmarks.reliability.raw_client import RawClient
from dev.rpc import Json

REQUESTS = (
    *(
        f"textDocument/{name}"
        for name in ("hover", "inlayHint", "codeLens", "codeAction", "documentSymbol", "diagnostic")
    ),
    *(
        f"textDocument/{name}"
        for name in ("definition", "implementation", "prepareCallHierarchy", "rename", "nonsense")
    ),
    *("workspace/symbol", "workspace/executeCommand", "workspace/diagnostic", "inlayHint/resolve", "codeLens/resolve"),
    *("callHierarchy/incomingCalls", "callHierarchy/outgoingCalls", "initialize", "$/nonsense", ""),
)
NOTIFICATIONS = (
    *(f"textDocument/did{name}" for name in ("Open", "Change", "Close", "Save")),
    *(f"workspace/did{name}" for name in ("ChangeConfiguration", "ChangeWatchedFiles", "ChangeWorkspaceFolders")),
    *("notebookDocument/didOpen", "notebookDocument/didChange", "initialized", "$/cancelRequest", "$/setTrace", "x"),
)
TEXT = "import torch\nfrom torch import nn\n\nclass Nét(nn.Module):\n    def forward(self, x):\n        return x\n"
BATCH = 2000
"""Requests between two waits for all answers."""
ANSWER_SECONDS = 60.0


async def run_messages(share: Share) -> Outcome:
    """Send random messages until the share is done or its time is over."""
    deadline, random, sent = time.monotonic() + share.seconds, Random(share.name("messages")), 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "net.py").write_text(TEXT, encoding="utf-8")
        client = await RawClient.start()
        await client.request("begin", "initialize", _initialize(folder))
        await client.send_message(method="initialized", params={})
        messages = RandomMessages(random, folder)
        while sent < share.left and time.monotonic() < deadline and not client.has_ended:
            expected = []
            for _ in range(BATCH):
                key, body = messages.next()
                await client.send(body)
                expected += [] if key is None else [key]
            sent += BATCH
            try:
                await client.request(f"batch {sent}", "textDocument/hover", messages.valid_place(), ANSWER_SECONDS)
                for key in expected:
                    await client.until_answered(key, ANSWER_SECONDS)
            except asyncio.TimeoutError:
                wrong.append(f"no answer to {[key for key in expected if not client.answers[key]][:5]}")
                break
        if client.has_ended:
            wrong.append(f"the server ended after {sent} messages")
        code = await client.stop()
    wrong += [f"request {key} was answered {count} times" for key, count in client.answers.items() if count > 1]
    if code:
        wrong.append(f"exit code {code}")
    print(f"messages: {sent} sent, {len(client.answers)} requests answered, {len(wrong)} faults", flush=True)
    return Outcome(sent, wrong)


class RandomMessages:
    """Generator of messages about the files of a folder."""

    def __init__(self, random: Random, folder: Path) -> None:
        self._random = random
        self._uris = [(folder / name).as_uri() for name in ("net.py", "absent.py", "a b%.ipynb")] + [
            "untitled:1",
            "x",
            "",
        ]
        self._count = 0

    def next(self) -> tuple[str | None, bytes]:
        """Return the JSON text of the id if an answer is due, and a body."""
        ways: tuple[tuple[float, Callable[[], tuple[str | None, bytes]]], ...]
        ways = ((0.55, self._request), (0.9, self._notification), (0.94, self._answer), (1.0, self._junk))
        drawn = self._random.random()
        return next(way for limit, way in ways if drawn <= limit)()

    def valid_place(self) -> Json:
        return {"textDocument": {"uri": self._uris[0]}, "position": {"line": 5, "character": 16}}

    def _request(self) -> tuple[str, bytes]:
        self._count += 1
        method = self._random.choice(REQUESTS)
        message = {"jsonrpc": "2.0", "id": self._count, "method": method, "params": self._params()}
        return str(self._count), json.dumps(message).encode()

    def _notification(self) -> tuple[None, bytes]:
        method = self._random.choice(NOTIFICATIONS)
        params = {"id": self._random.randint(0, self._count + 1)} if method == "$/cancelRequest" else self._params()
        return None, json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()

    def _answer(self) -> tuple[None, bytes]:
        """An answer to a question that the server may have asked, or not."""
        key = self._random.choice((self._random.randint(0, 9), "unknown", None))
        value = self._random.choice(({"result": self._value(2)}, {"error": {"code": 1, "message": "no"}}))
        return None, json.dumps({"jsonrpc": "2.0", "id": key, **value}).encode()

    def _junk(self) -> tuple[None, bytes]:
        junk = (b"", b"{", b"[]", b"null", b"3", b'"text"', b"\xff\xfe", b"{}", b'{"jsonrpc": "2.0"}', b"[" * 2000)
        message = b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"text": "\\ud800"}}'
        return None, self._random.choice((*junk, message, bytes(self._random.choices(range(256), k=40))))

    def _params(self) -> Json:
        if self._random.random() < 0.15:
            return self._value(3)
        params = {
            "textDocument": {
                "uri": self._random.choice(self._uris),
                "languageId": self._random.choice(("python", "rust")),
                "version": self._random.choice((None, -1, 0, self._count, 2**40)),
                "text": TEXT,
            },
            "position": self._position(),
            "range": self._range(),
            "contentChanges": [self._change() for _ in range(self._random.randint(0, 3))],
            "context": {"diagnostics": [], "includeDeclaration": True},
            "query": self._random.choice(("", "Net", "𝒳")),
            "command": self._random.choice(("fxlsp.information", "fxlsp.recipes", "fxlsp.copyTable", "nonsense")),
            "arguments": [self._value(2)],
            "settings": {"fxlsp": self._value(2)},
            "changes": [{"uri": self._random.choice(self._uris), "type": self._random.randint(0, 4)}],
            "event": {"added": [], "removed": []},
        }
        for name in self._random.sample(sorted(params), self._random.choice((0, 0, 1, 2))):
            params[name] = self._value(2)
        return params

    def _change(self) -> Json:
        text = self._random.choice(("", "x", "\n", "𝒳", "\r", "class A(nn.Module): pass\n", TEXT))
        return {"text": text, **({"range": self._range()} if self._random.random() < 0.8 else {})}

    def _range(self) -> Json:
        return {"start": self._position(), "end": self._position()}

    def _position(self) -> Json:
        numbers = (0, 0, 1, 3, 5, 16, 10**6, 2**31 - 1, -1, 2**53, 1.5, "3")
        weights = (8, 8, 8, 8, 8, 8, 2, 2, 1, 1, 1, 1)
        line, character = self._random.choices(numbers, weights, k=2)
        return {"line": line, "character": character}

    def _value(self, depth: int) -> Json:
        leaves: list[Json] = [None, True, 0, -1, 1e300, "", "x" * self._random.choice((1, 10**4)), "\ud800", "😀"]
        if depth == 0 or self._random.random() < 0.4:
            return self._random.choice(leaves)
        if self._random.random() < 0.5:
            return [self._value(depth - 1) for _ in range(self._random.randint(0, 3))]
        return {self._random.choice(("uri", "class", "text", "x")): self._value(depth - 1) for _ in range(2)}


def _initialize(folder: Path) -> Json:
    uri = folder.as_uri()
    return {
        "processId": None,
        "rootUri": uri,
        "capabilities": {},
        "workspaceFolders": [{"uri": uri, "name": "a"}],
        "initializationOptions": {"trusted": False},
    }

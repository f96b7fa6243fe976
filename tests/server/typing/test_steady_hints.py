"""The line that is being edited keeps its hints until its user rests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fxlsp.ide.hints import Hint
from fxlsp.server.typing import typing_state
from fxlsp.server.typing.steady_hints import SteadyHints
from fxlsp.server.typing.typing_state import TypingState
from fxlsp.source.text.documents import Document
from tests.server.conftest import Start
from tests.server.test_features import NET
from tests.support.document_edits import edit_between

PATH = "/project/net.py"
EVERYTHING = range(1, 100)


class Session:
    """A document that is edited, and its hints."""

    def __init__(self) -> None:
        self.rested = asyncio.Event()
        self.typing = TypingState()
        self.still = SteadyHints(self.rested.set, self.typing)
        self.typing.subscribe(self.still.rested)
        self.document = _document("x = a\ny = b\n")
        self.typing.follow({PATH: self.document})

    def type(self, text: str) -> None:
        edit = edit_between(self.document, _document(text))
        self.document = edit.after
        self.typing.follow({PATH: edit.after}, edit)
        self.still.follow({PATH: edit.after}, edit)

    def shown(self, *texts: str) -> list[str]:
        """What is shown when these are the hints of the lines."""
        hints = [Hint(line, 6, text, ()) for line, text in enumerate(texts, 1) if text]
        return [hint.text for hint in self.still.hints_to_show(PATH, EVERYTHING, hints)]


def _document(text: str) -> Document:
    return Document("file://" + PATH, PATH, 1, text)


@pytest.fixture
async def session(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Session]:
    monkeypatch.setattr(typing_state, "PAUSE_SECONDS", 0.05)
    session = Session()
    yield session
    session.typing.close()


async def test_the_edited_line_keeps_its_hint_until_a_rest_and_others_change(session: Session) -> None:
    session.shown("(1,)", "(2,)")
    session.type("x = ab\ny = b\n")
    assert session.shown("(7,)", "(8,)") == ["(1,)", "(8,)"]
    session.type("x = abc\ny = b\n")
    assert session.shown("(9,)", "(9,)") == ["(1,)", "(9,)"]
    assert session.still.is_waiting
    await session.rested.wait()
    assert session.shown("(9,)", "(9,)") == ["(9,)", "(9,)"]
    assert not session.still.is_waiting


async def test_a_line_without_a_hint_gets_none_while_it_is_edited(session: Session) -> None:
    session.shown("", "(2,)")
    session.type("x = ab\ny = b\n")
    assert session.shown("(7,)", "(2,)") == ["(2,)"]
    await session.rested.wait()
    assert session.shown("(7,)", "(2,)") == ["(7,)", "(2,)"]


async def test_a_line_that_is_begun_frees_the_others(session: Session) -> None:
    session.shown("(1,)", "(2,)")
    session.type("x = ab\ny = b\n")
    session.type("x = ab\ny = bc\n")
    assert session.shown("(7,)", "(8,)") == ["(7,)", "(2,)"]


async def test_the_line_that_the_cursor_has_left_shows_its_present_hint(session: Session) -> None:
    session.shown("(1,)", "(2,)")
    session.type("x = ab\ny = b\n")
    assert session.shown("(7,)", "(8,)") == ["(1,)", "(8,)"]
    session.typing.cursor_moved(PATH, 2)
    assert session.rested.is_set()
    assert session.shown("(7,)", "(8,)") == ["(7,)", "(8,)"]


async def test_an_edit_that_moves_lines_holds_nothing_back(session: Session) -> None:
    session.shown("(1,)", "(2,)")
    session.type("x = ab\n\ny = b\n")
    assert session.shown("(7,)", "", "(8,)") == ["(7,)", "(8,)"]


async def test_a_document_that_is_closed_while_a_line_is_typed_leaves_nothing_to_wait_for(session: Session) -> None:
    session.shown("(1,)", "(2,)")
    session.type("x = ab\ny = b\n")
    session.shown("(7,)", "(8,)")
    assert session.still.is_waiting
    session.typing.follow({})
    session.still.follow({}, None)
    assert not session.still.is_waiting


async def test_after_a_rest_the_editor_is_asked_to_ask_again(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    client.replace(buffer, "y.relu()", "y.relu().sum(0)")
    hints = await client.until(lambda: client.hints(buffer), lambda hints: "return y.relu().sum(0)" in hints)
    await client.until(lambda: client.hints(buffer), lambda hints: hints["return y.relu().sum(0)"] == "(4,)")
    assert hints["y = self.fc(x)"] == "(2, 4)"

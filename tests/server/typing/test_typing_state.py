"""What the server takes for finished, from edits alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from fxlsp.server.typing.typing_state import Finish, TypingState
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from tests.support.document_edits import edit_between

PATH = "/project/net.py"
OTHER = "/project/other.py"


class Typing:
    """A document in which a user types; ``|`` is the cursor in the texts given, and is not in the document."""

    def __init__(self, text: str) -> None:
        self.state = TypingState()
        self.announced = 0
        self.documents = {PATH: _document(PATH, text), OTHER: _document(OTHER, "y = 2\n")}
        self.state.follow(self.documents)
        self.state.subscribe(self._count)

    def _count(self) -> None:
        self.announced += 1

    def to(self, text: str, path: str = PATH) -> None:
        edit = edit_between(self.documents[path], _document(path, text))
        self.documents = {**self.documents, path: edit.after}
        self.state.follow(self.documents, edit)

    @property
    def finish(self) -> Finish:
        return self.state.present(PATH)

    def left(self) -> list[int]:
        return [line for line in range(1, 20) if self.state.was_left(PATH, Span(line, 1, line, 2))]


def _document(path: str, text: str) -> Document:
    return Document(f"file://{path}", path, 1, text)


async def test_an_opened_text_is_finished_and_the_first_key_begins_a_line() -> None:
    typing = Typing("a = 1\nb = 2\n")
    assert (typing.finish, typing.state.line(PATH), typing.state.is_resting) == (Finish.RESTED, None, True)
    typing.to("a = 1\nb = 23\n")
    assert (typing.finish, typing.state.line(PATH), typing.state.is_resting) == (Finish.TYPED, 2, False)


async def test_a_pause_and_the_rest_after_it_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxlsp.server.typing.typing_state.IDLE_SECONDS", 0.0)
    announced: asyncio.Queue[Finish] = asyncio.Queue()
    typing = Typing("a = 1\n")
    typing.state.subscribe(lambda: announced.put_nowait(typing.finish))
    typing.to("a = 12\n")
    assert [await announced.get(), await announced.get()] == [Finish.PAUSED, Finish.RESTED]
    assert typing.state.line(PATH) is None


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> Callable[[Typing], Awaitable[int]]:
    """Wait until all timers of the edits before it have run, and return how often a rest or pause was announced."""
    monkeypatch.setattr("fxlsp.server.typing.typing_state.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("fxlsp.server.typing.typing_state.IDLE_SECONDS", 0.0)

    async def count(typing: Typing) -> int:
        # A timer without delay runs in the next turn of the loop, and that of the rest is set by that of the pause.
        for _ in range(4):
            await asyncio.sleep(0)
        return typing.announced

    return count


async def test_an_edit_announces_a_pause_and_a_rest(announced: Callable[[Typing], Awaitable[int]]) -> None:
    typing = Typing("a = 1\n")
    typing.to("a = 12\n")
    assert await announced(typing) == 2


async def test_a_pause_after_the_end_of_the_session_announces_nothing(
    announced: Callable[[Typing], Awaitable[int]],
) -> None:
    typing = Typing("a = 1\n")
    typing.to("a = 12\n")
    typing.state.close()
    assert await announced(typing) == 0


async def test_nor_does_a_pause_after_the_document_was_opened_once_more(
    announced: Callable[[Typing], Awaitable[int]],
) -> None:
    typing = Typing("a = 1\n")
    typing.to("a = 12\n")
    typing.state.follow({**typing.documents, PATH: _document(PATH, "a = 1\n")})
    assert await announced(typing) == 0


@pytest.mark.parametrize("indentation", ["", "    "])
async def test_a_line_break_leaves_the_line_before_it(indentation: str) -> None:
    typing = Typing("if b:\n    a = 1\nc = 3\n")
    typing.to("if b:\n    a = 12\nc = 3\n")
    typing.to(f"if b:\n    a = 12\n{indentation}\nc = 3\n")
    assert (typing.finish, typing.state.line(PATH), typing.left()) == (Finish.LEFT, 3, [2])


async def test_an_edit_of_another_line_leaves_the_text_before_it() -> None:
    typing = Typing("a = 1\nb = 2\nc = 3\n")
    typing.to("a = 12\nb = 2\nc = 3\n")
    left = typing.documents[PATH].digest
    typing.to("a = 12\nb = 2\nc = 34\n")
    assert (typing.state.finish({PATH: left}), typing.finish) == (Finish.LEFT, Finish.TYPED)
    assert (typing.state.line(PATH), typing.left()) == (3, [1])


@pytest.mark.parametrize(
    "unfinished", ["f(", "f([1,", '"""begun', "def f():", "for x in y:", "try:\n    pass", "@decorated", "a = \\"]
)
async def test_a_line_that_needs_another_one_is_not_left_by_a_line_break(unfinished: str) -> None:
    typing = Typing("\nc = 3\n")
    typing.to(f"{unfinished}\nc = 3\n")
    typing.to(f"{unfinished}\n    \nc = 3\n")
    assert typing.finish is Finish.TYPED


@pytest.mark.parametrize("wrong", ["f)", "if x", "a = ]", "x = = 2"])
async def test_a_line_with_a_mistake_is_left_by_a_line_break(wrong: str) -> None:
    typing = Typing("\nc = 3\n")
    typing.to(f"{wrong}\nc = 3\n")
    typing.to(f"{wrong}\n\nc = 3\n")
    assert typing.finish is Finish.LEFT


async def test_a_text_is_as_finished_as_one_that_is_the_same_program() -> None:
    typing = Typing("a = 1\nc = 3\n")
    typing.to("a = 12\nc = 3\n")
    traced = typing.documents[PATH].digest
    typing.to("a = 12\n\nc = 3\n")
    assert typing.state.finish({PATH: traced}) is Finish.LEFT


async def test_saving_finishes_all_lines() -> None:
    typing = Typing("a = 1\nc = 3\n")
    typing.to("a = 12\nc = 3\n")
    typing.state.rest(PATH)
    assert (typing.finish, typing.state.line(PATH), typing.announced) == (Finish.RESTED, None, 1)


async def test_the_cursor_on_another_line_leaves_the_typed_one() -> None:
    typing = Typing("a = 1\nc = 3\n")
    typing.to("a = 12\nc = 3\n")
    typing.state.cursor_moved(PATH, 1)
    assert typing.finish is Finish.TYPED
    typing.state.cursor_moved(PATH, 2)
    assert (typing.finish, typing.announced) == (Finish.RESTED, 1)


async def test_an_edit_of_another_document_leaves_this_one() -> None:
    typing = Typing("a = 1\n")
    typing.to("a = 12\n")
    typing.to("y = 23\n", OTHER)
    assert (typing.finish, typing.state.present(OTHER)) == (Finish.RESTED, Finish.TYPED)


async def test_left_lines_move_with_the_text() -> None:
    typing = Typing("a = 1\nb = 2\nc = 3\n")
    typing.to("a = 1\nb = 2\nc = 34\n")
    typing.to("x\na = 1\nb = 2\nc = 34\n")
    assert (typing.state.line(PATH), typing.left()) == (1, [4])


async def test_a_text_that_nobody_edits_is_finished_whatever_it_is() -> None:
    assert TypingState().finish({"/project/closed.py": "digest"}) is Finish.RESTED


async def test_of_several_texts_the_least_finished_counts() -> None:
    typing = Typing("a = 1\n")
    typing.to("a = 12\n")
    texts = {path: document.digest for path, document in typing.documents.items()}
    assert typing.state.finish(texts) is Finish.TYPED


@pytest.mark.parametrize("begun", ["    ", "    b = 2\n\n", "    def f(self):\n        pass\n    "])
async def test_the_first_line_of_a_block_is_not_left_while_the_block_is_typed(begun: str) -> None:
    typing = Typing("\n")
    typing.to("class A:\n")
    typing.to(f"class A:\n    a = 1\n{begun}\n")
    assert not typing.state.was_left(PATH, Span(1, 7, 1, 8))
    typing.to(f"class A:\n    a = 1\n{begun}\nc\n")
    assert typing.state.was_left(PATH, Span(1, 7, 1, 8))

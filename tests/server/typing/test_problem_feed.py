"""Which problems are shown while a user types."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fxlsp.engine.state.snapshot import ModelKey, ModelState, Snapshot, Status
from fxlsp.ide.problems import FileProblem
from fxlsp.server.typing.problem_feed import ProblemFeed
from fxlsp.server.typing.typing_state import TypingState
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from tests.support.document_edits import edit_between

PATH = "/project/net.py"
TEXT = "def forward(x):\n    y = one(x)\n    z = two(y)\n    return z\n"


class Shown:
    """Problems shown of a text that a user edits."""

    def __init__(self, text: str = TEXT) -> None:
        self.typing = TypingState()
        self.feed = ProblemFeed(self.typing)
        self.found: Sequence[FileProblem] = ()
        self.document = _document(text)
        self.snapshot = Snapshot(documents={PATH: self.document})
        self.typing.follow(self.snapshot.documents)

    def to(self, text: str) -> None:
        """Edit the text; what was found of the text before stays until :meth:`traced`."""
        edit = edit_between(self.document, _document(text))
        self.document = edit.after
        self.snapshot = Snapshot(documents={PATH: self.document})
        self.typing.follow(self.snapshot.documents, edit)
        self.feed.follow(edit)

    def change(self, old: str, new: str) -> None:
        assert old in self.document.text
        self.to(self.document.text.replace(old, new, 1))

    def traced(self, *found: FileProblem) -> list[str]:
        """Return the messages shown once a trace of the present text has found these problems."""
        self.found = [replace(each, texts={PATH: self.document.digest}) for each in found]
        return self.messages()

    def messages(self) -> list[str]:
        return [each.message for each in self.feed.select(self.snapshot, PATH, self.found)]

    def at(self, expression: str, message: str, code: str = "FX401", *, is_failure: bool = False) -> FileProblem:
        start = self.document.text.index(expression)
        span: Span = self.document.lines.span(start, start + len(expression))
        return FileProblem(code, "error", message, span, (), "Net", is_failure)


def _document(text: str) -> Document:
    return Document("file://" + PATH, PATH, 1, text)


async def test_what_is_found_on_opening_is_shown_at_once() -> None:
    shown = Shown()
    assert shown.traced(shown.at("two(y)", "wrong")) == ["wrong"]


async def test_half_typed_text_and_what_follows_from_it_show_nothing_until_the_user_rests() -> None:
    shown = Shown()
    shown.change("one(x)", "on(x)")
    assert shown.traced(shown.at("on(x)", "no on"), shown.at("two(y)", "follows")) == []
    assert shown.feed.is_waiting
    shown.typing.rest(PATH)
    assert shown.messages() == ["no on", "follows"]
    assert not shown.feed.is_waiting


async def test_a_mistake_in_a_line_is_shown_when_the_line_is_left_and_not_what_follows() -> None:
    shown = Shown()
    shown.change("one(x)", "on(x)")
    shown.change("on(x)\n", "on(x)\n    \n")
    assert shown.traced(shown.at("on(x)", "no on"), shown.at("two(y)", "follows")) == ["no on"]
    shown.change("    \n", "    w\n")
    assert shown.traced(shown.at("on(x)", "no on"), shown.at("two(y)", "follows")) == ["no on"]
    shown.typing.rest(PATH)
    assert shown.messages() == ["no on", "follows"]


async def test_a_layer_that_the_next_lines_may_use_is_not_called_unused_while_its_user_goes_on() -> None:
    shown = Shown()
    shown.change("one(x)", "onee(x)")
    shown.change("onee(x)\n", "onee(x)\n    \n")
    assert shown.traced(shown.at("onee(x)", "never called", "FX501")) == []
    shown.typing.rest(PATH)
    assert shown.messages() == ["never called"]


async def test_what_is_shown_keeps_its_words_and_moves_with_its_line_while_the_user_types() -> None:
    shown = Shown()
    shown.traced(shown.at("two(y)", "4 and 5"))
    shown.change("one(x)", "one(x, 7)")
    assert shown.traced(shown.at("two(y)", "4 and 57")) == ["4 and 5"]
    shown.change("def", "# a comment\ndef")
    (problem,) = shown.feed.select(shown.snapshot, PATH, shown.found[:0] or [shown.at("two(y)", "4 and 57")])
    assert (problem.span.line, problem.message) == (4, "4 and 5")
    shown.typing.rest(PATH)
    assert shown.traced(shown.at("two(y)", "4 and 57")) == ["4 and 57"]


async def test_what_is_fixed_disappears_at_once() -> None:
    shown = Shown()
    shown.traced(shown.at("two(y)", "wrong"))
    shown.change("one(x)", "one(x, 1)")
    assert shown.traced() == []


async def test_what_half_typed_text_conceals_stays() -> None:
    shown = Shown()
    shown.traced(shown.at("two(y)", "wrong"))
    shown.change("one(x)", "on(x)")
    assert shown.traced(shown.at("def forward", "broken", is_failure=True)) == ["wrong"]
    assert shown.traced(shown.at("on(x)", "no on")) == ["wrong"]
    shown.typing.rest(PATH)
    assert shown.messages() == ["no on"]


async def test_a_failure_that_is_shown_does_not_stay_behind_another_one() -> None:
    shown = Shown()
    shown.traced(shown.at("return z", "first", is_failure=True))
    shown.change("one(x)", "on(x)")
    assert shown.traced(shown.at("on(x)", "second", is_failure=True)) == []


async def test_a_failure_at_the_name_of_its_model_waits_for_a_rest_though_its_line_was_left() -> None:
    shown = Shown()
    shown.change("def forward(x)", "def forward(x, y)")
    shown.change("return z", "return zz")
    found = replace(shown.at("def forward", "no inputs", is_failure=True), is_located=False)
    assert shown.traced(found) == []
    shown.typing.rest(PATH)
    assert shown.messages() == ["no inputs"]


async def test_what_was_traced_of_half_typed_text_is_not_shown_of_a_text_that_does_not_parse() -> None:
    shown = Shown()
    shown.change("one(x)", "on")
    shown.traced(shown.at("on", "no on"))
    shown.change("on\n", "on(\n")
    shown.typing.rest(PATH)
    assert shown.messages() == []


async def test_a_problem_of_an_earlier_text_does_not_appear_with_the_graph_of_the_present_one() -> None:
    shown = Shown()
    shown.change("one(x)", "on(x)")
    shown.typing.rest(PATH)
    carried = [replace(shown.at("two(y)", "of before"), is_carried=True), shown.at("on(x)", "no on")]
    assert shown.traced(*carried) == ["no on"]
    assert shown.traced(replace(shown.at("on(x)", "no on"), is_carried=True)) == ["no on"]


OPENED = "def forward(x):\n    y = cat([x, x]\n    return y\n"


@pytest.mark.parametrize(
    ("typed", "is_shown"),
    [
        ("z", False),
        ("i", False),
        ("z ", True),
        ("z = y", True),
        ("return ", True),
        ("if ", False),
        (", 1", False),
        ("for y in ", False),
        ("+ z", False),
    ],
)
async def test_a_bracket_left_open_is_shown_once_no_text_in_the_next_line_could_go_on_with_it(
    typed: str, is_shown: bool
) -> None:
    shown = Shown(OPENED)
    shown.change("[x, x]", "[x, x] ")
    shown.change("x] \n", "x]\n    \n")
    shown.change("    \n", f"    {typed}\n")
    shown.found = [shown.at("([x, x]", "never closed", "FX901", is_failure=True)]
    assert shown.messages() == (["never closed"] if is_shown else [])


async def test_the_prefix_of_a_text_goes_on_with_a_text_above() -> None:
    shown = Shown(OPENED.replace("[x, x]", "'a'"))
    shown.change("'a'", "'a' ")
    shown.change("'a' \n", "'a'\n    f'b\n")
    shown.found = [shown.at("('a'", "never closed", "FX901", is_failure=True)]
    assert shown.messages() == []


async def test_a_document_that_was_closed_is_forgotten() -> None:
    shown = Shown()
    shown.change("one(x)", "on(x)")
    shown.traced(shown.at("on(x)", "no on"))
    shown.feed.forget(PATH)
    assert not shown.feed.is_waiting


async def test_each_of_two_problems_of_a_line_stays_once() -> None:
    shown = Shown()
    shown.traced(shown.at("two(y)", "first"))
    shown.change("one(x)", "one(x, 1)")
    assert shown.traced(shown.at("z = two(y)", "second"), shown.at("two(y)", "first")) == ["first"]


async def test_a_failure_is_shown_though_another_text_that_was_sent_with_it_does_not_parse() -> None:
    shown = Shown()
    shown.change("one(x)", "on(x)")
    found = replace(shown.at("on(x)", "no on", is_failure=True), texts={PATH: "typed", "/project/other.py": "typed"})
    other = Document("file:///project/other.py", "/project/other.py", 1, "x = (")
    shown.snapshot = replace(shown.snapshot, documents={**shown.snapshot.documents, other.path: other})
    shown.typing.follow(shown.snapshot.documents)
    shown.typing.rest(PATH)
    assert [each.message for each in shown.feed.select(shown.snapshot, PATH, [found])] == ["no on"]


async def test_what_is_shown_stays_between_a_rest_and_the_trace_of_its_text() -> None:
    shown = Shown()
    shown.traced(shown.at("two(y)", "wrong"))
    shown.change("one(x)", "on(x)")
    shown.traced(shown.at("on(x)", "no on"))
    shown.change("on(x)", "one(x)")
    running = ModelState(ModelKey("python", PATH, "Net", None), Status.RUNNING)
    shown.snapshot = replace(shown.snapshot, models={running.key: running})
    shown.typing.rest(PATH)
    assert shown.messages() == ["wrong"]


@pytest.mark.parametrize("is_traced_anew", [True, False])
async def test_a_late_problem_of_a_text_that_was_left_waits_for_the_trace_of_the_present_one(
    is_traced_anew: bool,
) -> None:
    shown = Shown()
    shown.change("two(y)", "tow(y)")
    left = shown.document
    late = replace(shown.at("tow(y)", "no tow"), texts={PATH: left.program.digest})
    shown.change("one(x)", "one(x) ")
    shown.change("one(x) ", "one(y)")
    if is_traced_anew:
        running = ModelState(ModelKey("python", PATH, "Net", None), Status.RUNNING)
        shown.snapshot = replace(shown.snapshot, models={running.key: running})
    shown.typing.rest(PATH)
    shown.found = [late]
    assert shown.messages() == ([] if is_traced_anew else ["no tow"])


async def test_what_was_shown_of_a_file_that_is_not_open_goes_with_its_text() -> None:
    shown, path = Shown(), "/project/closed.py"
    found = shown.at("two(y)", "wrong")

    def messages(text: str, problem: FileProblem) -> list[str]:
        background = {path: Document("file://" + path, path, None, text)}
        problem = replace(problem, texts={PATH: shown.document.digest})
        return [
            each.message for each in shown.feed.select(replace(shown.snapshot, background=background), path, [problem])
        ]

    assert messages("a = 1\n", found) == ["wrong"]
    shown.change("two(y)", "tw(y)")
    assert messages("a = 1\n", replace(found, message="still wrong")) == ["wrong"]
    assert messages("\n\na = 1\n", replace(found, message="still wrong")) == []


WIDTH = (
    "class Net:\n    def __init__(self):\n        self.one = 64\n\n    def forward(self, x):\n        return two(x)\n"
)


async def test_what_an_edited_number_breaks_elsewhere_is_shown_at_a_short_pause(paused: asyncio.Event) -> None:
    shown = Shown(WIDTH)
    shown.typing.subscribe(paused.set)
    shown.change("64", "128")
    assert shown.traced(shown.at("two(x)", "64 and 128")) == []
    await paused.wait()
    assert shown.messages() == ["64 and 128"]


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("two(x)", "two(x, 1)", "self.one"),
        ("self.one = 64", "self.two = 64", "two(x)"),
        ("64", "six", "two(x)"),
        ("64", "", "two(x)"),
        ("64", "6.4", "two(x)"),
        ("self.one", "self.one4", "two(x)"),
        ("64", "128", "128"),
    ],
    ids=["an argument", "a name", "a word", "no number", "another number", "a digit of a name", "on the line itself"],
)
async def test_but_nothing_else(paused: asyncio.Event, old: str, new: str, found: str) -> None:
    shown = Shown(WIDTH)
    shown.typing.subscribe(paused.set)
    shown.change(old, new)
    shown.traced(shown.at(found, "wrong"))
    await paused.wait()
    assert shown.messages() == []


async def test_nor_what_an_earlier_text_broke(paused: asyncio.Event) -> None:
    shown = Shown(WIDTH)
    shown.typing.subscribe(paused.set)
    shown.change("64", "12")
    shown.traced(shown.at("two(x)", "64 and 12"))
    shown.change("12", "128")
    await paused.wait()
    assert shown.messages() == []


async def test_nor_what_is_no_error(paused: asyncio.Event) -> None:
    shown = Shown(WIDTH)
    shown.typing.subscribe(paused.set)
    shown.change("64", "128")
    shown.traced(replace(shown.at("two(x)", "unusual"), severity="warning"))
    await paused.wait()
    assert shown.messages() == []


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Return an event that is to be set at a pause, which comes at once; the user rests much later."""
    monkeypatch.setattr("fxlsp.server.typing.typing_state.PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("fxlsp.server.typing.typing_state.IDLE_SECONDS", 600.0)
    return asyncio.Event()

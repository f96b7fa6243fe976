"""What a command asks of front ends comes before what the setting asks."""

from __future__ import annotations

import asyncio

from tests.support.waiting import eventually_async

from .test_engine import Make, make
from .test_frontend_jobs import BOTH, NET, SLOW, TWO, asked, open_gate, started, until_idle

__all__ = ["make"]

FAILING = f"# fails\n{NET}"


async def test_a_command_does_not_wait_for_a_request_of_the_setting_which_is_repeated(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(f"# frontend slow\n{TWO}")
    await eventually_async(lambda: asked(editor) == [("Net", "compile")])
    waiting = asyncio.ensure_future(editor.engine.ask_frontends(editor.path(), "Other"))
    await eventually_async(lambda: asked(editor)[1:] == [("Other", "export")])
    open_gate(editor)
    verdicts = await waiting
    assert verdicts is not None
    assert [verdict.frontend for verdict in verdicts] == list(BOTH)
    await until_idle(editor)
    assert asked(editor)[2:] == [("Other", "compile"), ("Net", "compile")]


async def test_a_command_waits_for_the_request_of_the_setting_that_asks_the_same(make: Make) -> None:
    editor = started(make, "export")
    editor.open(SLOW)
    await eventually_async(lambda: asked(editor) == [("Net", "export")])
    waiting = asyncio.ensure_future(editor.engine.ask_frontends(editor.path(), "Net"))
    await asyncio.sleep(0)
    open_gate(editor)
    assert await waiting is not None
    assert asked(editor) == [("Net", name) for name in BOTH]


async def test_a_command_that_needs_no_answer_leaves_the_request_of_the_setting_running(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(NET, "other.py")
    await until_idle(editor)
    known = await editor.engine.ask_frontends(editor.path("other.py"), "Net")
    editor.open(SLOW)
    await eventually_async(lambda: len(asked(editor)) == 3)
    assert await editor.engine.ask_frontends(editor.path("other.py"), "Net") == known
    open_gate(editor)
    await until_idle(editor)
    assert len(asked(editor)) == 3


async def test_a_command_about_a_model_that_cannot_be_asked_leaves_the_request_of_the_setting_running(
    make: Make,
) -> None:
    editor = started(make, "compile")
    editor.open(FAILING, "other.py")
    await until_idle(editor)
    editor.open(SLOW)
    await eventually_async(lambda: asked(editor) == [("Net", "compile")])
    assert await editor.engine.ask_frontends(editor.path("other.py"), "Net") is None
    open_gate(editor)
    await until_idle(editor)
    assert asked(editor) == [("Net", "compile")]

"""Other front ends are asked by a command, or by the setting while the user rests; nothing else asks them.

The supervisor is ``workers/good.py``. Its verdicts have a problem on each line with ``# FX801`` or the like; requests
about a text with ``# frontend slow`` wait for the gate.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fxlsp.engine.running.frontends.frontend_jobs import FrontendJobs
from fxlsp.engine.state.folders import ClientSettings
from fxlsp.engine.state.snapshot import Status
from fxlsp.ide.problems import problems
from fxlsp.report.frontend_codes import COMPILE_DIED
from tests.support.waiting import eventually_async

from .test_engine import NET as UNFED
from .test_engine import Editor, Make, make

__all__ = ["make"]

BOTH = ("export", "compile")
NET = f"# guessed\n{UNFED}"
"""Its trace finds inputs."""
BREAKING = NET.replace("return x", "return x  # FX801")
SLOW = f"# frontend slow\n{NET}"
TWO = NET + NET.replace("from torch import nn", "").replace("Net", "Other")


def by_setting(editor: Editor, *names: str) -> ClientSettings:
    return ClientSettings({"python": editor.engine.snapshot.interpreters[0].interpreter.path, "frontends": [*names]})  # type: ignore[union-attr]


def started(make: Make, *names: str, rest_seconds: float = 0.05) -> Editor:
    """Return an editor whose settings name these front ends."""
    editor = make(rest_seconds=rest_seconds)
    editor.engine.configure(by_setting(editor, *names))
    return editor


def asked(editor: Editor) -> list[tuple[str, str]]:
    """Return the model and the front end of each request, in order; a second export counts once."""
    requests = [entry for entry in editor.log() if "frontend" in entry and not entry.get("fixed_sizes")]
    return [(entry["target"]["name"], entry["frontend"]) for entry in requests]


def shown(editor: Editor, name: str = "Net") -> list[str]:
    return [answer.verdict.frontend for answer in editor.state(name).frontends]


async def until_shown(editor: Editor, names: Sequence[str] = BOTH, model: str = "Net") -> None:
    await eventually_async(lambda: model in editor.states() and shown(editor, model) == list(names))


async def until_idle(editor: Editor) -> None:
    await eventually_async(lambda: editor.engine.is_idle)


def open_gate(editor: Editor) -> None:
    (editor.folder / "model.gate").touch()


async def test_without_the_setting_nothing_is_asked_and_the_engine_comes_to_rest(make: Make) -> None:
    editor = make(rest_seconds=0.0)
    editor.open(NET)
    await editor.until(Status.FRESH)
    await until_idle(editor)
    assert editor.state().frontends == ()
    assert asked(editor) == []


async def test_the_front_ends_of_the_setting_are_asked_once_after_the_trace(make: Make) -> None:
    editor = started(make, *BOTH)
    editor.open(TWO)
    await until_shown(editor)
    await until_shown(editor, model="Other")
    await until_idle(editor)
    assert sorted(asked(editor)) == [(model, name) for model in ("Net", "Other") for name in ("compile", "export")]
    assert next(entry for entry in editor.log() if "target" in entry).get("frontend") is None


async def test_the_model_under_the_cursor_comes_first(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(TWO)
    editor.engine.set_cursor(editor.path(), TWO[: TWO.index("class Other")].count("\n") + 2)
    await until_idle(editor)
    await until_shown(editor, ["compile"])
    assert asked(editor) == [("Other", "compile"), ("Net", "compile")]


async def test_nothing_is_asked_before_the_user_rests(make: Make) -> None:
    editor = started(make, "export", rest_seconds=3600.0)
    editor.open(NET)
    await editor.until(Status.FRESH)
    await eventually_async(lambda: not editor.engine._jobs.is_busy)
    assert not editor.engine.is_idle
    assert asked(editor) == []


async def test_an_edit_hides_the_verdicts_at_once_and_undoing_it_brings_them_back(make: Make) -> None:
    editor = started(make, "export", rest_seconds=0.05)
    editor.open(NET)
    await until_shown(editor, ["export"])
    editor.engine.configure(by_setting(editor))
    assert shown(editor) == []
    editor.engine.configure(by_setting(editor, "export"))
    await until_shown(editor, ["export"])
    editor.replace("width = 4", "width = = 4")
    await eventually_async(lambda: shown(editor) == [])
    editor.replace("width = = 4", "width = 4")
    await until_shown(editor, ["export"])
    await until_idle(editor)
    assert asked(editor) == [("Net", "export")]


async def test_a_comment_changes_no_verdict_and_asks_nothing(make: Make) -> None:
    editor = started(make, *BOTH)
    editor.open(NET)
    await until_shown(editor)
    before = editor.state().frontends
    editor.replace("return x", "return x  # the same")
    assert editor.state().frontends == before
    await until_idle(editor)
    assert editor.state().frontends == before
    assert len(asked(editor)) == 2


async def test_problems_follow_comments_that_are_typed_while_a_front_end_is_asked(make: Make) -> None:
    editor = started(make, "compile", rest_seconds=0.2)
    editor.open(BREAKING.replace("# guessed", "# guessed\n# frontend slow"))
    editor.replace("# guessed", "# before\n# guessed")
    await eventually_async(lambda: asked(editor))
    for typed in ("one", "two", "three"):
        editor.replace("# before", f"# {typed}\n# before")
    open_gate(editor)
    await until_shown(editor, ["compile"])
    found = problems(editor.engine.snapshot, editor.path())
    assert [each.code for each in found if each.code.startswith("FX8")] == ["FX801"]


async def test_an_edit_cancels_the_request_and_the_new_text_is_asked_about(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(SLOW)
    await eventually_async(lambda: asked(editor))
    editor.replace("width = 4", "width = 8")
    await eventually_async(lambda: any("cancelled" in entry for entry in editor.log()))
    open_gate(editor)
    await until_shown(editor, ["compile"])
    (answer,) = editor.state().frontends
    assert answer.texts[editor.path()] == editor.engine.snapshot.documents[editor.path()].digest
    assert len(asked(editor)) == 2


async def test_a_trace_of_another_file_ends_a_request_of_the_setting_but_not_one_of_the_user(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(SLOW)
    await eventually_async(lambda: asked(editor))
    editor.open(NET, "other.py")
    await eventually_async(lambda: any("cancelled" in entry for entry in editor.log()))
    editor.engine.configure(by_setting(editor))
    waiting = asyncio.ensure_future(editor.engine.ask_frontends(editor.path(), "Net"))
    await eventually_async(lambda: ("Net", "export") in asked(editor))
    editor.replace("width = 4", "width = 8", "other.py")
    await editor.until(Status.FRESH, file="other.py")
    open_gate(editor)
    verdicts = await waiting
    assert verdicts is not None
    assert [verdict.frontend for verdict in verdicts] == list(BOTH)


async def test_a_command_asks_without_the_setting_and_never_twice(make: Make) -> None:
    editor = make()
    editor.open(BREAKING)
    await editor.until(Status.FRESH)
    verdicts = await editor.engine.ask_frontends(editor.path(), "Net")
    assert verdicts is not None
    assert [verdict.verdict for verdict in verdicts] == ["ok", "problem"]
    assert shown(editor) == list(BOTH)
    assert await editor.engine.ask_frontends(editor.path(), "Net") == verdicts
    assert asked(editor) == [("Net", "export"), ("Net", "compile")]
    assert editor.state().asking is None


async def test_a_command_waits_for_the_trace_of_the_present_text(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.replace("width = 4", "width = 8")
    verdicts = await editor.engine.ask_frontends(editor.path(), "Net")
    assert verdicts is not None
    assert editor.width() == 8
    assert shown(editor) == list(BOTH)


async def test_an_edit_ends_what_a_command_waits_for(make: Make) -> None:
    editor = make()
    editor.open(SLOW)
    await editor.until(Status.FRESH)
    waiting = asyncio.ensure_future(editor.engine.ask_frontends(editor.path(), "Net"))
    await eventually_async(lambda: editor.state().asking == "export")
    editor.replace("width = 4", "width = 8")
    assert await waiting is None
    open_gate(editor)
    await editor.until(Status.FRESH)
    await until_idle(editor)
    assert asked(editor) == [("Net", "export")]


async def test_a_model_without_a_trace_cannot_be_asked_about(make: Make) -> None:
    editor = make(rest_seconds=0.05)
    editor.open(NET.replace("Net", "FailingNet"))
    await editor.until(Status.FAILED, "FailingNet")
    assert await editor.engine.ask_frontends(editor.path(), "FailingNet") is None
    assert await editor.engine.ask_frontends(editor.path(), "Nothing") is None
    assert asked(editor) == []


async def test_a_covered_class_is_asked_about_with_the_model_that_covers_it(make: Make) -> None:
    editor = make()
    block = UNFED.replace("Net", "Block")
    editor.open("# runs: Block\n" + block + BREAKING)
    await editor.until(Status.FRESH)
    await eventually_async(lambda: editor.state("Block").covered_by is not None)
    verdicts = await editor.engine.ask_frontends(editor.path(), "Block")
    assert verdicts is not None
    assert {model for model, _ in asked(editor)} == {"Net"}


async def test_a_front_end_that_dies_is_a_verdict_and_is_not_asked_again(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(f"# frontend dies\n{NET}")
    await until_shown(editor, ["compile"])
    await until_idle(editor)
    (answer,) = editor.state().frontends
    assert (answer.verdict.verdict, answer.verdict.problems[0].code) == ("crashed", COMPILE_DIED)
    assert len(asked(editor)) == 1
    assert editor.state().status is Status.FRESH


async def test_what_cannot_be_asked_says_so_once(make: Make) -> None:
    editor = started(make, "export")
    editor.open(f"# unasked\n{NET}")
    await until_shown(editor, ["export"])
    await until_idle(editor)
    assert [answer.verdict.summary for answer in editor.state().frontends] == ["could not be asked"]
    assert len(asked(editor)) == 1


async def test_without_inputs_no_process_is_asked(make: Make) -> None:
    editor = started(make, "export")
    editor.open(UNFED)
    await until_shown(editor, ["export"])
    assert [answer.verdict.summary for answer in editor.state().frontends] == ["could not be asked"]
    assert asked(editor) == []


async def test_a_request_that_is_lost_with_its_process_is_asked_again_and_then_given_up(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(f"# frontend kills\n{NET}")
    await until_shown(editor, ["compile"])
    await until_idle(editor)
    assert [answer.verdict.verdict for answer in editor.state().frontends] == ["crashed"]
    # Each of two requests is repeated by the client of the process.
    assert 2 <= len(asked(editor)) <= 4


async def test_a_request_for_a_new_trace_forgets_the_verdicts(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(NET)
    await until_shown(editor, ["compile"])
    editor.engine.retrace(editor.path())
    assert shown(editor) == []
    await until_shown(editor, ["compile"])
    assert len(asked(editor)) == 2


async def test_a_restart_ends_the_request_and_it_is_asked_again(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(SLOW)
    await eventually_async(lambda: asked(editor))
    await editor.engine.restart()
    open_gate(editor)
    await until_shown(editor, ["compile"])
    assert len(asked(editor)) == 2


async def test_closing_the_file_or_ending_trust_ends_the_request(make: Make) -> None:
    for end in ("close", "trust"):
        editor = started(make, "compile")
        editor.open(SLOW)
        await eventually_async(lambda editor=editor: len(asked(editor)) > 0)  # type: ignore[misc]
        if end == "close":
            editor.engine.close(editor.path())
        else:
            editor.engine.end_trust()
        await until_idle(editor)
        await eventually_async(lambda editor=editor: any("cancelled" in entry for entry in editor.log()))  # type: ignore[misc]
        (editor.folder / "log.jsonl").unlink()


async def test_cancelling_all_work_asks_nothing_before_the_next_edit(make: Make) -> None:
    editor = started(make, "compile")
    editor.open(SLOW)
    await eventually_async(lambda: asked(editor))
    editor.engine.stop()
    await until_idle(editor)
    assert len(asked(editor)) == 1
    open_gate(editor)
    editor.replace("width = 4", "width = 8")
    await until_shown(editor, ["compile"])


async def test_the_rest_begins_with_the_last_edit(make: Make) -> None:
    now = 0.0
    editor = make(rest_seconds=3600.0)
    editor.open(NET)
    editor.engine.configure(by_setting(editor, "export"))
    await editor.until(Status.FRESH)
    await eventually_async(lambda: not editor.engine._jobs.is_busy)
    engine = editor.engine
    requests = FrontendJobs(
        engine._session, engine._supervisors, engine._jobs, lambda: False, lambda _: None, 2.0, lambda: now
    )
    found = []
    for at, is_edited in ((0.0, True), (1.5, False), (1.6, True), (3.5, False), (3.7, False)):
        now = at
        if is_edited:
            requests.edited()
        requests.update()
        found.append(None if requests._running is None else requests._running.question.name)
    assert found == [None, None, None, None, "export"]
    await requests.close()


async def test_one_request_runs_at_a_time(make: Make) -> None:
    editor = started(make, *BOTH)
    editor.open(f"# frontend slow\n{TWO}")
    await eventually_async(lambda: asked(editor))
    assert len(asked(editor)) == 1
    open_gate(editor)
    await until_idle(editor)
    assert len(asked(editor)) == 4

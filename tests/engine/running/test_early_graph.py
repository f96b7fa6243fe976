"""The graph of a running trace is shown before its problems are known.

The supervisor is ``workers/good.py``: it sends the graph early for a text with ``# early``, and the rest once the gate
of a text with ``# slow`` is open.
"""

from __future__ import annotations

from pathlib import Path

from fxlsp.engine.running.apply_outcome import SentTexts
from fxlsp.engine.running.early_graph import apply_early_graph
from fxlsp.engine.state.snapshot import Status
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span
from tests.support.waiting import eventually_async

from .test_engine import NET, Make, make

__all__ = ["make"]

EARLY = f"# early\n{NET}"
FAILING = EARLY.replace("return x", "return x  # problem")


async def test_the_graph_of_an_edit_is_there_while_its_trace_runs(make: Make, tmp_path: Path) -> None:
    editor = make()
    editor.open(EARLY)
    await editor.until(Status.FRESH)
    editor.replace("# early", "# early # slow")
    editor.replace("width = 4", "width = 8")
    await eventually_async(lambda: editor.width() == 8)
    assert editor.state().status is Status.RUNNING
    early = editor.report()
    (tmp_path / "model.gate").touch()
    await editor.until(Status.FRESH)
    assert editor.report().nodes is early.nodes
    assert editor.report().problems == ()


async def test_problems_stay_at_their_places_until_the_trace_ends(make: Make, tmp_path: Path) -> None:
    editor = make()
    editor.open(FAILING)
    await editor.until(Status.FRESH)
    (before,) = editor.report().problems
    editor.replace("# early", "# early # slow\n# one line more")
    editor.replace("width = 4", "width = 8")
    await eventually_async(lambda: editor.width() == 8)
    (now,) = editor.report().problems
    assert before.location is not None
    assert now.location is not None
    assert now.location.line == before.location.line + 1
    assert now.related[0].location == now.location
    (tmp_path / "model.gate").touch()
    await editor.until(Status.FRESH)
    assert [problem.location for problem in editor.report().problems] == [now.location]


async def test_a_problem_that_did_not_change_is_the_same_object(make: Make) -> None:
    editor = make()
    editor.open(FAILING)
    await editor.until(Status.FRESH)
    before = editor.report().problems
    editor.replace("width = 4", "width = 8")
    await editor.until(Status.FRESH)
    assert not editor.state().carries_problems
    assert editor.width() == 8
    assert editor.report().problems == before
    assert editor.report().problems[0] == before[0]


async def test_a_problem_whose_text_was_edited_goes_with_the_early_graph(make: Make) -> None:
    editor = make()
    editor.open(FAILING)
    await editor.until(Status.FRESH)
    editor.replace("# early", "# early # slow")
    editor.replace("width = 4", "width = 8")
    editor.replace("return x  # problem", "y = -x\n        return y")
    await eventually_async(lambda: editor.report().problems == ())
    assert editor.width() == 8
    assert editor.state().busy
    assert editor.state().carries_problems


async def test_the_graph_of_a_text_that_was_edited_since_is_shown_with_the_problems_at_their_places(
    make: Make, tmp_path: Path
) -> None:
    editor = make()
    editor.open(FAILING)
    await editor.until(Status.FRESH)
    (before,) = editor.report().problems
    editor.replace("# early", "# early # slow\n# one line more")
    editor.replace("width = 4", "width = 8")
    sent = editor.engine._session.models.running
    editor.replace("# one line more\n", "")
    editor.replace("    width = 8", "    depth = 3\n    width = 9")
    await eventually_async(lambda: editor.width() in (8, 9) and editor.state().busy)
    (now,) = editor.report().problems
    assert sent
    assert before.location is not None
    assert now.location is not None
    log = editor.engine._session.histories[editor.path()].since(editor.state().texts[editor.path()])
    assert log is not None
    place = move(Span.of(now.location), log)
    assert place is not None
    assert place.span.line == before.location.line + 1
    (tmp_path / "model.gate").touch()
    await editor.until(Status.FRESH)
    assert editor.width() == 9


async def test_a_graph_is_not_replaced_by_that_of_an_undone_edit_or_of_an_unknown_text(make: Make) -> None:
    editor = make()
    editor.open(EARLY)
    await editor.until(Status.FRESH)
    state, session = editor.state(), editor.engine._session
    editor.replace("width = 4", "width = 5")
    undone = SentTexts(1000, {editor.path(): editor.engine.snapshot.documents[editor.path()]})
    editor.replace("width = 5", "width = 4")
    assert not apply_early_graph(session, state.key, undone, editor.report(), undone.digests())
    await editor.until(Status.FRESH)
    editor.replace("width = 4", "width = 6")
    assert not apply_early_graph(session, state.key, undone, editor.report(), {editor.path(): "unknown"})
    later = SentTexts(1000, {editor.path(): editor.engine.snapshot.documents[editor.path()]})
    assert apply_early_graph(session, state.key, later, editor.report(), later.digests())
    older = SentTexts(0, later.documents)
    assert not apply_early_graph(session, state.key, older, editor.report(), older.digests())


async def test_a_text_that_comes_back_is_traced_again_if_the_graph_of_another_was_shown_meanwhile(
    make: Make, tmp_path: Path
) -> None:
    gate = tmp_path / "model.gate"
    gate.touch()
    editor = make()
    editor.open(EARLY.replace("# early", "# early # slow"))
    await editor.until(Status.FRESH)
    gate.unlink()
    editor.replace("width = 4", "width = 8")
    await eventually_async(lambda: editor.width() == 8)
    # As a further edit does if the trace has just begun.
    editor.engine._jobs.cancel([editor.state().key])
    await eventually_async(lambda: not editor.state().busy)
    editor.replace("width = 8", "width = 4")
    gate.touch()
    await eventually_async(lambda: editor.width() == 4)
    await editor.until(Status.FRESH)


async def test_a_death_after_the_graph_is_reported_and_leaves_the_graph(make: Make, tmp_path: Path) -> None:
    editor = make()
    editor.open(EARLY)
    await editor.until(Status.FRESH)
    editor.replace("# early", "# early # slow # dies")
    editor.replace("width = 4", "width = 8")
    await eventually_async(lambda: editor.width() == 8)
    (tmp_path / "model.gate").touch()
    await eventually_async(lambda: editor.state().failure is not None)
    assert editor.width() == 8


async def test_an_early_graph_is_not_stale_until_its_text_is_edited(make: Make) -> None:
    editor = make()
    editor.open(EARLY)
    await editor.until(Status.FRESH)
    editor.replace("# early", "# early # slow")
    editor.replace("width = 4", "width = 8")
    await eventually_async(lambda: editor.width() == 8)
    assert (editor.state().busy, editor.state().is_stale) == (True, False)
    editor.replace("width = 8", "width = 9")
    assert (editor.width(), editor.state().is_stale) == (8, True)


async def test_a_requested_trace_replaces_one_that_runs_with_its_graph_shown(make: Make, tmp_path: Path) -> None:
    editor = make()
    editor.open(EARLY.replace("# early", "# early # slow"))
    await eventually_async(
        lambda: editor.engine.snapshot.states_in(editor.path()) and editor.state().report is not None
    )
    assert editor.state().busy
    first = dict(editor.engine._session.models.running)
    editor.engine.retrace(editor.path())
    (tmp_path / "model.gate").touch()
    await editor.until(Status.FRESH)
    attempt = editor.engine._session.models.attempts[editor.state().key]
    assert first
    assert attempt.number > 1

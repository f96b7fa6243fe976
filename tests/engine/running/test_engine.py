"""The engine, from opened documents to snapshots.

Its supervisor is ``workers/good.py``, which answers what the text of a file says.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fxlsp.engine.running.engine import Engine, SnapshotChange
from fxlsp.engine.state.folders import ClientSettings
from fxlsp.engine.state.snapshot import ModelState, Status
from fxlsp.report.codes import DIED, NO_INTERPRETER
from fxlsp.report.report import Report
from fxlsp.source.text.documents import Document, TextEdit, uri_of_path
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span
from tests.support.waiting import eventually_async

from ..conftest import worker

NET = """\
from torch import nn

class Net(nn.Module):
    width = 4
    def forward(self, x):
        return x
"""
FAMILY = """\
from torch import nn
# runs: Block
class Block(nn.Module):
    def forward(self, x):
        return x

class Lonely(nn.Module):
    def forward(self, x):
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)
"""
Make = Callable[..., "Editor"]


class Editor:
    """Engine, with the calls that an editor makes."""

    def __init__(self, folder: Path, name: str = "good", python: str = sys.executable, **options: Any) -> None:
        self.folder = folder
        client = options.pop("client", ClientSettings({"python": python}))
        options = {"trusted": True, "limit": 1, **options}
        self.engine = Engine([str(folder)], client, bootstrap=worker(name), **options)
        self.changes: list[SnapshotChange] = []
        self.engine.subscribe(self.changes.append)

    def path(self, file: str = "model.py") -> str:
        return str(self.folder / file)

    def open(self, text: str, file: str = "model.py") -> None:
        (self.folder / file).write_text(text)
        path = self.path(file)
        self.engine.open(Document(uri_of_path(path), path, 1, text))

    def replace(self, old: str, new: str, file: str = "model.py") -> None:
        document = self.engine.snapshot.documents[self.path(file)]
        start = document.text.index(old)
        edit = TextEdit(start, start + len(old), new)
        self.engine.change(self.path(file), [edit], (document.version or 0) + 1)

    def states(self, file: str = "model.py") -> dict[str, ModelState]:
        return {state.key.name: state for state in self.engine.snapshot.states_in(self.path(file))}

    def state(self, name: str = "Net", file: str = "model.py") -> ModelState:
        return self.states(file)[name]

    def report(self, name: str = "Net", file: str = "model.py") -> Report:
        report = self.state(name, file).report
        assert report is not None
        return report

    def width(self, name: str = "Net") -> int:
        output = self.report(name).nodes[0].output
        assert output is not None
        width: int = output["shape"][0]
        return width

    def traced(self) -> list[str]:
        """Return the names of the traced models, in order."""
        return [entry["target"]["name"] for entry in self.log() if "target" in entry]

    def log(self) -> list[dict[str, Any]]:
        path = self.folder / "log.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    async def until(self, status: Status, name: str = "Net", file: str = "model.py") -> None:
        await eventually_async(lambda: name in self.states(file) and self.state(name, file).status is status)

    async def until_idle(self) -> None:
        """Wait until nothing is queued or running."""
        await eventually_async(lambda: not any(state.busy for state in self.engine.snapshot.models.values()))


@pytest_asyncio.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    made: list[Editor] = []

    def editor(name: str = "good", **options: Any) -> Editor:
        made.append(Editor(tmp_path, name, **options))
        return made[-1]

    yield editor
    for each in made:
        await each.engine.shutdown()
    assert len(asyncio.all_tasks()) == 1


async def test_an_opened_model_is_traced(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    assert editor.width() == 4
    assert editor.state().versions == {editor.path(): 1}
    interpreter = editor.engine.snapshot.interpreter_of(editor.path())
    assert interpreter is not None
    assert interpreter.environment is not None
    assert interpreter.environment.torch == "2.99.0"


async def test_an_unsaved_edit_is_traced_and_the_old_report_stays_until_the_new_one_is_there(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.replace("width = 4", "width = 8")
    assert editor.state().busy
    assert editor.width() == 4
    await editor.until(Status.FRESH)
    assert editor.width() == 8
    assert editor.state().versions == {editor.path(): 2}


async def test_an_edit_of_a_comment_moves_spans_and_traces_nothing(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.replace("from torch", "# a comment\n\nfrom torch")
    assert editor.state().status is Status.FRESH
    ((state, log),) = editor.engine.snapshot.reports_touching(editor.path())
    assert state.report is not None
    place = state.report.nodes[0].location
    assert place is not None
    moved = move(Span.of(place), log)
    assert moved is not None
    assert (place.line, moved.span.line) == (5, 7)
    await editor.until_idle()
    assert editor.traced() == ["Net"]


async def test_a_text_that_does_not_parse_traces_nothing_and_keeps_the_report(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.replace("forward(self, x)", "forward(self, x")
    assert editor.state().status is Status.STALE
    assert editor.width() == 4
    editor.replace("forward(self, x", "forward(self, x)")
    assert editor.state().status is Status.FRESH
    assert editor.traced() == ["Net"]


async def test_undoing_an_edit_before_its_trace_started_makes_the_report_fresh_again(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.replace("width = 4", "width = 8")
    editor.replace("width = 8", "width = 4")
    await editor.until_idle()
    assert editor.state().status is Status.FRESH
    assert editor.width() == 4


async def test_nothing_runs_before_trust_and_what_is_static_is_known(make: Make) -> None:
    editor = make(trusted=False)
    editor.open(NET)
    editor.replace("width = 4", "width = 8")
    editor.engine.saved(editor.path())
    editor.engine.retrace()
    await editor.until_idle()
    assert editor.log() == []
    assert editor.state().status is Status.UNKNOWN
    interpreter = editor.engine.snapshot.interpreter_of(editor.path())
    assert interpreter is not None
    assert interpreter.environment is None
    editor.engine.trust()
    await editor.until(Status.FRESH)
    assert editor.width() == 8


async def test_parents_come_first_and_cover_what_they_run(make: Make) -> None:
    editor = make()
    editor.open(FAMILY)
    await editor.until(Status.FRESH)
    await editor.until_idle()
    assert sorted(editor.traced()) == ["Lonely", "Net"]
    assert editor.state("Block").covered_by == editor.state("Net").key
    assert editor.state("Block").status is Status.UNKNOWN


async def test_an_edited_model_with_a_report_does_not_wait_for_models_of_other_files(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "big.py").write_text(
        "# slow\nfrom torch import nn\nfrom model import Net\n\nclass Big(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.net = Net()\n\n"
        "    def forward(self, x):\n        return self.net(x)\n\nout = Big()(torch.randn(1, 4))\n"
    )
    (tmp_path / "big.gate").touch()
    editor = make()
    editor.open(NET)
    await eventually_async(lambda: "Big" in editor.traced())
    await editor.until(Status.FRESH)
    await editor.until_idle()
    (tmp_path / "big.gate").unlink()
    editor.replace("width = 4", "width = 8")
    await eventually_async(lambda: editor.state().report is not None and editor.width() == 8)
    assert editor.state().status is Status.FRESH


async def test_a_class_is_covered_by_a_trace_that_began_before_its_file_was_opened(make: Make) -> None:
    editor = make()
    (editor.folder / "blocks.py").write_text(NET.replace("Net", "Block"))
    editor.open("# slow\n# runs blocks.py: Block\n" + NET)
    await editor.until(Status.RUNNING)
    editor.open(NET.replace("Net", "Block"), "blocks.py")
    (editor.folder / "model.gate").touch()
    await editor.until(Status.FRESH)
    await editor.until_idle()
    assert editor.state("Block", "blocks.py").covered_by == editor.state("Net").key


async def test_a_class_is_covered_by_the_commented_factory_that_makes_it(make: Make) -> None:
    editor = make()
    factory = "\n# fxlsp: tiny()(torch.randn(2))\ndef tiny():\n    return Net()\n"
    editor.open("# runs: Net\n" + NET + factory)
    await editor.until(Status.FRESH, "tiny")
    await editor.until_idle()
    assert editor.traced() == ["tiny"]
    assert editor.state("Net").covered_by == editor.state("tiny").key


async def test_a_child_stays_covered_while_its_parent_is_traced_again(make: Make) -> None:
    editor = make()
    editor.open(FAMILY)
    await editor.until(Status.FRESH)
    editor.replace("self.block(x)", "self.block(x) + 1")
    assert editor.state("Block").covered_by is not None
    await editor.until_idle()
    assert "Block" not in editor.traced()


async def test_a_child_is_traced_itself_once_its_parent_runs_it_no_more_or_fails(make: Make) -> None:
    editor = make()
    editor.open(FAMILY)
    await editor.until(Status.FRESH)
    editor.replace("# runs: Block", "fail = 1  # fails")
    await editor.until(Status.FAILED, "Block")
    assert editor.state("Block").covered_by is None
    assert editor.state("Net").status is Status.FAILED


async def test_a_child_with_a_comment_of_its_own_is_traced_although_it_is_covered(make: Make) -> None:
    editor = make()
    editor.open(FAMILY.replace("class Block", "# fxlsp: Block()(torch.randn(2))\nclass Block"))
    await editor.until(Status.FRESH, "Block")
    recipe = editor.state("Block").key.recipe
    assert recipe is not None
    assert (recipe.init, recipe.inputs, recipe.source) == ("Block()", "torch.randn(2)", "comment")


async def test_a_recipe_that_is_being_typed_keeps_the_old_report_until_the_new_one_is_there(make: Make) -> None:
    editor = make()
    editor.open(NET.replace("class Net", "# fxlsp: Net(1)\nclass Net"))
    await editor.until(Status.FRESH)
    editor.replace("Net(1)", "Net(1")
    assert editor.state().report is not None
    await eventually_async(lambda: [found.error is None for found in editor.state().found] == [False])
    editor.replace("Net(1", "Net(12)")
    assert editor.state().report is not None
    await editor.until(Status.FRESH)
    assert editor.report().recipe.init == "Net(12)"


async def test_several_comments_are_several_models(make: Make) -> None:
    editor = make()
    editor.open(NET.replace("class Net", "# fxlsp: Net(1)\n# fxlsp: Net(2)\nclass Net"))
    await editor.until_idle()
    states = editor.engine.snapshot.states_in(editor.path())
    assert [state.report.recipe.init for state in states if state.report] == ["Net(1)", "Net(2)"]


async def test_configured_recipes_count_unless_the_file_has_a_comment(make: Make, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.fxlsp.recipes]\n"model.py:Net" = "Net(3)(torch.ones(1))"\n')
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    assert (editor.report().recipe.init, editor.report().recipe.inputs) == ("Net(3)", "torch.ones(1)")


async def test_a_failure_leaves_the_last_report_and_goes_with_the_next_good_trace(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.replace("width = 4", "width = 9  # fails\n    y = 1")
    await editor.until(Status.FAILED)
    assert editor.state().failure is not None
    assert editor.width() == 4
    editor.replace("  # fails\n    y = 1", "")
    await editor.until(Status.FRESH)
    assert (editor.state().failure, editor.width()) == (None, 9)


async def test_saving_tries_a_failed_model_again(make: Make) -> None:
    editor = make()
    editor.open(NET + "# fails\n")
    await editor.until(Status.FAILED)
    editor.engine.saved(editor.path())
    await eventually_async(lambda: len(editor.traced()) == 2)
    await editor.until_idle()


async def test_a_model_that_died_twice_on_its_texts_is_left_alone_until_they_change(make: Make) -> None:
    editor = make()
    editor.open(NET + "y = 1  # dies\n")
    await editor.until(Status.FAILED)
    failure = editor.state().failure
    assert failure is not None
    assert failure.code == DIED
    assert failure.location is not None
    assert failure.location.line == 5
    editor.engine.saved(editor.path())
    await editor.until(Status.POISONED)
    editor.engine.saved(editor.path())
    await editor.until_idle()
    assert editor.state().status is Status.POISONED
    assert len(editor.traced()) == 2
    editor.replace("y = 1  # dies", "y = 2")
    await editor.until(Status.FRESH)


async def test_a_trace_that_goes_on_too_long_is_ended_by_an_edit_it_reads(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    models, key = editor.engine._session.models, editor.state().key
    models.set_models(key.file, {key: replace(models.states[key], cost_ms=60_000)})
    editor.replace("width = 4", "width = 5  # slow\n    y = 1")
    await editor.until(Status.RUNNING)
    editor.replace("width = 5  # slow", "width = 6")
    await editor.until(Status.FRESH)
    assert editor.width() == 6
    # The supervisor writes its log beside its answers: the newer one may be here first.
    await eventually_async(lambda: any("cancelled" in entry for entry in editor.log()))


async def test_a_trace_that_is_half_done_ends_and_its_result_is_shown_until_the_newer_one(make: Make) -> None:
    editor = make()
    editor.open(NET.replace("width = 4", "width = 4  # slow"))
    await eventually_async(lambda: editor.traced() == ["Net"])
    editor.replace("width = 4  # slow", "width = 8  # slow")
    (editor.folder / "model.gate").touch()
    widths: list[int] = []
    editor.engine.subscribe(lambda change: widths.append(editor.width()) if editor.state().report else None)
    await editor.until(Status.FRESH)
    assert (widths[0], widths[-1]) == (4, 8)
    assert not any("cancelled" in entry for entry in editor.log())


async def test_of_many_edits_during_a_trace_only_the_last_is_traced(make: Make) -> None:
    editor = make()
    editor.open(NET.replace("width = 4", "width = 4  # slow"))
    await eventually_async(lambda: editor.traced() == ["Net"])
    for width in range(10, 30):
        editor.replace(editor.engine.snapshot.documents[editor.path()].text, NET.replace("4", f"{width}  # slow"))
    (editor.folder / "model.gate").touch()
    await editor.until(Status.FRESH)
    assert editor.width() == 29
    assert editor.traced() == ["Net", "Net"]


async def test_an_edit_of_a_file_that_a_trace_read_traces_its_model_again(make: Make) -> None:
    editor = make()
    editor.open("A = 1\n", "layers.py")
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.replace("A = 1", "A = 2", "layers.py")
    assert editor.state().busy
    await editor.until(Status.FRESH)
    assert editor.traced() == ["Net", "Net"]


async def test_a_file_written_by_somebody_else_counts(make: Make) -> None:
    editor = make()
    editor.open("A = 1\n", "layers.py")
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.engine.close(editor.path("layers.py"))
    (editor.folder / "layers.py").write_text("A = 1  # the same\n")
    editor.engine.changed_on_disk([editor.path("layers.py")])
    (editor.folder / "layers.py").write_text("A = 2\n")
    editor.engine.changed_on_disk([editor.path("layers.py")])
    await eventually_async(lambda: len(editor.traced()) == 2)
    await editor.until_idle()


async def test_closing_a_document_forgets_its_models(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.engine.close(editor.path())
    assert editor.engine.snapshot.models == {}
    assert editor.engine.snapshot.documents == {}
    editor.open(NET)
    await editor.until(Status.FRESH)


async def test_a_file_with_more_models_than_its_budget_traces_the_rest_when_looked_at(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxlsp.engine.running.plan.FIRST_TRACES_MS", 0.0001)
    editor = make()
    editor.open(FAMILY)
    await editor.until_idle()
    assert editor.traced() == ["Net"]
    assert editor.state("Lonely").status is Status.UNKNOWN
    editor.engine.set_cursor(editor.path(), 8)
    await editor.until(Status.FRESH, "Lonely")
    assert editor.traced() == ["Net", "Lonely"]


async def test_a_base_class_without_a_forward_is_not_traced_by_itself(make: Make) -> None:
    editor = make()
    base = "class Base(nn.Module):\n    def loss(self, x):\n        return x\n\nclass Heir(Base):\n    pass\n\n"
    editor.open(NET.replace("class Net", base + "class Net"))
    await editor.until(Status.FRESH)
    await editor.until_idle()
    assert editor.traced() == ["Heir", "Net"]


async def test_models_that_wait_for_a_look_are_traced_when_the_user_asks(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxlsp.engine.running.plan.FIRST_TRACES_MS", 0.0001)
    editor = make()
    editor.open(FAMILY)
    await editor.until_idle()
    editor.engine.retrace(editor.path())
    await editor.until(Status.FRESH, "Lonely")


async def test_one_long_trace_does_not_use_up_the_budget_of_its_file(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fxlsp.engine.running.plan.FIRST_TRACES_MS", 50.0)
    monkeypatch.setattr("fxlsp.engine.running.apply_outcome.MOST_CHARGED_MS", 25.0)
    editor = make()
    editor.open(FAMILY.replace("# runs", "# slow\n# runs"))
    await eventually_async(lambda: len(editor.traced()) == 1)
    await asyncio.sleep(0.1)
    (editor.folder / "model.gate").touch()
    await editor.until(Status.FRESH, "Lonely")


async def test_other_settings_begin_the_budget_of_a_file_anew(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fxlsp.engine.running.plan.FIRST_TRACES_MS", 0.0001)
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    editor.engine.configure(ClientSettings({"sizes": {"batch": 7}}))
    await eventually_async(lambda: len(editor.traced()) == 2)
    await editor.until(Status.FRESH)


async def test_a_missing_interpreter_is_reported_and_mended_by_the_settings(make: Make) -> None:
    editor = make(client=ClientSettings({"python": "/no/such/python"}))
    editor.open(NET)
    assert editor.state().status is Status.FAILED
    failure = editor.state().failure
    assert failure is not None
    assert failure.code == NO_INTERPRETER
    assert editor.engine.snapshot.interpreters[0].failure is not None
    editor.engine.configure(ClientSettings({"python": sys.executable}))
    await editor.until(Status.FRESH)
    assert editor.state().failure is None


async def test_an_interpreter_without_torch_is_reported_and_tried_again_on_restart(make: Make) -> None:
    editor = make("refuses")
    editor.open(NET)
    await editor.until(Status.FAILED)
    failure = editor.engine.snapshot.interpreters[0].failure
    assert failure is not None
    assert "has no torch" in failure.message
    await editor.engine.restart()
    await editor.until(Status.FAILED)


async def test_restarting_traces_everything_again_in_another_process(make: Make) -> None:
    editor = make()
    editor.open(NET.replace("width = 4", "width = 4  # slow"))
    await eventually_async(lambda: editor.traced() == ["Net"])
    (editor.folder / "model.gate").touch()
    await editor.engine.restart()
    await editor.until(Status.FRESH)
    assert len({entry["pid"] for entry in editor.log()}) == 2


async def test_an_interpreter_leaves_when_nobody_edits_and_comes_back_with_the_next_edit(make: Make) -> None:
    editor = make(idle_seconds=0.05)
    editor.open(NET)
    await editor.until(Status.FRESH)
    (process,) = {entry["pid"] for entry in editor.log()}
    await eventually_async(lambda: not Path(f"/proc/{process}").exists())
    assert editor.state().status is Status.FRESH
    editor.replace("width = 4", "width = 8")
    await editor.until(Status.FRESH)
    assert editor.width() == 8
    assert len({entry["pid"] for entry in editor.log()}) == 2


async def test_the_settings_file_is_read_again_when_it_is_saved(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    (editor.folder / "pyproject.toml").write_text('[tool.fxlsp]\nhints = false\nnonsense = 1\nrecipes.Net = "Net(5)"\n')
    editor.engine.changed_on_disk([editor.path("pyproject.toml")])
    snapshot = editor.engine.snapshot
    assert not snapshot.hints_of(editor.path("net.py")).shapes
    assert "nonsense" in snapshot.setting_problems[0].message
    await eventually_async(lambda: editor.report().recipe.init == "Net(5)")


async def test_a_long_text_is_analysed_off_the_loop_and_only_the_newest_counts(make: Make) -> None:
    editor = make()
    editor.open(NET + "\n".join(f"a{number} = {number}" for number in range(3000)) + "\n")
    editor.replace("width = 4", "width = 5")
    editor.replace("width = 5", "width = 6")
    await editor.until(Status.FRESH)
    assert editor.width() == 6
    assert editor.traced() == ["Net"]


async def test_a_trace_need_not_wait_until_the_models_of_an_edited_text_are_found(make: Make) -> None:
    editor = make()
    editor.open(NET + "a = 1\n" * 500)
    await editor.until(Status.FRESH)
    editor.replace("width = 4", "width = 5")
    assert editor.state().busy
    await editor.until(Status.FRESH)
    assert editor.width() == 5


async def test_a_recipe_that_turns_out_to_be_another_one_is_traced_in_place_of_the_old(make: Make) -> None:
    editor = make()
    editor.open(NET + "a = 1\n" * 500 + "net = Net(1)\n")
    await editor.until(Status.FRESH)
    editor.replace("Net(1)", "Net(2)")
    await eventually_async(lambda: editor.report().recipe.init == "Net(2)")
    await editor.until(Status.FRESH)


async def test_an_edit_right_after_the_models_of_a_text_were_found_is_not_lost(make: Make) -> None:
    editor: Editor = make()
    names = ["Net", *(f"Net{number}" for number in range(8))]
    following = dict(pairwise(names))

    def type_at_once(_: SnapshotChange) -> None:
        for name in editor.states():
            if name in following:
                # It runs before the jobs that wait for the end of this step of the analysis.
                old, new = f"class {name}(", f"class {following.pop(name)}("
                asyncio.get_running_loop().call_soon(editor.replace, old, new)

    editor.engine.subscribe(type_at_once)
    editor.open(NET + "a = 1\n" * 500)
    await editor.until(Status.FRESH, names[-1])


async def test_a_buffer_without_a_file_is_traced(make: Make) -> None:
    editor = make()
    editor.engine.open(Document("untitled:Untitled-1", "/untitled/Untitled-1.py", 1, NET))
    await eventually_async(lambda: any(state.report for state in editor.engine.snapshot.models.values()))


async def test_many_edits_leave_nothing_behind(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    tasks = len(asyncio.all_tasks())
    for width in range(100):
        editor.replace(editor.engine.snapshot.documents[editor.path()].text, NET.replace("4", str(width)))
        if width % 10 == 0:
            await editor.until_idle()
    await editor.until(Status.FRESH)
    assert len(asyncio.all_tasks()) == tasks
    history = editor.engine.snapshot.logs[editor.path()]
    assert len(history.logs) <= 4
    assert len(editor.engine.snapshot.models) == 1


async def test_changes_name_the_files_whose_answers_differ(make: Make) -> None:
    editor = make()
    editor.open(NET)
    await editor.until(Status.FRESH)
    assert editor.changes[0] == SnapshotChange("edit", frozenset({editor.path()}))
    assert editor.changes[-1] == SnapshotChange("trace", frozenset({editor.path()}))


async def test_shutting_down_in_the_middle_of_everything_ends_it(make: Make) -> None:
    editor = make()
    editor.open(NET + "# slow\n")
    editor.open(FAMILY, "family.py")
    await eventually_async(lambda: editor.traced() == ["Net"])
    await editor.engine.shutdown()
    assert len(asyncio.all_tasks()) == 1


async def test_subscribers_hear_that_a_stopped_trace_has_ended(make: Make) -> None:
    editor = make()
    editor.open("# slow\n" + NET)
    await editor.until(Status.RUNNING)
    await eventually_async(editor.traced)
    busy: list[bool] = []
    editor.engine.subscribe(lambda _: busy.append(editor.state().busy))
    editor.engine.stop()
    await eventually_async(lambda: busy and not busy[-1])

"""Recipes from recordings, and which of several recipes is tried first."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.analysis import Candidate, analyse
from fxlsp.engine.state.recorded_recipes import Recordings
from fxlsp.engine.storage.recordings import recording_path
from fxlsp.recording.recording_file import CallNote, RecordedInstance, merge_into
from fxlsp.report.recipes import Recipe
from fxlsp.source.text.documents import Document

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, width, depth=1):
        super().__init__()

    def forward(self, x, mask=None):
        return x
"""
CALL_SITE = "\n\nnet = Net(99)\nnet(torch.randn(1, 99))\n"
X = {"tensor": {"shape": [2, 8], "dtype": "float32", "device": "cpu"}}
OPEN: dict[str, Any] = {"left_out": "a lambda"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "pyproject.toml").touch()
    return tmp_path / "project"


def instance(init: dict[str, Any] | None, *calls: CallNote) -> RecordedInstance:
    given = None if init is None else {"args": [], "kwargs": init}
    return RecordedInstance("pkg/net.py", "Net", "train.py", time.time(), given, calls)


def call(*args: Any, training: bool = True, **kwargs: Any) -> CallNote:
    return CallNote(args, kwargs, training)


def candidate(
    project: Path, *recorded: RecordedInstance, text: str = NET, file: str | None = None, name: str = "pkg/net.py"
) -> Candidate:
    """Record, and return what an analysis finds for the class."""
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    merge_into(file or recording_path(str(project)), recorded, str(project))
    analysis = analyse(Document("", str(path), None, text), Settings(), None, Recordings())
    assert analysis is not None
    return next(each for each in analysis.candidates if each.name == "Net")


def test_a_recorded_call_is_the_recipe_before_call_sites(cache: Path) -> None:
    found = candidate(cache, instance({"width": 8}, call(X, mask=None)), text=NET + CALL_SITE)
    assert found.recipes == (Recipe("Net(width=8)", "torch.randn(2, 8), mask=None", "recording"),)
    assert [each.source for each in found.alternatives] == ["call-site"]
    assert found.is_fed
    assert not found.requested


def test_a_comment_counts_before_a_recording(cache: Path) -> None:
    text = NET.replace("class Net", "# fxlsp: Net(3)(torch.randn(1, 3))\nclass Net")
    found = candidate(cache, instance({"width": 8}, call(X)), text=text)
    assert [each.source for each in found.recipes if each] == ["comment"]
    assert "recording" in [each.recipe.source for each in found.found]


def test_each_recorded_call_can_be_chosen_and_one_of_each_construction_is_tried(cache: Path) -> None:
    found = candidate(cache, instance({"width": 8}, call(X), call(X, mask=None)), instance({"width": 9}, call(X)))
    assert len([each for each in found.found if each.recorded is not None]) == 3
    assert len(found.recipes) + len(found.alternatives) == 2


def test_the_mode_and_the_dtype_of_a_call_are_part_of_the_construction(cache: Path) -> None:
    evaluated = call(X, training=False)
    half = CallNote((X,), {}, training=True, dtype="float16")
    found = candidate(cache, instance({"width": 8}, evaluated, half))
    assert [each.recipe.init for each in found.found] == ["Net(width=8).eval()", "Net(width=8).to(torch.float16)"]


def test_what_autocast_has_rounded_is_given_in_the_dtype_of_the_parameters(cache: Path) -> None:
    """A trace runs without autocast, which would convert it again for each operation."""
    rounded, other = (
        {"tensor": {"shape": [2, 8], "dtype": dtype, "device": "cpu"}} for dtype in ("bfloat16", "float64")
    )
    given = CallNote((rounded, {"list": [other, X]}), {}, training=True, autocast="cpu: bfloat16")
    plain = CallNote((rounded,), {}, training=True)
    found = candidate(cache, instance({"width": 8}, given, plain))
    assert [each.recipe.inputs for each in found.found] == [
        "torch.randn(2, 8), [torch.randn(2, 8, dtype=torch.float64), torch.randn(2, 8)]",
        "torch.randn(2, 8, dtype=torch.bfloat16)",
    ]


def test_nothing_but_tensors_has_another_dtype_then(cache: Path) -> None:
    words = CallNote((X,), {"dtype": "bfloat16", "shape": 3}, training=True, autocast="cpu: bfloat16")
    text = NET.replace("forward(self, x", "forward(self, x, dtype='', shape=0")
    found = candidate(cache, instance({"width": 8}, words), text=text)
    assert [each.recipe.inputs for each in found.found] == ["torch.randn(2, 8), dtype='bfloat16', shape=3"]


def test_a_call_that_is_nested_without_end_is_left_out(cache: Path) -> None:
    nested: Any = X
    for _ in range(400):
        nested = {"list": [nested]}
    deep = CallNote((nested,), {}, training=True, autocast="cpu: bfloat16")
    found = candidate(cache, instance({"width": 8}, deep, call(X)))
    assert [each.recipe.inputs for each in found.found] == ["torch.randn(2, 8)"]


def test_inputs_count_where_the_construction_cannot_be_written(cache: Path) -> None:
    found = candidate(cache, instance({"width": OPEN}, call(X)))
    assert found.recipes == (Recipe("", "torch.randn(2, 8)", "recording"),)


def test_a_complete_call_site_counts_before_a_recording_without_inputs(cache: Path) -> None:
    found = candidate(cache, instance({"width": 8}, call(OPEN)), text=NET + CALL_SITE)
    assert found.recipes == (Recipe("Net(99)", "torch.randn(1, 99)", "call-site"),)
    assert found.alternatives[0] == Recipe("Net(width=8)", None, "recording")


STALE = {
    "a parameter that was renamed": ({"breadth": 8}, "__init__ has no parameter breadth"),
    "a parameter that is new": ({"depth": 1}, "__init__ needs width"),
}


@pytest.mark.parametrize("name", STALE)
def test_a_recording_that_does_not_fit_the_text_is_not_tried_and_says_why(name: str, cache: Path) -> None:
    init, reason = STALE[name]
    found = candidate(cache, instance(init, call(X)), text=NET + CALL_SITE)
    assert [each.source for each in found.recipes if each] == ["call-site"]
    (recorded,) = [each for each in found.found if each.recorded is not None]
    assert recorded.error == f"the recording is older than the code: {reason}"


def test_inputs_that_forward_no_longer_takes_are_out_of_date(cache: Path) -> None:
    found = candidate(cache, instance({"width": 8}, call(X, scale=1)))
    assert found.recipes == (None,)
    assert found.found[0].error == "the recording is older than the code: forward has no parameter scale"


def test_a_recording_in_the_project_counts_and_one_outside_of_it_does_not(cache: Path) -> None:
    inside = candidate(cache, instance({"width": 8}, call(X)), file=str(cache / "fxlsp-recording.json"))
    assert inside.recipes[0] is not None
    (cache / "fxlsp-recording.json").rename(cache.parent / "fxlsp-recording.json")
    (cache.parent / "fxlsp-recording.json").write_text(
        (cache.parent / "fxlsp-recording.json").read_text().replace("pkg/net.py", "project/pkg/net.py")
    )
    outside = analyse(Document("", str(cache / "pkg" / "net.py"), None, NET), Settings(), None, Recordings())
    assert outside is not None
    assert outside.candidates[0].recipes == (None,)


def test_a_recording_is_read_again_when_it_has_changed(cache: Path) -> None:
    recordings, path = Recordings(), cache / "net.py"
    path.write_text(NET)
    document = Document("", str(path), None, NET)

    def inits() -> list[str]:
        analysis = analyse(document, Settings(), None, recordings)
        assert analysis is not None
        return [each.recipe.init for each in analysis.candidates[0].found]

    assert inits() == []
    for width in (1, 2):
        given = {"args": [], "kwargs": {"width": width}}
        recorded = RecordedInstance("net.py", "Net", "train.py", time.time() + width, given)
        merge_into(recording_path(str(cache)), [recorded], str(cache))
        assert recordings.take_changes()
        assert not recordings.take_changes()
        assert not recordings.reads_nothing_for(str(path))
        assert inits()[0] == f"Net(width={width})"
        assert recordings.reads_nothing_for(str(path))


def test_a_damaged_recording_gives_no_recipe_and_one_line_in_the_log(
    cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (cache / "fxlsp-recording.json").write_text("{")
    found = candidate(cache)
    assert found.recipes == (None,)
    assert [record.getMessage() for record in caplog.records] == [
        f"{cache / 'fxlsp-recording.json'} is damaged: it is not JSON"
    ]

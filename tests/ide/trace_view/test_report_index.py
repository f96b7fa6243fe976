"""An index of a report is cached while a session shows the report, and goes with it."""

from __future__ import annotations

import gc

from fxlsp.engine.state.snapshot import ModelState
from fxlsp.ide.hints import hints
from fxlsp.ide.trace_view.report_index import ReportIndex, drop_replaced, index_of
from fxlsp.report.report import Report
from tests.ide.builder import PATH, Trace, snapshot, tensor
from tests.ide.nets import TEXT

EDITS = 50


def traced(batch: int, name: str = "Net") -> ModelState:
    """Return the state of a model that was traced on inputs of this batch."""
    return Trace(TEXT, name).node("y", "torch.relu(self.conv(x))", tensor(batch, 3)).state()


def report_of(state: ModelState) -> Report:
    assert state.report is not None
    return state.report


def in_memory(kind: type[object]) -> int:
    gc.collect()
    return sum(type(each) is kind for each in gc.get_objects())


def test_hints_of_many_edits_leave_one_report_and_one_index() -> None:
    drop_replaced(snapshot(TEXT))
    before = in_memory(Report), in_memory(ReportIndex)
    for number in range(EDITS):
        shown = snapshot(TEXT, traced(number))
        assert hints(shown, PATH, 1, 100)
        drop_replaced(shown)
    assert (in_memory(Report) - before[0], in_memory(ReportIndex) - before[1]) == (1, 1)


def test_an_index_lasts_while_its_report_is_shown() -> None:
    stays, goes = traced(1), traced(2, "Other")
    known = index_of(report_of(stays)), index_of(report_of(goes))
    drop_replaced(snapshot(TEXT, stays, goes))
    assert (index_of(report_of(stays)), index_of(report_of(goes))) == known
    drop_replaced(snapshot(TEXT, stays))
    assert index_of(report_of(stays)) is known[0]
    assert index_of(report_of(goes)) is not known[1]


def test_models_without_a_report_do_not_matter() -> None:
    state = traced(1)
    known = index_of(report_of(state))
    drop_replaced(snapshot(TEXT, state, ModelState(traced(2, "Other").key)))
    assert index_of(report_of(state)) is known

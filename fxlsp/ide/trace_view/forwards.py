"""Calls that ran one ``forward``, for its lens and hover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.render.shapes import flow_text
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.report_index import index_of
from fxlsp.ide.trace_view.runs import ReportEvent
from fxlsp.report.graph import ModuleCall
from fxlsp.source.models.forward_defs import ForwardDef
from fxlsp.source.models.models import ModelClass
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


def forward_runs(snapshot: Snapshot, path: str, model: ModelClass) -> list[ReportEvent]:
    """Return every call in the last good reports that ran a class's ``forward``."""
    if model.forward is None:
        return []
    runs: list[ReportEvent] = []
    for state, log in snapshot.reports_touching(path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for location, calls in index.forwards(path).items():
            moved = move(Span.of(location), log)
            if _starts(model.forward, moved.span) if moved else _edited(model, calls):
                runs += (ReportEvent(state, index, event) for event in _events(calls))
    return runs


def forward_text(runs: Sequence[ReportEvent], shown: Sequence[ReportEvent]) -> str | None:
    """Return ``layer1.0 (+7 more): (1, 64, 56, 56) → (1, 64, 56, 56)``.

    None if no run has a known input or output.

    Args:
        shown: the runs of which the first is shown: all, or those that the user chose.
    """
    first = next(filter(_is_known, (*shown, *runs)), None)
    if first is None:
        return None
    flow = flow_text(first.event.inputs, first.event.output, first.index.usual_dtype)
    more = f"(+{len(runs) - 1} more)" if len(runs) > 1 else ""
    which = " ".join(filter(None, [first.event.module_path, more]))
    chosen = " · chosen" if len(shown) < len(runs) and first is shown[0] else ""
    return (f"{which}: {flow}" if which else flow) + chosen


def _is_known(run: ReportEvent) -> bool:
    return any(value is not None for value in (*run.event.inputs, run.event.output))


def _starts(forward: ForwardDef, span: Span) -> bool:
    """Return whether ``span`` is where Python reports the start of the function.

    That is its ``def`` line, or the line of its first decorator.
    """
    return forward.extent.line <= span.line <= forward.name.line


def _edited(model: ModelClass, calls: Sequence[ModuleCall]) -> bool:
    """Return whether calls belong to a class whose ``def`` line was edited.

    The location of the ``def`` is lost then, but the class name still identifies it.
    """
    return calls[0].type == model.qualname.rpartition(".")[2]


def _events(calls: Sequence[ModuleCall]) -> Iterator[Event]:
    return (Event(call, call.first_node, max(call.first_node, call.end_node)) for call in calls)

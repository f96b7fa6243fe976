"""The calls that ran one ``forward``: what its lens shows, and the table of its hover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.render.shapes import flow_text
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.report_index import index_of
from fxlsp.ide.trace_view.runs import Run
from fxlsp.report.graph import ModuleCall
from fxlsp.source.models.forward_defs import ForwardDef
from fxlsp.source.models.models import ModelClass
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


def forward_runs(snapshot: Snapshot, path: str, model: ModelClass) -> list[Run]:
    """Every call in every kept report that ran the ``forward`` which ``model`` defines."""
    if model.forward is None:
        return []
    runs: list[Run] = []
    for state, log in snapshot.reports_touching(path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for location, calls in index.forwards(path).items():
            moved = move(Span.of(location), log)
            if _starts(model.forward, moved.span) if moved else _edited(model, calls):
                runs += (Run(state, index, event) for event in _events(calls))
    return runs


def forward_text(runs: Sequence[Run], shown: Sequence[Run]) -> str | None:
    """``layer1.0 (+7 more): (1, 64, 56, 56) → (1, 64, 56, 56)``; None if it never ran on anything known.

    Args:
        shown: the runs of which the first counts: all, or those that the user chose.
    """
    first = next(filter(_is_known, (*shown, *runs)), None)
    if first is None:
        return None
    flow = flow_text(first.event.inputs, first.event.output, first.index.usual_dtype)
    more = f"(+{len(runs) - 1} more)" if len(runs) > 1 else ""
    which = " ".join(filter(None, [first.event.module_path, more]))
    chosen = " · chosen" if len(shown) < len(runs) and first is shown[0] else ""
    return (f"{which}: {flow}" if which else flow) + chosen


def _is_known(run: Run) -> bool:
    return any(value is not None for value in (*run.event.inputs, run.event.output))


def _starts(forward: ForwardDef, span: Span) -> bool:
    """``span`` is where Python says the function starts: its ``def`` line, or its first decorator's."""
    return forward.extent.line <= span.line <= forward.name.line


def _edited(model: ModelClass, calls: Sequence[ModuleCall]) -> bool:
    """The ``def`` line was edited since the trace; the class still tells whose it is."""
    return calls[0].type == model.qualname.rpartition(".")[2]


def _events(calls: Sequence[ModuleCall]) -> Iterator[Event]:
    return (Event(call, call.first_node, max(call.first_node, call.end_node)) for call in calls)

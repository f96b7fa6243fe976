"""Which of the runs of an expression is shown first: those of the instance that the user chose.

A choice holds in the file of its class: for the ``forward`` itself, and for whatever else of the file ran inside the
chosen call. Where nothing of an expression ran inside, all its runs count as they do without a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fxlsp.engine.index.index import Place
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.forwards import forward_runs
from fxlsp.ide.trace_view.instances import instances_of
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.runs import ReportEvent
from fxlsp.report.graph import ModuleCall

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Focus:
    """The chosen calls of one file."""

    calls: tuple[ReportEvent, ...] = ()
    """Inner ones first: of two that hold an expression, the inner one was meant for it."""

    def on(self, runs: Sequence[ReportEvent]) -> list[ReportEvent]:
        """What ran at an expression inside the innermost chosen call that holds any of it; all if none does."""
        return self.among(runs, lambda run: run)

    def on_calls(self, calls: Sequence[ReportEvent]) -> list[ReportEvent]:
        """As :meth:`on`, for the calls that ran a ``forward``: a chosen one is what is meant."""
        return self.among(calls, lambda call: call, calls=True)

    def among(self, items: Sequence[T], run_of: Callable[[T], ReportEvent], *, calls: bool = False) -> list[T]:
        """As :meth:`on`, or :meth:`on_calls`, for what belongs to a run."""
        for chosen in self.calls:
            held = [item for item in items if _holds(chosen, run_of(item), calls)]
            if held:
                return held
        return list(items)

    def holds(self, run: ReportEvent) -> bool:
        """The run is one of those inside a chosen call, or the call."""
        return any(_holds(call, run, True) for call in self.calls)


def focus_on(snapshot: Snapshot, path: str) -> Focus:
    """What the user chose for the classes of an open file."""
    return Focus(tuple(sorted(_chosen_calls(snapshot, path), key=_extent)))


def _chosen_calls(snapshot: Snapshot, path: str) -> Iterator[ReportEvent]:
    for model in (each.model for each in outline(snapshot, path)) if snapshot.instances else ():
        chosen = snapshot.instances.get(Place(path, model.qualname))
        if chosen is not None:
            for instance, run in instances_of(forward_runs(snapshot, path, model)):
                if instance == chosen:
                    yield run


def _extent(call: ReportEvent) -> tuple[int, int]:
    """Orders calls, inner ones first: one that does nothing but call another has the same nodes."""
    return call.event.end - call.event.first, -len((call.event.module_path or "").split("."))


def _holds(call: ReportEvent, run: ReportEvent, itself: bool) -> bool:
    """Whether ``run`` happened inside ``call``, or is the call where ``itself`` counts: its caller made that."""
    if call.state is not run.state or not call.event.first <= run.event.first <= run.event.end <= call.event.end:
        return False
    if not isinstance(run.event.subject, ModuleCall) or not isinstance(call.event.subject, ModuleCall):
        return True
    # Of calls with the same nodes, one that was entered later is inside.
    entered, entered_first = call.index.order_of(run.event.subject), call.index.order_of(call.event.subject)
    return entered > entered_first or (itself and entered == entered_first)

"""Focus: show the runs of the instance that the user chose first.

A choice applies in the file of its class: to the ``forward`` itself, and to everything else of the file that ran inside
the chosen call. If nothing of an expression ran inside, all its runs count as without a choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fxlsp.engine.index.index import SymbolId
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
    """Inner ones first: of two that contain an expression, the inner one is meant."""

    def on(self, runs: Sequence[ReportEvent]) -> list[ReportEvent]:
        """Return the runs inside the innermost chosen call that contains any; else all."""
        return self.among(runs, lambda run: run)

    def on_calls(self, calls: Sequence[ReportEvent]) -> list[ReportEvent]:
        """Return the calls of a ``forward`` as :meth:`on`, where a chosen call counts too."""
        return self.among(calls, lambda call: call, calls=True)

    def among(self, items: Sequence[T], run_of: Callable[[T], ReportEvent], *, calls: bool = False) -> list[T]:
        """Return the items whose run is in focus, as :meth:`on` or :meth:`on_calls`.

        Args:
            run_of: returns the run of an item.
            calls: whether the items are calls of a ``forward``, as for :meth:`on_calls`.
        """
        for chosen in self.calls:
            held = [item for item in items if _holds(chosen, run_of(item), calls)]
            if held:
                return held
        return list(items)

    def holds(self, run: ReportEvent) -> bool:
        """Return whether the run is a chosen call or inside one."""
        return any(_holds(call, run, True) for call in self.calls)


def focus_on(snapshot: Snapshot, path: str) -> Focus:
    """Return what the user chose for the classes of an open file."""
    return Focus(tuple(sorted(_chosen_calls(snapshot, path), key=_extent)))


def _chosen_calls(snapshot: Snapshot, path: str) -> Iterator[ReportEvent]:
    for model in (each.model for each in outline(snapshot, path)) if snapshot.instances else ():
        chosen = snapshot.instances.get(SymbolId(path, model.qualname))
        if chosen is not None:
            for instance, run in instances_of(forward_runs(snapshot, path, model)):
                if instance == chosen:
                    yield run


def _extent(call: ReportEvent) -> tuple[int, int]:
    """Return a sort key that puts inner calls first.

    A call that does nothing but call another has the same nodes; the longer module path is the inner one.
    """
    return call.event.end - call.event.first, -len((call.event.module_path or "").split("."))


def _holds(call: ReportEvent, run: ReportEvent, itself: bool) -> bool:
    """Return whether ``run`` ran inside ``call``.

    Args:
        itself: whether ``run`` may be the call itself. The expression of that is in the caller.
    """
    if call.state is not run.state or not call.event.first <= run.event.first <= run.event.end <= call.event.end:
        return False
    if not isinstance(run.event.subject, ModuleCall) or not isinstance(call.event.subject, ModuleCall):
        return True
    # Of calls with the same nodes, the one that was called later is inside.
    entered, entered_first = call.index.order_of(run.event.subject), call.index.order_of(call.event.subject)
    return entered > entered_first or (itself and entered == entered_first)

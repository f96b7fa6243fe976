"""Module call at the cursor, in each last good report, and the ``forward`` it ran."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.trace_view.call_tree import NestedCall
from fxlsp.ide.trace_view.cursor_hits import hits_at
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.report_index import ReportIndex
from fxlsp.ide.trace_view.targets import NavigationTarget, target_of
from fxlsp.source.models.models import ModelClass
from fxlsp.source.python.cursor import module_name_at
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class ReportCall:
    """Call of a module, with the trace in which it ran."""

    state: ModelState
    index: ReportIndex
    nested: NestedCall


@dataclass(frozen=True, slots=True)
class ModuleCallSite:
    """Expression that calls a module."""

    name: Span
    """The part of the expression that names the module."""
    calls: tuple[ReportCall, ...]
    """Every call that it made, of an ``nn.Sequential`` those of its children too; calls of chosen recipes first."""

    @property
    def direct(self) -> Iterator[ReportCall]:
        """The calls that the expression made itself, without those made by a container."""
        called = {id(each.nested) for each in self.calls}
        return (each for each in self.calls if id(each.nested.parent) not in called)


def call_site_at(snapshot: Snapshot, path: str, line: int, column: int) -> ModuleCallSite | None:
    """Return the module call whose module name is at a position.

    None on other expressions, and on other parts of a call.
    """
    document = snapshot.documents.get(path)
    hits = hits_at(snapshot, path, line, column)
    calls = tuple(
        ReportCall(each.state, each.index, nested)
        for each in hits
        for nested in each.index.calls.at(path).get(each.expression.span, ())
    )
    if document is None or not calls:
        return None
    names = {_attribute(each.nested) for each in calls}
    name = module_name_at(document, hits[0].span, line, column, names)
    return None if name is None else ModuleCallSite(name, calls)


def _attribute(nested: NestedCall) -> str:
    """Return the attribute that holds a module: ``layers`` for ``stem.layers.0``."""
    words = [part for part in (nested.call.call_path or "").split(".") if not part.isdecimal()]
    return words[-1] if words else ""


def forward_target(snapshot: Snapshot, reported: ReportCall) -> NavigationTarget | None:
    """Return the ``forward`` that ran; None if it is torch's, or was edited away."""
    target = target_of(snapshot, reported.state, reported.nested.call.forward)
    model = None if target is None else defining_class(snapshot, target)
    if target is None or model is None or model.forward is None:
        return target
    return replace(target, span=model.forward.name, extent=model.forward.extent)


def defining_class(snapshot: Snapshot, target: NavigationTarget) -> ModelClass | None:
    """Return the class that defines a ``forward``; None if its file is not open."""
    for each in outline(snapshot, target.path):
        forward = each.model.forward
        # Before Python 3.11 a trace knows only the line, which is that of a decorator if there is one.
        if forward is not None and forward.extent.line <= target.span.line <= forward.name.line:
            return each.model
    return None

"""The module call under the cursor, in every kept report."""

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
    """An entry of a module, with the trace in which it happened."""

    state: ModelState
    index: ReportIndex
    nested: NestedCall


@dataclass(frozen=True, slots=True)
class ModuleCallSite:
    """An expression that calls a module."""

    name: Span
    """What of it names the module."""
    calls: tuple[ReportCall, ...]
    """Every entry that it led to, of an ``nn.Sequential`` those of its children too; those of chosen recipes first."""

    @property
    def direct(self) -> Iterator[ReportCall]:
        """The entries of what is called, not of what a container of torch's called in turn."""
        called = {id(each.nested) for each in self.calls}
        return (each for each in self.calls if id(each.nested.parent) not in called)


def call_site_at(snapshot: Snapshot, path: str, line: int, column: int) -> ModuleCallSite | None:
    """The module call that a cursor names; None on any other expression, and on other parts of a call."""
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
    """The attribute by which a module is reached: ``layers`` for ``stem.layers.0``."""
    words = [part for part in (nested.call.call_path or "").split(".") if not part.isdecimal()]
    return words[-1] if words else ""


def forward_target(snapshot: Snapshot, reported: ReportCall) -> NavigationTarget | None:
    """The ``forward`` that ran; None if it is torch's, or was edited away."""
    target = target_of(snapshot, reported.state, reported.nested.call.forward)
    model = None if target is None else defining_class(snapshot, target)
    if target is None or model is None or model.forward is None:
        return target
    return replace(target, span=model.forward.name, extent=model.forward.extent)


def defining_class(snapshot: Snapshot, target: NavigationTarget) -> ModelClass | None:
    """The class that defines a ``forward``; None where its file is not open."""
    for each in outline(snapshot, target.path):
        forward = each.model.forward
        # Before Python 3.11 a trace knows the line alone, and that of a decorator if there is one.
        if forward is not None and forward.extent.line <= target.span.line <= forward.name.line:
            return each.model
    return None

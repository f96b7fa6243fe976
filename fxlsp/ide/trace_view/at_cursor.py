"""What the last good reports have at the cursor: expressions that ran, modules, and calls of modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.call_tree import NestedCall
from fxlsp.ide.trace_view.expression_events import ExpressionEvents
from fxlsp.ide.trace_view.in_trace import InTrace, NavigationTarget, Run, items_by_place, target_of
from fxlsp.ide.trace_view.instances import forward_runs
from fxlsp.ide.trace_view.outline import outline
from fxlsp.report.graph import Module
from fxlsp.source.models.models import ModelClass
from fxlsp.source.python.cursor import AttributePath, module_name_at
from fxlsp.source.text.positions import Span

Hit = InTrace[ExpressionEvents]
"""What one report has for one expression."""


def hits_at(snapshot: Snapshot, path: str, line: int, column: int) -> tuple[Span, list[Hit]] | None:
    """Return the innermost traced expression at a position, and its hits in order of reports.

    An expression that ends directly before the position counts only if no other contains the character after it.
    """
    touching = list(_hits_around(snapshot, path, line, column))
    holding = [each for each in touching if (line, column) < (each[0].end_line, each[0].end_column)]
    around = holding or touching
    if not around:
        return None
    innermost = min((span for span, _ in around), key=lambda span: span.size)
    return innermost, [hit for span, hit in around if span == innermost]


def hits_of(snapshot: Snapshot, path: str, expression: Span) -> list[Hit]:
    """Return the hits of exactly this expression, in order of reports."""
    around = _hits_around(snapshot, path, expression.line, expression.column)
    return [hit for span, hit in around if span == expression]


def _hits_around(snapshot: Snapshot, path: str, line: int, column: int) -> Iterator[tuple[Span, Hit]]:
    for span, hit in items_by_place(snapshot, path, lambda index: index.expressions(path)):
        if span is not None and span.contains(line, column):
            yield span, hit


def runs_of(module: InTrace[Module]) -> list[Run]:
    """Return the calls of a module; for a leaf its nodes, which have more facts."""
    return [module.beside(event) for event in module.index.usage.calls_of(module.item.path)]


def modules_made_at(snapshot: Snapshot, path: str, line: int, column: int) -> tuple[Span, list[InTrace[Module]]] | None:
    """Return the innermost expression that constructed modules, and the modules."""
    made = [
        (span, found)
        for span, found in items_by_place(snapshot, path, lambda index: index.usage.made_in(path))
        if span is not None and span.contains(line, column)
    ]
    if not made:
        return None
    innermost = max((span for span, _ in made), key=lambda span: (span.line, span.column))
    return innermost, [found.beside(module) for span, found in made if span == innermost for module in found.item]


def modules_of_attribute(snapshot: Snapshot, path: str, attribute: AttributePath) -> list[InTrace[Module]]:
    """Return the modules that an attribute of ``self`` holds.

    There is one for each instance of the class around it.
    """
    inside = [each.model for each in outline(snapshot, path) if _encloses(each.model, attribute.span)]
    if not inside:
        return []
    model = max(inside, key=lambda model: model.extent)
    found: dict[tuple[int, str], InTrace[Module]] = {}
    for run in forward_runs(snapshot, path, model):
        parts = (run.item.module_path or "", *attribute.parts)
        module = run.index.module(".".join(filter(None, parts)))
        if module is not None:
            found.setdefault((id(run.state), module.path), run.beside(module))
    return list(found.values())


def _encloses(model: ModelClass, span: Span) -> bool:
    return model.extent.contains(span.line, span.column)


@dataclass(frozen=True, slots=True)
class ModuleCallSite:
    """Expression that calls a module."""

    name: Span
    """The part of the expression that names the module."""
    calls: tuple[InTrace[NestedCall], ...]
    """Every call that it made, of an ``nn.Sequential`` those of its children too; calls of chosen recipes first."""

    @property
    def direct(self) -> Iterator[InTrace[NestedCall]]:
        """The calls that the expression made itself, without those made by a container."""
        called = {id(each.item) for each in self.calls}
        return (each for each in self.calls if id(each.item.parent) not in called)


def call_site_at(snapshot: Snapshot, path: str, line: int, column: int) -> ModuleCallSite | None:
    """Return the module call whose module name is at a position.

    None on other expressions, and on other parts of a call.
    """
    document, found = snapshot.documents.get(path), hits_at(snapshot, path, line, column)
    if document is None or found is None:
        return None
    span, hits = found
    calls = tuple(hit.beside(nested) for hit in hits for nested in hit.index.calls.at(path).get(hit.item.span, ()))
    if not calls:
        return None
    name = module_name_at(document, span, line, column, {_attribute(each.item) for each in calls})
    return None if name is None else ModuleCallSite(name, calls)


def _attribute(nested: NestedCall) -> str:
    """Return the attribute that holds a module: ``layers`` for ``stem.layers.0``."""
    words = [part for part in (nested.call.call_path or "").split(".") if not part.isdecimal()]
    return words[-1] if words else ""


def forward_target(snapshot: Snapshot, reported: InTrace[NestedCall]) -> NavigationTarget | None:
    """Return the ``forward`` that ran; None if it is torch's, or was edited away."""
    target = target_of(snapshot, reported.state, reported.item.call.forward)
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

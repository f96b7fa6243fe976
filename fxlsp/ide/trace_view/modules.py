"""Modules at a position: constructed by an expression, or held by an attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.trace_view.forwards import forward_runs
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.report_index import ReportIndex, index_of
from fxlsp.ide.trace_view.runs import ReportEvent
from fxlsp.report.graph import Module
from fxlsp.source.models.models import ModelClass
from fxlsp.source.python.cursor import AttributePath
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class ReportModule:
    """A module of one traced model."""

    state: ModelState
    index: ReportIndex
    module: Module

    @property
    def runs(self) -> list[ReportEvent]:
        """Its calls; for a leaf its nodes, which have more facts."""
        return [ReportEvent(self.state, self.index, event) for event in self.index.usage.calls_of(self.module.path)]


def modules_made_at(snapshot: Snapshot, path: str, line: int, column: int) -> tuple[Span, list[ReportModule]] | None:
    """Return the innermost expression that constructed modules, and the modules."""
    made = list(_made_around(snapshot, path, line, column))
    if not made:
        return None
    innermost = max((span for span, _ in made), key=lambda span: (span.line, span.column))
    return innermost, [found for span, found in made if span == innermost]


def _made_around(snapshot: Snapshot, path: str, line: int, column: int) -> Iterator[tuple[Span, ReportModule]]:
    for state, log in snapshot.reports_touching(path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for span, modules in index.usage.made_in(path).items():
            moved = move(span, log)
            if moved is not None and moved.span.contains(line, column):
                yield from ((moved.span, ReportModule(state, index, module)) for module in modules)


def modules_of_attribute(snapshot: Snapshot, path: str, attribute: AttributePath) -> list[ReportModule]:
    """Return the modules that an attribute of ``self`` holds.

    There is one for each instance of the class around it.
    """
    inside = [each.model for each in outline(snapshot, path) if _encloses(each.model, attribute.span)]
    if not inside:
        return []
    model = max(inside, key=lambda model: model.extent)
    found: dict[tuple[int, str], ReportModule] = {}
    for run in forward_runs(snapshot, path, model):
        parts = (run.event.module_path or "", *attribute.parts)
        module = run.index.module(".".join(filter(None, parts)))
        if module is not None:
            found.setdefault((id(run.state), module.path), ReportModule(run.state, run.index, module))
    return list(found.values())


def _encloses(model: ModelClass, span: Span) -> bool:
    return model.extent.contains(span.line, span.column)

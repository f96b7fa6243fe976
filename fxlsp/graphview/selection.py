"""The graph that an editor requests, and what in it to show first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.model_status import states_of
from fxlsp.ide.trace_view.at_cursor import hits_at
from fxlsp.report.graph import Node
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class GraphChoice:
    """One report, and the part of it that the user asked for."""

    snapshot: Snapshot
    state: ModelState
    report: Report
    """With the severities that the user's settings assign."""
    node: str | None = None
    """The node at the requested position."""
    path: str | None = None
    """Module path, without a node: the one called at the position, or the first one of the requested class."""

    @property
    def fragment(self) -> str:
        """Fragment by which the page shows it: ``node=add_1``; "" for the whole."""
        return f"node={self.node}" if self.node else f"path={self.path}" if self.path else ""

    @property
    def is_stale(self) -> bool:
        """Whether the report is of an earlier text."""
        return self.state.is_stale

    def moved(self, location: Location) -> Location | None:
        """Return a location of the report in the current text; None if it changed."""
        log = self.snapshot.edits_since(location.file, self.state.texts)
        now = None if log is None else move(Span.of(location), log)
        if now is None:
            return None
        place = (now.span.line, now.span.column, now.span.end_line, now.span.end_column)
        moved = Location(location.file, *place, location.function)
        document = self.snapshot.documents.get(location.file)
        return moved if document is None or document.cells is None else document.cells.cell_location(moved)


def choose_graph(
    snapshot: Snapshot, path: str, name: str | None = None, place: tuple[int, int] | None = None
) -> GraphChoice | None:
    """Return the graph for a model of a file, for a position, or the first one.

    Args:
        name: ``Outer.Inner``; for a class without a trace of its own, the graph in which it runs.
        place: line and column in the current text.
    """
    candidates = [*_at(snapshot, path, place)] if place is not None else []
    candidates += _named(snapshot, path, name) if name is not None else _all(snapshot, path)
    ours = [choice for choice in candidates if name is None or choice.state.key.name == name]
    return next(iter(ours or candidates), None)


def _at(snapshot: Snapshot, path: str, place: tuple[int, int]) -> Iterator[GraphChoice]:
    _, hits = hits_at(snapshot, path, *place) or (None, [])
    for hit in hits:
        subjects = [*(event.subject for event in hit.item.events), *hit.item.through]
        for choice in _choices(snapshot, hit.state):
            for subject in subjects[:1]:
                is_node = isinstance(subject, Node)
                yield replace(
                    choice,
                    node=subject.name if isinstance(subject, Node) else None,
                    path=None if is_node else subject.module_path,
                )


def _named(snapshot: Snapshot, path: str, name: str) -> Iterator[GraphChoice]:
    for state in states_of(snapshot, path, name):
        yield from _choices(snapshot, state)
    class_name = name.rpartition(".")[2]
    for state, _ in snapshot.reports_touching(path):
        for call in state.report.calls if state.report is not None else ():
            if call.type == class_name and call.forward is not None and call.forward.file == path:
                yield from (replace(choice, path=call.module_path) for choice in _choices(snapshot, state))
                break


def _all(snapshot: Snapshot, path: str) -> Iterator[GraphChoice]:
    for state in snapshot.states_in(path):
        yield from _choices(snapshot, state)


def _choices(snapshot: Snapshot, state: ModelState) -> Iterator[GraphChoice]:
    if state.report is not None:
        problems = tuple(snapshot.policy_of(state.key.file).applied(state.report.problems))
        yield GraphChoice(snapshot, state, replace(state.report, problems=problems))

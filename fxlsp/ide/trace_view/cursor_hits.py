"""What all kept reports say about the expression under the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.trace_view.expression_events import Place
from fxlsp.ide.trace_view.report_index import TraceIndex, index_of
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one report says about one expression."""

    state: ModelState
    index: TraceIndex
    place: Place
    span: Span
    """The expression in the text as it is now."""


def sightings_at(snapshot: Snapshot, path: str, line: int, column: int) -> list[Sighting]:
    """What was met at the innermost expression around a place, in the order of the reports.

    An expression that ends right before the place counts only where none holds the character behind it.
    """
    touching = list(_around(snapshot, path, line, column))
    holding = [each for each in touching if (line, column) < (each.span.end_line, each.span.end_column)]
    around = holding or touching
    if not around:
        return []
    innermost = min((sighting.span for sighting in around), key=lambda span: span.size)
    return [sighting for sighting in around if sighting.span == innermost]


def sightings_of(snapshot: Snapshot, path: str, expression: Span) -> list[Sighting]:
    """What was met at exactly this expression of the text as it is now, in the order of the reports."""
    around = _around(snapshot, path, expression.line, expression.column)
    return [sighting for sighting in around if sighting.span == expression]


def _around(snapshot: Snapshot, path: str, line: int, column: int) -> Iterator[Sighting]:
    for state, log in snapshot.reports_touching(path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for span, place in index.places(path).items():
            moved = move(span, log)
            if moved is not None and moved.span.contains(line, column):
                yield Sighting(state, index, place, moved.span)

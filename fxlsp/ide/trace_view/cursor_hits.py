"""Traced expressions at the cursor, in the last good report of every model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.trace_view.expression_events import ExpressionEvents
from fxlsp.ide.trace_view.report_index import ReportIndex, index_of
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class CursorHit:
    """What one report has for one expression."""

    state: ModelState
    index: ReportIndex
    expression: ExpressionEvents
    span: Span
    """The expression in the current text."""


def hits_at(snapshot: Snapshot, path: str, line: int, column: int) -> list[CursorHit]:
    """Return the hits of the innermost expression at a position, in order of reports.

    An expression that ends directly before the position counts only if no other contains the character after it.
    """
    touching = list(_around(snapshot, path, line, column))
    holding = [each for each in touching if (line, column) < (each.span.end_line, each.span.end_column)]
    around = holding or touching
    if not around:
        return []
    innermost = min((hit.span for hit in around), key=lambda span: span.size)
    return [hit for hit in around if hit.span == innermost]


def hits_of(snapshot: Snapshot, path: str, expression: Span) -> list[CursorHit]:
    """Return the hits of exactly this expression, in order of reports."""
    around = _around(snapshot, path, expression.line, expression.column)
    return [hit for hit in around if hit.span == expression]


def _around(snapshot: Snapshot, path: str, line: int, column: int) -> Iterator[CursorHit]:
    for state, log in snapshot.reports_touching(path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for span, events in index.expressions(path).items():
            moved = move(span, log)
            if moved is not None and moved.span.contains(line, column):
                yield CursorHit(state, index, events, moved.span)

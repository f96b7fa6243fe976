"""Items of a report, with the trace that they are of, and their places in the current text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.ide.trace_view.report_index import ReportIndex, index_of
from fxlsp.report.locations import Location
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span

T = TypeVar("T")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class InTrace(Generic[T]):
    """Item of a report: an event, a module, a call."""

    state: ModelState
    index: ReportIndex
    item: T

    def beside(self, other: Other) -> InTrace[Other]:
        """Return another item of the same trace."""
        return InTrace(self.state, self.index, other)


Run: TypeAlias = "InTrace[Event]"
"""One run of an expression."""


def items_by_place(
    snapshot: Snapshot, path: str, items: Callable[[ReportIndex], Mapping[Span, T]]
) -> Iterator[tuple[Span | None, InTrace[T]]]:
    """Yield what the last good reports have in a file, each with its place in the current text.

    Args:
        items: returns what one report has, by the place in the text that was traced. Where that was edited away, the
            present place is None.
    """
    for state, log in snapshot.reports_touching(path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for span, item in items(index).items():
            moved = move(span, log)
            yield None if moved is None else moved.span, InTrace(state, index, item)


@dataclass(frozen=True, slots=True)
class NavigationTarget:
    """A place to go to, in the current text."""

    path: str
    span: Span
    """What to select: a name, or the expression itself."""
    extent: Span
    """The statement around it as far as it is known; at least ``span``."""
    digest: str | None = None
    """Digest of the text that the span refers to, if the file is not open; None if unknown or irrelevant."""

    def is_in(self, document: Document) -> bool:
        """Return whether ``document`` is the text that the span refers to.

        A file may have changed since it was traced.
        """
        return self.digest in (None, document.digest)


def target_of(snapshot: Snapshot, state: ModelState, location: Location | None) -> NavigationTarget | None:
    """Return a location of the state's report in the current text.

    Returns None if it was edited away.
    """
    if location is None:
        return None
    span = current_span(snapshot, location, state.texts)
    if span is None:
        return None
    digest = None if location.file in snapshot.documents else state.texts.get(location.file)
    return NavigationTarget(location.file, span, span, digest)


def current_span(snapshot: Snapshot, location: Location, texts: Mapping[str, str]) -> Span | None:
    """Return the current span of a location in a traced text.

    Returns None if it was edited away, or the traced text is no longer known.

    Args:
        texts: digests of the texts that the location refers to, by path.
    """
    log = snapshot.edits_since(location.file, texts)
    moved = None if log is None else move(Span.of(location), log)
    return None if moved is None else moved.span

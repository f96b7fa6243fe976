"""Targets of navigation: locations in any file."""

from __future__ import annotations

from dataclasses import dataclass

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.report.locations import Location
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


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
    log = snapshot.edits_since(location.file, state.texts)
    moved = None if log is None else move(Span.of(location), log)
    if moved is None:
        return None
    digest = None if location.file in snapshot.documents else state.texts.get(location.file)
    return NavigationTarget(location.file, moved.span, moved.span, digest)

"""Hints that do not change on the line being edited, and do not vanish elsewhere, until the user pauses.

A trace takes a tenth of a second, and a hint that appears or grows within a line moves the text behind it, where the
user is typing. Of lines further down, half-typed text often says nothing: they keep their hints, marked as stale.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from fxlsp.engine.session.workspace import SnapshotChange
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hints import Hint
from fxlsp.server.publish.typing_hold import TypingHold
from fxlsp.source.text.diff import edits_between
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import EditLog, move
from fxlsp.source.text.positions import Span

IDLE_SECONDS = 0.3
"""Seconds without an edit after which the hints of the line change."""


@dataclass(frozen=True, slots=True)
class _EditedLine:
    """Line of the last edit."""

    path: str
    line: int
    shown: str | None
    """The text of its hint when the user began to edit it; None without one."""


class SteadyHints:
    """Filter that holds hints back.

    It calls ``on_idle`` once a hint that was held back is to be shown.
    """

    def __init__(self, on_idle: Callable[[], None], hold: TypingHold) -> None:
        self._on_idle = on_idle
        self._hold = hold
        self._documents: dict[str, Document] = {}
        """As they were after the last change of each."""
        self._shown: dict[str, dict[int, Hint]] = {}
        """The hints that the editor last received, by path and by line of the present text."""
        self._edited: _EditedLine | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_held_back = False
        self._has_old = False

    @property
    def is_waiting(self) -> bool:
        """Whether the user still edits a line.

        Hints may then change without a change of the session.
        """
        return self._timer is not None or (self._has_old and not self._hold.is_resting)

    def update(self, snapshot: Snapshot, change: SnapshotChange, cursor: tuple[str, int] | None) -> None:
        """Follow a change of the session.

        Args:
            cursor: the path and line of the last edit.
        """
        for path in change.paths if change.cause == "edit" else ():
            before, after = self._documents.get(path), snapshot.documents.get(path)
            if after is None:
                self._documents.pop(path, None)
                self._shown.pop(path, None)
                continue
            self._documents[path] = after
            if before is not None and cursor is not None and cursor[0] == path:
                self._note_edit(before, after, cursor[1])
            if before is not None and before.text != after.text:
                self._shown[path] = _moved(self._shown.get(path, {}), before, after)

    def rested(self) -> None:
        """Have old hints replaced by the present ones: the user has paused, or saved."""
        if self._has_old and self._hold.is_resting:
            self._has_old = False
            self._on_idle()

    def hints_to_show(self, path: str, lines: range, found: Iterable[Hint]) -> list[Hint]:
        """Return the hints to show on ``lines``, given the present ones."""
        shown = {hint.line: still for hint in found if (still := self._steady(path, hint)) is not None}
        known = self._shown.setdefault(path, {})
        if self._hold.line(path) is not None:
            for line in known.keys() - shown.keys() - {self._hold.line(path)}:
                if line in lines:
                    shown[line] = replace(known[line], is_old=True)
                    self._has_old = True
        for line in [line for line in known if line in lines]:
            del known[line]
        known.update(shown)
        return [shown[line] for line in sorted(shown)]

    def old_hints(self, path: str, line: int) -> list[Hint]:
        """Return the hint that a line retains of an earlier text."""
        hint = self._shown.get(path, {}).get(line)
        return [hint] if hint is not None and hint.is_old else []

    def _note_edit(self, before: Document, after: Document, line: int) -> None:
        if before.lines.line_count != after.lines.line_count or line > after.lines.line_count:
            # The lines below move anyway.
            self._edited = None
            return
        if before.lines.line_text(line) == after.lines.line_text(line):
            return
        if self._edited is None or (self._edited.path, self._edited.line) != (after.path, line):
            shown = self._shown.get(after.path, {}).get(line)
            self._edited = _EditedLine(after.path, line, None if shown is None else shown.text)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_edit)

    def _steady(self, path: str, hint: Hint) -> Hint | None:
        edited = self._edited
        if edited is None or (path, hint.line) != (edited.path, edited.line) or hint.text == edited.shown:
            return hint
        self._has_held_back = True
        return None if edited.shown is None else replace(hint, text=edited.shown)

    def _end_edit(self) -> None:
        self._edited, self._timer = None, None
        if self._has_held_back:
            self._has_held_back = False
            self._on_idle()


def _moved(shown: Mapping[int, Hint], before: Document, after: Document) -> dict[int, Hint]:
    """Return the hints at the present numbers of their lines, of lines that read as before."""
    log = EditLog.starting_at(before.lines).extended(edits_between(before.text, after.text), after.lines)
    moved: dict[int, Hint] = {}
    for line, hint in shown.items():
        place = move(Span(line, 1, line, max(2, hint.column)), log)
        if place is not None and not place.stale:
            moved[place.span.line] = replace(hint, line=place.span.line)
    return moved

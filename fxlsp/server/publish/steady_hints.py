"""Hints that do not change on the line being edited, until its user pauses.

A trace takes a tenth of a second, and a hint that appears or grows within a line moves the text behind it, where the
user is typing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from fxlsp.engine.session.workspace import SnapshotChange
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.hints import Hint
from fxlsp.source.text.documents import Document

IDLE_SECONDS = 0.5
"""Seconds without an edit after which the hints of the line change."""


@dataclass(frozen=True, slots=True)
class _EditedLine:
    """Line of the last edit."""

    path: str
    line: int
    shown: tuple[str, ...]
    """The texts of its hints when the user began to edit it."""


class SteadyHints:
    """Filter that holds hints back.

    It calls ``on_idle`` once a hint that was held back is to be shown.
    """

    def __init__(self, on_idle: Callable[[], None]) -> None:
        self._on_idle = on_idle
        self._documents: dict[str, Document] = {}
        """As they were after the last change of each."""
        self._shown: dict[str, dict[int, tuple[str, ...]]] = {}
        """The texts that the editor last received, by path and line."""
        self._edited: _EditedLine | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._has_held_back = False

    @property
    def is_waiting(self) -> bool:
        """Whether the user still edits a line.

        Hints may then change without a change of the session.
        """
        return self._timer is not None

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

    def hints_to_show(self, path: str, lines: range, found: Iterable[Hint]) -> list[Hint]:
        """Return the hints to show on ``lines``, given the present ones."""
        shown = [still for hint in found if (still := self._steady(path, hint)) is not None]
        known = self._shown.setdefault(path, {})
        for line in [line for line in known if line in lines]:
            del known[line]
        for hint in shown:
            known[hint.line] = (*known.get(hint.line, ()), hint.text)
        return shown

    def _note_edit(self, before: Document, after: Document, line: int) -> None:
        if before.lines.line_count != after.lines.line_count or line > after.lines.line_count:
            # The lines below move anyway.
            self._edited = None
            return
        if before.lines.line_text(line) == after.lines.line_text(line):
            return
        if self._edited is None or (self._edited.path, self._edited.line) != (after.path, line):
            self._edited = _EditedLine(after.path, line, self._shown.get(after.path, {}).get(line, ()))
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_edit)

    def _steady(self, path: str, hint: Hint) -> Hint | None:
        edited = self._edited
        if edited is None or (path, hint.line) != (edited.path, edited.line) or hint.text in edited.shown:
            return hint
        self._has_held_back = True
        return replace(hint, text=edited.shown[0]) if edited.shown else None

    def _end_edit(self) -> None:
        self._edited, self._timer = None, None
        if self._has_held_back:
            self._has_held_back = False
            self._on_idle()

"""Hints that do not change on the line being edited, and do not vanish elsewhere, until the user pauses.

A trace takes a tenth of a second, and a hint that appears or grows within a line moves the text behind it, where the
user is typing. Of lines further down, half-typed text often says nothing: they keep their hints, marked as stale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from fxlsp.ide.hints import Hint
from fxlsp.server.typing.typing_state import TypingState
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import DocumentEdit, EditLog, move
from fxlsp.source.text.positions import Span


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

    def __init__(self, on_idle: Callable[[], None], typing: TypingState) -> None:
        self._on_idle = on_idle
        self._typing = typing
        self._shown: dict[str, dict[int, Hint]] = {}
        """The hints that the editor last received, by path and by line of the present text."""
        self._edited: _EditedLine | None = None
        self._has_held_back = False
        self._has_old = False

    @property
    def is_waiting(self) -> bool:
        """Whether the user still edits a line.

        Hints may then change without a change of the session.
        """
        return self._edited is not None or (self._has_old and not self._typing.is_resting)

    def follow(self, documents: Mapping[str, Document], edit: DocumentEdit | None) -> None:
        """Take which documents are open, and the edit of one that was made; after the typing state, which is asked."""
        for path in self._shown.keys() - documents.keys():
            del self._shown[path]
        if self._edited is not None and self._edited.path not in documents:
            self._edited = None
        if edit is not None and edit.log.hunks:
            self._note_edit(edit)
            self._shown[edit.after.path] = _moved(self._shown.get(edit.after.path, {}), edit.log)

    def rested(self) -> None:
        """Have the present hints shown in the place of old ones: the user has paused, or left the line."""
        self._edited = None
        is_resting = self._typing.is_resting
        if self._has_held_back or (self._has_old and is_resting):
            self._has_held_back, self._has_old = False, self._has_old and not is_resting
            self._on_idle()

    def hints_to_show(self, path: str, lines: range, found: Iterable[Hint]) -> list[Hint]:
        """Return the hints to show on ``lines``, given the present ones."""
        shown = {hint.line: still for hint in found if (still := self._steady(path, hint)) is not None}
        known = self._shown.setdefault(path, {})
        if self._typing.line(path) is not None:
            for line in known.keys() - shown.keys() - {self._typing.line(path)}:
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

    def _note_edit(self, edit: DocumentEdit) -> None:
        path, line = edit.after.path, self._typing.line(edit.after.path)
        if line is None or edit.before.lines.line_count != edit.after.lines.line_count:
            # The lines below move anyway.
            self._edited = None
        elif self._edited is None or (self._edited.path, self._edited.line) != (path, line):
            shown = self._shown.get(path, {}).get(line)
            self._edited = _EditedLine(path, line, None if shown is None else shown.text)

    def _steady(self, path: str, hint: Hint) -> Hint | None:
        edited = self._edited
        if edited is None or (path, hint.line) != (edited.path, edited.line) or hint.text == edited.shown:
            return hint
        self._has_held_back = True
        return None if edited.shown is None else replace(hint, text=edited.shown)


def _moved(shown: Mapping[int, Hint], log: EditLog) -> dict[int, Hint]:
    """Return the hints at the present numbers of their lines, of lines that read as before."""
    moved: dict[int, Hint] = {}
    for line, hint in shown.items():
        place = move(Span(line, 1, line, max(2, hint.column)), log)
        if place is not None and not place.stale:
            moved[place.span.line] = replace(hint, line=place.span.line)
    return moved

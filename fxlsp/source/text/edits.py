"""Movement of spans while a text is edited."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from fxlsp.source.text.documents import Document, TextEdit
from fxlsp.source.text.positions import LineIndex, Span


class Hunk(NamedTuple):
    """Replaced part of a text, as offsets into the old and the new text."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class MovedSpan(NamedTuple):
    """Position of a span after edits."""

    span: Span
    stale: bool
    """Whether the text of one of its lines has changed."""


@dataclass(frozen=True)
class EditLog:
    """Differences between an earlier version of a text and the present one.

    It holds one hunk for each part that differs, whatever the number of edits, in order and not adjacent.
    """

    before: LineIndex
    after: LineIndex
    hunks: tuple[Hunk, ...] = ()

    @classmethod
    def starting_at(cls, lines: LineIndex) -> EditLog:
        """Return the log of an unedited text."""
        return cls(lines, lines)

    def reversed(self) -> EditLog:
        """Return the differences from the present text to the earlier one."""
        hunks = (Hunk(hunk.new_start, hunk.new_end, hunk.old_start, hunk.old_end) for hunk in self.hunks)
        return EditLog(self.after, self.before, tuple(hunks))

    def extended(self, edits: Iterable[TextEdit], after: LineIndex) -> EditLog:
        """Return the log with further edits, each relative to the result of the last.

        Args:
            after: the text after all edits.
        """
        if after.text == self.before.text:
            return EditLog(self.before, after)
        hunks = self.hunks
        for edit in edits:
            hunks = _with_edit(hunks, edit)
        trimmed = [_trimmed(hunk, self.before.text, after.text) for hunk in hunks]
        different = [hunk for hunk in trimmed if _differs(hunk)]
        return EditLog(self.before, after, tuple(_without_undone(different, self.before.text, after.text)))


@dataclass(frozen=True)
class DocumentEdit:
    """One change of the text of an open document."""

    before: Document
    after: Document
    log: EditLog

    @classmethod
    def of(cls, before: Document, after: Document, edits: Iterable[TextEdit]) -> DocumentEdit:
        """Return the change from one document to another by ``edits``."""
        return cls(before, after, EditLog.starting_at(before.lines).extended(edits, after.lines))


def move(span: Span, log: EditLog) -> MovedSpan | None:
    """Return the span of the old text in the new one; None if its own text was edited.

    Text inserted right before or right after a span does not count as an edit of it.
    """
    if not log.hunks:
        return MovedSpan(span, False)
    start = log.before.offset(span.line, span.column)
    end = log.before.offset(span.end_line, span.end_column)
    # The number of hunks before the span: those that end at its start or sooner.
    passed = bisect_right(log.hunks, start, key=lambda hunk: hunk.old_end)
    if passed < len(log.hunks) and log.hunks[passed].old_start < end:
        return None
    shift = log.hunks[passed - 1].new_end - log.hunks[passed - 1].old_end if passed else 0
    moved = log.after.span(start + shift, end + shift)
    return MovedSpan(moved, _reads_differently(span, moved, log))


def _reads_differently(old: Span, new: Span, log: EditLog) -> bool:
    return any(
        log.before.line_text(old.line + row) != log.after.line_text(new.line + row)
        for row in range(old.end_line - old.line + 1)
    )


def _with_edit(hunks: tuple[Hunk, ...], edit: TextEdit) -> tuple[Hunk, ...]:
    """Return the hunks after one more edit, joined with those that it touches."""
    growth = len(edit.new_text) - (edit.old_end_offset - edit.start_offset)
    before = [hunk for hunk in hunks if hunk.new_end < edit.start_offset]
    touched = [hunk for hunk in hunks[len(before) :] if hunk.new_start <= edit.old_end_offset]
    behind = hunks[len(before) + len(touched) :]
    joined = _joined(before[-1] if before else Hunk(0, 0, 0, 0), touched, edit, growth)
    moved = [Hunk(old_start, old_end, start + growth, end + growth) for old_start, old_end, start, end in behind]
    return (*before, *([joined] if _differs(joined) else []), *moved)


def _differs(hunk: Hunk) -> bool:
    return hunk.old_start < hunk.old_end or hunk.new_start < hunk.new_end


def _trimmed(hunk: Hunk, old: str, new: str) -> Hunk:
    """Return the hunk without common ends, such as a line cut and pasted back."""
    old_start, old_end, new_start, new_end = hunk
    head = _common(old[old_start:old_end], new[new_start:new_end])
    tail = _common(old[old_start + head : old_end][::-1], new[new_start + head : new_end][::-1])
    return Hunk(old_start + head, old_end - tail, new_start + head, new_end - tail)


def _without_undone(hunks: list[Hunk], old: str, new: str) -> list[Hunk]:
    """Return the hunks without neighbours that undo each other.

    This happens if a line is deleted and typed again above an equal one.
    """
    left: list[Hunk] = []
    for hunk in hunks:
        joined = Hunk(left[-1].old_start, hunk.old_end, left[-1].new_start, hunk.new_end) if left else hunk
        if left and old[joined.old_start : joined.old_end] == new[joined.new_start : joined.new_end]:
            left.pop()
        else:
            left.append(hunk)
    return left


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix of two long texts, by bisection."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _joined(previous: Hunk, touched: list[Hunk], edit: TextEdit, growth: int) -> Hunk:
    """Return the hunk of an edit joined with those it touches.

    Args:
        previous: the last hunk before them.
        growth: characters by which the edit makes the text longer.
    """
    start, end = edit.start_offset, edit.old_end_offset
    # Between hunks old and new text run in parallel, at the distance at which the hunk before them ends.
    start_shift = end_shift = previous.old_end - previous.new_end
    if touched:
        start = min(start, touched[0].new_start)
        end = max(end, touched[-1].new_end)
        end_shift = touched[-1].old_end - touched[-1].new_end
    return Hunk(start + start_shift, end + end_shift, start, end + growth)

"""Which texts are finished, and which line the user is still typing.

The server knows the cursor from edits, and from requests for code actions, which editors send when it moves. Nothing
says whether a list of completions is open, so a pause counts as one whatever the editor shows meanwhile.
"""

from __future__ import annotations

import asyncio
import enum
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import DocumentEdit, EditLog, move
from fxlsp.source.text.positions import Span
from fxlsp.source.text.python_parser import is_beyond_repair, is_unfinished

PAUSE_SECONDS = 0.3
"""Seconds without an edit after which the user has paused, within the line perhaps."""
IDLE_SECONDS = 1.5
"""Seconds without an edit after which the line counts as finished though the cursor may still be in it."""

_MOST_GRADES = 64
_MOST_RECENT = 4
"""Earlier texts of which a trace may still be running that is not repeated, since they are the same program."""
_SHORT_TEXT = 20_000
"""Longest text, in characters, that Python's parser reads when a line is left, which takes some milliseconds."""
_NUMBER = re.compile(r"\b\d+\b")
_FIRST_WORD = re.compile(r"\s*[^\W\d]\w*(?=[^\w\"'])")
"""The first word of a line, if more was typed behind it: it may have become another one before, or the prefix of a
string."""


class Finish(enum.IntEnum):
    """How far the user is done with a text."""

    TYPED = 0
    """Its last edit is within a line that the user had not left."""
    PAUSED = 1
    """Its last edit is within such a line, and no other came for a moment."""
    LEFT = 2
    """The user had left each line, and went on to type at once."""
    RESTED = 3
    """It was opened or saved, or the user paused for longer."""


@dataclass
class _Edited:
    """Document that is open, as it was followed last."""

    document: Document
    rested: Document
    """The document at the last rest."""
    finished: dict[str, Finish]
    """By digest of the text that traces receive, the newest last."""
    line: int | None = None
    """The line that is being typed; None while the user rests."""
    left: set[int] = field(default_factory=set)
    """Other lines edited since the user rested."""
    recent: deque[Document] = field(default_factory=lambda: deque(maxlen=_MOST_RECENT))
    is_number_typed: bool = False
    """Whether at the last pause nothing had been edited since the rest but the digits of numbers."""
    timer: asyncio.TimerHandle | None = None


class TypingState:
    """Follower of the edits of all open documents."""

    def __init__(self) -> None:
        self._edited: dict[str, _Edited] = {}
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, on_rest: Callable[[], None]) -> None:
        """Call ``on_rest`` whenever the user pauses or rests, and when the cursor leaves a line without an edit."""
        self._listeners.append(on_rest)

    @property
    def is_resting(self) -> bool:
        """Whether no line of any document is being typed."""
        return all(each.line is None for each in self._edited.values())

    def line(self, path: str) -> int | None:
        """Return the line of a document that is being typed; None if there is none."""
        edited = self._edited.get(path)
        return None if edited is None else edited.line

    def was_left(self, path: str, span: Span) -> bool:
        """Return whether a span is on a line that the user has edited and left since the last rest.

        A line is not left while the block below it is being typed.
        """
        edited = self._edited.get(path)
        if edited is None or not any(span.line <= line <= span.end_line for line in edited.left):
            return False
        return edited.line is None or not _is_in_block_of(edited.document, span.line, edited.line)

    def is_number_typed(self, path: str) -> bool:
        """Return whether the user has paused, and all that was edited since the last rest are the digits of numbers.

        A number is whole after each key, unlike a name or an expression.
        """
        edited = self._edited.get(path)
        return edited is not None and edited.line is not None and edited.is_number_typed

    def is_broken_above(self, path: str) -> bool:
        """Return whether the lines above the one being typed are no Python, whatever follows.

        So it is where the first word that was typed cannot follow them, as behind a bracket that was left open.
        """
        edited = self._edited.get(path)
        if edited is None or edited.line is None:
            return False
        lines = edited.document.lines
        above = edited.document.text[: lines.offset(edited.line, 1)]
        word = _FIRST_WORD.match(lines.line_text(edited.line))
        return word is not None and len(above) <= _SHORT_TEXT and is_beyond_repair(above + word[0])

    def finish(self, texts: Mapping[str, str]) -> Finish:
        """Return how far the user was done with texts that a trace has read.

        Args:
            texts: digests by path; those of files that are not open do not count.
        """
        known = [self._edited[path].finished.get(digest) for path, digest in texts.items() if path in self._edited]
        return min((each or Finish.TYPED for each in known), default=Finish.RESTED)

    def present(self, path: str) -> Finish:
        """Return how far the user is done with the present text of a document."""
        edited = self._edited.get(path)
        return Finish.RESTED if edited is None else self.finish({path: edited.document.program.digest})

    def follow(self, documents: Mapping[str, Document], edit: DocumentEdit | None = None) -> None:
        """Take the present texts of all open documents, and the edit of one that has led to them."""
        for path in self._edited.keys() - documents.keys():
            _stop(self._edited.pop(path))
        for path, document in documents.items():
            edited = self._edited.get(path)
            if edited is not None and edit is not None and edit.log.hunks and edit.after.path == path:
                self._follow_edit(edited, edit)
            elif edited is not None and edited.document.text == document.text:
                edited.document = document
            else:
                if edited is not None:
                    # It was opened once more.
                    _stop(edited)
                self._edited[path] = _Edited(document, document, {document.program.digest: Finish.RESTED})

    def cursor_moved(self, path: str, line: int) -> None:
        """Take the line of the cursor: the user may have left the one that was typed."""
        edited = self._edited.get(path)
        if edited is not None and edited.line not in (None, line):
            self.rest(path)

    def rest(self, path: str) -> None:
        """Take the text of a document as finished: it was saved, left, or not edited for a while."""
        edited = self._edited.get(path)
        if edited is None:
            return
        _stop(edited)
        edited.line, edited.rested = None, edited.document
        edited.left.clear()
        left = (digest for digest, finish in edited.finished.items() if finish >= Finish.LEFT)
        edited.finished = dict.fromkeys(left, Finish.RESTED)
        _finish(edited, edited.document, Finish.RESTED)
        self._announce()

    def close(self) -> None:
        """Stop all timers and calls."""
        self._listeners.clear()
        for edited in self._edited.values():
            _stop(edited)

    def _announce(self) -> None:
        for listener in self._listeners:
            listener()

    def _follow_edit(self, edited: _Edited, edit: DocumentEdit) -> None:
        before, log, typed = edit.before, edit.log, edited.line
        edited.document, edited.is_number_typed, line = edit.after, False, _cursor_line(log)
        earlier = {moved for each in (*edited.left, typed) if (moved := _moved_line(each, log)) is not None}
        edited.left = (earlier | set(_edited_lines(log))) - {line}
        edited.recent.append(before)
        if typed is not None and _moved_line(typed, log) != line:
            self._leave(edited, before, line)
        edited.line = line
        _stop(edited)
        edited.timer = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._pause, edit.after.path)
        for path, other in self._edited.items():
            if other is not edited and other.line is not None:
                self.rest(path)

    def _pause(self, path: str) -> None:
        """Note that no edit came for a moment."""
        edited = self._edited.get(path)
        if edited is None:
            return
        edited.timer = asyncio.get_running_loop().call_later(IDLE_SECONDS - PAUSE_SECONDS, self.rest, path)
        _finish(edited, edited.document, Finish.PAUSED)
        before, after = edited.rested.text, edited.document.text
        edited.is_number_typed = before != after and _NUMBER.sub("0", before) == _NUMBER.sub("0", after)
        self._announce()

    def _leave(self, edited: _Edited, before: Document, line: int) -> None:
        """Note that a line was left, by a line break after it or by an edit elsewhere."""
        after = edited.document
        if after.lines.line_text(line).strip():
            _finish(edited, before, Finish.LEFT)
        elif not _needs_more(after, line):
            _finish(edited, after, Finish.LEFT)


def _stop(edited: _Edited) -> None:
    if edited.timer is not None:
        edited.timer.cancel()
        edited.timer = None


def _finish(edited: _Edited, document: Document, finish: Finish) -> None:
    """Note how far the user is done with a text, and with earlier texts that are the same program."""
    program = document.program
    same = [program.digest]
    if program.parses:
        for earlier in reversed(edited.recent):
            if not earlier.program.parses or earlier.program.normalized != program.normalized:
                break
            same.append(earlier.program.digest)
    for digest in same:
        edited.finished[digest] = max(finish, edited.finished.pop(digest, finish))
    for digest in list(edited.finished)[:-_MOST_GRADES]:
        del edited.finished[digest]


def _cursor_line(log: EditLog) -> int:
    """Return the line of the cursor after an edit: where the last changed part ends."""
    text, last = log.after.text, log.hunks[-1]
    inserted = text[last.new_start : last.new_end]
    starts_line = last.new_start == 0 or text[last.new_start - 1] == "\n"
    # A whole new line ends at the start of the one after it.
    within = last.new_end - 1 if starts_line and inserted.endswith("\n") else last.new_end
    return log.after.place(within)[0]


def _edited_lines(log: EditLog) -> Iterator[int]:
    for hunk in log.hunks:
        yield from range(log.after.place(hunk.new_start)[0], log.after.place(hunk.new_end)[0])


def _moved_line(line: int | None, log: EditLog) -> int | None:
    moved = None if line is None else move(Span(line, 1, line, 1), log)
    return None if moved is None else moved.span.line


def _is_in_block_of(document: Document, header: int, line: int) -> bool:
    """Return whether a line belongs to the block below another one; an empty line may do so."""
    texts = [document.lines.line_text(each) for each in range(header, line + 1)]
    if not texts:
        return False
    head, *below = [text for text in texts if text.strip()] or [""]
    if any(_indentation(text) <= _indentation(head) for text in below):
        return False
    return bool(below) or head.rstrip().endswith(":")


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())


def _needs_more(document: Document, line: int) -> bool:
    before = document.text[: document.lines.offset(line, 1)]
    return is_unfinished(before) if len(before) <= _SHORT_TEXT else not document.parses

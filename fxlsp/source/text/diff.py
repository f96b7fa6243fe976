"""Edits between two texts.

They are for editors that send the whole text, and formatters that replace all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_LINES = 3000
"""Lines compared one by one; with more, the comparison may take longer than a user waits for an answer."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replacement of a part of a text.

    Offsets count code points of the text to which the edit is applied.
    """

    start_offset: int
    old_end_offset: int
    new_text: str

    def apply(self, text: str) -> str:
        """Return the text after the edit."""
        return text[: self.start_offset] + self.new_text + text[self.old_end_offset :]


def edits_between(old: str, new: str) -> tuple[TextEdit, ...]:
    """Return edits that turn ``old`` into ``new`` and leave equal lines unchanged.

    They are in the order in which ``Document.edited`` applies them: the last part of the text first.
    """
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    starts = [0, *accumulate(len(line) for line in old_lines)]
    edits = [
        _trimmed(starts[first], "".join(old_lines[first:last]), "".join(new_lines[new_first:new_last]))
        for first, last, new_first, new_last in _different_lines(old_lines, new_lines)
    ]
    return tuple(reversed(edits))


def _different_lines(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield differing ranges of lines: (first, last) in the old and the new text.

    Line numbers are from 0, the last one exclusive.
    """
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(old_middle) + len(new_middle) > _MOST_LINES:
        yield head, head + len(old_middle), head, head + len(new_middle)
        return
    for tag, first, last, new_first, new_last in SequenceMatcher(None, old_middle, new_middle).get_opcodes():
        if tag != "equal":
            yield head + first, head + last, head + new_first, head + new_last


def _trimmed(offset: int, old: str, new: str) -> TextEdit:
    """Return the edit of ``old`` at ``offset`` into ``new``, without common ends."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return TextEdit(offset + head, offset + len(old) - tail, new[head : len(new) - tail])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common prefix of two sequences."""
    differing = (index for index, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)
    return next(differing, min(len(one), len(other)))

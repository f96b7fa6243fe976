"""The edits between two texts: for editors that send a text whole, and formatters that replace all of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_LINES = 3000
"""Lines that are compared one by one: with more, that may take longer than a user waits for an answer."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One replacement; offsets count code points of the text right before this edit."""

    start_offset: int
    old_end_offset: int
    new_text: str

    def apply(self, text: str) -> str:
        return text[: self.start_offset] + self.new_text + text[self.old_end_offset :]


def edits_between(old: str, new: str) -> tuple[TextEdit, ...]:
    """Edits that turn one text into the other and leave lines alone that are the same.

    They are in the order in which ``Document.edited`` applies them: the last stretch of the text first.
    """
    old_lines, new_lines = _LINE.findall(old), _LINE.findall(new)
    starts = [0, *accumulate(len(line) for line in old_lines)]
    edits = [
        _trimmed(starts[first], "".join(old_lines[first:last]), "".join(new_lines[new_first:new_last]))
        for first, last, new_first, new_last in _different_lines(old_lines, new_lines)
    ]
    return tuple(reversed(edits))


def _different_lines(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """The ranges of lines that differ: (first, last) in the old text and in the new one, the last exclusive."""
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
    """The edit that replaces ``old``, which starts at ``offset``, without the characters that stay at either end."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return TextEdit(offset + head, offset + len(old) - tail, new[head : len(new) - tail])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items two sequences start with in common."""
    differing = (index for index, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)
    return next(differing, min(len(one), len(other)))

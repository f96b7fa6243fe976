"""What a fix is."""

from __future__ import annotations

from dataclasses import dataclass

from fxlsp.source.python.python_tree import PythonTree
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement. All edits of a fix count in the text before any of them, and do not overlap."""

    span: Span
    new_text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A way to make a problem go away."""

    title: str
    edits: tuple[Edit, ...]
    preferred: bool = False
    """It does what the user most probably wants, and what the model computes stays as it is."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is to be mended: a problem's code and place in a text that parses."""

    tree: PythonTree
    code: str
    span: Span

    def edit(self, start: int, end: int, new_text: str) -> Edit:
        """The edit that replaces what stands between two offsets."""
        return Edit(self.tree.lines.span(start, end), new_text)

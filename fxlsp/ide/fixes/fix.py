"""Types of quick fixes, and the edit that writes a comment above a line."""

from __future__ import annotations

from dataclasses import dataclass

from fxlsp.ide.problems import MovedNumber
from fxlsp.source.python.comments import comments_by_line
from fxlsp.source.python.python_tree import PythonTree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import ancestors


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of a span.

    The spans of all edits of a fix refer to the text before any of them, and do not overlap.
    """

    span: Span
    new_text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that remove a problem, with a title."""

    title: str
    edits: tuple[Edit, ...]
    preferred: bool = False
    """Whether it is what the user most probably wants, and leaves what the model computes unchanged."""


@dataclass(frozen=True, slots=True)
class FixContext:
    """Problem to be fixed: its code and span in a text that parses."""

    tree: PythonTree
    code: str
    span: Span
    number: MovedNumber | None = None
    """Number in this text with which the operation would run."""
    refused_sizes: tuple[str, ...] = ()
    """Forms in which the torch that traced refuses a traced size: ``"tuple"``, ``"whole"``."""

    def edit(self, start: int, end: int, new_text: str) -> Edit:
        """Return the edit that replaces the text between two offsets.

        A keyword may touch an expression that begins with a bracket (``return(x)``): a space keeps them apart.
        """
        text = self.tree.document.text
        before, after = text[max(0, start - 1) : start], text[start : start + 1]
        is_touched = after in _OPENING and _is_of_name(before) and _is_of_name(new_text[:1])
        return Edit(self.tree.lines.span(start, end), f" {new_text}" if is_touched else new_text)

    def has_comments(self, start: int, end: int) -> bool:
        """Return whether the text between two offsets has comments, which would be lost with it."""
        lines = self.tree.lines
        comments = self.tree.document.derive(comments_by_line).values()
        return any(start <= lines.offset(each.span.line, each.span.column) < end for each in comments)


_OPENING = tuple("([{'\"-+~")
"""First letters of expressions that a keyword may touch."""


def _is_of_name(character: str) -> bool:
    return character.isalnum() or character == "_"


def comment_above(document: Document, line: int, comment: str) -> Edit | None:
    """Return the edit that writes a comment of one or more lines above a line.

    Returns None if the line before continues in this one, so that no comment can be there.
    """
    comments = document.derive(comments_by_line)
    if line > 1 and line - 1 not in comments and is_continued(document, line - 1):
        return None
    text = document.lines.line_text(line)
    indentation = text[: len(text) - len(text.lstrip())]
    written = "".join(f"{indentation}{each}{document.newline}" for each in comment.split("\n"))
    return Edit(Span(line, 1, line, 1), written)


def is_continued(document: Document, line: int) -> bool:
    """Return whether a line without a comment continues in the next one.

    It does so by a backslash, or within a string.
    """
    text = document.lines.line_text(line)
    if text.endswith("\\"):
        return True
    row, column = document.lines.to_bytes(line, len(text) + 1)
    node = document.tree.root_node.descendant_for_point_range((row, column), (row, column))
    around = () if node is None else (node, *ancestors(node))
    return any(each.type == "string" and each.start_point.row <= row < each.end_point.row for each in around)

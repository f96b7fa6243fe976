"""What a fix is."""

from __future__ import annotations

from dataclasses import dataclass

from fxlsp.source.python.comments import comments_by_line
from fxlsp.source.python.python_tree import PythonTree
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import ancestors


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
class FixContext:
    """What is to be mended: a problem's code and place in a text that parses."""

    tree: PythonTree
    code: str
    span: Span

    def edit(self, start: int, end: int, new_text: str) -> Edit:
        """The edit that replaces what stands between two offsets."""
        return Edit(self.tree.lines.span(start, end), new_text)


def comment_above(document: Document, line: int, comment: str) -> Edit | None:
    """The edit that writes a comment, of one or several lines, above a line; None where there is no room for one."""
    comments = document.derive(comments_by_line)
    if line > 1 and line - 1 not in comments and is_continued(document, line - 1):
        return None
    text = document.lines.line_text(line)
    indentation = text[: len(text) - len(text.lstrip())]
    written = "".join(f"{indentation}{each}{document.newline}" for each in comment.split("\n"))
    return Edit(Span(line, 1, line, 1), written)


def is_continued(document: Document, line: int) -> bool:
    """Whether a line without a comment goes on behind its end: by a backslash, or within a string."""
    text = document.lines.line_text(line)
    if text.endswith("\\"):
        return True
    row, column = document.lines.to_bytes(line, len(text) + 1)
    node = document.tree.root_node.descendant_for_point_range((row, column), (row, column))
    around = () if node is None else (node, *ancestors(node))
    return any(each.type == "string" and each.start_point.row <= row < each.end_point.row for each in around)

"""Comments on lines of their own, above a line of code."""

from __future__ import annotations

from fxlsp.ide.fixes.fix import Edit
from fxlsp.source.python.comments import comments_by_line
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import ancestors


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

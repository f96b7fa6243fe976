"""Code action that writes the shapes at a position into the code as a comment."""

from __future__ import annotations

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.fixes.fix import Fix, comment_above
from fxlsp.ide.hover.hover import hover
from fxlsp.source.python.comments import comments_by_line
from fxlsp.source.python.python_tree import statement_around
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span


def shape_comment(snapshot: Snapshot, path: str, selected: Span) -> Fix | None:
    """Return the fix that adds a comment above the selected statement.

    None if no shapes are known, or if they are there already.

    Args:
        selected: only its start counts, without leading blanks.
    """
    document = snapshot.documents.get(path)
    if document is None:
        return None
    found = hover(snapshot, path, selected.line, _first_column(document, selected))
    if found is None or not found.comment_lines or found.comment is None:
        return None
    statement = statement_around(document, found.span)
    line = (found.span if statement is None else statement).line
    edit = None if _is_above(document, line, found.comment) else comment_above(document, line, found.comment)
    return None if edit is None else Fix("Write the shapes as a comment", (edit,))


def _first_column(document: Document, selected: Span) -> int:
    text = document.lines.line_text(selected.line)
    after = text[selected.column - 1 :]
    return selected.column + len(after) - len(after.lstrip())


def _is_above(document: Document, line: int, comment: str) -> bool:
    comments = document.derive(comments_by_line)
    wanted = comment.split("\n")
    above = [comments.get(each) for each in range(line - len(wanted), line)]
    return [None if each is None else each.text for each in above] == wanted

"""Fix that ignores a problem by the comment ``# fxlsp: ignore[FX101]``.

The comment is at the end of the line on which the problem starts, or above it if that line cannot have one.
"""

from __future__ import annotations

import re

from fxlsp.ide.fixes.fix import Edit, Fix, comment_above, is_continued
from fxlsp.source.python.comments import Comment, comments_by_line
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_IGNORE = re.compile(r"#\s*fxlsp:\s*ignore\b\s*(?:\[(?P<codes>[^\]]*)\])?")
_RECIPE = re.compile(r"#\s*fxlsp:")


def ignore_fix(document: Document, code: str, span: Span) -> Fix | None:
    """Return the fix that ignores a problem by a comment; None if none can be written."""
    edit = _edit(document, code, span.line)
    return None if edit is None else Fix(f"Ignore {code} here", (edit,))


def _edit(document: Document, code: str, line: int) -> Edit | None:
    comments = document.derive(comments_by_line)
    here, above = comments.get(line), comments.get(line - 1)
    if here is not None and (known := _IGNORE.search(here.text)) is not None:
        return _with_code(code, here, known)
    if above is not None and above.alone and (known := _IGNORE.search(above.text)) is not None:
        return _with_code(code, above, known)
    is_recipe = here is not None and _RECIPE.search(here.text) is not None
    if is_recipe or (here is None and is_continued(document, line)):
        return comment_above(document, line, f"# fxlsp: ignore[{code}]")
    text = document.lines.line_text(line)
    return Edit(Span(line, len(text.rstrip()) + 1, line, len(text) + 1), f"  # fxlsp: ignore[{code}]")


def _with_code(code: str, comment: Comment, known: re.Match[str]) -> Edit | None:
    """Return the edit that adds a code to a comment that ignores others."""
    if known["codes"] is None:
        return None
    codes = [each.strip() for each in known["codes"].split(",") if each.strip()]
    if code in codes:
        return None
    line, column = comment.span.line, comment.span.column
    start, end = known.span("codes")
    return Edit(Span(line, column + start, line, column + end), ", ".join([*codes, code]))

"""Comments that look like those of fxlsp and have no effect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.report.codes import is_code_prefix
from fxlsp.source.python.comments import Comment, comments_by_line
from fxlsp.source.python.expressions import parse_expression
from fxlsp.source.python.ignores import ignored_codes
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_WITHOUT_COLON = re.compile(r"#\s*fxlsp\s+(?P<text>.+?)\s*$")


@dataclass(frozen=True)
class CommentMistake:
    """Comment, or part of one, without the effect that it seems to be written for."""

    span: Span
    message: str


def comment_mistakes(document: Document) -> tuple[CommentMistake, ...]:
    """Return the mistakes in the comments of a document, in the order of the text."""
    return document.derive(_find_mistakes) if "fxlsp" in document.text else ()


def _find_mistakes(document: Document) -> tuple[CommentMistake, ...]:
    comments = document.derive(comments_by_line)
    return tuple(found for line in sorted(comments) for found in _mistakes(comments[line]))


def _mistakes(comment: Comment) -> Iterator[CommentMistake]:
    bare = _WITHOUT_COLON.search(comment.text)
    if bare is not None and _is_meant_for_fxlsp(bare["text"]):
        message = f"This comment has no effect without a colon: write '# fxlsp: {bare['text']}'"
        yield CommentMistake(_part(comment, bare.start(), bare.end("text")), message)
    for start, code in ignored_codes(comment.text):
        if not is_code_prefix(code):
            # A number that does not exist does not show which one is meant.
            meant = f"; did you mean {code.upper()}?" if is_code_prefix(code.upper()) else ""
            message = f"'{code}' is no problem code (such as FX101) and no family of them (such as FX1){meant}"
            yield CommentMistake(_part(comment, start, start + len(code)), message)


def _is_meant_for_fxlsp(text: str) -> bool:
    """Return whether a text is a call, sizes or what ignores problems, and not prose."""
    expression = parse_expression(text)
    if isinstance(expression, ast.Subscript):
        expression = expression.value
        return isinstance(expression, ast.Name) and expression.id == "ignore"
    if isinstance(expression, ast.Tuple):
        return all(isinstance(each, ast.Constant) for each in expression.elts)
    return isinstance(expression, ast.Call)


def _part(comment: Comment, start: int, end: int) -> Span:
    line, column = comment.span.line, comment.span.column
    return Span(line, column + start, line, column + end)

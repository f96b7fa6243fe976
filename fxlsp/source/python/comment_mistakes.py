"""Comments that look like those of fxlsp and have no effect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fxlsp.report.codes import is_code_prefix, no_code
from fxlsp.source.python.class_statements import with_decorators
from fxlsp.source.python.comments import Comment, comments_by_line, recipe_text
from fxlsp.source.python.expressions import parse_expression
from fxlsp.source.python.ignores import ignored_codes
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import captures, span_of

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
    within = list(_lines_within_classes(document, comments)) if any(map(_is_recipe, comments.values())) else []
    return tuple(found for line in sorted(comments) for found in _mistakes(comments[line], line in within))


def _lines_within_classes(document: Document, comments: Mapping[int, Comment]) -> Iterator[int]:
    """Yield the lines of comments in a class that belong to the header of no class."""
    inside: set[int] = set()
    headers: set[int] = set()
    for node in captures(document.tree.root_node, "(class_definition) @class").get("class", []):
        extent = span_of(node, document.lines)
        first = span_of(with_decorators(node), document.lines).line
        last = max((span_of(each, document.lines).line for each in node.children if each.type == ":"), default=first)
        while (above := comments.get(first - 1)) is not None and above.alone:
            first -= 1
        headers.update(range(first, last + 1))
        inside.update(range(extent.line, extent.end_line + 1))
    yield from (line for line in comments if line in inside - headers)


def _is_recipe(comment: Comment) -> bool:
    text = recipe_text(comment)
    return text is not None and _is_meant_for_fxlsp(text)


def _mistakes(comment: Comment, is_within_class: bool) -> Iterator[CommentMistake]:
    if is_within_class and _is_recipe(comment):
        start = comment.text.index("fxlsp:")
        message = "This recipe has no effect here: write it on the line of the class, or right above it"
        yield CommentMistake(_part(comment, comment.text.rindex("#", 0, start), len(comment.text)), message)
    bare = _WITHOUT_COLON.search(comment.text)
    if bare is not None and _is_meant_for_fxlsp(bare["text"]):
        message = f"This comment has no effect without a colon: write '# fxlsp: {bare['text']}'"
        yield CommentMistake(_part(comment, bare.start(), bare.end("text")), message)
    for start, code in ignored_codes(comment.text):
        if not is_code_prefix(code):
            yield CommentMistake(_part(comment, start, start + len(code)), no_code(code))


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

"""Comments of a file, and those with recipes: ``# fxlsp: Net(width=64)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import captures, span_of, text_of

_RECIPE = re.compile(r"#\s*fxlsp:(?!\s*ignore\b)\s*(?P<text>.*?)\s*$")


@dataclass(frozen=True)
class Comment:
    """One comment of a file."""

    text: str
    """The comment, from the hash sign on."""
    span: Span
    alone: bool
    """Whether it is the only text on its line."""


@dataclass(frozen=True)
class RecipeComment:
    """Text after ``# fxlsp:``, other than that of an ``ignore`` comment."""

    text: str
    span: Span


def recipe_comments(document: Document, header: Span) -> Iterator[RecipeComment]:
    """Yield the recipes of a statement: right above it, then on its own lines.

    Args:
        header: from the start of the statement, decorators included, to the end of its header.
    """
    comments = document.derive(comments_by_line)
    first = header.line
    while (above := comments.get(first - 1)) is not None and above.alone:
        first -= 1
    for line in range(first, header.end_line + 1):
        comment = comments.get(line)
        if comment is not None and (recipe := _recipe(comment)) is not None:
            yield recipe


def _recipe(comment: Comment) -> RecipeComment | None:
    match = _RECIPE.search(comment.text)
    if match is None:
        return None
    line, start = comment.span.line, comment.span.column
    return RecipeComment(match["text"], Span(line, start + match.start("text"), line, start + match.end("text")))


def recipe_text(comment: Comment) -> str | None:
    """Return the text after ``# fxlsp:``; None if it is no comment with a recipe."""
    match = _RECIPE.search(comment.text)
    return None if match is None else match["text"]


def comments_by_line(document: Document) -> dict[int, Comment]:
    """Return the comments of a file by line, from 1; a line has at most one."""
    found: dict[int, Comment] = {}
    for node in captures(document.tree.root_node, "(comment) @comment").get("comment", []):
        span = span_of(node, document.lines)
        alone = not document.lines.line_text(span.line)[: span.column - 1].strip()
        found[span.line] = Comment(text_of(node).rstrip("\r\n"), span, alone)
    return found

"""Comments that suppress problems: ``# fxlsp: ignore[FX101, FX2]``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.source.python.comments import comments_by_line
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span

_IGNORE = re.compile(r"#\s*fxlsp:\s*ignore\b\s*(?:\[(?P<codes>[^\]]*)\])?")


def ignored_codes(comment: str) -> Iterator[tuple[int, str]]:
    """Yield the codes and prefixes of codes that a comment suppresses, each with its index in the comment."""
    match = _IGNORE.search(comment)
    if match is not None and match["codes"] is not None:
        for code in re.finditer(r"[^\s,]+", match["codes"]):
            yield match.start("codes") + code.start(), code[0]


@dataclass(frozen=True, order=True)
class IgnoredCode:
    """Code, or prefix of codes, that a comment suppresses; "" for every code."""

    line: int
    """Line of the comment."""
    prefix: str


def is_ignored(document: Document, code: str, span: Span) -> bool:
    """Return whether a comment suppresses a problem; see :func:`ignoring`."""
    return next(ignoring(document, code, span), None) is not None


def ignoring(document: Document, code: str, span: Span) -> Iterator[IgnoredCode]:
    """Yield what suppresses a problem.

    The comment is on the first or the last line of the problem, or alone on the line above.
    """
    if "fxlsp:" not in document.text:
        return
    comments = document.derive(comments_by_line)
    above = comments.get(span.line - 1)
    lines = [span.line, span.end_line, *([span.line - 1] if above is not None and above.alone else [])]
    for line in dict.fromkeys(lines):
        yield from (each for each in _ignored_on(document, line) if code.startswith(each.prefix))


def all_ignored(document: Document) -> Iterator[IgnoredCode]:
    """Yield everything that comments of a text suppress, in its order."""
    if "fxlsp:" in document.text:
        for line in sorted(document.derive(comments_by_line)):
            yield from _ignored_on(document, line)


def _ignored_on(document: Document, line: int) -> Iterator[IgnoredCode]:
    comment = document.derive(comments_by_line).get(line)
    match = None if comment is None else _IGNORE.search(comment.text)
    if comment is None or match is None:
        return
    if match["codes"] is None:
        yield IgnoredCode(line, "")
    for _, code in ignored_codes(comment.text):
        yield IgnoredCode(line, code)

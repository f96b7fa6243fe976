"""Comments that suppress problems: ``# fxlsp: ignore[FX101, FX2]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def is_ignored(document: Document, code: str, span: Span) -> bool:
    """Return whether a comment suppresses a problem.

    It is on the first or the last line of the problem, or alone on the line above.
    """
    return any(code.startswith(prefix) for prefix in _ignored(document, span))


def _ignored(document: Document, span: Span) -> Iterator[str]:
    """Yield the suppressed codes and prefixes of codes; "" for every code."""
    if "fxlsp:" not in document.text:
        return
    comments = document.derive(comments_by_line)
    above = comments.get(span.line - 1)
    here = [comments.get(line) for line in {span.line, span.end_line}]
    for comment in (*here, above if above is not None and above.alone else None):
        match = None if comment is None else _IGNORE.search(comment.text)
        if match is not None and match["codes"] is None:
            yield ""
        elif comment is not None:
            yield from (code for _, code in ignored_codes(comment.text))

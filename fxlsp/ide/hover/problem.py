"""Problems at the cursor, each with its headline and the advice on its code.

Not every editor shows messages in its hovers, and what to do is understood beside what is wrong. The advice of a
code is part of its record.
"""

from __future__ import annotations

from collections.abc import Sequence

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.fixes.registry import fixes_for
from fxlsp.ide.hover.text import HoverText
from fxlsp.ide.problems import FileProblem
from fxlsp.ide.render.rich_text import RichText, link, prose, words
from fxlsp.report import codes
from fxlsp.source.text.documents import Document

_LONGEST_HEADLINE = 160
"""Number of characters of a message that are shown."""


def problem_hover(
    snapshot: Snapshot, path: str, found: Sequence[FileProblem], line: int, column: int, shown: str = ""
) -> HoverText | None:
    """Return headline and advice for each problem at a position, inner expressions first.

    None if there is no problem.

    Args:
        found: the problems of the file.
        shown: text of the hover without problems, whose headlines are not repeated.
    """
    document = snapshot.documents.get(path)
    around = [] if document is None else _around(found, line, column)
    if document is None or not around:
        return None
    lines = dict.fromkeys(_advice(document, problem, shown) for problem in around)
    return HoverText((), around[0].span, tuple(lines))


def _around(shown: Sequence[FileProblem], line: int, column: int) -> list[FileProblem]:
    """Return the problems at a position, the smallest span first.

    One that ends directly before the position counts only if no other contains the character after it.
    """
    touching = [each for each in shown if each.code in codes.RECORDS and each.span.contains(line, column)]
    holding = [each for each in touching if (line, column) < (each.span.end_line, each.span.end_column)]
    return sorted(holding or touching, key=lambda each: each.span.size)


def _advice(document: Document, problem: FileProblem, shown: str) -> RichText:
    fix = next(iter(fixes_for(document, problem.code, problem.span, problem.number, problem.refused_sizes)), None)
    headline = _headline(problem.message)
    return advice(problem.code, None if headline.plain in shown else headline, None if fix is None else fix.title)


def _headline(message: str) -> RichText:
    """Return the first line of a message, with source between backticks set as code."""
    first = " ".join(message.strip().partition("\n")[0].split()).removesuffix(".")
    if len(first) > _LONGEST_HEADLINE:
        kept = first[: _LONGEST_HEADLINE - 1]
        first = kept.rpartition(". ")[0] or f"{kept}…"
    # Messages of torch and of the model may hold a single backtick.
    return words(first) if first.count("`") % 2 else prose(first)


def advice(code: str, headline: RichText | None, fix: str | None) -> RichText:
    """Return ``FX201: module is not installed as a submodule. Keep modules in … · fix: Register the modules …``.

    Args:
        code: a problem's code, one that has a record.
        headline: what is wrong; None if that is known.
        fix: title of the quick fix for the problem, if there is one.
    """
    end = "" if headline is None or headline.plain.endswith("…") else "."
    what = words("") if headline is None else headline + words(f"{end} ")
    line = link(code, codes.page_url(code)) + words(": ") + what + prose(codes.RECORDS[code].advice)
    return line if fix is None else line + words(" · fix: ") + words(fix)

"""What a hover says about the problems under the cursor: what to do. Editors show their messages themselves."""

from __future__ import annotations

from collections.abc import Sequence

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.fixes.registry import mends
from fxlsp.ide.hover.problem_advice import ADVICE, advice
from fxlsp.ide.hover.text import HoverText
from fxlsp.ide.problems import FileProblem, problems
from fxlsp.ide.render.rich_text import RichText
from fxlsp.source.text.documents import Document


def problem_hover(snapshot: Snapshot, path: str, line: int, column: int) -> HoverText | None:
    """Advice for each problem that is told at a place, those of inner expressions first; None where there is none."""
    document = snapshot.documents.get(path)
    around = [] if document is None else _around(problems(snapshot, path), line, column)
    if document is None or not around:
        return None
    lines = dict.fromkeys(_advice(document, problem) for problem in around)
    return HoverText((), around[0].span, tuple(lines))


def _around(told: Sequence[FileProblem], line: int, column: int) -> list[FileProblem]:
    """One that ends right before the place counts only where none holds the character behind it."""
    touching = [each for each in told if each.code in ADVICE and each.span.contains(line, column)]
    holding = [each for each in touching if (line, column) < (each.span.end_line, each.span.end_column)]
    return sorted(holding or touching, key=lambda each: each.span.size)


def _advice(document: Document, problem: FileProblem) -> RichText:
    fix = next(iter(mends(document, problem.code, problem.span)), None)
    return advice(problem.code, None if fix is None else fix.title)

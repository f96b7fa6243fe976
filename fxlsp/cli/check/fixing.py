"""``fxlsp check --fix``: the fixes that leave what the models compute unchanged, written into the files."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fxlsp.cli.exit_codes import UsageError
from fxlsp.ide.fixes.fix import Edit, Fix
from fxlsp.ide.fixes.registry import fixes_for
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document
from fxlsp.source.text.notebooks.ipynb import is_notebook
from fxlsp.source.text.positions import Span


@dataclass(frozen=True)
class AppliedFix:
    """Fix that was written."""

    path: str
    line: int
    title: str


def apply_fixes(problems: Iterable[Problem], document: Callable[[str], Document | None]) -> list[AppliedFix]:
    """Write the preferred fixes of problems into their files, and return them in the order of files and lines.

    Of fixes whose edits overlap the first is written. Notebooks, files in another encoding than UTF-8, and files that
    are not as they were read, are left alone.

    Args:
        problems: those whose locations are in the program.
        document: returns the text of a file as it was checked.

    Raises:
        UsageError: a file cannot be written.
    """
    by_file: dict[str, list[tuple[int, Fix]]] = {}
    for problem in problems:
        place = problem.location
        text = None if place is None or is_notebook(place.file) else document(place.file)
        if place is None or text is None:
            continue
        fixes = fixes_for(text, problem.code, Span.of(place), refused_sizes=problem.refused_sizes)
        fix = next((each for each in fixes if each.preferred), None)
        found = by_file.setdefault(place.file, [])
        if fix is not None and fix not in [known for _, known in found]:
            found.append((place.line, fix))
    applied = []
    for path in sorted(by_file):
        text = document(path)
        if text is not None:
            applied += _written(path, text, sorted(by_file[path], key=lambda each: each[0]))
    return applied


def _written(path: str, document: Document, fixes: list[tuple[int, Fix]]) -> list[AppliedFix]:
    taken: list[tuple[int, int]] = []
    edits: list[Edit] = []
    applied: list[AppliedFix] = []
    for line, fix in fixes:
        ranges = [_range(document, edit) for edit in fix.edits]
        if not any(
            start < end_taken and start_taken < end for start, end in ranges for start_taken, end_taken in taken
        ):
            # An insertion is one character wide here, so that two at one place exclude each other.
            taken += [(start, max(end, start + 1)) for start, end in ranges]
            edits += fix.edits
            applied.append(AppliedFix(path, line, fix.title))
    if not edits:
        return []
    try:
        with open(path, encoding="utf-8", newline="") as file:
            if file.read() != document.text:
                return []
        _replace(os.path.realpath(path), _edited(document, edits))
    except UnicodeDecodeError:
        return []
    except OSError as error:
        raise UsageError(f"{path} cannot be fixed: {error}") from error
    return applied


def _replace(path: str, text: str) -> None:
    """Write a file completely or not at all, with the mode that it has.

    Raises:
        OSError: it cannot be written. It is then unchanged.
    """
    descriptor, name = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".fxlsp-", suffix=".tmp")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        shutil.copymode(path, name)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _range(document: Document, edit: Edit) -> tuple[int, int]:
    lines, span = document.lines, edit.span
    return lines.offset(span.line, span.column), lines.offset(span.end_line, span.end_column)


def _edited(document: Document, edits: Iterable[Edit]) -> str:
    text = document.text
    for edit in sorted(edits, key=lambda each: _range(document, each), reverse=True):
        start, end = _range(document, edit)
        text = text[:start] + edit.new_text + text[end:]
    return text

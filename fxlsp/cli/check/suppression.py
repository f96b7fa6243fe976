"""Suppression of problems by settings and comments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fxlsp.cli.check.candidates import FoundFile
from fxlsp.cli.tracing.project import Projects
from fxlsp.report.problems import Problem
from fxlsp.source.python.ignores import is_ignored
from fxlsp.source.text.documents import Document, read_document
from fxlsp.source.text.positions import Span


class Suppressions:
    """Settings and comments of the checked files, and of those that they import."""

    def __init__(self, files: Iterable[FoundFile], projects: Projects) -> None:
        self._documents: dict[str, Document | None] = {file.document.path: file.document for file in files}
        self._checked = frozenset(self._documents)
        self._projects = projects

    def remaining(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the problems that are not suppressed, with the severity of the settings."""
        for problem in problems:
            place = problem.location
            if place is None:
                yield problem
                continue
            severity = problem.severity
            if place.file in self._checked:
                policy = self._projects.at(os.path.dirname(place.file)).policy
                judged = policy.severity(problem.code, severity)
                if judged is None:
                    continue
                severity = judged
            document = self._document(place.file)
            if document is None or not is_ignored(document, problem.code, Span.of(place)):
                yield replace(problem, severity=severity)

    def _document(self, path: str) -> Document | None:
        if path not in self._documents:
            try:
                self._documents[path] = read_document(path).program
            except (OSError, UnicodeDecodeError, SyntaxError):
                self._documents[path] = None
        return self._documents[path]

"""Suppression of problems by options, settings and comments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fxlsp.cli.check.candidates import FoundFile
from fxlsp.cli.check.selection import CodeSelection
from fxlsp.cli.tracing.project import Projects
from fxlsp.report.code_records import Severity
from fxlsp.report.problems import Problem
from fxlsp.source.python.ignores import IgnoredCode, all_ignored, ignoring
from fxlsp.source.text.documents import Document, read_document
from fxlsp.source.text.positions import Span


class Suppressions:
    """Options of a run, settings and comments of the checked files and of those that they import."""

    def __init__(
        self,
        files: Iterable[FoundFile],
        projects: Projects,
        selection: CodeSelection = CodeSelection(),  # noqa: B008
    ) -> None:
        self._documents: dict[str, Document | None] = {file.document.path: file.document for file in files}
        self._checked = frozenset(self._documents)
        self._projects = projects
        self._selection = selection
        self._used: set[tuple[str, IgnoredCode]] = set()

    def remaining(self, problems: Iterable[Problem]) -> Iterator[Problem]:
        """Yield the problems that are not suppressed, with the severity of the settings."""
        for problem in problems:
            severity = self._severity(problem)
            if severity is None or self._is_ignored(problem):
                continue
            if self._selection.includes(problem.code):
                yield replace(problem, severity=severity)

    def unused(self, paths: Iterable[str]) -> list[tuple[str, IgnoredCode]]:
        """Return what comments of some of the checked files suppress in vain, as far as ``remaining`` has seen."""
        found = []
        for path in paths:
            document = self._documents.get(path)
            ignored = () if document is None else all_ignored(document)
            found += [(path, each) for each in ignored if (path, each) not in self._used]
        return found

    def document(self, path: str) -> Document | None:
        """Return the text of a file, None if it cannot be read."""
        if path not in self._documents:
            try:
                self._documents[path] = read_document(path).program
            except (OSError, UnicodeDecodeError, SyntaxError):
                self._documents[path] = None
        return self._documents[path]

    def _severity(self, problem: Problem) -> Severity | None:
        place = problem.location
        if place is None or place.file not in self._checked:
            return problem.severity
        return self._projects.at(os.path.dirname(place.file)).policy.severity(problem.code, problem.severity)

    def _is_ignored(self, problem: Problem) -> bool:
        place = problem.location
        document = None if place is None else self.document(place.file)
        if place is None or document is None:
            return False
        found = list(ignoring(document, problem.code, Span.of(place)))
        self._used.update((place.file, each) for each in found)
        return bool(found)

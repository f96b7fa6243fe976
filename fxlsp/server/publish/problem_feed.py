"""Selection of the problems of each open document that are shown now.

A failure that leaves no graph is held back until the user pauses, saves, or has just opened the file: half-typed text
fails like that all the time. A failure that is shown stays while it lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.problems import FileProblem, problems

IDLE_SECONDS = 2.0
"""Seconds without an edit after which failures are shown."""


class ProblemFeed:
    """Filter of the problems of open documents.

    It calls ``on_idle`` with a path when the user has stopped to edit that document.
    """

    def __init__(self, on_idle: Callable[[str], None]) -> None:
        self._on_idle = on_idle
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._versions: dict[str, int | None] = {}
        self._shown_failures: dict[str, frozenset[tuple[str, str]]] = {}
        """The failures shown, by code and model."""

    def problems(self, snapshot: Snapshot, path: str) -> list[FileProblem]:
        """Return the problems of a file to show."""
        self._note_edit(snapshot, path)
        shown_before = self._shown_failures.get(path, frozenset())
        is_idle = path not in self._timers
        shown = [
            each
            for each in problems(snapshot, path)
            if is_idle or not each.is_failure or _identity(each) in shown_before
        ]
        self._shown_failures[path] = frozenset(_identity(each) for each in shown if each.is_failure)
        return shown

    def mark_idle(self, path: str) -> None:
        """End the wait: the document was saved, or not edited for a while."""
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()
            self._on_idle(path)

    def forget(self, path: str) -> None:
        """Drop the state of a document that was closed."""
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()
        self._versions.pop(path, None)
        self._shown_failures.pop(path, None)

    def _note_edit(self, snapshot: Snapshot, path: str) -> None:
        """Start to wait when the document was edited.

        A document that was just opened counts as idle.
        """
        document = snapshot.documents.get(path)
        if document is None or self._versions.get(path, document.version) == document.version:
            self._versions[path] = document.version if document else None
            return
        self._versions[path] = document.version
        if path in self._timers:
            self._timers[path].cancel()
        self._timers[path] = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.mark_idle, path)


def _identity(problem: FileProblem) -> tuple[str, str]:
    return problem.code, problem.model

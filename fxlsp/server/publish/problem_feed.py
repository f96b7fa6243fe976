"""The problems of each open document, as they are to be shown now.

A failure that leaves no graph is held back until the user has rested, saved, or just opened the file: half-typed text
fails like that all the time. One that is shown stays while it lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.problems import FileProblem, problems

REST = 2.0
"""Seconds without an edit after which failures are told."""


class ProblemFeed:
    """Decides which problems are told; calls ``on_rest`` with a path when its user has rested."""

    def __init__(self, on_rest: Callable[[str], None]) -> None:
        self._on_rest = on_rest
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._versions: dict[str, int | None] = {}
        self._told: dict[str, frozenset[tuple[str, str]]] = {}
        """The failures shown, by code and model."""

    def problems(self, snapshot: Snapshot, path: str) -> list[FileProblem]:
        """What to show of the file."""
        self._note_version(snapshot, path)
        told = self._told.get(path, frozenset())
        rested = path not in self._timers
        shown = [each for each in problems(snapshot, path) if rested or not each.is_failure or _identity(each) in told]
        self._told[path] = frozenset(_identity(each) for each in shown if each.is_failure)
        return shown

    def rest(self, path: str) -> None:
        """The user rests: the document was saved, or not edited for a while."""
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()
            self._on_rest(path)

    def forget(self, path: str) -> None:
        """The document was closed."""
        timer = self._timers.pop(path, None)
        if timer is not None:
            timer.cancel()
        self._versions.pop(path, None)
        self._told.pop(path, None)

    def _note_version(self, snapshot: Snapshot, path: str) -> None:
        """Starts waiting for rest when the document was edited; one that was just opened is at rest."""
        document = snapshot.documents.get(path)
        if document is None or self._versions.get(path, document.version) == document.version:
            self._versions[path] = document.version if document else None
            return
        self._versions[path] = document.version
        if path in self._timers:
            self._timers[path].cancel()
        self._timers[path] = asyncio.get_running_loop().call_later(REST, self.rest, path)


def _identity(problem: FileProblem) -> tuple[str, str]:
    return problem.code, problem.model

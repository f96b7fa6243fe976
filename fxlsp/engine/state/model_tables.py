"""What a session knows about its models, and what was tried with each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from fxlsp.engine.state.analysis import ContextModel
from fxlsp.engine.state.snapshot import ModelKey, ModelState, Status

MAX_DEATHS = 2
"""Deaths on the same texts after which a model is poisoned."""


@dataclass(frozen=True, slots=True)
class TraceAttempt:
    """The newest trace of a model that came to an end, in whatever way."""

    number: int
    """Grows with each request of the session."""
    texts: Mapping[str, str]
    """Digest of each text on which the outcome depends, by path: another outcome needs another text."""
    deaths: int = 0
    """How often in a row the trace died on these texts."""
    repeat: bool = False
    """It is to be repeated although the texts are the same."""


class ModelTables:
    """The models of a session by their keys.

    The tables are views: the methods alone change them. A model without a state has no attempt and covers nothing; one
    that is covered has neither, nor a report.
    """

    def __init__(self) -> None:
        self._states: dict[ModelKey, ModelState] = {}
        self.states: Final[Mapping[ModelKey, ModelState]] = MappingProxyType(self._states)
        """What is known about each model."""
        self._context_models: dict[ModelKey, ContextModel] = {}
        self.context_models: Final[Mapping[ModelKey, ContextModel]] = MappingProxyType(self._context_models)
        """Models of files that are not open, traced for the sake of documents that are."""
        self._attempts: dict[ModelKey, TraceAttempt] = {}
        self.attempts: Final[Mapping[ModelKey, TraceAttempt]] = MappingProxyType(self._attempts)
        self._running: dict[ModelKey, Mapping[str, str]] = {}
        self.running: Final[Mapping[ModelKey, Mapping[str, str]]] = MappingProxyType(self._running)
        """Digests of the texts sent with the trace that runs, by path."""
        self._covers: dict[ModelKey, Mapping[str, frozenset[str]]] = {}
        self.covers: Final[Mapping[ModelKey, Mapping[str, frozenset[str]]]] = MappingProxyType(self._covers)
        """The classes that a model's report covers, by the path of their file."""
        self._spent_ms: dict[str, float] = {}
        self.spent_ms: Final[Mapping[str, float]] = MappingProxyType(self._spent_ms)
        """Worker time that first traces of a file's models took since it was opened or edited."""

    def keys_in(self, path: str) -> list[ModelKey]:
        """Return the keys of the models that a file defines, guests too."""
        return [key for key in self._states if key.file == path]

    def texts_of(self, path: str) -> set[str]:
        """Return the digests of the texts of a file that known results refer to."""
        known = [texts for state in self._states.values() for texts in (state.texts, state.failure_texts)]
        return {texts[path] for texts in (*known, *self._running.values()) if path in texts}

    # Which models there are

    def set_models(self, path: str, states: Mapping[ModelKey, ModelState]) -> None:
        """Make ``states`` the models of a file; forget its others."""
        self.forget(key for key in self.keys_in(path) if key not in states)
        self._states.update(states)

    def set_context_models(
        self, context_models: Mapping[ModelKey, ContextModel], states: Mapping[ModelKey, ModelState]
    ) -> None:
        """Replace the guests, each with its state; former ones keep theirs."""
        self._states.update(states)
        self._context_models.clear()
        self._context_models.update(context_models)

    def forget(self, keys: Iterable[ModelKey]) -> None:
        """Drop all that is known about some models.

        The outcome of a trace that runs for one will be ignored.
        """
        for key in tuple(keys):
            for table in (self._states, self._attempts, self._covers):
                table.pop(key, None)

    # What is known of one

    def set_status(self, key: ModelKey, status: Status) -> None:
        """Set the status of a model that no other model covers."""
        self._states[key] = replace(self._states[key], status=status, covered_by=None)

    def cover(self, key: ModelKey, cover: ModelKey) -> None:
        """Leave a model to the trace of another; its own report is dropped."""
        state = self._states[key]
        self._states[key] = ModelState(key, found=state.found, cost_ms=state.cost_ms, covered_by=cover)
        self._attempts.pop(key, None)
        self._covers.pop(key, None)

    def add_covered(self, key: ModelKey, classes: Mapping[str, frozenset[str]]) -> None:
        """Add classes, by file, to those that a model's report covers."""
        self._covers[key] = {**self._covers.get(key, {}), **classes}

    # Traces

    def start_trace(self, key: ModelKey, texts: Mapping[str, str]) -> None:
        """Mark a model as running, with the digests of the texts that were sent."""
        self._running[key] = texts
        self._states[key] = replace(self._states[key], status=Status.RUNNING)

    def end_trace(self, key: ModelKey, *, is_waiting: bool) -> bool:
        """Mark a model as no longer running.

        Args:
            is_waiting: its next trace is scheduled already.

        Returns:
            Whether the model still exists.
        """
        self._running.pop(key, None)
        state = self._states.get(key)
        if state is None:
            return False
        self._states[key] = replace(state, status=Status.QUEUED if is_waiting else Status.UNKNOWN)
        return True

    def set_attempt(self, key: ModelKey, attempt: TraceAttempt) -> None:
        """Record that a trace ended: the next one needs another text, or a request."""
        self._attempts[key] = attempt

    def set_failure(self, state: ModelState, attempt: TraceAttempt) -> None:
        """Record a trace without a graph: the last report stays, and what it covers."""
        self._attempts[state.key] = attempt
        self._states[state.key] = state

    def set_report(self, state: ModelState, attempt: TraceAttempt, classes: Mapping[str, frozenset[str]]) -> None:
        """Record a trace with a report, and the classes that it covers, by file."""
        self._attempts[state.key] = attempt
        self._states[state.key] = state
        self._covers[state.key] = classes

    # What may be traced again

    def repeat(self, keys: Iterable[ModelKey]) -> None:
        """Allow one more trace on the same texts, but for models that keep dying on them."""
        for key in tuple(keys):
            attempt = self._attempts.get(key)
            if attempt is not None and attempt.deaths < MAX_DEATHS:
                self._attempts[key] = replace(attempt, repeat=True)

    def repeat_moved(self, path: str, digest: str) -> None:
        """Allow one more trace where the last one read another text of a file."""
        for key, attempt in self._attempts.items():
            if attempt.texts.get(path, digest) != digest:
                self._attempts[key] = replace(attempt, repeat=True)

    def repeat_all(self, path: str | None = None) -> None:
        """Allow one more trace of each model of a file, or of all files.

        Poisoned models and those over the budget of their file are allowed one too.
        """
        for key, attempt in self._attempts.items():
            if path in (None, key.file):
                self._attempts[key] = replace(attempt, deaths=0, repeat=True)
        if path is None:
            self._spent_ms.clear()
        else:
            self.reset_budget(path)

    def charge(self, path: str, milliseconds: float) -> None:
        """Take the time of a first trace from the budget of the model's file."""
        self._spent_ms[path] = self._spent_ms.get(path, 0.0) + milliseconds

    def reset_budget(self, path: str) -> None:
        """Give the models of a file their whole budget again: the user works on them."""
        self._spent_ms.pop(path, None)

    def reset_budgets(self) -> None:
        """Give the models of every file their whole budget again."""
        self._spent_ms.clear()

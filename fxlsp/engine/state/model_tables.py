"""Tables of a session's models: states, results and traces of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from fxlsp.engine.state.analysis import ContextModel
from fxlsp.engine.state.snapshot import FrontendAnswer, ModelKey, ModelState, Status
from fxlsp.report.frontends import OtherFrontend

MAX_DEATHS = 2
"""Deaths on the same texts after which a model is poisoned."""


@dataclass(frozen=True, slots=True)
class TraceAttempt:
    """The newest trace of a model that ended, whatever its outcome."""

    number: int
    """Number of the request, which grows through the session."""
    texts: Mapping[str, str]
    """Digest of each text on which the outcome depends, by path. The same texts give the same outcome."""
    deaths: int = 0
    """How often in a row the worker died on these texts."""
    repeat: bool = False
    """Whether to trace again although the texts are the same."""


class ModelTables:
    """The models of a session by their keys.

    The tables are views: only the methods change them. A model without a state has no attempt and covers nothing; a
    covered model has no attempt, covers nothing and has no report.
    """

    def __init__(self) -> None:
        self._states: dict[ModelKey, ModelState] = {}
        self.states: Final[Mapping[ModelKey, ModelState]] = MappingProxyType(self._states)
        """State of each model."""
        self._context_models: dict[ModelKey, ContextModel] = {}
        self.context_models: Final[Mapping[ModelKey, ContextModel]] = MappingProxyType(self._context_models)
        """Models of closed files, traced because they show classes of open documents in use."""
        self._attempts: dict[ModelKey, TraceAttempt] = {}
        self.attempts: Final[Mapping[ModelKey, TraceAttempt]] = MappingProxyType(self._attempts)
        self._running: dict[ModelKey, Mapping[str, str]] = {}
        self._moved: dict[ModelKey, dict[str, str]] = {}
        """Digests of the files that were written while a trace runs, by model and path."""
        self._requested: set[ModelKey] = set()
        """Models whose trace was requested while another one runs."""
        self.running: Final[Mapping[ModelKey, Mapping[str, str]]] = MappingProxyType(self._running)
        """Digests of the texts sent with the running trace, by path."""
        self._covers: dict[ModelKey, Mapping[str, frozenset[str]]] = {}
        """The classes that a model's report covers, by path of their file."""
        self._covering: dict[tuple[str, str], dict[ModelKey, None]] = {}
        """The same the other way round: models by path and name of a class, the one that covers it longest first."""
        self._answers: dict[ModelKey, dict[OtherFrontend, FrontendAnswer]] = {}
        self.answers: Final[Mapping[ModelKey, Mapping[OtherFrontend, FrontendAnswer]]] = MappingProxyType(self._answers)
        """The last answer of each front end, which may be of earlier texts."""
        self._asked_texts: Mapping[str, str] = {}
        """Digests of the texts sent with the last request to a front end, by path."""
        self._spent_ms: dict[str, float] = {}
        self.spent_ms: Final[Mapping[str, float]] = MappingProxyType(self._spent_ms)
        """Worker time that first traces of a file's models took since it was opened or edited."""

    def keys_in(self, path: str) -> list[ModelKey]:
        """Return the keys of a file's models, including context models."""
        return [key for key in self._states if key.file == path]

    def set_asked_texts(self, texts: Mapping[str, str]) -> None:
        """Keep the edits since texts that a front end is asked about: its answer refers to them."""
        self._asked_texts = texts

    def texts_of(self, path: str) -> set[str]:
        """Return the digests of the texts of a file that known results refer to."""
        known = [texts for state in self._states.values() for texts in (state.texts, state.failure_texts)]
        known += (answer.texts for answers in self._answers.values() for answer in answers.values())
        return {texts[path] for texts in (*known, *self._running.values(), self._asked_texts) if path in texts}

    def covering(self, path: str, name: str) -> Iterable[ModelKey]:
        """Return the models whose reports cover a class, the one that covers it longest first."""
        return self._covering.get((path, name), ())

    # Models

    def set_models(self, path: str, states: Mapping[ModelKey, ModelState]) -> None:
        """Make ``states`` the models of a file; forget its others."""
        self.forget(key for key in self.keys_in(path) if key not in states)
        self._states.update(states)

    def set_context_models(
        self, context_models: Mapping[ModelKey, ContextModel], states: Mapping[ModelKey, ModelState]
    ) -> None:
        """Replace the context models and their states; former ones keep their state."""
        self._states.update(states)
        self._context_models.clear()
        self._context_models.update(context_models)

    def forget(self, keys: Iterable[ModelKey]) -> None:
        """Drop all data of some models.

        The outcome of a running trace of one will be ignored.
        """
        for key in tuple(keys):
            self._states.pop(key, None)
            self._attempts.pop(key, None)
            self._answers.pop(key, None)
            self._set_coverage(key, {})

    # Status and coverage

    def set_status(self, key: ModelKey, status: Status) -> None:
        """Set the status of a model that no other model covers."""
        self._states[key] = replace(self._states[key], status=status, covered_by=None)

    def cover(self, key: ModelKey, cover: ModelKey) -> None:
        """Leave a model to the trace of another; its own report is dropped."""
        state = self._states[key]
        self._states[key] = ModelState(key, found=state.found, cost_ms=state.cost_ms, covered_by=cover)
        self._attempts.pop(key, None)
        self._set_coverage(key, {})

    def add_covered(self, key: ModelKey, classes: Mapping[str, frozenset[str]]) -> None:
        """Add the classes of further files to those that a model's report covers."""
        self._set_coverage(key, {**self._covers.get(key, {}), **classes})

    def _set_coverage(self, key: ModelKey, classes: Mapping[str, frozenset[str]]) -> None:
        """Replace the classes that a model's report covers."""
        before = _places(self._covers.pop(key, {}))
        after = _places(classes)
        for place in before - after:
            covering = self._covering[place]
            del covering[key]
            if not covering:
                del self._covering[place]
        for place in after - before:
            self._covering.setdefault(place, {})[key] = None
        if classes:
            self._covers[key] = classes

    # Traces

    def start_trace(self, key: ModelKey, texts: Mapping[str, str]) -> None:
        """Mark a model as running, with the digests of the texts that were sent."""
        self._running[key] = texts
        self._moved.pop(key, None)
        self._requested.discard(key)
        self._states[key] = replace(self._states[key], status=Status.RUNNING, has_early_graph=False)

    def end_trace(self, key: ModelKey, *, is_waiting: bool) -> bool:
        """Mark a model as no longer running.

        Args:
            is_waiting: whether its next trace is already scheduled.

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
        """Record that a trace was stopped: the next one needs another text or a request."""
        self._attempts[key] = attempt

    def _end_attempt(self, key: ModelKey, attempt: TraceAttempt) -> None:
        """Record that a trace ended; it is repeated if that was requested or a file it read was written meanwhile."""
        moved = self._moved.pop(key, {})
        is_old = any(attempt.texts.get(path, digest) != digest for path, digest in moved.items())
        self._attempts[key] = replace(attempt, repeat=is_old or key in self._requested)
        self._requested.discard(key)

    def set_failure(self, state: ModelState, attempt: TraceAttempt) -> None:
        """Record a trace without a graph; the last report and its coverage stay."""
        self._end_attempt(state.key, attempt)
        self._states[state.key] = state

    def set_report(self, state: ModelState, attempt: TraceAttempt, classes: Mapping[str, frozenset[str]]) -> None:
        """Record a trace with a report, and the classes that it covers, by file."""
        self._end_attempt(state.key, attempt)
        self._states[state.key] = replace(state, carries_problems=False)
        self._set_coverage(state.key, classes)

    def set_graph(self, state: ModelState, classes: Mapping[str, frozenset[str]]) -> None:
        """Record the graph of a trace that still runs, and the classes that it covers; its outcome follows.

        If that trace is cancelled, the text of the last one is traced again when it comes back: its report is gone.
        """
        if state.key in self._attempts:
            self._attempts[state.key] = replace(self._attempts[state.key], repeat=True)
        self._set_coverage(state.key, classes)
        self._states[state.key] = replace(state, has_early_graph=True, carries_problems=True)

    def outdate_graph(self, key: ModelKey) -> None:
        """Mark the graph of a running trace as one of an earlier text."""
        self._states[key] = replace(self._states[key], has_early_graph=False)

    # Other front ends

    def set_answer(self, key: ModelKey, name: OtherFrontend, answer: FrontendAnswer) -> None:
        """Record what a front end answered about a model."""
        self._answers.setdefault(key, {})[name] = answer

    def forget_answers(self, path: str | None = None) -> None:
        """Drop the answers about the models of one file, or of all files."""
        for key in [key for key in self._answers if path in (None, key.file)]:
            del self._answers[key]
            self.show_answers(key, ())

    def show_answers(self, key: ModelKey, answers: tuple[FrontendAnswer, ...]) -> None:
        """Set the answers that apply to a model's present texts."""
        if answers != self._states[key].frontends:
            self._states[key] = replace(self._states[key], frontends=answers)

    def set_asking(self, key: ModelKey, name: OtherFrontend | None) -> None:
        """Set which front end is being asked about a model for the user, None for none."""
        if key in self._states:
            self._states[key] = replace(self._states[key], asking=name)

    # Repetition

    def repeat(self, keys: Iterable[ModelKey]) -> None:
        """Allow one more trace on the same texts, except for poisoned models."""
        for key in tuple(keys):
            attempt = self._attempts.get(key)
            if attempt is not None and attempt.deaths < MAX_DEATHS:
                self._attempts[key] = replace(attempt, repeat=True)

    def repeat_moved(self, path: str, digest: str) -> None:
        """Allow one more trace where the last one read another text of a file."""
        for key, attempt in self._attempts.items():
            if attempt.texts.get(path, digest) != digest:
                self._attempts[key] = replace(attempt, repeat=True)
        for key in self._running:
            self._moved.setdefault(key, {})[path] = digest

    def repeat_all(self, path: str | None = None) -> None:
        """Allow one more trace of each model of a file, or of all files.

        Includes poisoned models and those over the budget of their file.
        """
        for key, attempt in self._attempts.items():
            if path in (None, key.file):
                self._attempts[key] = replace(attempt, deaths=0, repeat=True)
        # A running trace may have read, and shown already, what the request is about.
        self._requested.update(key for key in self._running if path in (None, key.file))
        if path is None:
            self._spent_ms.clear()
        else:
            self.reset_budget(path)

    def charge(self, path: str, milliseconds: float) -> None:
        """Charge the time of a first trace to the budget of the model's file."""
        self._spent_ms[path] = self._spent_ms.get(path, 0.0) + milliseconds

    def reset_budget(self, path: str) -> None:
        """Restore the whole budget of a file: the user works on its models."""
        self._spent_ms.pop(path, None)

    def reset_budgets(self) -> None:
        """Restore the whole budget of every file."""
        self._spent_ms.clear()


def _places(classes: Mapping[str, frozenset[str]]) -> set[tuple[str, str]]:
    return {(path, name) for path, names in classes.items() for name in names}

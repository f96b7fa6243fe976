"""Selection of the problems of each file that are shown now.

A new problem is shown once it is of a text that the user is done with, and not on the line being typed: half-typed text
has problems all the time. At a short pause, what an edited number breaks elsewhere is shown. What is shown stays as it
is while it lasts, and while half-typed text conceals whether it does. What is fixed disappears at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.problems import FileProblem, Related, problems
from fxlsp.report.code_records import Trait
from fxlsp.report.codes import codes_with
from fxlsp.server.typing.typing_state import Finish, TypingState
from fxlsp.source.text.edits import DocumentEdit, EditLog, move
from fxlsp.source.text.positions import Span

_UNUSED = codes_with(Trait.OF_UNUSED_CODE)
"""Codes about what the text lacks elsewhere, which its user may be about to type."""


class ProblemFeed:
    """Filter of the problems of open documents, files in the background, and settings."""

    def __init__(self, typing: TypingState) -> None:
        self._typing = typing
        self._shown: dict[str, list[FileProblem]] = {}
        """By path, at their places in the present texts."""
        self._concealing: set[str] = set()
        """Paths with problems that are held back."""
        self._closed_texts: dict[str, str] = {}
        """Of files that are not open, as they were when their problems were last selected."""

    @property
    def is_waiting(self) -> bool:
        """Whether problems are held back until the user rests."""
        return bool(self._concealing) and not self._typing.is_resting

    def follow(self, edit: DocumentEdit | None) -> None:
        """Move what is shown of a document with an edit, and drop what was edited away."""
        if edit is not None and edit.after.path in self._shown:
            self._shown[edit.after.path] = list(_moved(self._shown[edit.after.path], edit))

    def problems(self, snapshot: Snapshot, path: str) -> list[FileProblem]:
        """Return the problems of a file to show."""
        return self.select(snapshot, path, problems(snapshot, path))

    def select(self, snapshot: Snapshot, path: str, found: Iterable[FileProblem]) -> list[FileProblem]:
        """Return those of the problems of a file that are to be shown, and what is still shown beside them."""
        self._forget_earlier_text(snapshot, path)
        before = list(self._shown.get(path, ()))
        shown: list[FileProblem] = []
        held: list[FileProblem] = []
        for problem, old in _paired(found, before):
            if self._may_appear(snapshot, path, problem):
                shown.append(problem)
            elif old is not None:
                shown.append(old)
            else:
                held.append(problem)
        shown += (old for old in before if self._is_concealed(path, old, held))
        shown.sort(key=lambda problem: (problem.span, problem.code))
        self._shown[path] = list(shown)
        (self._concealing.add if held else self._concealing.discard)(path)
        return shown

    def forget(self, path: str) -> None:
        """Drop the state of a document that was closed."""
        self._shown.pop(path, None)
        self._concealing.discard(path)
        self._closed_texts.pop(path, None)

    def _forget_earlier_text(self, snapshot: Snapshot, path: str) -> None:
        """Drop what is shown of a file that is not open and has changed on disk: no edit has moved it."""
        document = snapshot.background.get(path)
        text = snapshot.setting_texts.get(path) if document is None else document.text
        if text is None:
            self._closed_texts.pop(path, None)
            return
        if self._closed_texts.get(path, text) != text:
            self.forget(path)
        self._closed_texts[path] = text

    def _may_appear(self, snapshot: Snapshot, path: str, problem: FileProblem) -> bool:
        if problem.is_carried:
            return False
        typing = self._typing
        if typing.is_resting and _is_settled(snapshot, path, problem):
            return True
        line = typing.line(path)
        if line is not None and problem.span.line <= line <= problem.span.end_line:
            return False
        if problem.is_failure and not problem.texts and typing.is_broken_above(path):
            return True
        finish = typing.finish(problem.texts) if problem.texts else typing.present(path)
        if finish is Finish.PAUSED:
            return self._is_broken_by_a_number(snapshot, path, problem)
        if finish is not Finish.LEFT:
            return finish is Finish.RESTED and not _is_outdated(snapshot, path, problem)
        # What follows elsewhere from a line is not shown while its user goes on: the next lines may be about that.
        return problem.is_located and problem.code not in _UNUSED and typing.was_left(path, problem.span)

    def _is_broken_by_a_number(self, snapshot: Snapshot, path: str, problem: FileProblem) -> bool:
        """Return whether a trace of the present text has proven an error that the number being typed causes.

        It is so where the width of a layer is changed, and ``forward`` does not run with it.
        """
        if problem.severity != "error" or not problem.is_located or problem.is_failure:
            return False
        open_files = problem.texts.keys() & snapshot.documents.keys()
        is_present = all(snapshot.documents[each].program.digest == problem.texts[each] for each in open_files)
        return is_present and any(self._typing.is_number_typed(each) for each in open_files)

    def _is_concealed(self, path: str, old: FileProblem, held: Sequence[FileProblem]) -> bool:
        """Return whether a problem that is not found any more may be there behind those that are held back."""
        line = self._typing.line(path)
        if old.is_failure or (line is not None and old.span.line <= line <= old.span.end_line):
            return False
        return any(problem.is_failure or line in (None, problem.span.line) for problem in held)


def _is_settled(snapshot: Snapshot, path: str, problem: FileProblem) -> bool:
    """Return whether a problem is of the present texts.

    While the user rests it is, unless a trace is still to come, or the texts that were traced are older ones than the
    present, which do not parse.
    """
    if not problem.texts:
        return True
    read = _read(path, problem)
    if _is_traced_anew(snapshot, read):
        return False
    return all(snapshot.documents[each].program.parses for each in read if each in snapshot.documents)


def _read(path: str, problem: FileProblem) -> set[str]:
    # A failure lists all texts that were sent, if it is not known which of them were read.
    return {path} if problem.is_failure else {path, *problem.texts}


def _is_traced_anew(snapshot: Snapshot, paths: set[str]) -> bool:
    return any(state.busy and state.key.file in paths for state in snapshot.models.values())


def _is_outdated(snapshot: Snapshot, path: str, problem: FileProblem) -> bool:
    """Return whether a problem is of an earlier text, and a trace that may be of the present one still runs."""
    read = _read(path, problem) & problem.texts.keys() & snapshot.documents.keys()
    is_earlier = any(snapshot.documents[each].program.digest != problem.texts[each] for each in read)
    return is_earlier and _is_traced_anew(snapshot, read)


def _paired(found: Iterable[FileProblem], shown: list[FileProblem]) -> Iterable[tuple[FileProblem, FileProblem | None]]:
    """Return each problem with what is shown of it, which is removed from ``shown``.

    That is a problem of the same code on the same line, whose message may differ; an equal one if there is one.
    """
    pairs: list[tuple[FileProblem, FileProblem | None]] = []
    for problem in sorted(found, key=lambda each: each not in shown):
        alike = [old for old in shown if (old.code, old.span.line) == (problem.code, problem.span.line)]
        old = problem if problem in alike else next(iter(alike), None)
        if old is not None:
            shown.remove(old)
        pairs.append((problem, old))
    return pairs


def _moved(shown: Iterable[FileProblem], edit: DocumentEdit) -> Iterator[FileProblem]:
    for problem in shown:
        span = _moved_span(problem.span, edit.log)
        if span is not None:
            yield replace(problem, span=span, related=tuple(_related(problem.related, edit)))


def _related(related: Iterable[Related], edit: DocumentEdit) -> Iterator[Related]:
    for place in related:
        span = _moved_span(place.span, edit.log) if place.path == edit.after.path else place.span
        if span is not None:
            yield replace(place, span=span)


def _moved_span(span: Span, log: EditLog) -> Span | None:
    moved = move(span, log)
    return None if moved is None else moved.span

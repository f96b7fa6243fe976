"""The problems of a file: those of every report that has one there, and the failures that left no report.

One problem stands for all that have the same code at the same span, however many instances and traces met it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.syntax_errors import syntax_problems
from fxlsp.ide.trace_view.model_names import class_names, made_names
from fxlsp.ide.trace_view.outline import moved_since, outline
from fxlsp.ide.trace_view.provenance import found_recipe
from fxlsp.report.codes import BAD_RECIPE, NO_INTERPRETER, NOT_FED, Severity
from fxlsp.report.locations import Location, RelatedPlace
from fxlsp.report.merging import merged_message
from fxlsp.report.problems import Failure, Problem
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report
from fxlsp.source.python.ignores import is_ignored
from fxlsp.source.text.edits import move
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that helps to understand a problem."""

    message: str
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem in the text as it is now."""

    code: str
    severity: Severity
    message: str
    span: Span
    related: tuple[Related, ...]
    model: str
    is_failure: bool
    """The model has no graph or no inputs: worth telling once the user rests, since half-typed text fails like this."""


def problems(snapshot: Snapshot, path: str) -> list[FileProblem]:
    """What to tell about a file that is open or in the background, in the order of the text."""
    groups: dict[tuple[Span, str], list[_Found]] = defaultdict(list)
    for found in _all(snapshot, path):
        groups[found.span, found.problem.code].append(found)
    merged = [_merged(snapshot, group) for _, group in sorted(groups.items(), key=lambda item: item[0])]
    return list(_told(snapshot, path, merged))


def _told(snapshot: Snapshot, path: str, found: Iterable[FileProblem]) -> Iterator[FileProblem]:
    """What neither the settings nor a comment silence, as severe as the settings say."""
    policy, document = snapshot.policy_of(path), snapshot.document(path)
    for problem in found:
        severity = policy.severity(problem.code, problem.severity)
        if severity is None or (document is not None and is_ignored(document, problem.code, problem.span)):
            continue
        yield replace(problem, severity=severity)


@dataclass(frozen=True, slots=True)
class _Found:
    problem: Problem
    span: Span
    texts: Mapping[str, str]
    """Digests of the texts in which the problem's places stand."""
    is_failure: bool = False


def _all(snapshot: Snapshot, path: str) -> Iterator[_Found]:
    for state, _ in snapshot.reports_touching(path):
        # A failure is newer than the report: what the report found may be mended, or be the reason.
        if state.report is not None and state.failure is None:
            yield from _reported(snapshot, path, state, state.report)
    for state in snapshot.failed:
        if state.failure is not None and _is_told(state.failure):
            yield from _failed(snapshot, path, state, state.failure)
    for state in snapshot.states_in(path):
        yield from _bad_recipes(snapshot, path, state)
    yield from _syntax_errors(snapshot, path)


def _reported(snapshot: Snapshot, path: str, state: ModelState, report: Report) -> Iterator[_Found]:
    for problem in report.problems:
        if problem.location is None and state.key.file == path:
            # Inputs that do not fit: half-typed ones never do.
            if problem.code == NOT_FED:
                span = _recipe_span(snapshot, path, state, report.recipe)
            else:
                span = _name_span(snapshot, path, state)
            if span is not None:
                yield _Found(problem, span, state.texts, is_failure=True)
        elif problem.location is not None and problem.location.file == path:
            span = _now(snapshot, problem.location, state.texts)
            if span is not None:
                yield _Found(problem, span, state.texts)


def _recipe_span(snapshot: Snapshot, path: str, state: ModelState, recipe: Recipe) -> Span | None:
    """Where the file says how the model is made and fed, else the model's name; None where the settings say it."""
    found = found_recipe(state, recipe)
    if found is not None and found.file in snapshot.setting_texts:
        return None
    _, move_on = moved_since(snapshot, path)
    span = move_on(found.span) if found is not None and found.file is None else None
    return span or _name_span(snapshot, path, state)


def _name_span(snapshot: Snapshot, path: str, state: ModelState) -> Span | None:
    return (class_names(snapshot, path) | made_names(snapshot, path)).get(state.key.name)


def _is_told(failure: Failure) -> bool:
    """Not where the lens already asks for what is missing, nor for what ails the whole folder."""
    return failure.needs is None and failure.code != NO_INTERPRETER


def _failed(snapshot: Snapshot, path: str, state: ModelState, failure: Failure) -> Iterator[_Found]:
    """The failure at its place if that can be shown, else at the recipe somebody wrote for it, else at the name of
    the model."""
    place, related = failure.location, failure.related
    span = None
    if place is not None and snapshot.document(place.file) is not None:
        span = _now(snapshot, place, state.failure_texts) if place.file == path else None
    elif place is not None and place.file in snapshot.setting_texts:
        # It is told there.
        return
    elif state.key.file == path and place is None and _is_written(state.key.recipe):
        span = _recipe_span(snapshot, path, state, state.key.recipe)
    elif state.key.file == path:
        span = _name_span(snapshot, path, state)
        related = (*((RelatedPlace("it happened here", place),) if place else ()), *related)
    if span is not None:
        problem = Problem(failure.code, "warning", failure.message, place, related, model=state.key.name)
        yield _Found(problem, span, state.failure_texts, is_failure=True)


def _is_written(recipe: Recipe | None) -> TypeGuard[Recipe]:
    """Somebody wrote it for fxlsp: that the model cannot be made by it is their mistake, not the model's."""
    return recipe is not None and recipe.source in ("comment", "config")


def _syntax_errors(snapshot: Snapshot, path: str) -> Iterator[_Found]:
    """Of a file with models; other files are none of our business."""
    document = snapshot.document(path)
    for problem in syntax_problems(document) if document is not None and outline(snapshot, path) else ():
        if problem.location is not None:
            yield _Found(problem, Span.of(problem.location), {}, is_failure=True)


def _bad_recipes(snapshot: Snapshot, path: str, state: ModelState) -> Iterator[_Found]:
    _, move_on = moved_since(snapshot, path)
    for found in state.found:
        span = move_on(found.span) if found.file is None else None
        if found.error is not None and span is not None:
            yield _Found(Problem(BAD_RECIPE, "warning", found.error, None, model=state.key.name), span, {})


def _now(snapshot: Snapshot, location: Location, texts: Mapping[str, str]) -> Span | None:
    """Where a place of a traced text is now; None if it was edited away, or its text is forgotten."""
    log = snapshot.edits_since(location.file, texts)
    moved = None if log is None else move(Span.of(location), log)
    return None if moved is None else moved.span


def _merged(snapshot: Snapshot, group: Sequence[_Found]) -> FileProblem:
    first = group[0]
    related = [(place, _now(snapshot, place.location, first.texts)) for place in first.problem.related]
    return FileProblem(
        code=first.problem.code,
        severity=first.problem.severity,
        message=merged_message([found.problem for found in group]),
        span=first.span,
        related=tuple(Related(place.message, place.location.file, span) for place, span in related if span),
        model=first.problem.model,
        is_failure=all(found.is_failure for found in group),
    )

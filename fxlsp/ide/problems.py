"""Problems of a file: those in reports, of other front ends, failures without a report, syntax errors.

Problems with the same code at the same span are merged into one, however many instances and traces found them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.frontend_problems import placed_problems, repeated_failures
from fxlsp.ide.trace_view.in_trace import current_span
from fxlsp.ide.trace_view.outline import class_names, factory_and_instance_names, moved_since, outline
from fxlsp.ide.trace_view.provenance import found_recipe
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import BAD_RECIPE, NO_INTERPRETER, NOT_FED, NOT_LOADED, severity_of
from fxlsp.report.locations import Location, RelatedPlace
from fxlsp.report.merging import merged_message
from fxlsp.report.problems import Failure, FittingNumber, Problem
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report
from fxlsp.source.python.comment_mistakes import comment_mistakes
from fxlsp.source.python.ignores import is_ignored
from fxlsp.source.text.documents import Document
from fxlsp.source.text.notebooks.cells import Cells
from fxlsp.source.text.positions import Span
from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module

_SHORT_TEXT = 20_000
"""Longest text, in characters, that Python's parser reads for its message.

It takes some milliseconds for as many, at each key press while the error remains.
"""


@dataclass(frozen=True, slots=True)
class Related:
    """Second location that helps to understand a problem."""

    message: str
    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class MovedNumber:
    """Argument of a layer's constructor that fits, and the call's span in the current text."""

    number: FittingNumber
    span: Span


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Problem at a span of the current text."""

    code: str
    severity: Severity
    message: str
    span: Span
    related: tuple[Related, ...]
    model: str
    is_failure: bool
    """Whether the model has no graph or no inputs, or the file does not parse."""
    is_located: bool = True
    """Whether the span is where the problem is; else it is the name or the recipe of the model."""
    number: MovedNumber | None = None
    """Number in this file with which the operation would run."""
    refused_sizes: tuple[str, ...] = ()
    """Forms in which a torch that traced it refuses a traced size: ``"tuple"``, ``"whole"``."""
    texts: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Digests of the texts that were traced, by path; none if the present text alone has the problem."""
    is_carried: bool = field(default=False, compare=False, repr=False)
    """Whether it was found in an earlier text, while the problems of the present one are not known yet."""


def problems(snapshot: Snapshot, path: str) -> list[FileProblem]:
    """Return the problems of an open or background file, in the order of the text."""
    groups: dict[tuple[Span, str], list[_Found]] = defaultdict(list)
    for found in _all(snapshot, path):
        groups[found.span, found.problem.code].append(found)
    merged = [_merged(snapshot, group) for _, group in sorted(groups.items(), key=lambda item: item[0])]
    shown = list(_shown(snapshot, path, merged))
    repeated = repeated_failures([(each.code, each.severity, (each.span.line, each.span.column)) for each in shown])
    return [problem for problem, is_repeated in zip(shown, repeated, strict=True) if not is_repeated]


def _shown(snapshot: Snapshot, path: str, found: Iterable[FileProblem]) -> Iterator[FileProblem]:
    """Yield the problems that are not ignored, with the severities of the settings."""
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
    """Digests of the texts that the problem's locations refer to."""
    is_failure: bool = False
    is_located: bool = True
    is_carried: bool = False


def _all(snapshot: Snapshot, path: str) -> Iterator[_Found]:
    for state, _ in snapshot.reports_touching(path):
        # A failure is newer than the report: what the report found may be fixed already, or be the reason for the
        # failure.
        if state.report is not None and state.failure is None:
            yield from _reported(snapshot, path, state, state.report)
    for each in placed_problems(snapshot, path):
        yield _Found(each.problem, each.span, each.texts, is_located=each.problem.location is not None)
    for state in snapshot.failed:
        if state.failure is not None and _is_shown(state.failure):
            yield from _failed(snapshot, path, state, state.failure)
    for state in snapshot.states_in(path):
        yield from _bad_recipes(snapshot, path, state)
    yield from _syntax_errors(snapshot, path)
    yield from _comment_mistakes(snapshot, path)


def _reported(snapshot: Snapshot, path: str, state: ModelState, report: Report) -> Iterator[_Found]:
    for problem in report.problems:
        if problem.location is None and state.key.file == path:
            # Inputs that do not fit count as a failure, because half-typed inputs never fit.
            if problem.code == NOT_FED:
                span = _recipe_span(snapshot, path, state, report.recipe)
            else:
                span = _name_span(snapshot, path, state)
            if span is not None:
                yield _Found(problem, span, state.texts, True, False, state.carries_problems)
        elif problem.location is not None and problem.location.file == path:
            span = current_span(snapshot, problem.location, state.texts)
            if span is not None:
                yield _Found(problem, span, state.texts, is_carried=state.carries_problems)


def _recipe_span(snapshot: Snapshot, path: str, state: ModelState, recipe: Recipe) -> Span | None:
    """Return the span of the model's recipe in this file, else of the model's name.

    Returns None if the recipe is in the settings.
    """
    found = found_recipe(state, recipe)
    if found is not None and found.file in snapshot.setting_texts:
        return None
    _, move_on = moved_since(snapshot, path)
    span = move_on(found.span) if found is not None and found.file is None else None
    return span or _name_span(snapshot, path, state)


def _name_span(snapshot: Snapshot, path: str, state: ModelState) -> Span | None:
    return (class_names(snapshot, path) | factory_and_instance_names(snapshot, path)).get(state.key.name)


def _is_shown(failure: Failure) -> bool:
    """Return whether a failure is shown at the model.

    Not if the lens already asks for what is missing, nor if the whole folder has no interpreter.
    """
    return failure.needs is None and failure.code != NO_INTERPRETER


def _failed(snapshot: Snapshot, path: str, state: ModelState, failure: Failure) -> Iterator[_Found]:
    """Yield a failure at its location if that can be shown.

    Else it is shown at the recipe that the user wrote for the model, else at the model's name.
    """
    place, related = failure.location, failure.related
    span, is_located = None, False
    if place is not None and snapshot.document(place.file) is not None:
        is_located = True
        span = current_span(snapshot, place, state.failure_texts) if place.file == path else None
    elif place is not None and place.file in snapshot.setting_texts:
        # It is shown in the settings file.
        return
    elif state.key.file == path and place is None and _is_written(state.key.recipe):
        span = _recipe_span(snapshot, path, state, state.key.recipe)
    elif state.key.file == path:
        span = _name_span(snapshot, path, state)
        related = (*((RelatedPlace("it happened here", place),) if place else ()), *related)
    if span is not None:
        problem = Problem(failure.code, failure.severity, failure.message, place, related, model=state.key.name)
        yield _Found(problem, span, state.failure_texts, is_failure=True, is_located=is_located)


def _is_written(recipe: Recipe | None) -> TypeGuard[Recipe]:
    """Return whether the user wrote the recipe for fxlsp.

    If such a recipe fails to build the model, the mistake is in the recipe, not in the model.
    """
    return recipe is not None and recipe.source in ("comment", "config")


def _syntax_errors(snapshot: Snapshot, path: str) -> Iterator[_Found]:
    """Yield the syntax errors of a file with models; other files are left to linters."""
    document = snapshot.document(path)
    for problem in syntax_problems(document) if document is not None and outline(snapshot, path) else ():
        if problem.location is not None:
            yield _Found(problem, Span.of(problem.location), {}, is_failure=True)


def _bad_recipes(snapshot: Snapshot, path: str, state: ModelState) -> Iterator[_Found]:
    _, move_on = moved_since(snapshot, path)
    for found in state.found:
        span = move_on(found.span) if found.file is None else None
        if found.error is not None and span is not None:
            severity: Severity = "warning" if found.recorded is None else "hint"
            yield _Found(Problem(BAD_RECIPE, severity, found.error, None, model=state.key.name), span, {})


def _comment_mistakes(snapshot: Snapshot, path: str) -> Iterator[_Found]:
    """Yield the comments without effect of a file with models."""
    document = snapshot.document(path)
    for mistake in comment_mistakes(document) if document is not None and outline(snapshot, path) else ():
        yield _Found(Problem(BAD_RECIPE, "hint", mistake.message, None), mistake.span, {})


def _merged(snapshot: Snapshot, group: Sequence[_Found]) -> FileProblem:
    first = group[0]
    related = [(place, current_span(snapshot, place.location, first.texts)) for place in first.problem.related]
    return FileProblem(
        code=first.problem.code,
        severity=first.problem.severity,
        message=merged_message([found.problem for found in group]),
        span=first.span,
        related=tuple(Related(place.message, place.location.file, span) for place, span in related if span),
        model=first.problem.model,
        is_failure=all(found.is_failure for found in group),
        is_located=any(found.is_located for found in group),
        number=_moved_number(snapshot, group),
        refused_sizes=tuple(sorted({form for found in group for form in found.problem.refused_sizes})),
        texts=first.texts,
        is_carried=all(found.is_carried for found in group),
    )


def _moved_number(snapshot: Snapshot, group: Sequence[_Found]) -> MovedNumber | None:
    """Return the number that fits all of a problem's traces.

    None if it is in another file, or another model has a layer that the same expression makes.
    """
    numbers = {found.problem.fitting for found in group}
    number = numbers.pop() if len(numbers) == 1 else None
    place = group[0].problem.location
    if number is None or place is None or number.location.file != place.file:
        return None
    models = {found.problem.model for found in group}
    reports = [state.report for state, _ in snapshot.reports_touching(place.file) if state.report is not None]
    if any(forbids_number(report, number, models) for report in reports):
        return None
    span = current_span(snapshot, number.location, group[0].texts)
    return None if span is None else MovedNumber(number, span)


def forbids_number(report: Report, number: FittingNumber, models: Collection[str]) -> bool:
    """Return whether a model outside ``models`` has a layer of the same expression, and runs on stated inputs.

    Guessed inputs would be other ones for another number.
    """
    is_stated = report.recipe.source != "search" and report.recipe.inputs is not None
    makes_layer = any(module.location == number.location for module in report.modules)
    return is_stated and makes_layer and report.target not in models


def syntax_problems(document: Document) -> tuple[Problem, ...]:
    """Return the syntax errors of a document: at most one, in a notebook one a cell."""
    return () if document.parses else document.derive(_parse_problems)


def _parse_problems(document: Document) -> tuple[Problem, ...]:
    if document.cells is not None:
        return tuple(_of_cells(document.path, document.cells))
    problem = _of_file(document)
    return () if problem is None else (problem,)


def _of_cells(path: str, cells: Cells) -> Iterator[Problem]:
    for extent in cells.extents:
        error = extent.cell.error
        if error is not None:
            before = extent.first_line - 1
            place = Location(path, error.line + before, error.column, error.end_line + before, error.end_column)
            severity = "error" if extent.cell.has_syntax_error else severity_of(NOT_LOADED)
            yield Problem(NOT_LOADED, severity, f"The cell does not parse: {error.message}", place)


def _of_file(document: Document) -> Problem | None:
    if len(document.text) > _SHORT_TEXT:
        # The parser that has read it may lack newer syntax of Python.
        return Problem(NOT_LOADED, severity_of(NOT_LOADED), "The file does not parse here", _first_error(document))
    try:
        parsed_module(document.text)
    except SyntaxError as error:
        message = f"The file does not parse: {error.msg}"
        return Problem(NOT_LOADED, "error", message, _location(document, error))
    except SYNTAX_ERRORS as error:
        message = f"The file does not parse: {error}"
        return Problem(NOT_LOADED, "error", message, Location(document.path, 1, 1, 1, 1))
    return None


def _first_error(document: Document) -> Location:
    """Return where tree-sitter, which has already parsed the text, fails first."""
    node = document.tree.root_node
    while (inner := next((child for child in node.children if child.has_error), None)) is not None:
        node = inner
    line, column = document.lines.from_bytes(node.start_point.row, node.start_point.column)
    return Location(document.path, line, column, line, column + 1)


def _location(document: Document, error: SyntaxError) -> Location:
    """Return the location that Python reports, at least one character long.

    It is cut to the text."""
    lines = document.lines
    line, column = lines.place(lines.offset(error.lineno or 1, error.offset or 1))
    end = (error.end_lineno or line, error.end_offset or 0)
    end_line, end_column = max(lines.place(lines.offset(*end)), (line, column + 1))
    return Location(document.path, line, column, end_line, end_column)

"""Problems of a settings file: invalid values, invalid or failing recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.problems import FileProblem
from fxlsp.ide.trace_view.provenance import found_recipe
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import BAD_RECIPE, NOT_FED
from fxlsp.report.recipes import Recipe
from fxlsp.source.text.positions import Span


def setting_problems(snapshot: Snapshot, path: str) -> list[FileProblem]:
    """Return the problems of the ``pyproject.toml`` at ``path``, each once.

    They are in the order of its text.
    """
    found = [*_values(snapshot, path), *(each for state in snapshot.models.values() for each in _recipes(state, path))]
    policy = snapshot.policy_of(path)
    shown: dict[tuple[Span, str, str], FileProblem] = {}
    for problem in found:
        if not problem.code or policy.severity(problem.code, problem.severity) is not None:
            shown.setdefault((problem.span, problem.code, problem.message), problem)
    return [shown[key] for key in sorted(shown)]


def _values(snapshot: Snapshot, path: str) -> Iterator[FileProblem]:
    for problem in snapshot.setting_problems:
        if problem.location is not None and problem.location.file == path:
            yield _problem(problem.code, problem.message, Span.of(problem.location))


def _recipes(state: ModelState, path: str) -> Iterator[FileProblem]:
    for found in state.found:
        if found.error is not None and found.recorded is None and found.file == path:
            yield _problem(BAD_RECIPE, found.error, found.span, state.key.name)
    failure, report = state.failure, state.report
    if failure is not None and failure.location is None and failure.needs is None:
        span = _span(state, state.key.recipe, path)
        if span is not None:
            yield _problem(failure.code, failure.message, span, state.key.name, texts=state.failure_texts)
    elif failure is not None and failure.location is not None and failure.location.file == path:
        yield _problem(failure.code, failure.message, Span.of(failure.location), texts=state.failure_texts)
    elif report is not None:
        span = _span(state, report.recipe, path)
        for problem in report.problems:
            if problem.code == NOT_FED and problem.location is None and span is not None:
                yield _problem(problem.code, problem.message, span, state.key.name, problem.severity, state.texts)


def _span(state: ModelState, recipe: Recipe | None, path: str) -> Span | None:
    found = None if recipe is None else found_recipe(state, recipe)
    return found.span if found is not None and found.file == path else None


def _problem(
    code: str,
    message: str,
    span: Span,
    model: str = "",
    severity: Severity = "warning",
    texts: Mapping[str, str] = MappingProxyType({}),
) -> FileProblem:
    return FileProblem(code, severity, message, span, (), model, is_failure=True, texts=texts)

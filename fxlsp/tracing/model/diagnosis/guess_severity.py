"""Severity of problems that a guessed construction or guessed inputs may cause."""

from __future__ import annotations

import ast
import traceback
from dataclasses import replace

from ....report.code_records import Trait
from ....report.codes import (
    ITERATION,
    LENGTH,
    OPERATION_FAILS,
    TYPE_TEST,
    UNREGISTERED_MODULE,
    UNREGISTERED_PARAMETER,
    UNTRACEABLE,
    codes_with,
)
from ....report.locations import Location
from ....report.problems import Problem
from ....report.report import Report
from ..locations.code_origin import is_installed
from ..locations.source_map import SourceMap
from ..targets import ModelTarget
from .failures import failure_message
from .guessed_branches import deciding_argument
from .returned_values import is_of_none

_MAY_WORK = "With other inputs this may work: "
_RAISING = codes_with(Trait.RAISES)
_OF_SUBCLASSES = "A subclass is to define this: "


def downgrade(problem: Problem, target: ModelTarget) -> Problem:
    """Return a problem as a note if other guesses may not cause it, else unchanged.

    Failing operations may be due to guessed inputs. Guessed constructor arguments may be modules in a list or an object
    that other arguments would register, and may cause errors that involve no traced value.
    """
    if problem.code == OPERATION_FAILS:
        return replace(problem, severity="info", message=f"{_MAY_WORK}{problem.message}", fitting=None)
    if target.is_guessed and (_is_of_an_argument(problem, target) or _has_no_value(problem)):
        return _note(problem, "\nWhat the model is made with was guessed.")
    return problem


def with_condition(problems: tuple[Problem, ...], only: str) -> tuple[Problem, ...]:
    """Return problems of which the first failing operation says under which condition alone the model runs.

    Args:
        problems: Those of a report.
        only: The condition, "runs only where ..."; "" without one.
    """
    first = next((each for each in problems if each.code == OPERATION_FAILS and each.severity == "error"), None)
    if not only or first is None:
        return problems
    return tuple(replace(each, message=f"{only}\n{each.message}") if each is first else each for each in problems)


def unproven(report: Report, target: ModelTarget) -> tuple[Problem, ...]:
    """Return the failing operations of which nothing shows that they fail with other inputs, too.

    A proof is about the first failure, and a search looks no further. What fails behind it may fail by inputs that the
    search has not fitted, or by operands that are assumed.
    """
    lines = {_line_of(place) for place in target.failing}
    failing = [problem for problem in report.problems if problem.code in _RAISING and problem.location is not None]
    if lines.isdisjoint(_line_of(problem.location) for problem in failing):
        return _behind_a_failure(report)
    exactly = {problem.location for problem in failing}.intersection(target.failing)
    # Another operation in the line of the one that is proven is as open as one in another line.
    lines -= {_line_of(place) for place in exactly}
    doubted = (each for each in failing if each.code == OPERATION_FAILS and not is_of_none(each.message))
    return tuple(each for each in doubted if each.location not in exactly and _line_of(each.location) not in lines)


def _line_of(place: Location | None) -> tuple[str, int] | None:
    return None if place is None else (place.file, place.line)


def _behind_a_failure(report: Report) -> tuple[Problem, ...]:
    """Return the problems of operations that fail only where an operation before them has failed.

    Their operands are assumed. In a loop the same expression may fail first, with operands that are known.
    """
    assumed = {node.name for node in report.nodes if node.assumed}
    behind: set[object] = set()
    first: set[object] = set()
    for node in report.nodes:
        # What fails with assumed operands has no output that could be assumed, too, if nothing shows it.
        is_behind = not assumed.isdisjoint(node.input_nodes)
        if node.assumed or is_behind:
            places = {(step.location, node.module_path) for step in node.stack}
            (behind if is_behind else first).update(places)
    failing = [problem for problem in report.problems if problem.code == OPERATION_FAILS]
    return tuple(each for each in failing if (each.location, each.module_path) in behind - first)


def weaken(problem: Problem, target: ModelTarget, source_map: SourceMap) -> Problem:
    """Return a problem as a hint that names the guess if it hangs on a guessed argument, else unchanged.

    What fails whatever the model is fed is proven, and no problem of torch.fx: it stays what it is.
    """
    place = problem.location
    if not target.is_guessed or place is None or not problem.code.startswith(("FX1", "FX2", "FX3")):
        return problem
    tree = source_map.expressions.tree(place.file)
    is_of_kind = problem.code in (ITERATION, LENGTH, TYPE_TEST)
    argument = None if tree is None else deciding_argument(place, target.init or "", tree, is_of_kind)
    if argument is None:
        return problem
    why = f"\nThis hangs on the argument {argument}, which was guessed."
    return replace(problem, severity="hint", message=problem.message + why)


def not_of_torch_fx(problem: Problem, failure: BaseException | None, source_map: SourceMap) -> Problem:
    """Return a failure in torch.fx as one of the model, if all inputs that a search tried fail alike.

    Args:
        problem: A problem of a model without known inputs.
        failure: How the furthest trial of the search failed.
        source_map: The source map of the traced code.
    """
    if problem.code == OPERATION_FAILS and _is_raised_by_abstract(problem, source_map):
        return replace(problem, severity="hint", message=f"{_OF_SUBCLASSES}{problem.message}")
    if problem.code != UNTRACEABLE or failure is None or type(failure).__name__ not in problem.message:
        return problem
    places = [place for place in source_map.of_traceback(failure) if not is_installed(place.file)]
    if not places or places[-1] != problem.location:
        return problem
    message = failure_message(failure, problem.module_path or "")
    if _is_abstract(failure, source_map):
        return replace(problem, code=OPERATION_FAILS, severity="hint", message=f"{_OF_SUBCLASSES}{message}")
    return replace(problem, code=OPERATION_FAILS, severity="info", message=f"{_MAY_WORK}{message}")


def _is_abstract(error: BaseException, source_map: SourceMap) -> bool:
    """Return whether a method raised ``NotImplementedError`` that does nothing else."""
    if not isinstance(error, NotImplementedError) or error.__traceback__ is None:
        return False
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    code = frame.f_code
    method = source_map.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
    return method is not None and _only_raises(method) is not None


def _is_raised_by_abstract(problem: Problem, source_map: SourceMap) -> bool:
    """Return whether a problem is that a method ran which only raises ``NotImplementedError``."""
    place = problem.location
    if place is None or "NotImplementedError" not in problem.message:
        return False
    tree = source_map.expressions.tree(place.file)
    raised = [_only_raises(each) for each in ast.walk(tree or ast.Module([], [])) if isinstance(each, ast.FunctionDef)]
    return any(each is not None and each.lineno == place.line for each in raised)


def _only_raises(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.Raise | None:
    """Return the one statement of a function, if it raises something."""
    body = [each for each in function.body if not _is_text(each)]
    return body[0] if len(body) == 1 and isinstance(body[0], ast.Raise) else None


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _note(problem: Problem, why: str) -> Problem:
    return replace(problem, severity="info", message=problem.message + why)


def _is_of_an_argument(problem: Problem, target: ModelTarget) -> bool:
    """Return whether a problem is about a module that the guess constructed.

    A module that the user's code constructed has a related location.
    """
    is_unregistered = problem.code in (UNREGISTERED_MODULE, UNREGISTERED_PARAMETER)
    return is_unregistered and not problem.related and "torch.nn." in (target.init or "")


def _has_no_value(problem: Problem) -> bool:
    return problem.code == UNTRACEABLE and "Proxy" not in problem.message

"""Recipes that do not work: which failure to report, and when the model may be made otherwise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ...report.codes import CODE_FAILS, NOT_BUILT
from ...report.problems import Failure, Problem
from ..model.building.builder import NoModelError
from ..model.building.evaluation import without_arguments
from ..model.diagnosis.failures import text_of
from ..model.diagnosis.own_mistakes import arguments_of_caller
from ..model.targets import ModelTarget


def summary_of(failures: Sequence[tuple[ModelTarget, NoModelError]]) -> NoModelError:
    """Return the failure to report if no recipe works.

    It is that of a recipe in the model's own file, with the failure of a call site added. A recording may be older than
    the code, which is no mistake.
    """
    stated = (none for target, none in failures if target.names_in is None and target.source != "recording")
    own = next(stated, failures[-1][1])
    for target, none in failures:
        if target.names_in is not None and none is not own and own.failure.needs is not None:
            lacks = f"What {os.path.basename(target.names_in)} makes it with does not help: {none.failure.message}"
            return NoModelError(replace(own.failure, message=f"{own.failure.message}\n{lacks}"))
    return own


def may_be_made_otherwise(target: ModelTarget, none: NoModelError) -> bool:
    """Return whether a recipe failed that a call site of the model's own file states, for a reason that may be its own.

    For example a global variable that is still None, or weights that are to be downloaded. What fails whatever the
    model is given is the model's mistake.
    """
    return target.source == "call-site" and target.names_in is None and none.failure.code == NOT_BUILT


def problem_of(failure: Failure) -> Problem:
    """Return the problem of a recipe that does not work, of a model that was made otherwise."""
    return Problem(
        failure.code,
        "info",
        f"{failure.message}\nOther arguments were found by search",
        failure.location,
        related=failure.related,
        model=failure.target,
    )


def with_furthest(
    refused: NoModelError, furthest: BaseException | None, name: str, omitted: Sequence[str] = ()
) -> NoModelError:
    """Return why a model cannot be made for want of arguments, with how far it came with guessed ones.

    ``omitted`` are those that default to nothing, with which it fails.
    """
    failure = _for_want_of_arguments(refused, name, omitted)
    if failure.needs is None or furthest is None:
        return NoModelError(failure)
    error = f"{type(furthest).__name__}: {text_of(furthest).partition(chr(10))[0]}".rstrip(": ")
    if failure.message.endswith(error):
        return NoModelError(failure)
    return NoModelError(replace(failure, message=f"{failure.message}\nWith guessed arguments it fails: {error}"))


def _for_want_of_arguments(refused: NoModelError, name: str, omitted: Sequence[str]) -> Failure:
    """Return the failure of a model; of a class that hands on what it is not given, as one for want of arguments."""
    failure, error = refused.failure, refused.__cause__
    if omitted and failure.needs is None and failure.code in (NOT_BUILT, CODE_FAILS):
        lacking = without_arguments(name, list(omitted))
        message = f"{lacking}\nBy default it fails: {failure.message}"
        return replace(failure, code=NOT_BUILT, message=message, needs=lacking.needs, is_certain=False)
    missing = [] if failure.needs is not None or error is None else arguments_of_caller(error)
    if not missing:
        return failure
    lacking = without_arguments(name, missing)
    return replace(failure, message=str(lacking), needs=lacking.needs)


def without_recipe(target: ModelTarget) -> ModelTarget:
    """Return the target, with its construction and inputs left to conventions, defaults and search."""
    return replace(target, init=None, inputs=None, source=None, names_in=None)

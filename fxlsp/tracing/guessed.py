"""What problems mean of a model that was made or fed by guesses: some of them are the guesses'."""

from __future__ import annotations

from dataclasses import replace

from ..report.codes import OPERATION_FAILS, UNREGISTERED_MODULE, UNREGISTERED_PARAMETER
from ..report.problems import Problem
from .search.guesses import MAKERS

_UNREGISTERED = (UNREGISTERED_MODULE, UNREGISTERED_PARAMETER)


def told_as_guessed(problem: Problem, init: str) -> Problem:
    """A note in the place of a problem that other guesses may not have.

    Inputs: fake tensors let pass what data do not. Arguments: a model that is handed an object with modules in it would
    have them registered, if the object were one; the search makes a namespace.
    """
    if problem.code == OPERATION_FAILS:
        return _note(problem, "; the inputs were guessed")
    if problem.code in _UNREGISTERED and not problem.related and _has_modules_in_namespaces(init):
        return _note(problem, "\nWhat the model is made with was guessed.")
    return problem


def _note(problem: Problem, why: str) -> Problem:
    return replace(problem, severity="info", message=problem.message + why)


def _has_modules_in_namespaces(init: str) -> bool:
    return MAKERS["namespace"] in init and "torch.nn." in init

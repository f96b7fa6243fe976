"""Severity of problems that a guessed construction or guessed inputs may cause."""

from __future__ import annotations

from dataclasses import replace

from ...report.codes import OPERATION_FAILS, UNREGISTERED_MODULE, UNREGISTERED_PARAMETER, UNTRACEABLE
from ...report.problems import Problem
from ..building.targets import ModelTarget


def downgrade(problem: Problem, target: ModelTarget) -> Problem:
    """Return a problem as a note if other guesses may not cause it, else unchanged.

    Failing operations may be due to guessed inputs. Guessed constructor arguments may be modules in a list or an object
    that other arguments would register, and may cause errors that involve no traced value.
    """
    if problem.code == OPERATION_FAILS:
        return _note(problem, "; the inputs were guessed")
    if target.is_guessed and (_is_of_an_argument(problem, target) or _has_no_value(problem)):
        return _note(problem, "\nWhat the model is made with was guessed.")
    return problem


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

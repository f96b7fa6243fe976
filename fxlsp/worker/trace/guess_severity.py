"""Severities of the problems of a model that was made or fed by guesses: some of them are due to the guesses."""

from __future__ import annotations

from dataclasses import replace

from ...report.codes import OPERATION_FAILS, UNREGISTERED_MODULE, UNREGISTERED_PARAMETER, UNTRACEABLE
from ...report.problems import Problem
from ..building.targets import ModelTarget


def downgrade(problem: Problem, target: ModelTarget) -> Problem:
    """Return a note in the place of a problem that other guesses may not have; any other problem as it is.

    Inputs: fake tensors let pass what data do not. Arguments: with others, modules that are handed over in a list or an
    object may be registered, and what fails on no value of a trace may not fail.
    """
    if problem.code == OPERATION_FAILS:
        return _note(problem, "; the inputs were guessed")
    if target.is_guessed and (_is_of_an_argument(problem, target) or _has_no_value(problem)):
        return _note(problem, "\nWhat the model is made with was guessed.")
    return problem


def _note(problem: Problem, why: str) -> Problem:
    return replace(problem, severity="info", message=problem.message + why)


def _is_of_an_argument(problem: Problem, target: ModelTarget) -> bool:
    """Return whether it is about a module that the guess made: one that the user's code made has a related location."""
    is_unregistered = problem.code in (UNREGISTERED_MODULE, UNREGISTERED_PARAMETER)
    return is_unregistered and not problem.related and "torch.nn." in (target.init or "")


def _has_no_value(problem: Problem) -> bool:
    return problem.code == UNTRACEABLE and "Proxy" not in problem.message

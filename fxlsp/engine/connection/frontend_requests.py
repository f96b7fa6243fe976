"""Requests for the verdict of torch.export or torch.compile, and the verdict that an outcome comes to."""

from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.connection.connection import Outcome
from fxlsp.report.frontend_codes import died_code
from fxlsp.report.frontends import FrontendProblem, FrontendVerdict, OtherFrontend
from fxlsp.report.locations import Location
from fxlsp.report.recipes import Recipe
from fxlsp.wire.messages import RecipeRequest, TraceRequest

_LEAST_SECONDS = 60.0
"""Time limit of each front end, unless the user's is longer: to import torch._dynamo alone takes seconds."""


def frontend_request(request: TraceRequest, recipe: Recipe, name: OtherFrontend) -> TraceRequest:
    """Return the request for a verdict on a model that was traced.

    Args:
        request: a request for a trace of the model.
        recipe: that of the report, which makes and feeds the model.
        name: the front end.
    """
    limits = replace(request.limits, seconds=max(request.limits.seconds, _LEAST_SECONDS))
    return replace(request, recipe=RecipeRequest.of(recipe), symbols=False, frontend=name, limits=limits)


def verdict_of(name: OtherFrontend, outcome: Outcome) -> FrontendVerdict:
    """Return the verdict that the outcome of such a request has, else the one that its failure is."""
    if outcome.frontend is not None:
        return outcome.frontend
    failure = outcome.failure
    message = "no verdict arrived" if failure is None else failure.message
    place = None if failure is None else failure.location
    if outcome.died:
        problem = FrontendProblem(message.partition("\n")[0], message, place, died_code(name))
        return FrontendVerdict(name, "crashed", "crashed", (problem,))
    return not_asked(name, message, place)


def not_fed(name: OtherFrontend) -> FrontendVerdict:
    """Return the verdict on a model whose inputs are not known, which cannot be asked about."""
    return not_asked(name, "no inputs are known")


def not_asked(name: OtherFrontend, reason: str, place: Location | None = None) -> FrontendVerdict:
    """Return the verdict on a model that a front end could not be asked about."""
    problem = FrontendProblem(reason.partition("\n")[0], reason, place)
    return FrontendVerdict(name, "unavailable", "could not be asked", (problem,))

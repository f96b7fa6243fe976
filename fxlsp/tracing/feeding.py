"""From a recipe's input text to values on the graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch.fx

from ..report.codes import NOT_FED
from ..report.problems import Problem
from ..report.recipes import Recipe
from .building import Built, Target, seed
from .construction import Constructions, construct
from .failures import message_of
from .frames import Places
from .recipes import bind, default_inputs, evaluate_arguments
from .torch_private import FakeTensorMode
from .tracer import ModulePathTracer
from .values import NodeValue, ValueInterpreter


@dataclass
class Fed:
    """What running the graph found out."""

    recipe: Recipe
    values: dict[torch.fx.Node, NodeValue]
    """Empty where the inputs are unknown or could not be made."""
    problem: Problem | None = None


def feed(target: Target, built: Built, tracer: ModulePathTracer, mode: FakeTensorMode, places: Places) -> Fed:
    """Run the graph on the recipe's inputs, else on what conventions and defaults say."""
    recipe = complete_recipe(target, built)
    if recipe.inputs is None:
        return Fed(recipe, {})
    text = recipe.inputs
    seed()
    try:
        make = lambda: evaluate_arguments(text, built.module)  # noqa: E731 - one expression, named for the reader
        arguments = construct(make, Constructions(places), mode, really=False)
        inputs = bind(built.model, arguments)
    except BaseException as error:
        message = f"cannot feed {target.name} with ({text}): {type(error).__name__}: {message_of(error)}"
        return Fed(recipe, {}, Problem(NOT_FED, "warning", message, None, model=str(target)))
    interpreter = ValueInterpreter(built.model, tracer, mode)
    interpreter.run_on(dict(inputs))
    return Fed(recipe, interpreter.values)


def complete_recipe(target: Target, built: Built) -> Recipe:
    """The recipe that was followed, with what conventions and defaults added to it."""
    source = target.source or "default"
    if target.inputs is not None:
        return Recipe(built.init, target.inputs, source)
    found = default_inputs(built.model, built.target, built.module)
    if found is None:
        return Recipe(built.init, None, source)
    text, found_source = found
    return Recipe(built.init, text, found_source if target.init is None else source)

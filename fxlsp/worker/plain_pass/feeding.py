"""From a recipe's input text to values on the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch.fx

from ...report.codes import NOT_FED
from ...report.problems import Problem
from ...report.recipes import Recipe
from ..building.builder import Built, seed
from ..building.construction import Constructions, construct
from ..building.failures import message_of
from ..building.recipes import bind, default_inputs, evaluate_arguments
from ..building.targets import ModelTarget
from ..locations.source_map import SourceMap
from ..torch_private import FakeTensorMode
from .interpreter import NodeValue, ValueInterpreter
from .tracer import ModulePathTracer


@dataclass(frozen=True)
class Feed:
    """What a model is fed."""

    recipe: Recipe
    inputs: Mapping[str, Any] | None
    """The arguments of ``forward`` by the names of FX's placeholders; None where they are unknown or cannot be made."""
    problem: Problem | None = None


@dataclass(frozen=True)
class ModelWithInputs:
    """A built model with its inputs: what a pass works on."""

    target: str
    """The model's name in problems."""
    built: Built
    constructions: Constructions
    feed: Feed
    mode: FakeTensorMode
    real: bool
    """Whether the inputs have data."""


def prepare_feed(
    target: ModelTarget, built: Built, mode: FakeTensorMode, source_map: SourceMap, real_tensors: bool
) -> Feed:
    """Return the inputs that the recipe says, else what conventions and defaults say; with data if ``really``."""
    recipe = complete_recipe(target, built)
    if recipe.inputs is None:
        return Feed(recipe, None)
    text = recipe.inputs
    seed()
    try:
        make = lambda: evaluate_arguments(text, built.names)  # noqa: E731 - one expression, named for the reader
        arguments = construct(make, Constructions(source_map), mode, real_tensors)
        return Feed(recipe, bind(built.model, arguments))
    except BaseException as error:
        message = f"cannot feed {target.name} with ({text}): {type(error).__name__}: {message_of(error)}"
        return Feed(recipe, None, Problem(NOT_FED, "warning", message, None, model=str(target)))


def node_values(
    root: torch.nn.Module, tracer: ModulePathTracer, mode: FakeTensorMode, feed: Feed
) -> dict[torch.fx.Node, NodeValue]:
    """Return what each node of a traced graph does on the inputs; empty where there are none."""
    if feed.inputs is None:
        return {}
    interpreter = ValueInterpreter(root, tracer, mode)
    interpreter.run_on(dict(feed.inputs))
    return interpreter.values


def complete_recipe(target: ModelTarget, built: Built) -> Recipe:
    """Return the recipe that was followed, with what conventions and defaults added to it."""
    source = target.source or "default"
    if target.inputs is not None:
        return Recipe(built.init, target.inputs, source, target.names_in)
    found = default_inputs(built.model, built.target, built.names)
    if found is None:
        return Recipe(built.init, None, source, target.names_in)
    text, found_source = found
    return Recipe(built.init, text, found_source if target.init is None else source, target.names_in)

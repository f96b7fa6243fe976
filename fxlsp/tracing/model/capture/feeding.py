"""Inputs of a model from its recipe, and the values of its graph on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch.fx

from ....report.code_records import Severity
from ....report.codes import NOT_FED, severity_of
from ....report.problems import Problem
from ....report.recipes import Recipe
from ...isolation.torch_private import FakeTensorMode
from ..building.builder import Built, seed
from ..building.construction import Constructions, construct
from ..building.evaluation import bind, default_inputs, evaluate_arguments
from ..diagnosis.failures import message_of
from ..locations.source_map import SourceMap
from ..targets import ModelTarget
from .interpreter import NodeValue, ValueInterpreter
from .tracer import ModulePathTracer
from .with_data import DataInterpreter


@dataclass(frozen=True)
class Feed:
    """Inputs of a model, with the complete recipe."""

    recipe: Recipe
    inputs: Mapping[str, Any] | None
    """Arguments of ``forward`` by the names of FX's placeholders; None if they are unknown or cannot be made."""
    problem: Problem | None = None
    """Reason why the inputs could not be made, if so."""


@dataclass(frozen=True)
class ModelWithInputs:
    """Built model with its inputs, on which a pass runs."""

    target: str
    """Name of the model in problems."""
    built: Built
    constructions: Constructions
    feed: Feed
    mode: FakeTensorMode
    real: bool
    """Whether the inputs have data."""

    @property
    def is_given(self) -> bool:
        """Whether the constructor's arguments are the user's, and were not guessed."""
        recipe = self.feed.recipe
        return recipe.source != "search" or (recipe.init or "").endswith("()")

    @property
    def omits_inputs(self) -> bool:
        """Whether an optional input is None, or unknown."""
        return self.feed.inputs is None or any(value is None for value in self.feed.inputs.values())


def prepare_feed(
    target: ModelTarget, built: Built, mode: FakeTensorMode, source_map: SourceMap, real_tensors: bool
) -> Feed:
    """Return the inputs of a model by its recipe, else by conventions and defaults.

    Inputs that cannot be made are a problem of the result, not an exception. With ``real_tensors``, they have data.
    """
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
        # What a search has made up is not there to be mended.
        severity: Severity = "info" if recipe.source == "search" else severity_of(NOT_FED)
        return Feed(recipe, None, Problem(NOT_FED, severity, message, None, model=str(target)))


def node_values(subject: ModelWithInputs, tracer: ModulePathTracer) -> tuple[dict[torch.fx.Node, NodeValue], bool]:
    """Return the value of each node of a traced graph, and whether some are known only with data.

    Without inputs there are no values.
    """
    if subject.feed.inputs is None:
        return {}, False
    kind = DataInterpreter if subject.real else ValueInterpreter
    interpreter = kind(subject.built.model, tracer, subject.mode)
    interpreter.run_on(dict(subject.feed.inputs))
    return interpreter.values, interpreter.needs_data


def complete_recipe(target: ModelTarget, built: Built) -> Recipe:
    """Return the recipe of a built model, completed by conventions and defaults."""
    source = target.source or "default"
    if target.inputs is not None:
        return Recipe(built.init, target.inputs, source, target.names_in)
    found = default_inputs(built.model, built.target)
    if found is None:
        return Recipe(built.init, None, source, target.names_in)
    text, found_source = found
    return Recipe(built.init, text, found_source if target.init is None else source, target.names_in)

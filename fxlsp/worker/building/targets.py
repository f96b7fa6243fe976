"""What a request asks for: its target by each of its recipes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...report.recipes import Recipe
from ...wire.messages import RecipeRequest, TraceRequest
from .builder import Target


def targets_of(request: TraceRequest) -> Iterator[Target]:
    """The target by each recipe of the request; the last of several leaves it to conventions, defaults and search."""
    recipe = request.recipe
    yield _target_of(request, recipe)
    yield from (_target_of(request, each) for each in recipe.alternatives)
    if recipe.alternatives or (recipe.file and not recipe.only):
        yield _target_of(request, RecipeRequest())


def is_settled(request: TraceRequest) -> bool:
    """Whether the request says all of how the model is made and fed."""
    target, *others = targets_of(request)
    return bool(target.init) and target.inputs is not None and not others


def _target_of(request: TraceRequest, recipe: RecipeRequest | Recipe) -> Target:
    target = request.target
    return Target(
        file=None if target.file is None else os.path.realpath(target.file),
        module=target.module,
        name=target.name,
        init=recipe.init or None,
        inputs=recipe.inputs,
        source=recipe.source,
        names_in=None if recipe.file is None else os.path.realpath(recipe.file),
    )


def guess_of(request: TraceRequest) -> Recipe | None:
    """What an earlier trace of the model found by search."""
    guess = request.recipe.guess
    return None if guess is None else Recipe(guess.init, guess.inputs, "search")

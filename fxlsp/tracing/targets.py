"""What a request asks for: its target by each of its recipes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..report.recipes import Recipe
from ..report.wire import Message
from .building import Target


def targets_of(request: Message) -> Iterator[Target]:
    """The target by each recipe of the request; the last of several leaves it to conventions, defaults and search."""
    recipe = request["recipe"]
    alternatives = recipe.get("alternatives") or ()
    yield _target_of(request, recipe)
    yield from (_target_of(request, each) for each in alternatives)
    if alternatives or (recipe.get("file") and not recipe.get("only")):
        yield _target_of(request, {})


def is_settled(request: Message) -> bool:
    """Whether the request says all of how the model is made and fed."""
    target, *others = targets_of(request)
    return bool(target.init) and target.inputs is not None and not others


def _target_of(request: Message, recipe: Message) -> Target:
    target, names_in = request["target"], recipe.get("file")
    file = target.get("file")
    return Target(
        file=None if file is None else os.path.realpath(file),
        module=target.get("module"),
        name=target["name"],
        init=recipe.get("init") or None,
        inputs=recipe.get("inputs"),
        source=recipe.get("source"),
        names_in=None if names_in is None else os.path.realpath(names_in),
    )


def guess_of(request: Message) -> Recipe | None:
    """What an earlier trace of the model found by search."""
    guess = request["recipe"].get("guess")
    return None if not guess else Recipe(guess["init"], guess["inputs"], "search")

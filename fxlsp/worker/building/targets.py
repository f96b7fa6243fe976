"""What a request asks for: its target by each of its recipes."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...report.recipes import Recipe, RecipeSource
from ...wire.messages import RecipeRequest, TraceRequest


@dataclass(frozen=True)
class ModelTarget:
    """What a request names: a class, factory or instance of a file or of an importable module."""

    file: str | None
    module: str | None
    name: str
    init: str | None
    inputs: str | None
    source: RecipeSource | None
    names_in: str | None = None
    """The file whose names ``init`` and ``inputs`` use, where that is not the target's own."""
    fails: bool = False
    """Whether it is known that the model fails whatever it is fed, where that was guessed."""
    is_guessed: bool = False
    """Whether the arguments of ``init`` were guessed."""

    def __str__(self) -> str:
        return f"{self.file or self.module}:{self.name}"

    @property
    def outermost_name(self) -> str:
        """The name at top level of the file, of a nested class."""
        return self.name.partition(".")[0]

    @property
    def names_in_recipe(self) -> list[str]:
        """Names that the texts of the recipe use."""
        return _names_in(text for text in (self.init, self.inputs) if text)

    @property
    def names_wanted(self) -> list[str]:
        """Names that are to be asked for of the target's own file."""
        return [self.outermost_name, *(self.names_in_recipe if self.names_in is None else ())]


def _names_in(texts: Iterable[str]) -> list[str]:
    names: list[str] = []
    for text in texts:
        try:
            call = ast.parse(f"_({text}\n)", mode="eval").body
        except SyntaxError:
            continue
        given = [part for part in ast.iter_child_nodes(call) if part is not getattr(call, "func", None)]
        names += [node.id for part in given for node in ast.walk(part) if isinstance(node, ast.Name)]
    return names


def targets_of(request: TraceRequest) -> Iterator[ModelTarget]:
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


def _target_of(request: TraceRequest, recipe: RecipeRequest | Recipe) -> ModelTarget:
    target = request.target
    return ModelTarget(
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

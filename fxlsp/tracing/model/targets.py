"""Targets of a trace request: the model with each of its recipes."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ...report.locations import Location
from ...report.recipes import Recipe, RecipeSource
from ...wire.messages import RecipeRequest, TraceRequest


@dataclass(frozen=True)
class ModelTarget:
    """Class, factory or instance to trace, with one recipe.

    It is defined by a file or by an importable module.
    """

    file: str | None
    module: str | None
    name: str
    init: str | None
    inputs: str | None
    source: RecipeSource | None
    names_in: str | None = None
    """File whose names ``init`` and ``inputs`` use, if it is not the target's own file."""
    fails: bool = False
    """Whether a search found that the model fails for all inputs."""
    failing: tuple[Location, ...] = ()
    """The calling expressions of what fails for all inputs; none where that is not known."""
    only: str = ""
    """Under which condition alone it runs, where a search found that this condition is its mistake."""
    sizes_note: str = ""
    """Which preferred sizes its inputs do not have, since it does not run with them."""
    is_guessed: bool = False
    """Whether the arguments of ``init`` were guessed."""
    is_default: bool = False
    """Whether ``init`` is stated by nothing and has no arguments."""

    def __str__(self) -> str:
        return f"{self.file or self.module}:{self.name}"

    @property
    def is_made_by_defaults(self) -> bool:
        """Whether nothing states how it is made, so that each argument has its default."""
        return self.init is None or self.is_default

    @property
    def outermost_name(self) -> str:
        """Top-level name that contains the target, for a nested class."""
        return self.name.partition(".")[0]

    @property
    def names_in_recipe(self) -> list[str]:
        """Names that the recipe uses."""
        return _names_in(text for text in (self.init, self.inputs) if text)

    @property
    def names_wanted(self) -> list[str]:
        """Names to request from the target's own file."""
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
    """Yield the target with each recipe of a request, in the order of trial.

    If there are several, the last one has no recipe: it leaves both texts to conventions, defaults and search.
    """
    recipe = request.recipe
    yield _target_of(request, recipe)
    yield from (_target_of(request, each) for each in recipe.alternatives)
    may_be_old = recipe.file or recipe.source == "recording"
    if recipe.alternatives or (may_be_old and not recipe.only):
        yield _target_of(request, RecipeRequest())


def is_settled(request: TraceRequest) -> bool:
    """Return whether a request states construction and inputs, without alternatives."""
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


def guessed_request(request: TraceRequest) -> TraceRequest | None:
    """Return the request with the recipe that an earlier trace found by search, as far as nothing states another.

    None without such a recipe, and if it may belong to another one of those to try.
    """
    stated, guess = request.recipe, request.recipe.guess
    if guess is None or guess.inputs is None or stated.inputs is not None:
        return None
    init = guess.init
    if init.removesuffix(".eval()") != stated.init:
        if stated.alternatives or stated.file:
            return None
        if stated.init:
            # It is made otherwise now; the mode in which it ran stays.
            init = stated.init + ".eval()" * init.endswith(".eval()")
    return replace(request, recipe=RecipeRequest(init, guess.inputs, "search", stated.file))


def guessed_target(request: TraceRequest) -> ModelTarget | None:
    """Return the target of :func:`guessed_request`."""
    guessed = guessed_request(request)
    if guessed is None:
        return None
    target, guess = next(targets_of(guessed)), request.recipe.guess
    has_none = (target.init or "").removesuffix(".eval()").endswith("()")
    return replace(
        target,
        is_guessed=not request.recipe.init and not (target.init or "").endswith("()"),
        is_default=not request.recipe.init and has_none,
        sizes_note="" if guess is None else guess.sizes_note,
    )


def first_target(request: TraceRequest) -> ModelTarget:
    """Return the target that is tried first: with the recipe that an earlier trace found, else the first stated one."""
    return guessed_target(request) or next(targets_of(request))


def guess_of(request: TraceRequest) -> Recipe | None:
    """Return the recipe that an earlier trace of the model found by search, if any."""
    guess = request.recipe.guess
    return None if guess is None else Recipe(guess.init, guess.inputs, "search")

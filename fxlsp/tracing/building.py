"""From a file and a recipe to a constructed model."""

from __future__ import annotations

import ast
import os
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from ..report.codes import NOT_BUILT, NOT_FOUND, NOT_LOADED
from ..report.problems import Failure
from ..report.recipes import RecipeSource
from .construction import Constructions, comes_from_fakes, construct
from .failures import load_failure
from .frames import Places
from .loading import Loader
from .recipes import RecipeError, default_init, evaluate, find_target
from .torch_private import FakeTensorMode


class NoModel(Exception):
    """The target has no graph, for a reason to tell."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class FakesFailed(Exception):
    """Something failed in which fake tensors had a part: to be tried again with real ones."""


@dataclass(frozen=True)
class Target:
    """What a request names: a class, factory or instance of a file or of an importable module."""

    file: str | None
    module: str | None
    name: str
    init: str | None
    inputs: str | None
    source: RecipeSource | None

    def __str__(self) -> str:
        return f"{self.file or self.module}:{self.name}"


@dataclass
class Built:
    """A model, and how it came about."""

    model: torch.nn.Module
    target: Any
    module: ModuleType
    init: str
    constructions: Constructions


class Builder:
    """Loads and constructs one target."""

    def __init__(self, target: Target, loader: Loader, places: Places) -> None:
        self._target = target
        self._loader = loader
        self._places = places

    def load(self) -> ModuleType:
        """Execute what the target needs.

        Raises:
            NoModel: the file does not parse, import or run.
        """
        target = self._target
        try:
            if target.file is None:
                return self._loader.load_module(target.module or "")
            try:
                return self._loader.load_file(target.file, self._needed_names())
            except NameError:
                # A name made by a statement that does not look as if it made it: the whole file, then.
                self._loader.forget()
                return self._loader.load_file(target.file, None)
        except (Exception, SystemExit) as error:
            what = f"load {os.path.basename(target.file) if target.file else target.module}"
            raise NoModel(load_failure(error, str(target), NOT_LOADED, self._places, what)) from error

    def _needed_names(self) -> list[str]:
        texts = (self._target.init, self._target.inputs)
        return [self._target.name.partition(".")[0], *_names_in(text for text in texts if text)]

    def build(self, module: ModuleType, fake_mode: FakeTensorMode, really: bool) -> Built:
        """Make the model as the recipe says, on real tensors if ``really``.

        Raises:
            NoModel: there is no such target, or it cannot be made.
            FakesFailed: it failed because of fake tensors.
        """
        target = self._target
        try:
            found = find_target(module, target.name)
        except AttributeError as error:
            message = f"there is no {target.name} in {target.file or target.module}"
            raise NoModel(Failure(str(target), NOT_FOUND, message)) from error
        seed()
        constructions = Constructions(self._places)
        try:
            init = target.init or default_init(found, target.name)
            model = construct(lambda: _made(init, module), constructions, fake_mode, really)
        except RecipeError as error:
            raise NoModel(Failure(str(target), NOT_BUILT, str(error), self._definition(), needs=error.needs)) from error
        except (Exception, SystemExit) as error:
            if not really and comes_from_fakes(error):
                raise FakesFailed from error
            what = f"build {target.init or target.name}"
            raise NoModel(load_failure(error, str(target), NOT_BUILT, self._places, what)) from error
        return Built(model, found, module, init, constructions)

    def _definition(self) -> Any:
        return None if self._target.file is None else self._places.of_name(self._target.file, self._target.name)


def _made(init: str, module: ModuleType) -> torch.nn.Module:
    model = evaluate(init, module, "init")
    if not isinstance(model, torch.nn.Module):
        raise RecipeError(f"{init} makes a {type(model).__name__}, not a torch.nn.Module")
    return model


def _names_in(texts: Iterable[str]) -> list[str]:
    names: list[str] = []
    for text in texts:
        try:
            tree = ast.parse(f"_({text}\n)")
        except SyntaxError:
            continue
        names += [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return names


def seed() -> None:
    """Start every pass from the same random state."""
    torch.manual_seed(0)
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)

"""Builder of a model from its file and recipe."""

from __future__ import annotations

import os
import random
import sys
import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch

from ....report.codes import CODE_FAILS, NOT_BUILT, NOT_FOUND, NOT_LOADED
from ....report.problems import Failure
from ....report.suggestions import did_you_mean
from ...isolation.replacement import replaced
from ...isolation.torch_private import FakeTensorMode
from ..diagnosis.constructor_mistakes import (
    constructor_mistake,
    is_refused_by_layer,
    never_initialises,
    uninitialised_part,
)
from ..diagnosis.failures import failure_of_load
from ..diagnosis.own_mistakes import is_own_mistake
from ..loading.loader import Loader
from ..locations.source_map import SourceMap
from ..targets import ModelTarget
from .construction import Constructions, comes_from_fakes, construct
from .evaluation import UnusableRecipeError, default_init, evaluate, find_target, target_names
from .module_cycles import module_cycle


class NoModelError(Exception):
    """The target has no graph; ``failure`` is the reason to report."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class FakesFailedError(Exception):
    """An error involved fake tensors: the step has to be repeated with real ones."""


@dataclass
class Built:
    """Constructed model with the expression and namespace that it was made from."""

    model: torch.nn.Module
    target: Any
    names: ModuleType
    """Module in whose namespace the texts of the recipe are evaluated."""
    init: str


@dataclass(frozen=True)
class Loaded:
    """Modules of the user's code that a target and its recipe need."""

    module: ModuleType
    """Module that defines the target."""
    names: ModuleType
    """Module whose names the recipe uses."""


class Builder:
    """Builder that loads and constructs one target once."""

    def __init__(
        self, target: ModelTarget, loader: Loader, source_map: SourceMap, fake_mode: FakeTensorMode, real_tensors: bool
    ) -> None:
        """
        Args:
            real_tensors: whether tensors of every size are real.
        """
        self.constructions = Constructions(source_map)
        self._target = target
        self._wanted: list[str] = []
        """Names requested of the target's file."""
        self._loader = loader
        self._source_map = source_map
        self._fake_mode = fake_mode
        self._real_tensors = real_tensors

    def set_target(self, target: ModelTarget) -> None:
        """Build another target of the same file instead, even in the middle of the load."""
        self._target = target
        self._wanted[:] = target.names_wanted

    def load(self) -> Loaded:
        """Execute the code that the target needs, and return its modules.

        Models that the file makes at top level are constructed here.

        Raises:
            NoModelError: the file does not parse, import or run.
            FakesFailedError: the file failed because of fake tensors.
        """
        seed()
        try:
            return construct(self._load, self.constructions, self._fake_mode, self._real_tensors)
        except BaseException as error:
            raise self._no_model(error, NOT_LOADED, self._loading(error)) from error

    def _load(self) -> Loaded:
        target = self._target
        if target.file is None:
            module = self._loader.load_module(target.module or "")
            # In a workspace file, the lookup runs what the target needs.
            getattr(module, target.outermost_name, None)
            return Loaded(module, module)
        names = None if target.names_in is None else self._load_file(target.names_in, target.names_in_recipe)
        self._wanted[:] = target.names_wanted
        module = self._load_file(target.file, self._wanted)
        return Loaded(module, names or module)

    def _load_file(self, path: str, names: Sequence[str]) -> ModuleType:
        while True:
            try:
                return self._loader.load_file(path, names)
            except Exception as error:
                # For example a name bound by a statement in a way that the slicer does not see.
                if not self._loader.provide_missing(error) and not self._is_set_up_by(error):
                    raise

    def _loading(self, error: BaseException) -> str:
        """Return the description of a failed load for messages: ``load model.py``.

        It names the file of the recipe if the error passed that and not the model's file.
        """
        target = self._target
        passed = {frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)}
        path = target.names_in if target.names_in in passed and target.file not in passed else target.file
        return f"load {os.path.basename(path) if path else target.module}"

    def _no_model(self, error: BaseException, code: str, what: str) -> Exception:
        cause = self._loader.cause_of(error)
        if cause is not error:
            # A statement of a file failed earlier, and the name that it binds is missing only now.
            error, code, what = cause, NOT_LOADED, self._loading(cause)
        if not self._real_tensors and comes_from_fakes(error):
            return FakesFailedError()
        failure = failure_of_load(error, str(self._target), code, self._source_map, what)
        return NoModelError(constructor_mistake(failure, error, self._source_map))

    def build(self, loaded: Loaded) -> Built:
        """Construct the model by its recipe.

        Raises:
            NoModelError: there is no such target, or it cannot be constructed.
            FakesFailedError: construction failed because of fake tensors.
        """
        target = self._target
        try:
            found = find_target(loaded.module, target.name)
        except AttributeError as error:
            message = f"there is no {target.name} in {target.file or target.module}"
            message += did_you_mean(target.name, target_names(loaded.module, target.name))
            raise NoModelError(Failure(str(target), NOT_FOUND, message)) from error
        seed()
        try:
            init = target.init or default_init(found, target.name)
            model = construct(
                lambda: self._made(init, loaded.names), self.constructions, self._fake_mode, self._real_tensors
            )
        except UnusableRecipeError as error:
            # No argument helps a class that cannot be constructed.
            mistake = never_initialises(found, str(target), self._source_map) if error.needs else None
            # An error of a recipe is reported at the recipe, whose location is unknown here.
            place = None if target.init else self._definition()
            failure = mistake or Failure(str(target), NOT_BUILT, str(error), place, needs=error.needs)
            raise NoModelError(failure) from error
        except BaseException as error:
            raise self.failed(error) from error
        mistake = uninitialised_part(model, str(target), self._source_map) or module_cycle(
            model, str(target), self.constructions, self._source_map
        )
        if mistake is not None:
            raise NoModelError(mistake)
        return Built(model, found, loaded.names, init)

    def failed(self, error: BaseException, is_proven: bool = False) -> Exception:
        """Return the exception for a construction that ended with ``error``.

        ``is_proven`` says that it ends so with any arguments.
        """
        target = self._target
        code = CODE_FAILS if is_own_mistake(error, None, not target.is_guessed) else NOT_BUILT
        failed = self._no_model(error, code, f"build {target.init or target.name}")
        if isinstance(failed, NoModelError) and failed.failure.code == NOT_BUILT and not target.is_guessed:
            failed.failure = replace(failed.failure, is_certain=is_proven or is_refused_by_layer(error))
        return failed

    def _made(self, init: str, module: ModuleType) -> torch.nn.Module:
        while True:
            try:
                return _made(init, module)
            except Exception as error:
                if not self._loader.provide_missing(error) and not self._is_set_up_by(error):
                    raise
                seed()

    def _is_set_up_by(self, error: BaseException) -> bool:
        """Return whether statements ran after which what raised ``error`` may work."""
        return isinstance(error, (LookupError, AttributeError)) and self._loader.run_setup()

    def _definition(self) -> Any:
        return None if self._target.file is None else self._source_map.of_name(self._target.file, self._target.name)


def _made(init: str, module: ModuleType) -> torch.nn.Module:
    model = evaluate(init, module, "init")
    if not isinstance(model, torch.nn.Module):
        raise UnusableRecipeError(f"{init} makes a {type(model).__name__}, not a torch.nn.Module")
    return model


def unwrap(built: Built) -> Built:
    """Return the model inside wrappers of ``torch.compile`` or ``DataParallel``.

    Any other model is returned unchanged.
    """
    model = built.model
    if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        return unwrap(replace(built, model=model.module))
    if type(model).__name__ == "OptimizedModule":
        return unwrap(replace(built, model=model._orig_mod))  # type: ignore[arg-type]
    return built


def seed() -> None:
    """Reset the random state of torch, Python and numpy, equally for every pass."""
    # Not torch.manual_seed, which also stores a callback, with a stack, for each accelerator that is not available.
    torch.default_generator.manual_seed(_Seed.number)
    random.seed(_Seed.number)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(_Seed.number)


class _Seed:
    number = 0


def seeded(number: int) -> AbstractContextManager[None]:
    """Let :func:`seed` set another state in this context."""
    return replaced(_Seed, number=number)

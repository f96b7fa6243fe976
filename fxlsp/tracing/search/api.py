"""What the trace asks the search for: constructor arguments and inputs that nothing states."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import torch

from ...report.recipes import Recipe
from ..isolation.torch_private import FakeTensorMode
from ..model.building.builder import Built, Loaded, NoModelError
from ..model.building.evaluation import UnusableRecipeError, default_init, find_target
from ..model.capture.feeding import complete_recipe
from ..model.diagnosis.failures import text_of
from ..model.diagnosis.omitted_arguments import omitted_arguments
from ..model.targets import ModelTarget
from .engine import Search, SearchResult
from .priors.constructor import is_default_class, is_nothing, parameters_of, without_weights
from .trials.budget import Budget, WorkMeter
from .trials.runner import RunConditions

_FAKES_LOG = logging.getLogger(FakeTensorMode.__module__)
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) argument")


class RecipeSearch:
    """The search for what a target's recipe leaves open."""

    def __init__(
        self, target: ModelTarget, loaded: Loaded, conditions: RunConditions, guess: Recipe | None = None
    ) -> None:
        """``guess`` is tried first: what was found before an edit is likely to hold after it."""
        self._target = target
        self._loaded = loaded
        self._conditions = conditions
        self._guess = guess
        self._meter = WorkMeter(conditions.seconds)
        self.error: BaseException | None = None
        """How the furthest trial failed, where no inputs were found."""
        self.mistake: BaseException | None = None
        """Why no arguments were found, if the constructor fails whatever it is given."""

    def making(self) -> ModelTarget | None:
        """Return the target with arguments and inputs that were found; itself without.

        None if it needs no arguments.
        """
        target = self._target
        if target.init is not None:
            return None
        try:
            default_init(find_target(self._loaded.module, target.name), target.name)
        except UnusableRecipeError as error:
            return self._with(self.found(None)) if error.needs else None
        except AttributeError:
            # There is no such target, which the construction reports.
            return None
        return None

    def instead(self, refused: NoModelError) -> ModelTarget | None:
        """Return the target with arguments, where those by default do not do.

        None if that is not what is wrong, or none were found.
        """
        if self._target.init is not None or refused.__cause__ is None or not self.lacks(refused.__cause__):
            return None
        found = self._with(self.found(None))
        return None if found is self._target else found

    def lacks(self, error: BaseException) -> bool:
        """Return whether a construction by defaults failed for want of an argument."""
        if self.omitted(error):
            return True
        try:
            target = find_target(self._loaded.module, self._target.name)
            parameters = [] if isinstance(target, torch.nn.Module) else parameters_of(target)
        except (AttributeError, TypeError, ValueError):
            # There is no such target, or none that can be called, which the construction reports.
            return False
        text = text_of(error)
        if without_weights(target) and not isinstance(error, (NameError, SyntaxError)):
            return True
        if any(parameter.default is None for parameter in parameters):
            return "NoneType" in text or isinstance(error, (AssertionError, ValueError))
        if any(is_nothing(parameter.default) for parameter in parameters):
            return isinstance(error, IndexError)
        kinds = {parameter.kind for parameter in parameters}
        if "attribute name must be string" in text and any(is_default_class(each.default) for each in parameters):
            return True
        if isinstance(error, KeyError) and inspect.Parameter.VAR_KEYWORD in kinds:
            return True
        if isinstance(error, (AssertionError, ValueError)) and inspect.Parameter.VAR_KEYWORD in kinds:
            # Of what a base class takes, something that is left to its default may have to be passed.
            return True
        hides = not kinds.isdisjoint((inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD))
        return hides and _MISSING.search(text) is not None

    def omitted(self, error: BaseException | None) -> list[str]:
        """Return the arguments that default to nothing and for want of which a construction by defaults failed."""
        if error is None or self._target.init is not None:
            return []
        return omitted_arguments(error, self._target.name, self._conditions.places.expressions)

    def feed(self, built: Built) -> ModelTarget | None:
        """Return the target with inputs that were found; itself without.

        None if it has inputs already.
        """
        if self._target.source == "search" or complete_recipe(self._target, built).inputs is not None:
            return None
        is_called = self._target.init is None and not isinstance(built.target, torch.nn.Module)
        found = self.found(None if is_called else built.init)
        if found.inputs == "" and not found.fails:
            # It runs by its defaults.
            return replace(self._target, inputs="")
        return self._target if found.inputs is None else self._with(found)

    def found(self, init: str | None) -> SearchResult:
        """Search; ``init`` is the text that constructs the model, where that is known."""
        result = self._searched(init)
        self.error = result.error if result.inputs is None else None
        self.mistake = result.error if result.init is None and result.fails else None
        return result

    def _searched(self, init: str | None) -> SearchResult:
        with _torch_restored():
            search = Search(self._loaded.names, self._conditions, Budget(self._meter))
            if self._guess is not None:
                search.begin_with(self._as_made_now(self._guess, init))
            if init is not None:
                return search.of_model(init)
            return search.of_target(find_target(self._loaded.module, self._target.name), self._target.name)

    def _as_made_now(self, guess: Recipe, init: str | None) -> Recipe:
        """Return the guess with ``init``, if it constructed the model otherwise; the mode it ran in stays."""
        if init is None or guess.init.removesuffix(".eval()") == init:
            return guess
        return replace(guess, init=init + ".eval()" * guess.init.endswith(".eval()"))

    def _with(self, found: SearchResult) -> ModelTarget:
        if found.init is None:
            return self._target
        stated = self._target.inputs
        is_guessed = self._target.init is None and not found.init.endswith("()")
        return replace(
            self._target,
            init=found.init,
            inputs=found.inputs if stated is None else stated,
            source="search",
            # It was proven of the inputs that were found.
            fails=found.fails and stated is None,
            failing=found.failing if stated is None else (),
            only=found.only if stated is None else "",
            sizes_note=found.sizes_note if stated is None else "",
            is_guessed=is_guessed,
            is_default=self._target.init is None and found.init.removesuffix(".eval()").endswith("()"),
        )


@contextmanager
def _torch_restored() -> Iterator[None]:
    """Leave torch's own settings as they were.

    What torch logs of each operator that fails is not even written meanwhile: nearly every try ends with one, and the
    text of its traceback costs more than some models.
    """
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    was_silent, _FAKES_LOG.disabled = _FAKES_LOG.disabled, True
    try:
        yield
    finally:
        _FAKES_LOG.disabled = was_silent
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)

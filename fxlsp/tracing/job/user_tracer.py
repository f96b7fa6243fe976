"""User's subclass of ``torch.fx.Tracer``, combined with fxlsp's recording tracer.

A class is created that derives from both. fxlsp's comes first and passes every call on, so that it records what the
user's class does.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeVar

import torch.fx

from ...report.codes import BAD_TRACER
from ...report.problems import Failure
from ...report.tracer_choice import ObjectReference, TracerChoice
from ..model.building.builder import NoModelError
from ..model.building.evaluation import required_parameters
from ..model.capture.tracer import ModulePathTracer
from ..model.diagnosis.failures import message_of
from ..model.loading.loader import Loader
from ..model.locations.code_origin import is_torch
from ..passes.recovery.tracer import RecoveringTracer

T = TypeVar("T", bound=ModulePathTracer)


class UserTracer:
    """Factory of the tracer classes of one trace."""

    def __init__(self, choice: TracerChoice, loader: Loader, target: str) -> None:
        """
        Args:
            choice: the user's settings.
            loader: loads the files that the settings name.
            target: name of the model in failures.
        """
        self._choice = choice
        self._loader = loader
        self._target = target

    def recording_class(self, recorder: type[T]) -> type[T]:
        """Return a subclass of ``recorder`` that derives from the user's class too.

        The model must have been built already, so that its imports are complete.

        Raises:
            NoModelError: the tracer or a function to wrap does not exist or cannot be used.
        """
        with _as_before():
            chosen = None if self._choice.tracer is None else self._tracer(self._choice.tracer)
            for named in self._choice.wrap:
                _wrap(self._function(named))
        if chosen is None and not self._choice.leaf_modules:
            return recorder
        bases = (recorder,) if chosen is None else (recorder, chosen)
        name = recorder.__name__ if chosen is None else chosen.__name__
        return type(name, bases, {"leaf_patterns": self._choice.leaf_modules})

    def _tracer(self, named: ObjectReference) -> type[torch.fx.Tracer]:
        found = self._found(named, "tracer")
        if not (isinstance(found, type) and issubclass(found, torch.fx.Tracer)):
            raise self._wrong(named, f"tracer: {named.text} is no subclass of torch.fx.Tracer")
        needed = required_parameters(found)
        if needed:
            words = f"tracer: {found.__name__} cannot be made without arguments ({', '.join(needed)})"
            raise self._wrong(named, f"{words}: name a subclass whose __init__ gives them")
        try:
            made = found()
        except Exception as error:
            message = f"tracer: {found.__name__}() raises {type(error).__name__}: {message_of(error)}"
            raise self._wrong(named, message) from error
        taken = sorted(_attributes(found, made) & _ours())
        if taken:
            names = ", ".join(taken)
            message = f"tracer: {found.__name__} has attributes that fxlsp's own tracer has too ({names}): rename them"
            raise self._wrong(named, message)
        return found

    def _function(self, named: ObjectReference) -> Callable[..., Any]:
        found = self._found(named, "wrap")
        if not callable(found):
            raise self._wrong(named, f"wrap: {named.text} is no function")
        function: Callable[..., Any] = found
        return function

    def _found(self, named: ObjectReference, setting: str) -> Any:
        place, _, name = named.text.rpartition(":")
        try:
            module = self._module(place, name)
        except BaseException as error:
            cause = self._loader.cause_of(error)
            message = f"{setting}: {named.text} cannot be loaded: {type(cause).__name__}: {message_of(cause)}"
            raise self._wrong(named, message) from error
        try:
            return getattr(module, name)
        except AttributeError as error:
            raise self._wrong(named, f"{setting}: there is no {name} in {place}") from error

    def _module(self, place: str, name: str) -> ModuleType:
        return self._loader.load_file(place, [name]) if place.endswith(".py") else importlib.import_module(place)

    def _wrong(self, named: ObjectReference, message: str) -> NoModelError:
        return NoModelError(Failure(self._target, BAD_TRACER, message, named.place))


@contextmanager
def _as_before() -> Iterator[None]:
    """Restore working directory and order of ``sys.path`` at the end of this context."""
    folder, path = os.getcwd(), list(sys.path)
    try:
        yield
    finally:
        os.chdir(folder)
        sys.path[:] = [*path, *(entry for entry in sys.path if entry not in path)]


def _attributes(tracer: type, made: torch.fx.Tracer) -> set[str]:
    """Return the attributes that the user's class adds to ``torch.fx.Tracer``."""
    inherited = {*dir(torch.fx.Tracer), *vars(torch.fx.Tracer())}
    named = {name for cls in tracer.__mro__ if issubclass(cls, torch.fx.Tracer) for name in vars(cls)}
    return {name for name in named | vars(made).keys() if not name.startswith("__")} - inherited


def _ours() -> set[str]:
    """Return the names of attributes that fxlsp's classes add to ``torch.fx.Tracer``.

    These are methods, and the attributes that ``__init__`` sets.
    """
    found: set[str] = set()
    for cls in (ModulePathTracer, RecoveringTracer):
        found |= vars(cls).keys()
        found |= set(cls.__init__.__code__.co_names)
    return found


def _wrap(function: Callable[..., Any]) -> None:
    """Call ``torch.fx.wrap`` in each module that contains the function."""
    call = compile("wrap(name)", "<fxlsp>", "exec")
    for module in _modules():
        variables, path = ModuleType.__getattribute__(module, "__dict__"), getattr(module, "__file__", None)
        if isinstance(path, str) and is_torch(path):
            continue
        names = [name for name, value in list(variables.items()) if value is function]
        if not names and getattr(function, "__module__", "") == "builtins" and isinstance(path, str):
            names = [getattr(function, "__name__", "")]
        for name in names:
            exec(call, variables, {"wrap": torch.fx.wrap, "name": name})


def _modules() -> Iterator[ModuleType]:
    """Yield the imported modules, without objects that only imitate modules."""
    loaded: list[Any] = list(sys.modules.values())
    yield from (each for each in loaded if isinstance(each, ModuleType))

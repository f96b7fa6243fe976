"""Recorder of the calls of chosen functions while a pass runs.

A function is replaced where it is defined and wherever the user's modules imported it by name, found by identity as
``torch.fx`` finds the functions that it wraps; all of it is undone after the pass.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from ....model import module_tree
from ....model.building.state_snapshot import holds_proxy, own_attributes, workspace_modules
from ....model.capture.tracer import ModulePathTracer
from ....model.locations.code_origin import is_torch
from ....model.locations.source_map import CallStack


@dataclass(frozen=True)
class RecordedCall:
    """One call of a recorded function."""

    name: str
    """Name as its user would write it: ``random.random``."""
    call_stack: CallStack
    module_path: str
    traced: bool
    """Whether an argument was a traced value."""
    arguments: int
    """Number of arguments."""
    result: Any = None


@dataclass(frozen=True)
class FunctionToRecord:
    """Function whose calls are to be recorded, and the object that defines it."""

    owner: Any
    attribute: str
    name: str
    by_torch: bool = False
    """Whether calls from torch's own code count too."""


class CallRecorder:
    """Recorder of calls from the user's code, in the order in which they returned."""

    def __init__(self, functions: list[FunctionToRecord]) -> None:
        self.calls: list[RecordedCall] = []
        self._functions = functions
        self._running: set[str] = set()

    @contextmanager
    def recording(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        """Record calls while the context lasts."""
        with ExitStack() as undo:
            wrappers: dict[int, tuple[Any, Any]] = {}
            for recorded in self._functions:
                original = vars(recorded.owner).get(recorded.attribute)
                if original is not None and id(original) not in wrappers:
                    wrapper = self._wrapper(original, recorded, tracer)
                    wrappers[id(original)] = (original, wrapper)
                    _replace(undo, recorded.owner, recorded.attribute, wrapper)
            scopes = _user_scopes(root)
            for scope in scopes:
                for name, value in list(scope.items()):
                    if id(value) in wrappers and value is wrappers[id(value)][0]:
                        scope[name] = wrappers[id(value)][1]
                        undo.callback(scope.__setitem__, name, value)
            self._record_backward(undo, [*scopes, *map(vars, module_tree.modules(root))], tracer)
            yield

    def _wrapper(
        self, original: Callable[..., Any], recorded: FunctionToRecord, tracer: ModulePathTracer
    ) -> Callable[..., Any]:
        family = recorded.name.rpartition(".")[0]

        @functools.wraps(original)
        def record(*args: Any, **kwargs: Any) -> Any:
            is_from_torch = not recorded.by_torch and is_torch(sys._getframe(1).f_code.co_filename)
            if tracer.evaluating or is_from_torch or family in self._running:
                return original(*args, **kwargs)
            self._running.add(family)
            call_stack, path = tracer.call_stack(), tracer.current_path
            result = None
            try:
                result = original(*args, **kwargs)
            finally:
                self._running.discard(family)
                traced = holds_proxy((*args, *kwargs.values()))
                self.calls.append(
                    RecordedCall(recorded.name, call_stack, path, traced, len(args) + len(kwargs), result)
                )
            return result

        return record

    def _record_backward(self, undo: ExitStack, scopes: list[dict[str, Any]], tracer: ModulePathTracer) -> None:
        """Record ``Function.apply``, also under names given by the user.

        For example ``swish = Swish.apply``.
        """
        function = torch.autograd.Function
        original = vars(function)["apply"]
        calls = self.calls

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if not tracer.evaluating and holds_proxy((*args, *kwargs.values())):
                path = tracer.current_path
                name = f"{cls.__module__}.{cls.__qualname__}.apply"
                calls.append(RecordedCall(name, tracer.call_stack(), path, True, len(args)))
            return original.__get__(None, cls)(*args, **kwargs)

        _replace(undo, function, "apply", classmethod(apply), original)
        for scope in scopes:
            for name, value in own_attributes(scope):
                owner = getattr(value, "__self__", None) if type(value) in _BOUND else None
                if isinstance(owner, type) and issubclass(owner, function) and value.__name__ == "apply":
                    scope[name] = owner.apply
                    undo.callback(scope.__setitem__, name, value)


_BOUND = (type(torch.autograd.Function.apply), type(CallRecorder([]).recording))


def _replace(undo: ExitStack, owner: Any, name: str, value: Any, original: Any = None) -> None:
    undo.callback(setattr, owner, name, vars(owner)[name] if original is None else original)
    setattr(owner, name, value)


def _user_scopes(root: torch.nn.Module) -> list[dict[str, Any]]:
    """Return the globals of the workspace's modules and of those defining the classes."""
    modules = {id(module): module for module in workspace_modules()}
    for cls in {type(module) for module in module_tree.modules(root)}:
        for base in cls.__mro__:
            module = sys.modules.get(base.__module__)
            if module is not None and base.__module__.partition(".")[0] not in ("torch", "builtins"):
                modules[id(module)] = module
    return [vars(module) for module in modules.values()]

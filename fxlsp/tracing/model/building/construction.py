"""Construction of modules on fake or real tensors, recording where each was made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, TypeVar

import torch

from ...isolation.replacement import replaced
from ...isolation.torch_private import FakeTensorMode
from ...isolation.torch_private.modules import CONVERSIONS, MODULE_CALLS
from ..diagnosis.failures import text_of
from ..locations.bytecode.instructions import Instruction, walk_out
from ..locations.source_map import SourceMap
from .fake_tensors import fake_construction, real_construction
from .registrations import Registrations, RunningCode, running_code

_T = TypeVar("_T")


class Constructions:
    """Record of the expressions that constructed and registered each module."""

    def __init__(self, source_map: SourceMap) -> None:
        self._source_map = source_map
        self.registrations = Registrations(source_map)
        self._made: dict[int, tuple[torch.nn.Module, RunningCode]] = {}
        self._order: dict[int, tuple[torch.nn.Module, int]] = {}

    @property
    def count(self) -> int:
        """Number of recorded modules, without ``Identity``, which is only a placeholder."""
        return sum(type(module) is not torch.nn.Identity for module, _ in self._made.values())

    def of(self, module: torch.nn.Module) -> Instruction | None:
        """Return the innermost shown expression that constructed a module.

        None for copies and unpickled modules.
        """
        written = self.written(module)
        return None if written is None else written.innermost

    def written(self, module: torch.nn.Module) -> RunningCode | None:
        """Return the code that constructed a module, innermost and in the workspace.

        None for copies and unpickled modules.
        """
        made = self._made.get(id(module))
        return None if made is None or made[0] is not module else made[1]

    def count_at(self, made: Instruction) -> int:
        """Return the number of modules that an expression constructed."""
        return sum(running.innermost[:2] == made[:2] for _, running in self._made.values())

    def order(self, module: torch.nn.Module) -> int | None:
        """Return the number of a module's construction in order of time.

        None for copies and unpickled modules.
        """
        noted = self._order.get(id(module))
        return None if noted is None or noted[0] is not module else noted[1]

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record initialised modules and registrations inside this context."""
        original = torch.nn.Module.__init__
        note = self._note

        def initialise(self: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
            note(self, sys._getframe(1))
            original(self, *args, **kwargs)

        with replaced(torch.nn.Module, __init__=initialise), self.registrations.recording():
            yield

    def _note(self, module: torch.nn.Module, frame: FrameType | None) -> None:
        self._order.setdefault(id(module), (module, len(self._order)))
        while frame is not None and (
            _initialises(frame, module) or not self._source_map.is_shown(frame.f_code.co_filename)
        ):
            frame = frame.f_back
        running = running_code(frame, self._source_map)
        if running is not None:
            self._made[id(module)] = (module, running)


def _initialises(frame: FrameType, module: torch.nn.Module) -> bool:
    """Return whether a frame runs an ``__init__`` of ``module`` itself."""
    code = frame.f_code
    return code.co_name == "__init__" and bool(code.co_varnames) and frame.f_locals.get(code.co_varnames[0]) is module


def makes_module(frame: FrameType | None) -> bool:
    """Return whether a frame constructs or converts a module.

    That is inside a module's ``__init__``, or inside ``Module._apply``, which ``.to()`` calls.
    """
    for each in walk_out(frame):
        if each.f_code in MODULE_CALLS:
            return False
        if each.f_code in CONVERSIONS or _initialises_any(each):
            return True
    return False


def _initialises_any(frame: FrameType) -> bool:
    code = frame.f_code
    if code.co_name != "__init__" or not code.co_varnames:
        return False
    return isinstance(frame.f_locals.get(code.co_varnames[0]), torch.nn.Module)


def construct(
    make: Callable[[], _T], constructions: Constructions, fake_mode: FakeTensorMode, real_tensors: bool
) -> _T:
    """Return the result of ``make``, and record the modules that it constructs.

    Large tensors are fake and small ones real, or all are real if ``real_tensors``.
    """
    with ExitStack() as contexts:
        contexts.enter_context(constructions.recording())
        contexts.enter_context(real_construction(fake_mode) if real_tensors else fake_construction(fake_mode))
        _running.append(contexts)
        try:
            return make()
        finally:
            _running.remove(contexts)


def leave_running() -> None:
    """End what every running :func:`construct` has changed, in a process that never returns to them."""
    while _running:
        _running.pop().close()


_running: list[ExitStack] = []
"""Contexts of the calls of :func:`construct` that have not returned."""

_OF_FAKES = ("FakeTensor", "is not supported for tensor subclasses")
"""What messages about fake tensors contain."""


def comes_from_fakes(error: BaseException) -> bool:
    """Return whether fake tensors are involved in an error.

    Then the model may not raise it on real tensors.
    """
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if any(each in text_of(current) for each in _OF_FAKES) or _passes_through_fakes(current):
            return True
        current = current.__cause__ or current.__context__
    return False


def _passes_through_fakes(error: BaseException) -> bool:
    traceback = error.__traceback__
    while traceback is not None:
        if "_subclasses" in traceback.tb_frame.f_code.co_filename:
            return True
        traceback = traceback.tb_next
    return False

"""Where modules and parameters got their names: the statements that registered them while the model was constructed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from ..locations.code_origin import is_installed, is_torch
from ..locations.source_map import Instruction, SourceMap


class RunningCode(NamedTuple):
    """Where the user's code is."""

    innermost: Instruction
    of_workspace: Instruction
    """The innermost outside installed packages; ``innermost`` if all are installed."""


class Registration(NamedTuple):
    """The statement that gave a module or parameter one of its names."""

    written: RunningCode
    order: int
    """Counts up in the order of time."""


class Registrations:
    """The registrations of one construction, by owner and name."""

    def __init__(self, source_map: SourceMap) -> None:
        self._source_map = source_map
        self._noted: dict[tuple[int, str], tuple[torch.nn.Module, Registration]] = {}
        self._order = 0

    def of(self, owner: torch.nn.Module, name: str) -> Registration | None:
        """The last statement that registered ``name`` in ``owner``.

        None where torch did it by itself (a layer's own weights), and in copies and unpickled modules.
        """
        noted = self._noted.get((id(owner), name))
        return None if noted is None or noted[0] is not owner else noted[1]

    @contextmanager
    def recording(self) -> Iterator[None]:
        """While this lasts, every registration is noted."""
        handles = (
            register_module_module_registration_hook(self._module_registered),
            register_module_parameter_registration_hook(self._parameter_registered),
        )
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _module_registered(self, owner: torch.nn.Module, name: str, _module: torch.nn.Module | None) -> None:
        self._note(owner, name)

    def _parameter_registered(self, owner: torch.nn.Module, name: str, _parameter: Any) -> None:
        # By frame: this hook, register_parameter, __setattr__, what assigned. A layer of torch's that makes its own
        # parameters stands where it was constructed; walking out for each of them would double the cost.
        assigns = sys._getframe(3)
        if not (assigns.f_code.co_name == "__init__" and is_torch(assigns.f_code.co_filename)):
            self._note(owner, name)

    def _note(self, owner: torch.nn.Module, name: str) -> None:
        running = running_code(sys._getframe(2), self._source_map)
        if running is not None:
            self._order += 1
            self._noted[id(owner), name] = (owner, Registration(running, self._order))


def running_code(frame: FrameType | None, source_map: SourceMap) -> RunningCode | None:
    """What runs in ``frame`` or outside it; None if none of it is the user's or a library's."""
    innermost: Instruction | None = None
    while frame is not None:
        code = frame.f_code
        if source_map.is_shown(code.co_filename):
            instruction = Instruction(code, frame.f_lasti)
            innermost = innermost or instruction
            if not is_installed(code.co_filename):
                return RunningCode(innermost, instruction)
        frame = frame.f_back
    return None if innermost is None else RunningCode(innermost, innermost)

"""Record of the statements that registered modules and parameters."""

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

from ..locations.bytecode.instructions import Instruction, instruction_of
from ..locations.code_origin import is_installed, is_torch
from ..locations.source_map import SourceMap


class RunningCode(NamedTuple):
    """Innermost running instructions of shown code and of the workspace."""

    innermost: Instruction
    of_workspace: Instruction
    """Innermost instruction outside installed packages; ``innermost`` if all are installed."""


class Registration(NamedTuple):
    """Statement that registered a module or parameter under a name."""

    written: RunningCode
    order: int
    """Number of the registration in order of time."""


class Registrations:
    """Registrations of one construction, by owner and name."""

    def __init__(self, source_map: SourceMap) -> None:
        self._source_map = source_map
        self._noted: dict[tuple[int, str], tuple[torch.nn.Module, Registration]] = {}
        self._order = 0

    def of(self, owner: torch.nn.Module, name: str) -> Registration | None:
        """Return the last statement that registered ``name`` in ``owner``.

        None if torch did it (a layer's own weights), and in copies and unpickled modules.
        """
        noted = self._noted.get((id(owner), name))
        return None if noted is None or noted[0] is not owner else noted[1]

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record every registration inside this context."""
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
        # Frames: this hook, register_parameter, __setattr__, the assignment. Parameters that a layer of torch creates
        # are not recorded: the construction of the layer is, and walking the frames for each would double the cost.
        assigns = sys._getframe(3)
        if not (assigns.f_code.co_name == "__init__" and is_torch(assigns.f_code.co_filename)):
            self._note(owner, name)

    def _note(self, owner: torch.nn.Module, name: str) -> None:
        running = running_code(sys._getframe(2), self._source_map)
        if running is not None:
            self._order += 1
            self._noted[id(owner), name] = (owner, Registration(running, self._order))


def running_code(frame: FrameType | None, source_map: SourceMap) -> RunningCode | None:
    """Return the innermost shown instructions at or outside a frame, if any."""
    innermost: Instruction | None = None
    while frame is not None:
        code = frame.f_code
        if source_map.is_shown(code.co_filename):
            instruction = instruction_of(frame)
            innermost = innermost or instruction
            if not is_installed(code.co_filename):
                return RunningCode(innermost, instruction)
        frame = frame.f_back
    return None if innermost is None else RunningCode(innermost, innermost)

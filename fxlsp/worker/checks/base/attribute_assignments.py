"""What is assigned to attributes of modules while a pass runs, and by which expression."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from ...locations.source_map import CallStack
from ...plain_pass.tracer import ModulePathTracer
from .state_snapshot import holds_proxy


@dataclass(frozen=True)
class Assignment:
    """One ``module.name = value``."""

    module: torch.nn.Module
    name: str
    value: Any
    holds_proxy: bool
    """Whether ``value`` held a traced value when it was assigned; lists may be filled later."""
    call_stack: CallStack
    module_path: str
    """Path of the module whose ``forward`` assigned."""
    nodes: int
    """How many nodes the graph had."""


@contextmanager
def assignments_noted(tracer: ModulePathTracer, notes: list[Assignment]) -> Iterator[None]:
    """While this lasts, every assignment to an attribute of a module is added to ``notes``."""
    original = torch.nn.Module.__setattr__

    def assign(self: torch.nn.Module, name: str, value: Any) -> None:
        if not tracer.evaluating:
            path = tracer.current_path
            nodes = len(tracer.graph.nodes)
            notes.append(Assignment(self, name, value, holds_proxy(value), tracer.call_stack(), path, nodes))
        original(self, name, value)

    torch.nn.Module.__setattr__ = assign  # type: ignore[method-assign]
    try:
        yield
    finally:
        torch.nn.Module.__setattr__ = original  # type: ignore[method-assign]

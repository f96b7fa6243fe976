"""Assignments to attributes of traced tensors, such as ``x.data = y`` (FX319)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.fx

from .....report.codes import TENSOR_ATTRIBUTE
from .....report.problems import Problem
from ....model.capture.tracer import ModulePathTracer
from ....model.locations.source_map import CallStack
from ..base.check import Check
from ..base.pass_result import PassResult

ASSIGNABLE = frozenset({"data", "grad", "imag", "names", "real", "requires_grad"})
"""Attributes that can be set on a tensor. Other names are only stored in the proxy, and read from it while tracing."""


class _Assignment(NamedTuple):
    name: str
    call_stack: CallStack
    module_path: str


class TensorAttributes(Check):
    """Check for attributes set on a proxy instead of its tensor."""

    def __init__(self) -> None:
        self._notes: list[_Assignment] = []

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        def assign(self_: torch.fx.Proxy, name: str, value: Any) -> None:
            if name in ASSIGNABLE and not tracer.evaluating:
                self._notes.append(_Assignment(name, tracer.call_stack(), tracer.current_path))
            object.__setattr__(self_, name, value)

        # torch.fx's class defines no ``__setattr__``: a proxy accepts any attribute.
        torch.fx.Proxy.__setattr__ = assign  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            del torch.fx.Proxy.__setattr__

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for name, call_stack, path in self._notes:
            message = (
                f"This sets {name} of torch.fx's proxy alone: the graph does not do it, and goes on with the tensor as "
                f"it was."
            )
            yield traced.problem(TENSOR_ATTRIBUTE, message, traced.problem_location(call_stack), path)

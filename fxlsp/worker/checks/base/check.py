"""Base class of all checks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch

from ....report.problems import Problem
from ...plain_pass.tracer import ModulePathTracer
from .pass_result import PassResult


class Check:
    """Search for one kind of problem in one pass; instantiated for each pass."""

    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> AbstractContextManager[None]:
        """Watch the pass, which runs inside this context."""
        return nullcontext()

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        """Yield the problems that were found, after the pass."""
        raise NotImplementedError

"""What every check of a pass is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch

from ....report.problems import Problem
from ...plain_pass.tracer import ModulePathTracer
from .pass_result import PassResult


class Check:
    """Looks for one kind of problem in one pass; made anew for each pass."""

    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> AbstractContextManager[None]:
        """While this lasts, the pass runs."""
        return nullcontext()

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        """What was found, once the pass is over."""
        raise NotImplementedError

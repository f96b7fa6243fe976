"""The base class of all checks of a pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch

from .....report.problems import Problem
from ....model.capture.tracer import ModulePathTracer
from .pass_result import PassResult


class Check:
    """A search for one kind of problem in one pass; made anew for each pass.

    A check of the finished graph has :meth:`problems` alone, such as ``paths/node_names.py``.
    """

    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> AbstractContextManager[None]:
        """Return a context inside which the pass runs, to observe it.

        The graph of ``tracer`` is incomplete until the context ends.
        """
        return nullcontext()

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        """Yield what was found, after the pass ended."""
        raise NotImplementedError

"""All checks of a pass, run together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from ...report.problems import Problem
from ..plain_pass.tracer import ModulePathTracer
from .base.check import Check
from .base.pass_result import PassResult
from .paths.node_names import NodeNames
from .paths.shared_modules import SharedModules
from .paths.tied_parameters import TiedParameters
from .silent.constants import Constants
from .silent.contexts import DroppedContexts
from .silent.inputs import OptionalInputs, VariadicInputs
from .silent.kept_state import KeptState
from .silent.leaves import BypassedLeaves, TracedThrough
from .silent.root_hooks import RootHooks
from .silent.tensor_attributes import TensorAttributes
from .silent.unrecorded_calls import UnrecordedCalls
from .unused.unused import Unused

SILENT: tuple[type[Check], ...] = (
    KeptState,
    TensorAttributes,
    Constants,
    UnrecordedCalls,
    DroppedContexts,
    RootHooks,
    OptionalInputs,
    VariadicInputs,
    BypassedLeaves,
    TracedThrough,
)
"""Each of them; those that watch note their own things, so their order does not matter."""


CHECKS: tuple[type[Check], ...] = (
    *SILENT,
    SharedModules,
    TiedParameters,
    NodeNames,
    Unused,
)
"""Every check there is."""


class Checking:
    """The checks of one pass."""

    def __init__(self) -> None:
        self._checks = [check() for check in CHECKS]

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        """While this lasts, the pass runs."""
        with ExitStack() as stack:
            for check in self._checks:
                stack.enter_context(check.watching(root, tracer))
            yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        """What all of them found."""
        for check in self._checks:
            yield from check.problems(traced)

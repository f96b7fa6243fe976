"""All checks, and their run on one pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from ....report.problems import Problem
from ...model.capture.tracer import ModulePathTracer
from .base.check import Check
from .base.pass_result import PassResult
from .classics.forward_results import ForwardResults
from .classics.local_variables import LocalVariables
from .classics.losses import LossesOfProbabilities
from .classics.replaced_parameters import ReplacedParameters
from .classics.unregistered_modules import UnregisteredModules
from .classics.unregistered_parameters import UnregisteredParameters
from .classics.unused_results import UnusedResults
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
"""Checks for graphs that differ from what the model does when it runs (FX3xx).

Those that watch the pass record independently, so that their order does not matter.
"""


CHECKS: tuple[type[Check], ...] = (
    *SILENT,
    SharedModules,
    TiedParameters,
    NodeNames,
    Unused,
    UnregisteredModules,
    UnregisteredParameters,
    ForwardResults,
    LocalVariables,
    LossesOfProbabilities,
    UnusedResults,
    ReplacedParameters,
)
"""All checks."""


class Checking:
    """New instances of all checks, for one pass."""

    def __init__(self) -> None:
        self._checks = [check() for check in CHECKS]

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        """Let each check watch the pass, which runs inside this context."""
        with ExitStack() as stack:
            for check in self._checks:
                stack.enter_context(check.watching(root, tracer))
            yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        """Yield the problems of all checks."""
        for check in self._checks:
            yield from check.problems(traced)

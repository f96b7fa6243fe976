"""The input of a check: a model, the pass over it, and how a problem is made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import torch

from .....report.code_records import Severity
from .....report.codes import severity_of
from .....report.locations import Location, RelatedPlace
from .....report.problems import Problem
from ....model.building.construction import Constructions
from ....model.capture.tracer import ModulePathTracer
from ....model.locations.code_origin import is_installed
from ....model.locations.source_map import CallStack, SourceMap
from .executed_functions import ExecutedFunctions


@dataclass(frozen=True)
class PassResult:
    """One pass over one model."""

    root: torch.nn.Module
    tracer: ModulePathTracer
    """After the pass: ``tracer.graph`` and, by node, ``tracer.origins``."""
    places: SourceMap
    constructions: Constructions
    target: str
    """The model's name in problems."""
    error: BaseException | None = None
    """The exception that ended the pass, if any."""
    has_failed_operation: bool = False
    """Whether an operation on the way failed, so that what is behind it did not run, or ran on assumed values."""
    entered_in_other_mode: Collection[str] | None = None
    """Paths of the modules that are called in the other of train and eval mode; None if unknown."""

    @cached_property
    def executed(self) -> ExecutedFunctions:
        """The user's functions that ran."""
        return ExecutedFunctions(self.root, self.tracer, self.places)

    def problem(
        self,
        code: str,
        message: str,
        location: Location | None,
        module_path: str | None = None,
        related: tuple[RelatedPlace, ...] = (),
        severity: Severity | None = None,
    ) -> Problem:
        """Return a problem of this model, by default with the severity of its code."""
        return Problem(code, severity or severity_of(code), message, location, related, module_path, self.target)

    def problem_location(self, call_stack: CallStack) -> Location | None:
        """Return the innermost expression outside installed packages.

        If all expressions of the call stack are in installed packages, the innermost one that is
        shown; None if none is shown.

        Args:
            call_stack: of a node ``tracer.origins[node].call_stack``, of a module call ``TracedCall.call_stack``.
        """
        steps = self.places.steps(tuple(step for step in call_stack if self.places.is_shown(step.code.co_filename)))
        own = [step.location for step in steps if not is_installed(step.location.file)]
        return own[-1] if own else (steps[-1].location if steps else None)

    def attribute_location(self, call_stack: CallStack, name: str) -> Location | None:
        """Return the ``... .name`` at :meth:`problem_location`.

        That location itself if there is not exactly one.
        """
        place = self.problem_location(call_stack)
        if call_stack and place == self.places.locate(call_stack[-1].code, call_stack[-1].offset):
            return self.places.attribute_in(call_stack[-1], name) or place
        return place

"""Parameters that ``forward`` makes anew in each call (FX609)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from .....report.codes import PARAMETER_REPLACED
from .....report.problems import Problem
from ....model import module_tree
from ....model.capture.tracer import ModulePathTracer
from ..base.check import Check
from ..base.module_names import joined
from ..base.pass_result import PassResult
from ..silent.kept_state import AttributeAssignment, recording_assignments


class ReplacedParameters(Check):
    """Check for ``self.conv.weight = nn.Parameter(...)`` while the model runs.

    One that is made under a condition, such as on the first call, is not reported unless it replaces another. Nor is
    one that the caller passes, which an optimizer of theirs may have.
    """

    def __init__(self) -> None:
        self._notes: list[AttributeAssignment] = []
        self._known: list[torch.nn.Parameter] = []
        self._registered: set[tuple[torch.nn.Module, str]] = set()

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        self._known = list(module_tree.parameters(root))
        self._registered = {
            (module, name)
            for module in module_tree.modules(root)
            for name, parameter in module._parameters.items()
            if parameter is not None and not isinstance(parameter, torch.nn.UninitializedParameter)
        }
        with recording_assignments(tracer, self._notes):
            yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        known = {id(parameter) for parameter in (*self._known, *traced.tracer.given_values())}
        paths = {module: path for path, module in module_tree.named_modules(traced.root)}
        for note in self._notes:
            is_new = isinstance(note.value, torch.nn.Parameter) and id(note.value) not in known
            if not is_new or note.module not in paths:
                continue
            replaces = (note.module, note.name) in self._registered
            if replaces or not _is_conditional(traced, note):
                place = traced.problem_location(note.call_stack)
                name = joined(paths[note.module], note.name)
                message = _message(name, replaces, "A" if _is_conditional(traced, note) else "Each")
                yield traced.problem(PARAMETER_REPLACED, message, place, note.module_path)


def _is_conditional(traced: PassResult, note: AttributeAssignment) -> bool:
    """Return whether the assignment is in a branch, or in code whose text is unknown."""
    function = None if not note.call_stack else traced.executed.with_code(note.call_stack[-1].code)
    if function is None:
        return True
    branches = (*function.parts(ast.If), *function.parts(ast.Try))
    return any(
        isinstance(part, ast.Attribute) and part.attr == note.name and isinstance(part.ctx, ast.Store)
        for branch in branches
        for part in ast.walk(branch)
    )


def _message(name: str, replaces: bool, which: str) -> str:
    verbs = ("may replace", "may make") if which == "A" else ("replaces", "makes")
    what = f"{verbs[0]} the parameter {name} by a new one" if replaces else f"{verbs[1]} the parameter {name} anew"
    return (
        f"{which} call {what}: an optimizer trains the parameters that the model had when it was given them, so what "
        f"is assigned here is never trained. The graph does not run this: it holds the parameter that tracing left, "
        f"and that one is trained."
    )

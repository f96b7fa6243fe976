"""Losses of a model's result in functions and methods beside ``forward``: probabilities, and sizes that broadcast."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch
from torch.nn import functional

from .....report.codes import LOSS_OF_PROBABILITIES, LOSS_SIZES, severity_of
from .....report.locations import Location, RelatedPlace
from .....report.problems import Problem
from .....report.report import Report
from ....model.locations.bytecode.spans import HAS_COLUMNS
from ....model.locations.expressions import span_of
from ....model.locations.source_map import SourceMap
from ....model.targets import ModelTarget
from ..classics.loss_sizes import COMPARING, compared_sizes
from ..classics.losses import LOSSES
from ..classics.mixed_axes import OtherShapes, Shape
from .bindings import FileNames, TextScope
from .made_shapes import MadeShapes
from .model_output import Activated, activation_of, needs_no_arguments, result_of
from .model_values import ModelResult, ModelValues
from .origins import Frame, frames_of, origin_of

_NAMES = re.compile("|".join(sorted({getattr(loss, "__name__", "") for loss in (*LOSSES, *COMPARING)})))
"""Names of the losses that are looked at, one of which a file has that calls one."""


class LossCall(NamedTuple):
    """Call of a loss of torch."""

    loss: object
    """Function of ``torch.nn.functional``, or class of the module."""
    node: ast.Call
    given: ast.expr
    target: ast.expr | None
    frame: Frame


def losses_outside(
    report: Report, target: ModelTarget, source_map: SourceMap, other_shapes: OtherShapes
) -> Iterator[Problem]:
    """Yield a problem for each loss in the model's file that is given what the model must not return for it.

    Args:
        report: the report of the model.
        target: what was traced.
        source_map: the source map of the traced code, with the texts of all files.
        other_shapes: called where a batch has another size than the traced one.
    """
    result = result_of(report)
    tree = None if target.file is None else source_map.expressions.tree(target.file)
    if tree is None or result is None or target.file is None:
        return
    found = source_map.expressions.definition(target.file, target.name)
    if found is None or not _NAMES.search(source_map.text(target.file)):
        return
    names = FileNames(tree)
    losses = [each for scope in names.scopes for each in _loss_calls(scope, names)]
    if not losses:
        return
    models = ModelValues(found, names, report)
    if models.may_be_changed:
        return
    check = _LossCheck(report, models, names, activation_of(report, source_map), cache(other_shapes))
    seen: set[tuple[int, str]] = set()
    for loss in losses:
        for problem in check.problems(loss, _location(loss, target.file, source_map)):
            if (id(loss.node), problem.code) not in seen:
                seen.add((id(loss.node), problem.code))
                yield problem


class _LossCheck:
    def __init__(
        self,
        report: Report,
        models: ModelValues,
        names: FileNames,
        activated: Activated | None,
        other_shapes: OtherShapes,
    ) -> None:
        self._report = report
        self._models = models
        self._names = names
        self._activated = activated
        self._other_shapes = other_shapes
        self._shapes = MadeShapes(names)

    def problems(self, loss: LossCall, place: Location) -> Iterator[Problem]:
        """Yield the problem of probabilities, and that of sizes."""
        activated = self._activated
        if activated is not None and loss.loss in LOSSES:
            activation, name, reason = LOSSES[loss.loss]
            result = self._models.result(loss.given, loss.frame)
            if result is not None and activation == activated.name and self._ends_so(result, activated):
                message = f"{name} is given the result of {activation}, which the model ends with: {reason}."
                related = (RelatedPlace("it is applied here", activated.location),)
                yield self._problem(LOSS_OF_PROBABILITIES, message, place, related)
        if loss.loss in COMPARING and loss.target is not None:
            shapes = self._compared(loss.given, loss.target, loss.frame)
            compared = None if shapes is None else compared_sizes(COMPARING[loss.loss], *shapes)
            if compared is not None:
                yield self._problem(LOSS_SIZES, compared, place)

    def _problem(self, code: str, message: str, place: Location, related: tuple[RelatedPlace, ...] = ()) -> Problem:
        return Problem(code, severity_of(code), message, place, related, model=self._report.target)

    def _ends_so(self, result: ModelResult, activated: Activated) -> bool:
        if self._models.is_as_traced(result):
            return True
        definition = self._models.definition
        return isinstance(definition, ast.ClassDef) and needs_no_arguments(activated, definition, self._names)

    def _compared(self, given: ast.expr, target: ast.expr, frame: Frame) -> tuple[Shape, Shape] | None:
        """Return the shapes of a loss's operands, one of which is a result of the model and the other one made."""
        for first, second in ((given, target), (target, given)):
            result = self._models.result(first, frame)
            shape = None if result is None else self._shape_of(result)
            other = None if shape is None else self._shapes.shape(second, frame)
            if shape is not None and other is not None:
                return (shape, other) if first is given else (other, shape)
        return None

    def _shape_of(self, result: ModelResult) -> Shape | None:
        """Return the shape of what a model returns for inputs that the file makes; None if it is not proven."""
        node = result_of(self._report)
        inputs = [each for each in self._report.nodes if each.op == "placeholder"]
        if node is None or node.assumed or result.call.keywords or not self._models.is_as_traced(result):
            return None
        given = [self._shapes.shape(each, result.frame) for each in result.call.args]
        traced = [_shape(each.output) for each in inputs]
        shape = _shape(node.output)
        if shape is None or not given or None in given or None in traced:
            return None
        if given == traced:
            return shape
        batches = {each[0] for each in given if each}
        if len(batches) != 1 or [each and each[1:] for each in given] != [each and each[1:] for each in traced]:
            return None
        runs = self._other_shapes(True)
        names = [node.name, *(each.name for each in inputs)]
        is_batch = all(name in run for run in runs for name in names) and all(
            len({run[name][:1] for name in names}) == 1 and run[node.name][1:] == shape[1:] for run in runs
        )
        return (batches.pop(), *shape[1:]) if runs and is_batch else None


def _loss_calls(scope: TextScope, names: FileNames) -> Iterator[LossCall]:
    """Yield the calls of losses in a scope, without and with the arguments that its function is given."""
    calls = [node for node in scope.nodes if isinstance(node, ast.Call)]
    for frame in frames_of(scope, names) if calls else ():
        for call in calls:
            loss = _loss_of(call, frame, names)
            named = {each.arg: each.value for each in call.keywords}
            given, target = (
                call.args[index] if index < len(call.args) else named.get(name)
                for index, name in enumerate(("input", "target"))
            )
            if loss is not None and given is not None:
                yield LossCall(loss, call, given, target, frame)


def _loss_of(call: ast.Call, frame: Frame, names: FileNames) -> object:
    """Return the loss that a call computes, as a function or as the class of a module."""
    function = names.torch_object(call.func, frame.scope)
    if function is not None:
        return function if getattr(functional, getattr(function, "__name__", ""), None) is function else None
    made = origin_of(call.func, frame, names)
    if made is None or not isinstance(made.node, ast.Call):
        return None
    kind = names.torch_object(made.node.func, made.frame.scope)
    return kind if isinstance(kind, type) and issubclass(kind, torch.nn.Module) else None


def _location(loss: LossCall, file: str, source_map: SourceMap) -> Location:
    function = getattr(loss.frame.scope.node, "name", "<module>")
    if not HAS_COLUMNS:
        return source_map.line(file, span_of(loss.node).line, function)
    return source_map.location(file, span_of(loss.node), function)


def _shape(output: object) -> Shape | None:
    shape = output.get("shape") if isinstance(output, dict) else None
    return None if shape is None else tuple(shape)

"""Losses of a model's result in functions and methods beside ``forward``: probabilities, and sizes that broadcast."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from .....report.codes import LOSS_OF_PROBABILITIES, LOSS_SIZES, MODE_BAKED, severity_of
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
from .file_names import FileNames, TextScope
from .loss_calls import LossCall, loss_calls, named
from .made_shapes import MadeShapes
from .model_output import ACTIVATIONS, activation_name, activation_of, needs_no_arguments, result_of
from .model_values import ModelResult, ModelValues
from .module_uses import ModuleUses
from .value_origins import origin_of


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
    wanted = [] if target.file is None else _wanted(report, source_map.text(target.file))
    tree = None if target.file is None or not wanted else source_map.expressions.tree(target.file)
    if tree is None or target.file is None:
        return
    found = source_map.expressions.definition(target.file, target.name)
    names = FileNames(tree)
    bound = names.binding(target.name, names.module)
    if not isinstance(found, ast.ClassDef) or bound is None or bound[0].definition is not found:
        return
    losses = list(loss_calls(wanted, names))
    check = _LossCheck(report, found, names, target.file, source_map, other_shapes) if losses else None
    seen: set[tuple[ast.Call, str]] = set()
    for loss in losses:
        for problem in () if check is None else check.problems(loss):
            if (loss.node, problem.code) not in seen:
                seen.add((loss.node, problem.code))
                yield problem


def _wanted(report: Report, text: str) -> list[object]:
    """Return the losses that a text names and that may be wrong for the model's result.

    Most files end here, before their syntax is looked at.
    """
    node = result_of(report)
    shape = None if node is None else _shape(node.output)
    if node is None or shape is None:
        return []
    ending = activation_name(node)
    wanted = [loss for loss, (applied, *_) in LOSSES.items() if applied == ending or f"{applied}(" in text]
    if 1 in shape or len(shape) == 1:
        wanted += COMPARING
    return [loss for name, loss in named(wanted).items() if name in text]


class _LossCheck:
    def __init__(
        self,
        report: Report,
        definition: ast.ClassDef,
        names: FileNames,
        file: str,
        source_map: SourceMap,
        other_shapes: OtherShapes,
    ) -> None:
        self._report = report
        self._definition = definition
        self._names = names
        self._file = file
        self._source_map = source_map
        self._parts = {part for each in report.modules for part in each.path.split(".") if not part.isdecimal()} - {""}
        self._uses = ModuleUses(definition, names, self._parts)
        self._is_class_left = self._uses.leave_class() and self._uses.leave_parts(("forward",))
        self._models = ModelValues(definition, names, self._uses, report)
        self._activated = activation_of(report, names, file, source_map)
        self._other_shapes = cache(other_shapes)
        self._shapes = MadeShapes(names)

    def problems(self, loss: LossCall) -> Iterator[Problem]:
        """Yield the problem of probabilities, and that of sizes."""
        if not self._is_class_left:
            return
        if loss.loss in LOSSES:
            activation, name, reason = LOSSES[loss.loss]
            applied, ending = self._applied_to_result(loss, activation), ""
            if applied is None:
                applied, ending = self._applied_in_model(loss, activation), ", which the model ends with"
            if applied is not None:
                message = f"{name} is given the result of {activation}{ending}: {reason}."
                yield self._problem(
                    LOSS_OF_PROBABILITIES, message, loss, (RelatedPlace("it is applied here", applied),)
                )
        if loss.loss in COMPARING:
            shapes = self._compared(loss)
            compared = None if shapes is None else compared_sizes(COMPARING[loss.loss], *shapes)
            if compared is not None:
                yield self._problem(LOSS_SIZES, compared, loss)

    def _problem(self, code: str, message: str, loss: LossCall, related: tuple[RelatedPlace, ...] = ()) -> Problem:
        place = self._location(loss.node, loss.frame.scope)
        return Problem(code, severity_of(code), message, place, related, model=self._report.target)

    def _location(self, node: ast.expr, scope: TextScope) -> Location:
        function = getattr(scope.node, "name", "<module>")
        if not HAS_COLUMNS:
            return self._source_map.line(self._file, span_of(node).line, function)
        return self._source_map.location(self._file, span_of(node), function)

    def _applied_to_result(self, loss: LossCall, activation: str) -> Location | None:
        """Return where the file applies an activation to the model's result, if a loss is given that."""
        made = origin_of(loss.given, loss.frame, self._names)
        if made is None or not isinstance(made.node, ast.Call):
            return None
        function, operand = made.node.func, made.node.args[0] if made.node.args else None
        path = self._names.imported(function, made.frame.scope)
        if not path and isinstance(function, ast.Attribute) and function.attr == activation:
            operand = function.value
        elif ACTIVATIONS.get(path) != activation:
            return None
        result = None if operand is None else self._models.result(operand, made.frame)
        return None if result is None else self._location(made.node, made.frame.scope)

    def _applied_in_model(self, loss: LossCall, activation: str) -> Location | None:
        """Return where the model applies an activation that it ends with, if a loss is given its result."""
        ending = self._activated
        if ending is None or ending.name != activation or not self._uses.leave_parts(ending.way):
            return None
        result = self._models.result(loss.given, loss.frame)
        if result is None:
            return None
        is_certain = self._models.is_as_traced(result) or needs_no_arguments(
            ending, self._uses, self._definition, self._names
        )
        return ending.location if is_certain else None

    def _compared(self, loss: LossCall) -> tuple[Shape, Shape] | None:
        """Return the shapes of a loss's operands, one of which is a result of the model and the other one made."""
        if loss.target is None or self._depends_on_mode() or not self._uses.leave_parts(self._parts):
            return None
        for first, second in ((loss.given, loss.target), (loss.target, loss.given)):
            result = self._models.result(first, loss.frame)
            shape = None if result is None else self._shape_of(result)
            other = None if shape is None else self._shapes.shape(second, loss.frame)
            if shape is not None and other is not None:
                return (shape, other) if first is loss.given else (other, shape)
        return None

    def _depends_on_mode(self) -> bool:
        """Return whether the model may return another shape in the other mode than the traced one."""
        parents = self._names.parents
        reads = [parents[node] for node, _ in self._names.attributes.get("training", ())]
        is_passed = all(isinstance(each, ast.keyword) and each.arg == "training" for each in reads)
        return not is_passed or any(each.code == MODE_BAKED for each in self._report.problems)

    def _shape_of(self, result: ModelResult) -> Shape | None:
        """Return the shape of what a model returns for inputs that the file makes; None if it is not proven."""
        node = result_of(self._report)
        inputs = [each for each in self._report.nodes if each.op == "placeholder"]
        is_same = self._models.is_as_traced(result) and not result.call.keywords and not result.has_other_arguments
        if node is None or node.assumed or not is_same:
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


def _shape(output: object) -> Shape | None:
    shape = output.get("shape") if isinstance(output, dict) else None
    return None if shape is None else tuple(shape)

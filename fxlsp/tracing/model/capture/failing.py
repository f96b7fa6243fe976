"""Problems of nodes that fail: where each is reported, and what explains it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch
import torch.fx

from ....report.codes import CODE_FAILS
from ....report.graph import Node
from ....report.locations import Location, RelatedPlace
from ....report.problems import Problem
from ..building.construction import Constructions
from ..diagnosis.failures import innermost_of_workspace, operation_problem, text_of
from ..diagnosis.layer_results import sequence_headline
from ..diagnosis.own_mistakes import is_mistaken_operation, layer_as_tensor
from ..diagnosis.returned_values import returned_value, running_functions
from ..locations.code_origin import is_installed
from ..locations.source_map import SourceMap
from ..operations.operation import layer_name, shape_text
from .interpreter import NodeValue
from .outputs import is_known, shown
from .refitting import Refitting
from .tracer import NodeOrigin

_MOST_OPERANDS = 3
"""Number of operands whose origin is shown."""


class FailingNodes:
    """Nodes of one graph that failed, beside those that ran.

    A failure inside a function or module that others call successfully is due to its call, and is reported there.
    """

    def __init__(
        self,
        nodes: Mapping[torch.fx.Node, Node],
        values: Mapping[torch.fx.Node, NodeValue],
        origins: Mapping[torch.fx.Node, NodeOrigin],
        modules: Mapping[str, torch.nn.Module],
        source_map: SourceMap,
        constructions: Constructions,
    ) -> None:
        """
        Args:
            nodes: The nodes in order, with those of the report.
            values: The value of each node that ran.
            origins: What the tracer recorded of each node.
            modules: The modules by their paths.
            source_map: The source map of the traced code.
            constructions: The expressions that constructed the modules.
        """
        self._nodes = nodes
        self._values = values
        self._origins = origins
        self._modules = modules
        self._source_map = source_map
        self._constructions = constructions
        self._refitting = Refitting(values, modules, source_map, constructions)
        self._numbers = {node: number for number, node in enumerate(nodes)}

    def problems(self, target: str) -> Iterator[Problem]:
        """Yield a problem for each node that failed, unless it may fail only for what was assumed before it."""
        failed = [node for node in self._nodes if self._fails(node)]
        alike = self._succeeded_at({self._nodes[node].location for node in failed}) if failed else {}
        for node in failed:
            value, reported = self._values[node], self._nodes[node]
            assert value.error is not None
            if value.follows:
                continue
            steps = [step.location for step in reported.stack]
            level = self._level(node, steps, alike.get(_kind(reported), ()))
            location = _first_of_workspace(steps[level:]) or innermost_of_workspace(tuple(steps))
            headline = layer_as_tensor(value.error, self._modules, value.inputs)
            if value.mismatch is not None:
                headline = value.mismatch.headline
            headline = headline or self._sequence_as_tensor(node, value.error)
            running = () if headline else running_functions(self._origins[node].call_stack, self._modules)
            returned = returned_value(value.error, running, self._source_map)
            problem = operation_problem(
                value.error,
                reported,
                headline if returned is None else returned.headline,
                shown(value.inputs),
                target,
                location,
                (*self._related(node, location, steps), *(() if returned is None else returned.related)),
            )
            is_mistake = is_mistaken_operation(node, value.error, value.inputs)
            code = CODE_FAILS if is_mistake else problem.code
            yield replace(problem, code=code, fitting=self._refitting.of(node))

    def _fails(self, node: torch.fx.Node) -> bool:
        value = self._values.get(node)
        return value is not None and value.error is not None

    def _succeeded_at(self, locations: set[Location | None]) -> dict[object, list[torch.fx.Node]]:
        """Return the nodes of known output that were made by the same expressions as failing ones."""
        alike: dict[object, list[torch.fx.Node]] = defaultdict(list)
        for node, reported in self._nodes.items():
            value = self._values.get(node)
            if reported.location in locations and value is not None and value.error is None and is_known(value.shown):
                alike[_kind(reported)].append(node)
        return alike

    def _level(self, node: torch.fx.Node, steps: Sequence[Location], alike: Sequence[torch.fx.Node]) -> int:
        """Return the index of the calling expression that other callers of the same code do not share.

        That of the failing expression itself, if there is no successful call of the same code from elsewhere.
        """
        last = len(steps) - 1
        others = [(other, [step.location for step in self._nodes[other].stack]) for other in alike]
        if any(self._numbers[other] < self._numbers[node] and path == steps for other, path in others):
            # The same call has worked for another module, as in a loop: it is not the call that is wrong.
            return last
        # What ran elsewhere on assumed values may fail on those that it will get.
        proven = [path for other, path in others if path != steps and not self._values[other].is_assumed]
        return min((_divergence(steps, path) for path in proven), default=last)

    def _sequence_as_tensor(self, node: torch.fx.Node, error: BaseException) -> str:
        """Return one line about an operand that is the tuple or list that an operation returned; "" without one."""
        if not isinstance(error, (TypeError, AttributeError)):
            return ""
        names = {held: name for name, held in reversed(list(self._origins[node].variables.items()))}
        for operand in node.all_input_nodes:
            value = self._values.get(operand)
            held = None if value is None else value.output
            if not isinstance(held, (tuple, list)) or isinstance(held, torch.Size) or operand.op == "placeholder":
                continue
            kind = tuple if isinstance(held, tuple) else list
            if kind.__name__ not in text_of(error) and type(held).__name__ not in text_of(error):
                continue
            made = self._nodes[operand]
            is_layer = operand.op == "call_module"
            by = f"layer `{layer_name(str(operand.target))}`" if is_layer else f"`{_function_name(operand)}`"
            place = _first_of_workspace([step.location for step in made.stack][::-1])
            what = f"`{names[operand]}`" if operand in names else "an operand"
            return sequence_headline(what, kind, by, None if place is None else place.line)
        return ""

    def _related(
        self, node: torch.fx.Node, location: Location | None, steps: Sequence[Location]
    ) -> Iterator[RelatedPlace]:
        """Yield the calls inside the reported one, where the layer is made, and where operands got their shapes."""
        if location in steps:
            inner = list(steps[steps.index(location) + 1 :])
            for place in inner[:-1]:
                yield RelatedPlace(f"which calls this in {place.function or 'here'}", place)
            if inner:
                yield RelatedPlace(f"which fails here in {inner[-1].function or 'here'}", inner[-1])
        if self._values[node].mismatch is not None:
            explaining = [*self._layer(node), *self._operands(node, steps)]
            yield from (place for place in explaining if place.location not in (location, *steps))

    def _layer(self, node: torch.fx.Node) -> Iterator[RelatedPlace]:
        module = self._modules.get(str(node.target)) if node.op == "call_module" else None
        made = None if module is None else self._constructions.of(module)
        if made is not None:
            place = self._source_map.locate(made.code, made.offset)
            yield RelatedPlace(f"layer `{layer_name(str(node.target))}` is made here", place)

    def _operands(self, node: torch.fx.Node, steps: Sequence[Location]) -> Iterator[RelatedPlace]:
        # Of several variables that hold one value, the first: parameters come first.
        names = {held: name for name, held in reversed(list(self._origins[node].variables.items()))}
        operands = [each for each in node.all_input_nodes if self._shape(each) is not None]
        for number, operand in enumerate(operands[:_MOST_OPERANDS], 1):
            unnamed = "the operand" if len(operands) == 1 else f"operand {number}"
            name = f"`{names[operand]}`" if operand in names else unnamed
            made = self._nodes[self._first_of_shape(operand)]
            place = _where_it_parts([step.location for step in made.stack], steps)
            if place is not None and made.op != "get_attr":
                yield RelatedPlace(f"{name} is {shape_text(self._shape(operand) or ())} since here", place)

    def _shape(self, node: torch.fx.Node) -> tuple[int, ...] | None:
        value = self._values.get(node)
        shape = None if value is None or value.shown is None else value.shown.get("shape")
        return None if shape is None else tuple(shape)

    def _first_of_shape(self, node: torch.fx.Node) -> torch.fx.Node:
        """Return the node that gave a tensor its shape: those after it take one tensor and leave its shape."""
        while True:
            sources = [each for each in node.all_input_nodes if self._shape(each) is not None]
            if len(sources) != 1 or self._shape(sources[0]) != self._shape(node):
                return node
            node = sources[0]


def _function_name(node: torch.fx.Node) -> str:
    return str(node.target if node.op == "call_method" else getattr(node.target, "__name__", node.target))


def _kind(node: Node) -> object:
    """Return what the nodes share that one expression of a function makes in each of its calls."""
    return node.location, node.op, None if node.op == "call_module" else node.target


def _divergence(steps: Sequence[Location], path: Sequence[Location]) -> int:
    """Return the index of the innermost of ``steps`` that is not in ``path`` at its place, counted from the end."""
    shared = 0
    while shared < min(len(steps), len(path)) and steps[-1 - shared] == path[-1 - shared]:
        shared += 1
    return max(len(steps) - 1 - shared, 0)


def _where_it_parts(path: Sequence[Location], steps: Sequence[Location]) -> Location | None:
    """Return the outermost of ``path`` in the workspace that is not in ``steps`` at its place, else the innermost."""
    shared = 0
    while shared < min(len(steps), len(path)) and steps[shared] == path[shared]:
        shared += 1
    return _first_of_workspace(path[shared:]) or innermost_of_workspace(tuple(path))


def _first_of_workspace(steps: Sequence[Location]) -> Location | None:
    return next((location for location in steps if not is_installed(location.file)), None)

"""Assembly of a report's nodes, modules and calls from a traced graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
import torch.fx

from ....report.graph import Module, ModuleCall, Node, Output
from ....report.locations import Location, Step
from ....report.problems import Problem
from ...isolation.torch_private import pretty_target
from .. import module_tree
from ..building.construction import Constructions
from ..locations.bytecode.instructions import Instruction, instruction_of
from ..locations.source_map import SourceMap
from .failing import FailingNodes
from .interpreter import NodeValue
from .mutations import last_change
from .outputs import UNKNOWN, is_known, output_of
from .tracer import ModulePathTracer, NodeOrigin, TracedCall, forward_code, raised_before_forward


class Assembly:
    """Parts of a report about one trace of ``root``."""

    def __init__(
        self,
        root: torch.nn.Module,
        tracer: ModulePathTracer,
        values: dict[torch.fx.Node, NodeValue],
        source_map: SourceMap,
        constructions: Constructions,
    ) -> None:
        self._root = root
        self._tracer = tracer
        self._values = values
        self._source_map = source_map
        self._constructions = constructions
        self._modules = dict(module_tree.named_modules(root, remove_duplicate=False))
        self._called = {**tracer.unregistered, **self._modules}
        self.graph_nodes = list(tracer.graph.nodes)
        """Nodes at the time of assembly: checks that query the model later may add nodes."""
        self._numbers = {node: number for number, node in enumerate(self.graph_nodes)}

    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes of the report, in the order of the graph."""
        return tuple(self._node(node) for node in self.graph_nodes)

    def failing_operations(self, nodes: tuple[Node, ...], target: str) -> Iterator[Problem]:
        """Return a problem for each node that failed on the inputs."""
        reported = dict(zip(self.graph_nodes, nodes, strict=True))
        failing = FailingNodes(
            reported, self._values, self._tracer.origins, self._called, self._source_map, self._constructions
        )
        return failing.problems(target)

    def _node(self, node: torch.fx.Node) -> Node:
        origin = self._tracer.origins[node]
        stack = self._stack(node, origin)
        module = None if origin.module_path is None else self._called.get(origin.module_path)
        value = self._values.get(node)
        called = module if node.op == "call_module" else None
        return Node(
            name=node.name,
            op=node.op,  # type: ignore[arg-type]
            target=target_of(node),
            module_path=origin.module_path,
            call_path=origin.call_path,
            module_type=None if module is None else type(module).__name__,
            location=stack[-1].location if stack else None,
            stack=stack,
            output=None if value is None else value.shown,
            inputs=() if value is None else value.shown_inputs,
            params=self._node_params(node, called),
            flops=None if value is None else value.flops,
            module_arguments="" if called is None else arguments_of(called),
            recovered=node in self._tracer.recovered_nodes,
            opaque=node in self._tracer.opaque_nodes,
            input_nodes=tuple(each.name for each in node.all_input_nodes),
            variables=self._variables(origin.variables, self._numbers[node]),
            assumed=value is not None and value.is_assumed,
        )

    def _node_params(self, node: torch.fx.Node, called: torch.nn.Module | None) -> int:
        if called is not None:
            return module_tree.elements(called)
        if node.op != "get_attr":
            return 0
        owner, _, name = str(node.target).rpartition(".")
        # Converted to a dict, because the parameters of a scripted module are in a container of torch without ``get``.
        parameters = dict(getattr(self._modules.get(owner), "_parameters", {}).items())
        return 0 if parameters.get(name) is None else int(parameters[name].numel())

    def _stack(self, node: torch.fx.Node, origin: NodeOrigin) -> tuple[Step, ...]:
        if node.op == "placeholder":
            return self._root_step(self._placeholder(node))
        if node.op == "output":
            return self._root_step(self.return_location())
        steps = self._source_map.steps(origin.call_stack)
        if not steps:
            # No user code was running: a container called a child, or FX recorded the result of ``forward``.
            place = self._made_by_container(node) or self.return_location()
            return self._root_step(place or self._source_map.of_class(type(self._root)))
        exact = self._exact(node, origin.call_stack[-1])
        return steps if exact is None else (*steps[:-1], Step(exact, steps[-1].module_path))

    def _root_step(self, location: Location | None) -> tuple[Step, ...]:
        return () if location is None else (Step(location, ""),)

    def _placeholder(self, node: torch.fx.Node) -> Location | None:
        code = forward_code(self._root)
        return None if code is None else self._source_map.of_parameter(code, str(node.target).lstrip("*"))

    def return_location(self) -> Location | None:
        """Return the location of the ``return`` that ended the root ``forward``."""
        frame = self._tracer.root_frame
        code = forward_code(self._root)
        if frame is not None:
            # A result of None may mean the end without a ``return``: then an earlier ``return`` did not run.
            returned = self._source_map.of_return(instruction_of(frame), at_end=self._returned_none())
            return returned or self._source_map.of_definition(frame.f_code)
        return None if code is None else self._source_map.only_return(code)

    def _returned_none(self) -> bool:
        last = self.graph_nodes[-1]
        return last.op == "output" and last.args[0] is None

    def place_without_frame(self, error: BaseException) -> Location | None:
        """Return the location of an error that passed no user code.

        That is the ``return`` of the root ``forward``, else its ``def`` or class. If the error was raised before
        ``forward`` was entered, it is the decorator, which FX called instead.
        """
        code = forward_code(self._root)
        if code is not None and raised_before_forward(error):
            return self._source_map.of_decorator(code) or self._source_map.of_definition(code)
        if code is not None and self._source_map.is_shown(code.co_filename):
            return self.return_location() or self._source_map.of_definition(code)
        return self._source_map.of_class(type(self._root))

    def _made_by_container(self, node: torch.fx.Node) -> Location | None:
        """Return the location where a module was constructed that a container calls.

        Containers call their children in torch's code, where no user code is running.
        """
        module = self._modules.get(str(node.target)) if node.op == "call_module" else None
        made = None if module is None else self._constructions.of(module)
        return None if made is None else self._source_map.locate(made.code, made.offset)

    def _exact(self, node: torch.fx.Node, instruction: Instruction) -> Location | None:
        """Return a node's part of an expression, if one instruction made several."""
        if node.op == "get_attr":
            return self._source_map.attribute_in(instruction, str(node.target).rpartition(".")[2])
        if node.op == "call_function" and len(node.args) == 2 and isinstance(node.args[1], int):
            return self._source_map.element_of_target(instruction, node.args[1])
        return None

    def modules(self) -> tuple[Module, ...]:
        """Return every module of the model once, under the path that FX gives it."""
        names: dict[torch.nn.Module, list[str]] = {}
        for name, module in self._modules.items():
            names.setdefault(module, []).append(name)
        calls: dict[torch.nn.Module, int] = {self._root: 1}
        for call in self._tracer.calls:
            calls[call.module] = calls.get(call.module, 0) + 1
        return tuple(self._module(module, paths, calls.get(module, 0)) for module, paths in names.items())

    def _module(self, module: torch.nn.Module, paths: list[str], calls: int) -> Module:
        made = self._constructions.of(module)
        return Module(
            path=paths[0],
            aliases=tuple(paths[1:]),
            type=type(module).__name__,
            params=module_tree.elements(module),
            calls=calls,
            location=None if made is None else self._source_map.locate(made.code, made.offset),
            arguments=arguments_of(module),
            registration=self._registration(paths[0]),
        )

    def _registration(self, path: str) -> Location | None:
        """Return the location of the statement that registered the module at ``path``."""
        above, _, name = path.rpartition(".")
        noted = self._constructions.registrations.of(self._modules[above], name) if path else None
        return None if noted is None else self._source_map.locate(*noted.written.innermost[:2])

    def calls(self) -> tuple[ModuleCall, ...]:
        """Return the call of the root, then every module call in the order of tracing."""
        root = TracedCall(self._root, "", "", False, (), self._root_arguments(), 0, {})
        last = self.graph_nodes[-1] if self.graph_nodes else None
        if last is not None and last.op == "output":
            known = self._values.get(last)
            # An unknown value cannot be an argument of a node: torch.fx writes None in its place.
            is_unknown = known is not None and known.output is UNKNOWN
            root.end_node, root.output = len(self.graph_nodes), UNKNOWN if is_unknown else last.args[0]
        return tuple(self._call(call) for call in (root, *self._tracer.calls))

    def _root_arguments(self) -> tuple[Any, ...]:
        return tuple(node for node in self.graph_nodes if node.op == "placeholder")

    def _call(self, call: TracedCall) -> ModuleCall:
        finished = call.end_node >= 0
        end = call.end_node if finished else len(self.graph_nodes)
        code = forward_code(call.module)
        steps = self._source_map.steps(call.call_stack[-1:])
        return ModuleCall(
            module_path=call.module_path,
            call_path=call.call_path,
            type=type(call.module).__name__,
            leaf=call.leaf,
            location=steps[0].location if steps else None,
            forward=None if code is None else self._source_map.of_definition(code),
            inputs=tuple(self._output(argument, call.first_node) for argument in call.arguments),
            output=self._output(call.output, end) if finished else None,
            params=module_tree.elements(call.module),
            flops=self._flops(call.first_node, end) if finished else None,
            first_node=call.first_node,
            end_node=end,
            variables=self._variables(call.variables, call.first_node),
        )

    def _variables(self, variables: Mapping[str, torch.fx.Node], before: int) -> dict[str, str]:
        """Return the name of the node whose output each variable held.

        The output is that after all changes in place ``before`` the node of that index.
        """
        known = {name: node for name, node in variables.items() if node in self._numbers}
        return {name: last_change(node, before, self._numbers).name for name, node in known.items()}

    def _flops(self, first: int, end: int) -> int | None:
        total = 0
        for node in self.graph_nodes[first:end]:
            value = self._values.get(node)
            if value is None or value.flops is None:
                return None
            total += value.flops
        return total

    def _output(self, value: Any, before: int) -> Output | None:
        """Return a traced value as JSON, as it was ``before`` the node of that index ran."""
        if isinstance(value, torch.fx.proxy.Attribute):
            return None if value._node is None else self._output(value._node, before)
        if isinstance(value, torch.fx.Proxy):
            return self._output(value.node, before)
        if isinstance(value, torch.fx.Node):
            seen = self._values.get(last_change(value, before, self._numbers))
            return None if seen is None else seen.shown
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return {"dict": {name: self._output(item, before) for name, item in value._asdict().items()}}
        if isinstance(value, (list, tuple)):
            return {"list": [self._output(item, before) for item in value]}
        if isinstance(value, dict):
            return {"dict": {str(name): self._output(item, before) for name, item in value.items()}}
        return output_of(value)


def is_complete(node: Node) -> bool:
    """Return whether location and output of a node are known, and not assumed.

    Placeholders and the output node need no location, because those of a container have none.
    """
    has_location = node.location is not None or node.op in ("placeholder", "output")
    return has_location and is_known(node.output) and not node.assumed


def target_of(node: torch.fx.Node) -> str:
    """Return the ``target`` of the contract, which is never a repr with an address."""
    if isinstance(node.target, str):
        return node.target
    try:
        return pretty_target(node)
    except (AttributeError, RuntimeError):
        function: Callable[..., Any] = node.target
        # Not every callable has a name, and not every named one a module, such as a slot wrapper.
        named = function if hasattr(function, "__qualname__") and hasattr(function, "__module__") else type(function)
        return f"{named.__module__}.{named.__qualname__}"


def arguments_of(module: torch.nn.Module) -> str:
    """Return the arguments in a module's repr on one line; "" if it has children."""
    if next(module_tree.children(module), None) is not None:
        return ""
    try:
        return " ".join(module.extra_repr().split())
    except Exception:
        # extra_repr may be the user's code, and nothing else in the report depends on it.
        return ""

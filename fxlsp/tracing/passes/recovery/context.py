"""State shared by a recovering pass: values, findings, roll-back marks, modes.

The parts of the pass are the tracer, the operations of its proxies, the recorder of eager operations, the calls of
modules and the functions of torch that refuse proxies. None of them imports another one's state: each receives the
context, and those that make nodes a :class:`GraphRecorder`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import torch
import torch.fx

from ...isolation.replacement import replaced
from ...isolation.torch_private import restore_used_names, used_names
from ...model import module_tree
from ...model.capture.interpreter import Trust
from ...model.capture.outputs import Unknown
from ...model.capture.tracer import NodeOrigin, TracedCall
from ...model.locations.bytecode.instructions import Instruction
from ...model.locations.source_map import CallStack, SourceMap
from .caught_errors import is_caught
from .entered_layers import inside_of
from .evaluator import Evaluator
from .findings import RecoveryFinding, RecoveryFindings
from .pytree import is_proxy, leaves, mapped


class NeedsDataError(Exception):
    """A Python number of a tensor without data is required."""


_REFUSED = "FX1"
"""Prefix of codes of what torch.fx refuses."""
NodeCall = tuple[str, Any, tuple[Any, ...], dict[str, Any]]
"""Opcode, target and arguments of a node."""


class GraphRecorder(Protocol):
    """Interface of the tracer for other parts: makes nodes and proxies of one graph."""

    root: torch.nn.Module
    graph: torch.fx.Graph
    origins: dict[torch.fx.Node, NodeOrigin]
    calls: list[TracedCall]
    opaque_nodes: set[torch.fx.Node]
    evaluating: bool
    submodule_paths: dict[torch.nn.Module, str] | None

    @property
    def current_path(self) -> str:
        """Path of the module that is being called; "" in the root."""

    def call_stack(self) -> CallStack:
        """Return the user's expressions that are running, outermost first."""

    def path_of_module(self, mod: torch.nn.Module) -> str:
        """Return the path of a module of the root, or the path to show another one under."""

    def create_node(self, kind: str, *args: Any, **kwargs: Any) -> torch.fx.Node:
        """Append a node of unknown value."""

    def create_arg(self, a: Any) -> Any:
        """Return an argument in the form that a node stores."""

    def create_proxy(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Append a node and run it; return its proxy, or None if that is the value."""

    def valued_proxy(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.fx.Proxy:
        """Append a node and run it; return its proxy, whatever the value."""

    def unvalued_proxy(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.fx.Proxy:
        """Append a node that has run already; return its proxy."""

    def proxy(self, node: torch.fx.Node) -> torch.fx.Proxy:
        """Return a proxy of a node."""

    def attribute_proxy(self, owner: torch.fx.Proxy, name: str) -> Any:
        """Return a proxy of an attribute, which becomes a node when it is used."""

    def refuse_bool(self, proxy: torch.fx.Proxy) -> bool:
        """Raise torch.fx's own error."""

    def refuse_iter(self, proxy: torch.fx.Proxy) -> Iterator[Any]:
        """Raise torch.fx's own error."""


class Mark(NamedTuple):
    """State of the graph to roll back to."""

    nodes: int
    calls: int
    names: tuple[set[str], dict[str, int]]


class RecoveryContext:
    """Values, findings and modes of one pass."""

    evaluator: Evaluator
    """Runs each node when it is made; set by :meth:`begin`."""

    def __init__(self, recorder: GraphRecorder, places: SourceMap) -> None:
        self.places = places
        self.findings = RecoveryFindings()
        self.needs_data = False
        """Whether a decision was met that depends on data."""
        self.is_plain = False
        """Whether proxies currently refuse what plain ones refuse."""
        self.following: set[torch.fx.Node] = set()
        """Nodes computed from an input or a parameter, which plain torch.fx has proxies for."""
        self.tensors = NodeTensors(self.item_node)
        self.headlines: list[tuple[BaseException, str]] = []
        """Errors of operations on values, with the headlines of their mismatches."""
        self.parameter_proxies: dict[str, torch.fx.Proxy] = {}
        """torch.fx's cache of parameter proxies, by the names of the parameters."""
        self._recorder = recorder
        self._is_silent = False
        self._gone: set[torch.fx.Node] = set()
        self._registered: set[int] = set()

    def begin(self, root: torch.nn.Module, evaluator: Evaluator) -> None:
        """Start the pass over ``root``."""
        self._registered = {id(parameter) for parameter in module_tree.parameters(root)}
        self.evaluator = evaluator

    # Modes.

    @property
    def evaluating(self) -> bool:
        """Whether current operations compute a value, and are not the model's own."""
        return self._recorder.evaluating

    def evaluation(self) -> AbstractContextManager[None]:
        """Let operations compute values without being recorded, in this context."""
        return replaced(self._recorder, evaluating=True)

    def plain(self) -> AbstractContextManager[None]:
        """Let proxies refuse what plain ones refuse, in this context."""
        return replaced(self, is_plain=True)

    def silent(self) -> AbstractContextManager[None]:
        """Record no findings in this context."""
        return replaced(self, _is_silent=True)

    # Findings.

    def note(
        self, code: str, error: BaseException | None, remark: str = "", module: torch.nn.Module | None = None
    ) -> None:
        """Add a finding at the expression that is running."""
        if not (self.evaluating or self._is_silent):
            path = self._recorder.current_path
            caught = error is not None and is_caught(error, self.places)
            if error is not None and code.startswith(_REFUSED):
                remark = "\n".join(line for line in (inside_of(self.places, self._recorder.calls), remark) if line)
            self.findings.note(RecoveryFinding(code, error, self._recorder.call_stack(), path, remark, module, caught))

    def headline_of(self, error: BaseException) -> str:
        """Return the headline of an operation on values that raised ``error``; "" if there is none."""
        return next((headline for each, headline in self.headlines if each is error), "")

    def note_refusal(self, act: Callable[[], Any], code: str) -> None:
        """Add the error that plain torch.fx raises in ``act``, and roll back its nodes."""
        mark = self.mark()
        try:
            with self.plain():
                act()
        except Exception as error:
            self.note(code, error)
        self.roll_back(mark)

    def was_just_noted(self, code: str) -> bool:
        """Return whether the last finding has this code and is at the running expression."""
        last = self.findings.last
        return last is not None and last.code == code and last.call_stack[-1:] == self._recorder.call_stack()[-1:]

    def running_instruction(self) -> Instruction | None:
        """Return the innermost instruction of the user's code that is running."""
        call_stack = self._recorder.call_stack()
        return call_stack[-1] if call_stack else None

    # Values.

    def value_of(self, proxy: Any) -> Any:
        """Return the value of a proxy."""
        return self.evaluator.value_of(proxy.node)

    def values_in(self, tree: Any) -> Any:
        """Return ``tree`` with proxies replaced by their values."""
        return mapped(tree, lambda leaf: self.value_of(leaf) if is_proxy(leaf) else leaf)

    def tensors_in(self, tree: Any) -> Any:
        """Return ``tree`` with proxies replaced by values; nodes of tensors are recorded."""

        def value(leaf: Any) -> Any:
            if not is_proxy(leaf):
                return leaf
            found = self.value_of(leaf)
            self.tensors.produced(leaf.node, found)
            return found

        return mapped(tree, value)

    def proxies_in(self, tree: Any) -> Any:
        """Return ``tree`` with proxies for the tensors for which plain torch.fx has some."""

        def proxy(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor) or is_proxy(leaf) or not self.follows(leaf):
                return leaf
            node = self.tensors.node_of(leaf)
            return leaf if node is None else self._recorder.proxy(node)

        return mapped(tree, proxy)

    def set_value(self, node: torch.fx.Node, value: Any, inputs: tuple[Any, ...] = (), flops: int | None = 0) -> None:
        """Set the value of ``node``."""
        with self.evaluation():
            # Reading a tensor's shape is an operation too, which active modes see.
            self.evaluator.set_value(node, value, inputs, flops)

    def item_node(self, container: torch.fx.Node, key: Any, item: Any) -> torch.fx.Node:
        """Append a node for an item of the value of ``container``."""
        node = self._recorder.create_node("call_function", operator.getitem, (container, key), {})
        self._recorder.origins[node].module_path = self._recorder.current_path
        self.set_value(node, item)
        return node

    def follows(self, *trees: Any) -> bool:
        """Return whether a tensor in ``trees`` is computed from an input or a parameter."""
        return any(self._is_followed(leaf) for leaf in leaves(trees))

    def _is_followed(self, leaf: Any) -> bool:
        if not isinstance(leaf, torch.Tensor):
            return False
        node = self.tensors.node_of(leaf)
        return id(leaf) in self._registered if node is None else node in self.following

    # Rolling back.

    def mark(self) -> Mark:
        """Return the current state of the graph."""
        graph = self._recorder.graph
        return Mark(len(graph.nodes), len(self._recorder.calls), used_names(graph))

    def mark_of_empty_graph(self) -> Mark:
        """Return the state of a graph without nodes."""
        return Mark(0, 0, used_names(torch.fx.Graph()))

    def met_unknown_since(self, mark: Mark) -> bool:
        """Return whether an operation recorded since ``mark`` has no known value."""
        values = (self.evaluator.value_of(node) for node in list(self._recorder.graph.nodes)[mark.nodes :])
        return any(isinstance(leaf, Unknown) for leaf in leaves(list(values)))

    def met_doubt_since(self, mark: Mark, given: Any) -> bool:
        """Return whether a value in ``given``, or recorded since ``mark``, depends on how a failure is repaired."""
        nodes = [leaf.node for leaf in leaves(given) if is_proxy(leaf)] + list(self._recorder.graph.nodes)[mark.nodes :]
        known = (self.evaluator.values.get(node) for node in nodes)
        return any(value is not None and value.trust is Trust.DOUBTFUL for value in known)

    def roll_back(self, mark: Mark) -> None:
        """Undo what was recorded since ``mark``."""
        recorder = self._recorder
        gone = set(list(recorder.graph.nodes)[mark.nodes :])
        for node in reversed(list(recorder.graph.nodes)[mark.nodes :]):
            recorder.graph.erase_node(node)
        for node in gone:
            recorder.origins.pop(node, None)
        self._gone |= gone
        del recorder.calls[mark.calls :]
        self.tensors.forget(gone)
        for name in [name for name, proxy in self.parameter_proxies.items() if proxy.node in gone]:
            del self.parameter_proxies[name]
        restore_used_names(recorder.graph, mark.names)

    def is_gone(self, node: torch.fx.Node) -> bool:
        """Return whether a node was rolled back."""
        return node in self._gone


Getitem = Callable[[torch.fx.Node, Any, Any], torch.fx.Node]
"""Makes the node of an item, from the container's node, the key and the item's value."""


class NodeTensors:
    """Map from tensors, by identity, to the node that produced each last."""

    def __init__(self, getitem: Getitem) -> None:
        self._getitem = getitem
        self._nodes: dict[int, tuple[torch.Tensor, torch.fx.Node]] = {}

    def node_of(self, tensor: torch.Tensor) -> torch.fx.Node | None:
        """Return the node that produced ``tensor``; None if no node did."""
        known = self._nodes.get(id(tensor))
        return None if known is None else known[1]

    def produced(self, node: torch.fx.Node, value: Any) -> None:
        """Record that ``node`` produced the tensors in ``value``.

        Those in containers get nodes of their own.
        """
        if isinstance(value, torch.Tensor):
            self._nodes[id(value)] = (value, node)
        elif isinstance(value, Mapping):
            for key, item in value.items():
                self._item(node, key, item)
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                self._item(node, index, item)

    def _item(self, node: torch.fx.Node, key: Any, item: Any) -> None:
        if isinstance(item, (torch.Tensor, Mapping, list, tuple)) and isinstance(key, (int, str)):
            self.produced(self._getitem(node, key, item), item)

    def forget(self, nodes: set[torch.fx.Node]) -> None:
        """Remove the tensors that erased nodes produced."""
        self._nodes = {key: known for key, known in self._nodes.items() if known[1] not in nodes}

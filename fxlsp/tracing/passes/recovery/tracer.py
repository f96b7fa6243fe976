"""Recovering tracer: a ``torch.fx.Tracer`` that records failures and continues."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import torch
import torch.fx

from ....report.codes import NOT_ENTERED
from ...isolation.torch_private import FakeTensorMode
from ...model import module_tree
from ...model.building.forward_entry import forward_entry, has_forward
from ...model.building.state_snapshot import is_plain_object
from ...model.capture.outputs import UNKNOWN, Unknown
from ...model.capture.tracer import ModulePathTracer
from ...model.diagnosis.failures import code_of_error, text_of
from ...model.locations.source_map import SourceMap
from .caught_errors import is_caught
from .context import RecoveryContext
from .evaluator import Evaluator
from .findings import RecoveryFinding
from .module_calls import ModuleCalls
from .proxies.proxies import ValueAttribute, ValueProxy
from .proxies.proxy_operations import ProxyOperations
from .pytree import is_proxy, leaves
from .unregistered import UnregisteredPaths


class RecoveringTracer(ModulePathTracer):
    """Tracer of a model on given inputs that continues past torch.fx's failures.

    Each reason for which plain ``torch.fx`` would fail is a finding.

    It implements the hooks that torch.fx calls. The state shared with other parts of the pass is in ``recovery``.
    """

    def __init__(self, places: SourceMap, mode: FakeTensorMode, inputs: Mapping[str, Any], real: bool) -> None:
        """Create the tracer of one pass.

        Args:
            places: The source map of the traced code.
            mode: The mode of the fake tensors.
            inputs: The root's inputs by torch.fx's placeholder names; others have their default, else are unknown.
            real: Whether tensors have data.
        """
        super().__init__(places)
        self.recovery = RecoveryContext(self, places)
        self.proxy_operations = ProxyOperations(self.recovery, self)
        self._mode = mode
        self._inputs = inputs
        self._real = real
        self._methods_visible = ExitStack()
        self._unregistered = UnregisteredPaths(self.unregistered)
        self._module_calls = ModuleCalls(self.recovery, self)

    # The root and its inputs.

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Any, list[Any]]:
        self._methods_visible.close()
        self.recovery.begin(self.root, Evaluator(self.root, self, self._mode, self._inputs, self._real))
        if is_module and not _takes_self(self.root):
            if _is_static(self.root):
                error = torch.fx.proxy.TraceError(
                    "forward is static, and torch.fx hands it the module as its first input"
                )
                self.recovery.findings.note(RecoveryFinding(NOT_ENTERED, error, (), ""))
            return self._without_self()
        try:
            function, args = super().create_args_for_root(root_fn, is_module)
        except (ValueError, RuntimeError) as error:
            # A wrapper that torch.fx cannot patch, or one that takes the module as one of its ``*args``.
            self.recovery.findings.note(RecoveryFinding(NOT_ENTERED, error, (), ""))
            return self._without_self()
        if _hides_parameters(root_fn):
            # torch.fx would pass the wrapped function's arguments to the first variables of the wrapper.
            return self._without_self()
        passed = [args[0], *(self._root_argument(proxy) for proxy in args[1:])]
        return (lambda *given: self._module_calls.root(function, given)), passed

    def _without_self(self) -> tuple[Callable[..., Any], list[Any]]:
        self.recovery.roll_back(self.recovery.mark_of_empty_graph())
        return self._module_calls.root_without_self, [self.root, *self._signature_proxies()]

    def _signature_proxies(self) -> list[Any]:
        """Return arguments for a ``forward`` that torch.fx would pass the module itself.

        That is one assigned to the instance, or a static one.
        """
        parameters = inspect.signature(forward_entry(self.root)).parameters.values()
        proxies = []
        for parameter in parameters:
            stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (
                parameter.kind is parameter.VAR_KEYWORD
            )
            default = () if parameter.default is parameter.empty else (parameter.default,)
            proxies.append(self._root_argument(self.create_proxy("placeholder", stars + parameter.name, default, {})))
        return proxies

    def _root_argument(self, proxy: Any) -> Any:
        """Return the proxy of a root's argument, or its value if the caller omits it.

        The same for one that is passed as None.
        """
        name = str(proxy.node.target)
        if name in self._inputs:
            return None if self._inputs[name] is None else proxy
        if not proxy.node.args and not name.startswith("*"):
            return proxy
        default = proxy.node.args[0] if proxy.node.args else ({} if name.startswith("**") else ())
        self.graph.erase_node(proxy.node)
        return default

    def given_values(self) -> list[Any]:
        """Return the leaves of the root's inputs, as the pass has them, and the attributes of objects among them."""
        inputs = [node for node in self.graph.nodes if node.op == "placeholder"]
        known = [value for node in inputs if (value := self.recovery.evaluator.values.get(node)) is not None]
        given = [leaf for value in known for leaf in leaves(value.output)]
        return [*given, *(held for value in given if is_plain_object(value) for held in leaves(vars(value)))]

    # Nodes, proxies and arguments.

    def proxy(self, node: torch.fx.Node) -> torch.fx.Proxy:
        return ValueProxy(node, self)

    def attribute_proxy(self, owner: torch.fx.Proxy, name: str) -> Any:
        """Return a proxy of an attribute, which becomes a node when it is used."""
        return ValueAttribute(owner, name)

    def create_proxy(self, kind: str, target: Any, *args: Any, **kwargs: Any) -> Any:
        proxy = self.valued_proxy(kind, target, *args, **kwargs)
        known = self.recovery.evaluator.values[proxy.node]
        is_none = known.output is None and known.error is None
        # ``is None`` is False for any proxy. A read of an attribute needs its node.
        is_answer = kind.startswith("call_") and target is not builtins.getattr
        return None if is_none and is_answer else proxy

    def valued_proxy(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *options: Any, **named_options: Any
    ) -> torch.fx.Proxy:
        """Append a node and run it; return its proxy, whatever the value."""
        proxy = super().create_proxy(kind, target, args, kwargs, *options, **named_options)
        values, named = self.recovery.values_in((args, kwargs))
        with self.recovery.evaluation():
            self.recovery.evaluator.evaluate(proxy.node, values, named)
        known = self.recovery.evaluator.values[proxy.node]
        if known.error is not None and is_caught(known.error, self.recovery.places):
            # The model expects this to fail, and continues in its own way.
            self.graph.erase_node(proxy.node)
            raise known.error
        if isinstance(known.output, Unknown) and known.error is None and not _holds_unknown((values, named)):
            self.recovery.needs_data = self.recovery.needs_data or kind != "placeholder"
        if kind == "call_module" and isinstance(known.output, torch.Tensor):
            # A hook of the module may have kept it.
            self.recovery.tensors.produced(proxy.node, known.output)
        return proxy

    def unvalued_proxy(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.fx.Proxy:
        """Append a node that has run already; return its proxy."""
        return super().create_proxy(kind, target, args, kwargs)

    def create_node(self, kind: str, *args: Any, **kwargs: Any) -> torch.fx.Node:
        node = super().create_node(kind, *args, **kwargs)
        if len(self.recovery.findings):
            self.recovered_nodes.add(node)
        # A leaf module returns a proxy whatever it is called with.
        if kind in ("placeholder", "call_module") or any(
            source in self.recovery.following for source in node.all_input_nodes
        ):
            self.recovery.following.add(node)
        return node

    def create_arg(self, a: Any) -> Any:
        if is_proxy(a):
            return self._node_of_gone(a.node) if self.recovery.is_gone(a.node) else a.node
        if isinstance(a, Unknown):
            return None
        if isinstance(a, torch.Tensor):
            node = self.recovery.tensors.node_of(a)
            return self._attribute_node(a) if node is None else node
        try:
            lowered = super().create_arg(a)
        except (NotImplementedError, RuntimeError, TypeError) as error:
            self.recovery.note(code_of_error(error, text_of(error)), error)
            return f"<{type(a).__name__}>"
        if isinstance(lowered, torch.fx.Node) and lowered not in self.recovery.evaluator.values:
            value = self.recovery.values_in(a)
            parts = tuple(value) if isinstance(value, tuple) else tuple(getattr(value, "__dict__", {}).values())
            self.recovery.set_value(lowered, value, parts)
        return lowered

    def _node_of_gone(self, gone: torch.fx.Node) -> torch.fx.Node:
        """Return a node for a rolled-back one that the model still refers to.

        It may have stored it in an attribute.
        """
        node: torch.fx.Node = self.create_node("get_attr", f"<{gone.name}>", (), {})
        self.recovery.following.add(node)
        self.recovery.set_value(node, self.recovery.evaluator.value_of(gone))
        return node

    def _attribute_node(self, tensor: torch.Tensor) -> torch.fx.Node:
        """Return the node of a tensor that no node produced.

        It is a parameter, a buffer, or one that torch.fx makes a constant.
        """
        node: Any
        try:
            node = super().create_arg(tensor)
        except NameError as error:
            if not (
                self._in_unregistered() and any(tensor is own for own in module_tree.parameters(self.current_module))
            ):
                self.recovery.note(code_of_error(error, text_of(error)), error)
            node = self.create_node("get_attr", "<unregistered parameter>", (), {})
        if isinstance(tensor, torch.nn.Parameter):
            self.recovery.following.add(node)
        self.recovery.set_value(node, tensor)
        return node  # type: ignore[no-any-return]

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, torch.fx.Proxy]) -> Any:
        if self.evaluating:
            return attr_val
        self.recovery.parameter_proxies = parameter_proxy_cache
        if self._module_calls.runs_on_values and isinstance(attr_val, torch.Tensor):
            return attr_val
        found = super().getattr(attr, attr_val, parameter_proxy_cache)
        if is_proxy(found):
            self.recovery.following.add(found.node)
        return found

    def path_of_module(self, mod: torch.nn.Module) -> str:
        try:
            return super().path_of_module(mod)
        except NameError as error:
            if mod not in self._unregistered:
                caller, path = self.current_module, self.current_path
                # A part of an unregistered module is registered with it.
                if not (self._in_unregistered() and mod in module_tree.children(caller)):
                    self.recovery.note(code_of_error(error, text_of(error)), error, module=mod)
                self._unregistered.add(mod, caller, path)
            return self._unregistered.path_of(mod)

    def _in_unregistered(self) -> bool:
        """Return whether the running module is not registered, which is already a finding."""
        return self.current_module in self._unregistered

    def call_module(
        self, m: torch.nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        if self.evaluating:
            return forward(*args, **kwargs)
        enter = super().call_module

        def entered(*args: Any, **kwargs: Any) -> Any:
            depth = len(self.module_stack)
            try:
                return enter(m, forward, args, kwargs)
            finally:
                # torch.fx leaves modules that raise on its stack, on which it looks for the next one that returns.
                while len(self.module_stack) > depth:
                    self.module_stack.popitem()

        return self._module_calls.module(m, forward, entered, args, kwargs)

    def trace(self, root: torch.nn.Module | Callable[..., Any], concrete_args: Any = None) -> torch.fx.Graph:
        if isinstance(root, torch.jit.ScriptModule):
            # Its class has no ``forward``, without which torch.fx does not start.
            self.traced_func_name = "__call__"
        with module_tree.methods_visible(root) as self._methods_visible:
            graph = super().trace(root)
        for node in graph.find_nodes(op="output"):
            self.recovery.set_value(node, self._module_calls.result, flops=0)
        return graph

    @property
    def result(self) -> Any:
        """The root's result, in values."""
        return self._module_calls.result

    # What plain torch.fx refuses.

    def to_bool(self, obj: torch.fx.Proxy) -> bool:
        return super().to_bool(obj) if self.recovery.is_plain else self.proxy_operations.truth(obj)

    def iter(self, obj: torch.fx.Proxy) -> Iterator[Any]:
        return self.proxy_operations.items(obj)

    def keys(self, obj: torch.fx.Proxy) -> Any:
        return self.proxy_operations.keys(obj)

    def refuse_bool(self, proxy: torch.fx.Proxy) -> bool:
        """Raise torch.fx's own error."""
        return super().to_bool(proxy)

    def refuse_iter(self, proxy: torch.fx.Proxy) -> Iterator[Any]:
        """Raise torch.fx's own error."""
        return super().iter(proxy)


def _hides_parameters(function: Callable[..., Any]) -> bool:
    """Return whether a wrapper has ``*args`` or ``**kwargs`` instead of parameters."""
    code = getattr(function, "__code__", None)
    is_variadic = code is not None and bool(code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
    return is_variadic and inspect.unwrap(function) is not function


def _takes_self(root: torch.nn.Module) -> bool:
    """Return whether ``forward`` is a method of the class, as torch.fx assumes."""
    return (
        has_forward(root)
        and "forward" not in vars(root)
        and inspect.isfunction(inspect.getattr_static(type(root), "forward"))
    )


def _is_static(root: torch.nn.Module) -> bool:
    return isinstance(inspect.getattr_static(root, "forward"), staticmethod)


def _holds_unknown(tree: Any) -> bool:
    return any(leaf is UNKNOWN for leaf in leaves(tree))

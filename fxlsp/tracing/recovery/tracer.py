"""The recovering tracer: a ``torch.fx.Tracer`` that notes what fails, and goes on."""

from __future__ import annotations

import builtins
import dis
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any, NamedTuple

import torch
import torch.fx

from ...report.codes import FACTORY, FOREIGN_FUNCTION, GRAPH_FAILS, ITERATION, NOT_ENTERED
from ..devices import DevicesAreCpu
from ..entry import entry_of, has_forward
from ..failures import text_of
from ..fakes import OnCpu
from ..frames import Instruction, Places
from ..operator_costs import OperatorCosts
from ..outputs import UNKNOWN, Unknown
from ..refusal_kinds import code_of_error
from ..torch_private import WITHOUT_DATA, FakeTensorMode, names_taken, release_names
from ..tracer import ModulePathTracer
from ..values import batches_of_one
from .calls import Calls
from .catching import is_caught
from .evaluator import Evaluator
from .findings import Finding, Findings
from .foreign import plain_outcome
from .proxies import ValueProxy, is_proxy
from .questions import NeedsDataError, Questions
from .recording import Recording
from .refusals import refusals_passed
from .tensors import NodeTensors
from .trees import leaves, mapped
from .unregistered import free_path, likely_path


class Mark(NamedTuple):
    """A state of the graph to go back to."""

    nodes: int
    calls: int
    names: tuple[set[str], dict[str, int]]


Call = tuple[str, Any, tuple[Any, ...], dict[str, Any]]
"""Opcode, target and arguments of a node."""


class RecoveringTracer(ModulePathTracer):
    """Traces what the model does on given inputs; each reason for which plain ``torch.fx`` would fail is a finding."""

    def __init__(self, places: Places, mode: FakeTensorMode, inputs: Mapping[str, Any], real: bool) -> None:
        """``inputs`` are those of the root by the names of torch.fx's placeholders; those not given take their
        default, else are unknown. ``real`` asks for tensors with data."""
        super().__init__(places)
        self.places = places
        self.findings = Findings()
        self.questions = Questions(self)
        self.needs_data = False
        """Whether something was met that only data could tell."""
        self.is_plain = False
        """Whether proxies refuse now as plain ones do."""
        self.evaluator: Evaluator
        self.tensors = NodeTensors(self._item_node)
        self.following: set[torch.fx.Node] = set()
        """Nodes that stem from an input or a parameter, and so are proxies to plain torch.fx."""
        self._mode = mode
        self._inputs = inputs
        self._real = real
        self._is_silent = False
        self._gone: set[torch.fx.Node] = set()
        self._registered: set[int] = set()
        self._unregistered: dict[torch.nn.Module, str] = {}
        self._parameter_proxies: dict[str, torch.fx.Proxy] = {}
        self._calls = Calls(self)

    # What a pass is.

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Any, list[Any]]:
        self._registered = {id(parameter) for parameter in self.root.parameters()}
        self.evaluator = Evaluator(self.root, self, self._mode, self._inputs, self._real)
        if is_module and not _takes_self(self.root):
            if _is_static(self.root):
                error = torch.fx.proxy.TraceError(
                    "forward is static, and torch.fx hands it the module as its first input"
                )
                self.findings.note(Finding(NOT_ENTERED, error, (), ""))
            return self._without_self()
        try:
            function, args = super().create_args_for_root(root_fn, is_module)
        except (ValueError, RuntimeError) as error:
            # A wrapper that torch.fx cannot patch, or one that takes the module as one of its ``*args``.
            self.findings.note(Finding(NOT_ENTERED, error, (), ""))
            return self._without_self()
        if _hides_parameters(root_fn):
            # torch.fx hands the wrapped function's arguments to whatever variables of the wrapper come first.
            return self._without_self()
        passed = [args[0], *(self._passed(proxy) for proxy in args[1:])]
        return (lambda *given: self._calls.root(function, given)), passed

    def _without_self(self) -> tuple[Callable[..., Any], list[Any]]:
        self.roll_back(Mark(0, 0, names_taken(torch.fx.Graph())))
        return self._calls.root_without_self, [self.root, *self._signature_proxies()]

    def _signature_proxies(self) -> list[Any]:
        """Arguments for a ``forward`` that torch.fx would give the module itself: an instance's own, a static one."""
        parameters = inspect.signature(entry_of(self.root)).parameters.values()
        proxies = []
        for parameter in parameters:
            stars = "*" * (parameter.kind is parameter.VAR_POSITIONAL) + "**" * (
                parameter.kind is parameter.VAR_KEYWORD
            )
            default = () if parameter.default is parameter.empty else (parameter.default,)
            proxies.append(self._passed(self.create_proxy("placeholder", stars + parameter.name, default, {})))
        return proxies

    def _passed(self, proxy: Any) -> Any:
        """An argument of the root: a proxy, unless the caller leaves it out or passes None."""
        name = str(proxy.node.target)
        if name in self._inputs:
            return None if self._inputs[name] is None else proxy
        if not proxy.node.args and not name.startswith("*"):
            return proxy
        default = proxy.node.args[0] if proxy.node.args else ({} if name.startswith("**") else ())
        self.graph.erase_node(proxy.node)
        return default

    @contextmanager
    def running(self) -> Iterator[None]:
        """What the root's ``forward`` runs under."""
        with refusals_passed(self), DevicesAreCpu(), OnCpu(), batches_of_one(), Recording(self):
            yield

    # What becomes of nodes, proxies and arguments.

    def proxy(self, node: torch.fx.Node) -> torch.fx.Proxy:
        return ValueProxy(node, self)

    def create_proxy(self, kind: str, target: Any, *args: Any, **kwargs: Any) -> Any:
        proxy = self._valued_proxy(kind, target, *args, **kwargs)
        known = self.evaluator.values[proxy.node]
        is_none = known.output is None and known.error is None
        # No proxy can answer ``is None``. Whoever reads an attribute wants its node.
        is_answer = kind.startswith("call_") and target is not builtins.getattr
        return None if is_none and is_answer else proxy

    def _valued_proxy(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *options: Any, **named_options: Any
    ) -> torch.fx.Proxy:
        proxy = super().create_proxy(kind, target, args, kwargs, *options, **named_options)
        values, named = self.values_in((args, kwargs))
        with self.evaluation():
            self.evaluator.evaluate(proxy.node, values, named)
        known = self.evaluator.values[proxy.node]
        if known.error is not None and is_caught(known.error, self.places):
            # The model is written for this to fail, and goes on in its own way.
            self.graph.erase_node(proxy.node)
            raise known.error
        if isinstance(known.output, Unknown) and known.error is None and not _holds_unknown((values, named)):
            self.needs_data = self.needs_data or kind != "placeholder"
        return proxy

    def create_node(self, kind: str, *args: Any, **kwargs: Any) -> torch.fx.Node:
        node = super().create_node(kind, *args, **kwargs)
        if len(self.findings):
            self.recovered_nodes.add(node)
        # A leaf module gives a proxy whatever it is called with.
        if kind in ("placeholder", "call_module") or any(source in self.following for source in node.all_input_nodes):
            self.following.add(node)
        return node

    def create_arg(self, a: Any) -> Any:
        if is_proxy(a):
            return a.node if a.node not in self._gone else self._kept(a.node)
        if isinstance(a, Unknown):
            return None
        if isinstance(a, torch.Tensor):
            node = self.tensors.node_of(a)
            return self._attribute_node(a) if node is None else node
        try:
            lowered = super().create_arg(a)
        except (NotImplementedError, RuntimeError, TypeError) as error:
            self.note(code_of_error(error, text_of(error)), error)
            return f"<{type(a).__name__}>"
        if isinstance(lowered, torch.fx.Node) and lowered not in self.evaluator.values:
            value = self.values_in(a)
            parts = tuple(value) if isinstance(value, tuple) else tuple(getattr(value, "__dict__", {}).values())
            self.know(lowered, value, parts)
        return lowered

    def _kept(self, gone: torch.fx.Node) -> torch.fx.Node:
        """A node for what the model kept, in an attribute say, of a run that was taken back."""
        node: torch.fx.Node = self.create_node("get_attr", f"<{gone.name}>", (), {})
        self.following.add(node)
        self.know(node, self.evaluator.value_of(gone))
        return node

    def _attribute_node(self, tensor: torch.Tensor) -> torch.fx.Node:
        """The node of a tensor that no node produced: a parameter, a buffer, or one that torch.fx makes a constant."""
        node: Any
        try:
            node = super().create_arg(tensor)
        except NameError as error:
            if not (self._in_unregistered() and any(tensor is own for own in self.current_module.parameters())):
                self.note(code_of_error(error, text_of(error)), error)
            node = self.create_node("get_attr", "<unregistered parameter>", (), {})
        if isinstance(tensor, torch.nn.Parameter):
            self.following.add(node)
        self.know(node, tensor)
        return node  # type: ignore[no-any-return]

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, torch.fx.Proxy]) -> Any:
        if self.evaluating:
            return attr_val
        self._parameter_proxies = parameter_proxy_cache
        if self._calls.runs_on_values and isinstance(attr_val, torch.Tensor):
            return attr_val
        found = super().getattr(attr, attr_val, parameter_proxy_cache)
        if is_proxy(found):
            self.following.add(found.node)
        return found

    def path_of_module(self, mod: torch.nn.Module) -> str:
        try:
            return super().path_of_module(mod)
        except NameError as error:
            if mod in self._unregistered:
                return self._unregistered[mod]
            caller, path = self.current_module, self.current_path
            # A part of an unregistered module is registered with it.
            if not (self._in_unregistered() and mod in caller.children()):
                self.note(code_of_error(error, text_of(error)), error, module=mod)
            shown = free_path(likely_path(mod, caller, path), self.unregistered)
            self.unregistered[shown] = mod
            self._unregistered[mod] = shown
            return shown

    def _in_unregistered(self) -> bool:
        """Whether the module whose ``forward`` runs is not registered under the root, which has been told."""
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
                # torch.fx leaves modules that raise on its stack, where it looks for the one that returns next.
                while len(self.module_stack) > depth:
                    self.module_stack.popitem()

        return self._calls.module(m, forward, entered, args, kwargs)

    def trace(self, root: torch.nn.Module | Callable[..., Any], concrete_args: Any = None) -> torch.fx.Graph:
        if isinstance(root, torch.jit.ScriptModule):
            # Its class has no ``forward``, without which torch.fx does not begin.
            self.traced_func_name = "__call__"
        graph = super().trace(root)
        for node in graph.find_nodes(op="output"):
            self.know(node, self._calls.result, flops=0)
        return graph

    @property
    def result(self) -> Any:
        """What the root returned, in values."""
        return self._calls.result

    # What plain torch.fx refuses.

    def to_bool(self, obj: torch.fx.Proxy) -> bool:
        return super().to_bool(obj) if self.is_plain else self.questions.truth(obj)

    def iter(self, obj: torch.fx.Proxy) -> Iterator[Any]:
        return self.questions.items(obj)

    def keys(self, obj: torch.fx.Proxy) -> Any:
        return self.questions.keys(obj)

    def refuse_bool(self, proxy: torch.fx.Proxy) -> bool:
        """Raises torch.fx's own error."""
        return super().to_bool(proxy)

    def refuse_iter(self, proxy: torch.fx.Proxy) -> Iterator[Any]:
        """Raises torch.fx's own error."""
        return super().iter(proxy)

    def refused(
        self, original: Any, kind: str, target: Any, code: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call ``original`` as plain torch.fx would; what it refuses is noted and becomes a node all the same."""
        mark = self.mark()
        error = None
        self.is_plain = True
        try:
            return original(*args, **kwargs)
        except Exception as raised:
            error = raised
        finally:
            self.is_plain = False
        self.roll_back(mark)
        if not self._has_starred(code):
            self.note(code, error)
        return self.create_proxy(kind, target, args, kwargs)

    def passed(self, refusal: BaseException, code: str, call: Call) -> Any:
        """The node of a call that plain torch.fx refuses; noted unless it fails by itself as well."""
        proxy = self._valued_proxy(*call)
        value = self.evaluator.values.get(proxy.node)
        if value is None or value.error is None:
            self.note(code, refusal)
        return proxy

    def unknown_item(self, container: torch.fx.Proxy, key: Any) -> torch.fx.Proxy:
        """An item that the value of ``container`` does not have."""
        return ValueProxy(self._item_node(container.node, key, UNKNOWN), self)

    def _has_starred(self, code: str) -> bool:
        """Whether the call that is refused as ``code`` iterates for its arguments: ``torch.zeros(*x.shape)``."""
        last, running = self.findings.last, self.running_instruction()
        if code != FACTORY or last is None or last.code != ITERATION or running is None or not last.chain:
            return False
        return self.places.locate(*last.chain[-1][:2]) == self.places.locate(*running[:2])

    def note_refusal(self, act: Callable[[], Any], code: str) -> None:
        """Note what plain torch.fx says to ``act``, and undo it."""
        mark = self.mark()
        self.is_plain = True
        try:
            act()
        except Exception as error:
            self.is_plain = False
            self.note(code, error)
        finally:
            self.is_plain = False
        self.roll_back(mark)

    def note_foreign(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note what comes of a function that is not torch's: that it refuses, or that its node cannot run."""
        with self.evaluation():
            refusal, failure = plain_outcome(function, args, kwargs, self.value_of)
        if refusal is not None:
            self.note(FOREIGN_FUNCTION, refusal)
        elif failure is not None:
            self.note(GRAPH_FAILS, failure)

    # What is noted.

    def note(
        self, code: str, error: BaseException | None, remark: str = "", module: torch.nn.Module | None = None
    ) -> None:
        """Note a finding at the expression that is running."""
        if not (self.evaluating or self._is_silent):
            path = self.current_path
            caught = error is not None and is_caught(error, self.places)
            self.findings.note(Finding(code, error, self.chain(), path, remark, module, caught))

    @contextmanager
    def silent(self) -> Iterator[None]:
        """While this lasts, nothing is noted."""
        before, self._is_silent = self._is_silent, True
        try:
            yield
        finally:
            self._is_silent = before

    def was_just_noted(self, code: str) -> bool:
        """Whether the last finding is of this code and at the expression that is running."""
        last = self.findings.last
        return last is not None and last.code == code and last.chain[-1:] == self.chain()[-1:]

    def running_instruction(self) -> Instruction | None:
        """The innermost instruction of the user's that is running."""
        chain = self.chain()
        return chain[-1] if chain else None

    def unpacks(self) -> bool:
        """Whether the expression that is running unpacks into a fixed number of targets."""
        running = self.running_instruction()
        return running is not None and dis.opname[running.code.co_code[running.offset]] == "UNPACK_SEQUENCE"

    @staticmethod
    def unpacked_count(frame: FrameType) -> int | None:
        """The number of targets that a frame unpacks into; None if it does something else."""
        code = frame.f_code.co_code
        if dis.opname[code[frame.f_lasti]] != "UNPACK_SEQUENCE":
            return None
        return code[frame.f_lasti + 1]

    # What values are known.

    @contextmanager
    def evaluation(self) -> Iterator[None]:
        """While this lasts, operations work out values and are nobody's."""
        before, self.evaluating = self.evaluating, True
        try:
            yield
        finally:
            self.evaluating = before

    def value_of(self, proxy: Any) -> Any:
        """What a proxy stands for."""
        return self.evaluator.value_of(proxy.node)

    def values_in(self, tree: Any) -> Any:
        """``tree`` with values in the place of proxies."""
        return mapped(tree, lambda leaf: self.value_of(leaf) if is_proxy(leaf) else leaf)

    @staticmethod
    def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
        """``tree`` with each leaf changed."""
        return mapped(tree, change)

    def follows(self, *trees: Any) -> bool:
        """Whether a tensor in ``trees`` stems from an input or a parameter."""
        return any(self._is_followed(leaf) for leaf in leaves(trees))

    def _is_followed(self, leaf: Any) -> bool:
        if not isinstance(leaf, torch.Tensor):
            return False
        node = self.tensors.node_of(leaf)
        return id(leaf) in self._registered if node is None else node in self.following

    def record(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Run an operation on tensors themselves; it becomes a node if tensors go in or come out."""
        costs = OperatorCosts(self._real)
        with self.evaluation(), costs:
            try:
                value = run()
            except WITHOUT_DATA as error:
                self.needs_data = True
                raise NeedsDataError(str(error)) from error
            except Exception as error:
                # Fake tensors refuse some of what torch does with real ones.
                value, failure = self.evaluator.repeated(kind, target, args, kwargs, error)
                if failure is not None:
                    raise
        if any(isinstance(leaf, torch.Tensor) for leaf in leaves((args, kwargs, value))):
            # Plain torch.fx makes no node of what touches no proxy, and so refuses nothing of it.
            with nullcontext() if self.follows(args, kwargs) else self.silent():
                node = super().create_proxy(kind, target, args, kwargs).node
            self.know(node, value, (*args, *kwargs.values()), costs.flops)
            self.tensors.produced(node, value)
        return value

    def know(self, node: torch.fx.Node, value: Any, inputs: tuple[Any, ...] = (), flops: int | None = 0) -> None:
        """Take ``value`` for what ``node`` produces."""
        with self.evaluation():
            # Looking at a tensor's shape is an operation too, to modes that are on.
            self.evaluator.know(node, value, inputs, flops)

    def _item_node(self, container: torch.fx.Node, key: Any, item: Any) -> torch.fx.Node:
        node = self.create_node("call_function", operator.getitem, (container, key), {})
        self.origins[node].module_path = self.current_path
        self.know(node, item)
        return node

    # What is undone.

    def mark(self) -> Mark:
        """The state of the graph now."""
        return Mark(len(self.graph.nodes), len(self.calls), names_taken(self.graph))

    def met_unknown_since(self, mark: Mark) -> bool:
        """Whether an operation recorded since has no known value."""
        values = (self.evaluator.value_of(node) for node in list(self.graph.nodes)[mark.nodes :])
        return any(isinstance(leaf, Unknown) for leaf in leaves(list(values)))

    def roll_back(self, mark: Mark) -> None:
        """Undo what was recorded since ``mark``."""
        gone = set(list(self.graph.nodes)[mark.nodes :])
        for node in reversed(list(self.graph.nodes)[mark.nodes :]):
            self.graph.erase_node(node)
        for node in gone:
            self.origins.pop(node, None)
        self._gone |= gone
        del self.calls[mark.calls :]
        self.tensors.forget(gone)
        for name in [name for name, proxy in self._parameter_proxies.items() if proxy.node in gone]:
            del self._parameter_proxies[name]
        release_names(self.graph, mark.names)


def _hides_parameters(function: Callable[..., Any]) -> bool:
    """Whether it is a wrapper with ``*args`` or ``**kwargs`` in the place of parameters of what it wraps."""
    code = getattr(function, "__code__", None)
    is_variadic = code is not None and bool(code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
    return is_variadic and inspect.unwrap(function) is not function


def _takes_self(root: torch.nn.Module) -> bool:
    """Whether ``forward`` is a method of the class, as torch.fx takes for granted."""
    return (
        has_forward(root)
        and "forward" not in vars(root)
        and inspect.isfunction(inspect.getattr_static(type(root), "forward"))
    )


def _is_static(root: torch.nn.Module) -> bool:
    return isinstance(inspect.getattr_static(root, "forward"), staticmethod)


def _holds_unknown(tree: Any) -> bool:
    return any(leaf is UNKNOWN for leaf in leaves(tree))

"""Tracer of the plain pass: torch.fx's own, recording where each node comes from.

:class:`ModulePathTracer` extends the ``ModulePathTracer`` example of PyTorch FX (``module_tracer.py``), which records
the path of the originating module for each proxy. Recording does not change what is traced: the graph, or the error, is
that of ``torch.fx.Tracer``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from traceback import walk_tb
from types import CodeType, FrameType, FunctionType
from typing import Any

import torch
import torch.fx

from .. import module_tree
from ..locations.bytecode.instructions import Instruction, instruction_of, walk_out
from ..locations.bytecode.spans import with_lines_of
from ..locations.source_map import CallStack, SourceMap
from .mutations import copy_containers
from .refused_types import is_autocast


@dataclass
class TracedCall:
    """Module call that the tracer entered, leaf or not."""

    module: torch.nn.Module
    module_path: str
    call_path: str | None
    leaf: bool
    call_stack: CallStack
    """Calling expressions; empty for the root."""
    arguments: tuple[Any, ...]
    """Positional, then keyword arguments: proxies and Python objects."""
    first_node: int
    variables: Mapping[str, torch.fx.Node]
    """As in :class:`NodeOrigin`."""
    end_node: int = -1
    """Index after the last node made inside the call; -1 while it runs, and after it raised."""
    output: Any = None


@dataclass
class NodeOrigin:
    """State of the tracer when it made a node."""

    call_stack: CallStack
    call_path: str | None
    module_path: str | None = None
    """Module path as in the ``module_tracer.py`` example: None for nodes that were made without a proxy."""
    grad_enabled: bool = True
    """Whether gradients were recorded where the node was made."""
    variables: Mapping[str, torch.fx.Node] = field(default_factory=dict)
    """Nodes of the traced values among the local variables of the function whose expression made the node."""
    autocast: bool = False
    """Whether the node was made under ``torch.autocast``, on any device."""


class _AttributesRead:
    """Attributes that were read and not called yet.

    They decide by which of several names a module was reached.
    """

    def __init__(self) -> None:
        self._names: dict[int, list[str]] = {}

    def read(self, name: str, module: torch.nn.Module) -> None:
        self._names.setdefault(id(module), []).append(name)

    def called(self, module: torch.nn.Module) -> str | None:
        """Return the name by which a called module was read last.

        In ``self.b(self.a(x))``, ``b`` is read first and called last.
        """
        names = self._names.get(id(module))
        return names.pop() if names else None


class ModulePathTracer(torch.fx.Tracer):
    """Tracer that records module and calling expressions of each node.

    It traces as ``torch.fx.Tracer`` does. A class of the user may be between this one and ``torch.fx.Tracer`` in the
    method resolution order (:mod:`...job.user_tracer`).
    """

    leaf_patterns: tuple[str, ...] = ()
    """Patterns for qualified names of classes whose modules are leaves, in addition to the leaves of torch.fx."""

    def __init__(self, source_map: SourceMap) -> None:
        super().__init__()
        self.origins: dict[torch.fx.Node, NodeOrigin] = {}
        self.calls: list[TracedCall] = []
        self.root_frame: FrameType | None = None
        """Frame of the root ``forward``; after the trace its instruction is the ``return`` that ran."""
        self.evaluating = False
        """Whether the operations that run now compute a value and are not part of the model."""
        self.unregistered: dict[str, torch.nn.Module] = {}
        """Modules that are called without being registered, by the paths of the report."""
        self.recovered_nodes: set[torch.fx.Node] = set()
        """Nodes that plain ``torch.fx`` does not record, because it fails before."""
        self.opaque_nodes: set[torch.fx.Node] = set()
        """Nodes in place of modules whose ``forward`` could not be traced."""
        self._source_map = source_map
        self._entered: list[TracedCall] = []
        self._attributes = _AttributesRead()
        self._names: dict[torch.nn.Module, list[str]] = {}
        self._innermost: FrameType | None = None
        """Frame of the innermost expression of the last call stack."""
        self._raised: tuple[BaseException, str] | None = None
        self._root_definition: tuple[str, str, int] | None = None
        self._own_code = source_map.tracer_code = _code_between(type(self))

    @property
    def current_path(self) -> str:
        """Path of the module that is running, leaf modules included; "" in the root."""
        return self._entered[-1].module_path if self._entered else ""

    @property
    def current_module(self) -> torch.nn.Module:
        """Module that is running, leaf modules included; the root if no other is."""
        return self._entered[-1].module if self._entered else self.root

    def given_values(self) -> list[Any]:
        """Return the values that the root was given, without those in containers: none where only proxies are."""
        return []

    def module_that_raised(self, error: BaseException) -> str:
        """Return the path of the innermost module that raised ``error``; "" for the root."""
        return self._raised[1] if self._raised is not None and self._raised[0] is error else ""

    def trace(
        self,
        root: torch.nn.Module | Callable[..., Any],
        concrete_args: dict[str, Any] | None = None,
    ) -> torch.fx.Graph:
        if isinstance(root, torch.nn.Module):
            for name, module in module_tree.named_modules(root, remove_duplicate=False):
                self._names.setdefault(module, []).append(name)
            self._root_definition = _definition(forward_code(root))
        # torch.fx may refuse the root itself, before it sets a graph.
        self.graph = torch.fx.Graph(tracer_cls=type(self))
        return super().trace(root, concrete_args)

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Any, list[Any]]:
        function, args = super().create_args_for_root(root_fn, is_module, concrete_args)
        if sys.version_info < (3, 11) and function is not root_fn and isinstance(function, FunctionType):
            # torch.fx copies functions with *args or **kwargs, and on Python 3.10 the copy has wrong line numbers.
            original = getattr(root_fn, "__code__", function.__code__)
            function.__code__ = with_lines_of(function.__code__, original)
        return function, args

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        if self.leaf_patterns:
            cls = type(m)
            name = f"{cls.__module__}.{cls.__qualname__}"
            if any(fnmatchcase(name, pattern) for pattern in self.leaf_patterns):
                return True
        return super().is_leaf_module(m, module_qualified_name)

    def call_module(
        self,
        m: torch.nn.Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        path = self.path_of_module(m)
        call = TracedCall(
            module=m,
            module_path=path,
            call_path=self._call_path(m),
            leaf=self.is_leaf_module(m, path),
            call_stack=self.call_stack(),
            arguments=copy_containers((*args, *kwargs.values())),
            first_node=len(self.graph.nodes),
            variables=_variables(self._innermost),
        )
        self.calls.append(call)
        self._entered.append(call)
        try:
            output = super().call_module(m, forward, args, kwargs)
        except BaseException as error:
            if self._raised is None or self._raised[0] is not error:
                self._raised = (error, path)
            raise
        finally:
            self._entered.pop()
        call.output = copy_containers(output)
        call.end_node = len(self.graph.nodes)
        return output

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *options: Any,
        **named_options: Any,
    ) -> torch.fx.Proxy:
        # Options that are not given are not passed on: an override in the user's class may not accept all of them.
        proxy = super().create_proxy(kind, target, args, kwargs, *options, **named_options)
        self.origins[proxy.node].module_path = self.current_path
        return proxy

    def create_node(self, kind: str, *args: Any, **kwargs: Any) -> torch.fx.Node:
        # Here and not in create_proxy: buffers, and parameters in lists, become nodes inside create_arg.
        node = super().create_node(kind, *args, **kwargs)
        call_path = self._entered[-1].call_path if self._entered else ""
        call_stack = () if kind in ("placeholder", "output") else self.call_stack()
        self.origins[node] = NodeOrigin(
            call_stack,
            None if kind == "output" else call_path,
            variables=_variables(self._innermost) if call_stack else {},
            grad_enabled=torch.is_grad_enabled(),
            autocast=is_autocast(),
        )
        return node

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, torch.fx.Proxy]) -> Any:
        if isinstance(attr_val, torch.nn.Module):
            self._attributes.read(attr, attr_val)
        return super().getattr(attr, attr_val, parameter_proxy_cache)

    def _call_path(self, module: torch.nn.Module) -> str | None:
        """Return the caller's path plus the name used there; None if that is ambiguous."""
        attribute = self._attributes.called(module)
        caller = self._entered[-1].call_path if self._entered else ""
        if caller is None:
            return None
        names = self._names.get(module, [])
        if len(names) > 1:
            prefix = f"{caller}." if caller else ""
            names = [name for name in names if name.startswith(prefix)]
        if len(names) > 1:
            names = [name for name in names if name.rpartition(".")[2] == attribute]
        return names[0] if len(names) == 1 else None

    def call_stack(self) -> CallStack:
        """Return the running expressions of the user's code, outermost first."""
        call_stack: list[Instruction] = []
        path = self.current_path
        outer = len(self._entered)
        innermost: list[FrameType] = []
        models = 0
        frames = walk_out(sys._getframe(1))
        for frame in frames:
            code = frame.f_code
            if self._own_code:
                if code.co_filename == _TRACER_FILE and code.co_name in ("forward", "trace"):
                    models = len(call_stack)
                elif (code.co_filename, code) in self._own_code:
                    # Code that the user's tracer calls is not the model's either.
                    del call_stack[models:], innermost[models:]
                    continue
            if code is _CALL_MODULE:
                outer -= 1
                path = self._entered[outer - 1].module_path if outer > 0 else ""
            elif code is _TRACE:
                break
            elif code is _ATTRIBUTE_NODE and not call_stack:
                # ``x.shape`` becomes a node when it is first used, which may be lines after the expression.
                written: CallStack | None = frame.f_locals["self"].__dict__.get(_WRITTEN)
                if written is not None:
                    self._innermost = None
                    return written
            elif self._source_map.is_shown(code.co_filename):
                call_stack.append(instruction_of(frame, path))
                innermost.append(frame)
                if _definition(code) == self._root_definition:
                    self.root_frame = frame
        self._innermost = innermost[0] if innermost else None
        call_stack.reverse()
        return tuple(call_stack)

    def note_attribute(self, attribute: torch.fx.proxy.Attribute) -> None:
        """Record the expression that read an attribute of a proxy."""
        attribute.__dict__[_WRITTEN] = self.call_stack()


def _code_between(cls: type) -> frozenset[tuple[str, CodeType]]:
    """Return the code of the user's tracer classes, with its files.

    These are the classes between fxlsp's and ``torch.fx.Tracer``.
    """
    own = [each for each in cls.__mro__ if issubclass(each, torch.fx.Tracer) and each is not torch.fx.Tracer]
    methods = (value for each in own if each.__module__.partition(".")[0] != _PACKAGE for value in vars(each).values())
    codes = (getattr(getattr(method, "__func__", method), "__code__", None) for method in methods)
    return frozenset((code.co_filename, code) for code in codes if code is not None)


def forward_code(module: torch.nn.Module) -> CodeType | None:
    """Return the code of a module's ``forward`` without decorators, if it is Python."""
    # The class of a scripted module has no forward.
    forward = getattr(type(module), "forward", None)
    return None if forward is None else getattr(inspect.unwrap(forward), "__code__", None)


def check_graph(root: torch.nn.Module, graph: torch.fx.Graph) -> None:
    """Raise the error of ``torch.fx.symbolic_trace`` for the module of a graph.

    Making the module takes long, and fails only if a node reads the root itself, which has no name to be copied under.
    """
    if any(node.op in ("get_attr", "call_module") and node.target == "" for node in graph.nodes):
        torch.fx.GraphModule(root, graph)


def raised_before_forward(error: BaseException) -> bool:
    """Return whether an error was raised before the root's ``forward`` was called.

    That is while its arguments were prepared. An error without a traceback counts as one of the preparation.
    """
    return error.__traceback__ is None or any(frame.f_code is _PREPARE for frame, _ in walk_tb(error.__traceback__))


def _variables(frame: FrameType | None) -> dict[str, torch.fx.Node]:
    variables = () if frame is None else frame.f_locals.items()
    # By type, because reading ``__class__`` of an object may run any code. An Attribute would become a node.
    return {name: value.node for name, value in variables if _is_value(type(value))}


def _is_value(kind: type) -> bool:
    return issubclass(kind, torch.fx.Proxy) and not issubclass(kind, torch.fx.proxy.Attribute)


def _definition(code: CodeType | None) -> tuple[str, str, int] | None:
    """Return a key of a ``def``, equal for the copies that FX makes of its code."""
    return None if code is None else (code.co_filename, code.co_name, code.co_firstlineno)


_WRITTEN = "_fxlsp_written"
_PACKAGE = __name__.partition(".")[0]
_TRACER_FILE = torch.fx.Tracer.trace.__code__.co_filename

_CALL_MODULE: CodeType = ModulePathTracer.call_module.__code__
_PREPARE: CodeType = torch.fx.Tracer.create_args_for_root.__code__
_TRACE: CodeType = ModulePathTracer.trace.__code__
_ATTRIBUTE_NODE: CodeType = torch.fx.proxy.Attribute.__dict__["node"].fget.__code__


def _note_attributes_where_they_are_written() -> None:
    """Patch ``Attribute`` proxies to notify their tracer when they are created."""
    original = torch.fx.proxy.Attribute.__init__

    def initialise(self: torch.fx.proxy.Attribute, root: torch.fx.Proxy, attr: str) -> None:
        original(self, root, attr)
        if isinstance(self.tracer, ModulePathTracer):
            self.tracer.note_attribute(self)

    torch.fx.proxy.Attribute.__init__ = initialise  # type: ignore[method-assign]


_note_attributes_where_they_are_written()

"""The user's functions that ran in a pass, and resolution of names in their text.

The call stacks of nodes and of module calls contain what ran. A function that made no node and called no module is not
in them: :meth:`ExecutedFunctions.reachable` adds those that the others call by a resolvable name.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import TypeVar

import torch

from .....report.locations import Location
from ....model import module_tree
from ....model.capture.tracer import ModulePathTracer, forward_code
from ....model.locations.bytecode.instructions import Instruction
from ....model.locations.bytecode.spans import HAS_COLUMNS
from ....model.locations.class_text import code_of, codes_within, local_names
from ....model.locations.expressions import span_of
from ....model.locations.source_map import CallStack, SourceMap

_Node = TypeVar("_Node", bound=ast.AST)
Definition = ast.FunctionDef | ast.AsyncFunctionDef
FunctionKey = tuple[str, str, int]
"""File, name and first line: what a ``def`` has in common with the copies that FX makes of its code."""


class _Unresolved:
    def __repr__(self) -> str:
        return "UNRESOLVED"


UNRESOLVED = _Unresolved()
"""Value of an expression that is known only by running it."""


class ExecutedFunction:
    """Function definition of the user's that ran in a pass, or may have run."""

    def __init__(self, code: CodeType, definition: Definition, scope: Mapping[str, object]) -> None:
        self.code = code
        self.definition = definition
        self.modules: dict[str, torch.nn.Module] = {}
        """By path: the modules in whose ``forward`` it ran."""
        self.offsets: set[int] = set()
        """Offsets of the instructions that made nodes or called modules."""
        self._scope = scope
        codes = list(codes_within(code))
        # Comprehensions, lambdas and nested functions are parts of its text, and may be code objects of their own.
        self.names = dict.fromkeys(name for each in codes for name in each.co_names)
        """Names of attributes and globals that its code uses, in order."""
        self._locals = {name for each in codes for name in local_names(each)}

    @property
    def key(self) -> FunctionKey:
        return function_key(self.code)

    @cached_property
    def _parts(self) -> dict[type[ast.AST], list[ast.AST]]:
        parts: dict[type[ast.AST], list[ast.AST]] = {}
        # Decorators and defaults run when the function is defined.
        stack: list[ast.AST] = list(reversed(self.definition.body))
        while stack:
            node = stack.pop()
            parts.setdefault(type(node), []).append(node)
            stack.extend(reversed(list(ast.iter_child_nodes(node))))
        return parts

    def parts(self, kind: type[_Node]) -> list[_Node]:
        """Return the syntax nodes of one type in its body, in source order."""
        return self._parts.get(kind, [])  # type: ignore[return-value]

    def mentions(self, name: str) -> bool:
        """Return whether its code uses an attribute or global of this name."""
        return name in self.names

    def global_named(self, name: str) -> object:
        """Return the global of that name in its file."""
        return self._scope.get(name, UNRESOLVED)

    def is_global_of(self, module: ModuleType, name: str) -> bool:
        """Return whether ``name`` is the global of that Python module in this function."""
        return vars(module) is self._scope and name not in self._locals

    @cached_property
    def module(self) -> torch.nn.Module | None:
        """The first module whose method it is; None for other functions."""
        return next((module for module in self.modules.values() if self.is_method_of(module)), None)

    @cached_property
    def self_name(self) -> str | None:
        """Name of the module inside its method, usually ``self``."""
        arguments = self.definition.args
        first = [*arguments.posonlyargs, *arguments.args][:1]
        return first[0].arg if first and self.module is not None else None

    def is_method_of(self, module: torch.nn.Module) -> bool:
        """Return whether a class of ``module`` defines it."""
        return any(
            self.key == function_key(code)
            for cls in type(module).__mro__
            if (code := code_of(cls.__dict__.get(self.code.co_name))) is not None
        )

    def resolve(self, expression: ast.AST, module: torch.nn.Module | None = None) -> object:
        """Return the value of a dotted name or constant subscript, else ``UNRESOLVED``.

        ``module`` is the value of ``self``, by default the first module whose method this is.
        """
        match expression:
            case ast.Name(id=name):
                if name == self.self_name:
                    return self.module if module is None else module
                if name in self._locals:
                    return UNRESOLVED
                return self._scope.get(name, getattr(builtins, name, UNRESOLVED))
            case ast.Attribute(value=value, attr=name):
                return attribute_of(self.resolve(value, module), name)
            case ast.Subscript(value=value, slice=ast.Constant(value=index)):
                return _item_of(self.resolve(value, module), index)
        return UNRESOLVED


class ExecutedFunctions:
    """Functions that ran in one pass."""

    def __init__(self, root: torch.nn.Module, tracer: ModulePathTracer, places: SourceMap) -> None:
        """``tracer`` has traced ``root``."""
        self._places = places
        self._modules = dict(module_tree.named_modules(root, remove_duplicate=False))
        self._scopes: dict[str, Mapping[str, object]] = {}
        self._functions: dict[FunctionKey, ExecutedFunction | None] = {}
        self._note(forward_code(root), "")
        for origin in tracer.origins.values():
            self._note_chain(origin.call_stack)
        for call in tracer.calls:
            self._note_chain(call.call_stack)
            if not call.leaf:
                self._note(forward_code(call.module), call.module_path)

    @property
    def functions(self) -> list[ExecutedFunction]:
        """All of them, in the order of their first appearance."""
        return [function for function in self._functions.values() if function is not None]

    def globals(self) -> Iterator[tuple[str, object]]:
        """Yield name and value of the globals that the functions use."""
        for function in self.functions:
            for name in function.names:
                value = function.global_named(name)
                if value is not UNRESOLVED:
                    yield name, value

    def with_code(self, code: CodeType) -> ExecutedFunction | None:
        """Return the function that has this code, if it ran."""
        return self._functions.get(function_key(code))

    @cached_property
    def reachable(self) -> list[ExecutedFunction]:
        """The functions that ran, and helpers without nodes that they call by name."""
        known = dict(self._functions)
        found = self.functions
        for function in found:
            for called, path, module in self._called(function):
                code = code_of(called)
                if code is None or function_key(code) in known:
                    continue
                helper = known[function_key(code)] = self.function_of(code)
                if helper is not None:
                    if module is not None:
                        helper.modules[path] = module
                    found.append(helper)
        return found

    def _called(self, function: ExecutedFunction) -> Iterator[tuple[object, str, torch.nn.Module | None]]:
        """Yield the callables that a function's text calls, with path and module.

        These are methods and properties of its module, and functions of its file.
        """
        own = function.self_name
        for path, module in tuple(function.modules.items()) or (("", None),):
            for call in function.parts(ast.Call):
                if isinstance(call.func, ast.Name):
                    yield function.resolve(call.func), path, None
            if own is None or module is None:
                continue
            for attribute in function.parts(ast.Attribute):
                if isinstance(attribute.value, ast.Name) and attribute.value.id == own:
                    yield _static_attribute(type(module), attribute.attr), path, module

    def _note_chain(self, call_stack: CallStack) -> None:
        for instruction in call_stack:
            self._note(instruction.code, instruction.module_path, instruction)

    def _note(self, code: CodeType | None, path: str | None, instruction: Instruction | None = None) -> None:
        if code is None:
            return
        key = function_key(code)
        if key not in self._functions:
            self._functions[key] = self.function_of(code)
        function = self._functions[key]
        if function is None:
            return
        if instruction is not None:
            function.offsets.add(instruction.offset)
        if path is not None and path not in function.modules and path in self._modules:
            function.modules[path] = self._modules[path]

    def function_of(self, code: CodeType) -> ExecutedFunction | None:
        """Return the function definition of ``code``, whether it ran or not.

        None for code without a ``def`` in the text: lambdas, comprehensions, generated code.
        """
        if code.co_name.startswith("<") or not self._places.is_shown(code.co_filename):
            return None
        definition = self._places.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
        return None if definition is None else ExecutedFunction(code, definition, self._scope(code.co_filename))

    def _scope(self, filename: str) -> Mapping[str, object]:
        if not self._scopes:
            for module in list(sys.modules.values()):
                file = getattr(module, "__dict__", {}).get("__file__")
                if isinstance(file, str):
                    self._scopes.setdefault(file, vars(module))
        if filename not in self._scopes:
            real = os.path.realpath(filename)
            same = (scope for file, scope in self._scopes.items() if os.path.realpath(file) == real)
            self._scopes[filename] = next(same, {})
        return self._scopes[filename]

    def location(self, function: ExecutedFunction, node: ast.AST) -> Location:
        """Return the location of a syntax node of a function."""
        code = function.code
        if not HAS_COLUMNS:
            return self._places.line(code.co_filename, span_of(node).line, code.co_name)
        return self._places.location(code.co_filename, span_of(node), code.co_name)


def function_key(code: CodeType) -> FunctionKey:
    """Return the key that identifies a ``def`` across copies of its code."""
    return (code.co_filename, code.co_name, code.co_firstlineno)


def attribute_of(owner: object, name: str) -> object:
    """Return an attribute of an object without running any of the user's code.

    The object is a module, class, Python module or has a plain ``__dict__``.
    """
    if isinstance(owner, torch.nn.Module):
        state = vars(owner)
        for attributes in (state, *(state.get(kind) or {} for kind in ("_parameters", "_buffers", "_modules"))):
            if name in attributes:
                return attributes[name]
        found = _static_attribute(type(owner), name)
        return found.__get__(owner) if isinstance(found, FunctionType) else found
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, UNRESOLVED)
    if isinstance(owner, type):
        return _static_attribute(owner, name)
    own = getattr(owner, "__dict__", None)
    return own.get(name, UNRESOLVED) if type(own) is dict else UNRESOLVED


def _static_attribute(cls: type, name: str) -> object:
    found = inspect.getattr_static(cls, name, UNRESOLVED)
    return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


def _item_of(owner: object, index: object) -> object:
    if isinstance(owner, (torch.nn.ModuleList, torch.nn.Sequential)):
        items = list(module_tree.children(owner))
        return items[index] if isinstance(index, int) and -len(items) <= index < len(items) else UNRESOLVED
    if isinstance(owner, torch.nn.ModuleDict):
        return owner._modules.get(str(index), UNRESOLVED)
    if type(owner) in (list, tuple, dict):
        try:
            return owner[index]  # type: ignore[index]
        except (LookupError, TypeError):
            return UNRESOLVED
    return UNRESOLVED

"""Fields of a configuration that a constructor reads, read off its syntax and that of what it hands it on to."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

from ..trials.budget import OutOfBudgetError
from .class_body import is_torchs, tree_of

_OF_DICTS = frozenset(dir(dict))
_DEEPEST = 5
"""Functions that hand a configuration on, one to the other."""


@dataclass
class FieldReads:
    """What constructors read of one argument."""

    attributes: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    """Attributes and keys that the code itself sets."""
    required: set[str] = field(default_factory=set)
    """Those of which an ``assert`` says that they must not be None."""
    methods: set[str] = field(default_factory=set)
    """Methods of dicts that are called: it must be one."""

    @property
    def attributes_wanted(self) -> set[str]:
        """The attributes that the configuration must have."""
        return self.attributes - self.stored - self.methods

    @property
    def keys_wanted(self) -> set[str]:
        """The keys that the configuration must have."""
        return self.keys - self.stored

    def is_met_by(self, attributes: set[str], keys: set[str]) -> bool:
        """Return whether something with these attributes and keys has all that is read."""
        return self.attributes_wanted | self.methods <= attributes and self.keys_wanted <= keys


class FieldReader:
    """Collects the fields that a function, and those that it hands a configuration on to, read."""

    def __init__(self, module: ModuleType, reads: FieldReads) -> None:
        self._module = module
        self._reads = reads
        self._seen: set[tuple[object, str]] = set()

    def read(self, function: Any, name: str, owner: type | None, depth: int) -> None:
        """Add what ``function`` reads of its argument ``name``.

        Args:
            owner: the class of which it is a method.
            depth: of how many functions handed the argument on.
        """
        code = getattr(function, "__code__", None)
        if code is None or depth > _DEEPEST or (code, name) in self._seen:
            return
        self._seen.add((code, name))
        tree = tree_of(code)
        aliases = {name, *_aliases(tree, name)}
        for node in ast.walk(tree):
            self._note(node, aliases)
            if isinstance(node, ast.Call):
                self._follow(node, aliases, owner, function, depth)
        attributes = {each for each in aliases if each.startswith("self.")}
        if owner is not None and attributes:
            for method in (*_methods_called(tree, owner), inspect.getattr_static(owner, "forward", None)):
                self._read_attributes(method, attributes, owner, depth + 1)

    def _read_attributes(self, method: Any, attributes: set[str], owner: type, depth: int) -> None:
        """Add what a method reads of attributes that hold the configuration."""
        method = inspect.unwrap(method) if callable(method) else None
        if not isinstance(method, FunctionType) or depth > _DEEPEST or (method, "self") in self._seen:
            return
        self._seen.add((method, "self"))
        tree = tree_of(method.__code__)
        for node in ast.walk(tree):
            self._note(node, attributes)
            if isinstance(node, ast.Call):
                self._follow(node, attributes, owner, method, depth)
        for other in _methods_called(tree, owner):
            self._read_attributes(other, attributes, owner, depth + 1)

    def _note(self, node: ast.AST, aliases: set[str]) -> None:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _OF_DICTS and _text(value) in aliases:
                self._reads.methods.add(attr)
            case ast.Attribute(value=value, attr=attr, ctx=context) if _text(value) in aliases:
                (self._reads.attributes if isinstance(context, ast.Load) else self._reads.stored).add(attr)
            case ast.Subscript(value=value, slice=ast.Constant(value=str() as key), ctx=context) if (
                _text(value) in aliases
            ):
                (self._reads.keys if isinstance(context, ast.Load) else self._reads.stored).add(key)
            case ast.Assert(test=test):
                for part in ast.walk(test):
                    match part:
                        case ast.Compare(
                            left=ast.Attribute(value=value, attr=attr),
                            ops=[ast.IsNot()],
                            comparators=[ast.Constant(value=None)],
                        ) if _text(value) in aliases:
                            self._reads.required.add(attr)

    def _follow(self, call: ast.Call, aliases: set[str], owner: type | None, function: Any, depth: int) -> None:
        """Read what a call does with the configuration that it is given."""
        places = [index for index, argument in enumerate(call.args) if _text(argument) in aliases]
        names = [each.arg for each in call.keywords if each.arg and _text(each.value) in aliases]
        if not places and not names:
            return
        called, called_owner, skipped = self._called(call.func, owner, function)
        if called is None:
            return
        try:
            parameters = list(inspect.signature(called).parameters)[skipped:]
        except (TypeError, ValueError):
            return
        handed = [parameters[place] for place in places if place < len(parameters)]
        for name in (*handed, *(name for name in names if name in parameters)):
            self.read(called, name, called_owner, depth + 1)

    def _called(self, func: ast.expr, owner: type | None, function: Any) -> tuple[Any, type | None, int]:
        """Return the function that a call runs, the class that it is of, and how many arguments it adds in front."""
        match func:
            case ast.Name(id=name):
                value = function.__globals__.get(name) if name in function.__globals__ else _looked_up(function, name)
                if isinstance(value, type):
                    return (None, None, 0) if is_torchs(value) else (function_of(value), value, 1)
                value = inspect.unwrap(value) if isinstance(value, FunctionType) else None
                return value, None, 0
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attr) if owner is not None:
                method, base = _inherited(owner, function, attr)
                return method, base, 1
            case ast.Attribute(value=ast.Name(id="self"), attr=attr) if owner is not None:
                method = inspect.getattr_static(owner, attr, None)
                return (method, owner, 1) if isinstance(method, FunctionType) else (None, None, 0)
        return None, None, 0


def _methods_called(tree: ast.AST, owner: type) -> Iterator[Any]:
    """Yield the methods of its own object that a method calls."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=attr)):
                yield inspect.getattr_static(owner, attr, None)


def _looked_up(function: Any, name: str) -> Any:
    """Return a global of the function's file, which may not have been needed so far."""
    module = sys.modules.get(function.__module__)
    return None if module is None else loaded_value(module, name)


def _inherited(owner: type, function: Any, attr: str) -> tuple[Any, type | None]:
    """Return the method of the class behind that of ``function``, and its class."""
    classes = list(inspect.getmro(owner))
    at = next((index for index, cls in enumerate(classes) if vars(cls).get(attr) is function), -1)
    for cls in classes[at + 1 :]:
        method = vars(cls).get(attr)
        if isinstance(method, FunctionType) and not is_torchs(cls):
            return method, owner
    return None, None


def _aliases(tree: ast.AST, name: str) -> Iterator[str]:
    """Yield other names of an argument: ``self.config`` after ``self.config = config``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield from filter(None, map(_text, node.targets))


def _text(expression: ast.expr) -> str:
    """Return ``config`` or ``self.config``; "" for other expressions."""
    match expression:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self"), attr=attr):
            return f"self.{attr}"
    return ""


def function_of(target: Any) -> FunctionType | None:
    function = inspect.unwrap(inspect.getattr_static(target, "__init__") if isinstance(target, type) else target)
    return function if isinstance(function, FunctionType) else None


def loaded_value(module: ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except OutOfBudgetError:
        raise
    except BaseException:
        # A statement of the user's that fails, or ends: what it should have bound is not available.
        return None

"""Attributes of modules that hold modules or parameters in a Python list, tuple, dict or set."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import torch

from ....model.locations.class_text import Method, methods_of
from ....model.locations.source_map import SourceMap

_Item = TypeVar("_Item")
_CONTAINERS = (list, tuple, set, frozenset, deque, dict)
_MAX_DEPTH = 4
_OWN_STATE = frozenset(vars(torch.nn.Module()))
"""Attributes of every module, such as ``_modules``."""
_ADDING = frozenset(("append", "appendleft", "extend", "insert", "add", "update", "setdefault"))
_COPYING = frozenset(("list", "tuple", "dict", "set", "zip", "reversed", "sorted", "enumerate", "map", "filter"))
"""Functions whose result has only items that they were given."""
_REGISTERS_ITSELF = frozenset(
    ("parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "_apply", "state_dict")
)
"""Methods by which a class treats what it holds as registered."""


@dataclass(frozen=True)
class ContainerAttribute(Generic[_Item]):
    """Attribute of a module whose value contains modules or parameters."""

    owner: torch.nn.Module
    path: str
    name: str
    value: Any
    items: tuple[_Item, ...]

    @property
    def is_dict(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def kind(self) -> str:
        """Word for the container in messages: ``Python list``."""
        kinds = (("dict", dict), ("tuple", tuple), ("set", (set, frozenset)))
        return f"Python {next((word for word, types in kinds if isinstance(self.value, types)), 'list')}"


def container_attributes(
    owner: torch.nn.Module, path: str, kind: type[_Item], is_lacking: Callable[[_Item], bool]
) -> Iterator[ContainerAttribute[_Item]]:
    """Yield the attributes of a module that contain items of a type.

    Args:
        is_lacking: whether an item belongs into the result.
    """
    for name, value in list(vars(owner).items()):
        if name not in _OWN_STATE and isinstance(value, _CONTAINERS):
            found = {id(item): item for item in _items(value, kind, _MAX_DEPTH) if is_lacking(item)}
            if found:
                yield ContainerAttribute(owner, path, name, value, tuple(found.values()))


def _items(value: object, kind: type[_Item], depth: int) -> Iterator[_Item]:
    if isinstance(value, kind):
        yield value
    elif depth and isinstance(value, _CONTAINERS):
        for item in list(value.values() if isinstance(value, Mapping) else value):
            yield from _items(item, kind, depth - 1)


@dataclass(frozen=True)
class AttributeText:
    """Assignment of an attribute in the text, with the values that it gets."""

    method: Method
    target: ast.Attribute
    values: tuple[ast.expr, ...]
    """What is assigned, or added to the container."""

    @property
    def makes_items(self) -> bool:
        """Whether the values call anything that may make an item."""
        calls = (node for value in self.values for node in ast.walk(value) if isinstance(node, ast.Call))
        return any(not (isinstance(call.func, ast.Name) and call.func.id in _COPYING) for call in calls)

    @property
    def hides_one(self) -> bool:
        """Whether it is ``[teacher]``, the idiom that hides a module from registration."""
        if len(self.values) != 1 or not isinstance(self.values[0], (ast.List, ast.Tuple)):
            return False
        elements = self.values[0].elts
        return len(elements) == 1 and isinstance(elements[0], (ast.Name, ast.Attribute))


def attribute_text(owner: torch.nn.Module, name: str, source_map: SourceMap) -> AttributeText | None:
    """Return the assignment of an attribute of ``owner`` in its own classes.

    None if there is none outside ``forward``, or if the class itself treats what it holds as registered.
    """
    methods = methods_of(type(owner), source_map)
    if any(method.name in _REGISTERS_ITSELF for method in methods):
        return None
    # The constructor of the base runs first, and its assignment may be replaced.
    for method in sorted(methods, key=lambda method: method.name != "__init__"):
        for target in method.attributes(ast.Store) if method.name != "forward" else ():
            if target.attr == name:
                return AttributeText(method, target, tuple(_values(methods, method, name)))
    return None


def _values(methods: Sequence[Method], assigning: Method, name: str) -> Iterator[ast.expr]:
    for method in methods:
        yield from _given(method, partial(method.is_own, name=name))
    for value in list(_given(assigning, partial(assigning.is_own, name=name))):
        if isinstance(value, ast.Name):
            yield from _given(assigning, partial(_is_variable, name=value.id))


def _is_variable(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _given(method: Method, is_it: Callable[[ast.AST], bool]) -> Iterator[ast.expr]:
    """Yield what a variable or attribute is assigned, and what is added to it."""
    for node in method.nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _assigned(target, value, is_it)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                yield from _assigned(target, value, is_it)
            case ast.Call(func=ast.Attribute(value=receiver, attr=method_name), args=arguments):
                if method_name in _ADDING and is_it(_container(receiver)):
                    yield from arguments


def _assigned(target: ast.expr, value: ast.expr, is_it: Callable[[ast.AST], bool]) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        paired = isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts)
        values = value.elts if paired and isinstance(value, (ast.Tuple, ast.List)) else [value] * len(target.elts)
        for each, given in zip(target.elts, values, strict=True):
            yield from _assigned(each, given, is_it)
    elif is_it(_container(target)):
        yield value


def _container(expression: ast.expr) -> ast.expr:
    """Return ``self.rows`` of ``self.rows[0]``."""
    while isinstance(expression, ast.Subscript):
        expression = expression.value
    return expression

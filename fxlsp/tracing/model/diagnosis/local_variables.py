"""Local variables of a constructor that were meant as attributes: ``conv = nn.Conv2d(3, 8, 3)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....report.locations import RelatedPlace
from ..locations.class_text import Method

_SET_BY_NAME = ("setattr", "__setattr__", "__dict__", "__getattr__", "__getattribute__")
"""Names with which a class may have attributes that its text does not assign."""


@dataclass(frozen=True)
class MeantAttribute:
    """Unused local variable of a constructor whose name is read as an attribute of ``self``."""

    constructor: Method
    target: ast.Name
    """The variable where it is assigned first."""
    reads: tuple[tuple[Method, ast.Attribute], ...]

    @property
    def name(self) -> str:
        return self.target.id

    @property
    def message(self) -> str:
        own = f"{self.constructor.self_name}.{self.name}"
        return (
            f"{self.name} is a local variable of {self.constructor.name} that nothing uses, and {own} does not exist: "
            f"{own} was meant?"
        )

    def related(self) -> tuple[RelatedPlace, ...]:
        """Return the first place that reads the attribute."""
        method, node = self.reads[0]
        return (RelatedPlace(f"{method.self_name}.{self.name} is read here", method.location(node)),)


def meant_attributes(methods: Sequence[Method]) -> Iterator[MeantAttribute]:
    """Yield the candidates in the constructors among a class's methods.

    Whether an instance has an attribute of that name is left to the caller.
    """
    if any(method.name in _SET_BY_NAME or method.mentions(*_SET_BY_NAME) for method in methods):
        return
    for constructor in methods:
        if constructor.name != "__init__" or constructor.self_name is None:
            continue
        for target in _unused_variables(constructor):
            reads = tuple(_reads(methods, target.id))
            if reads and not any(_may_define(method, target.id) for method in methods):
                yield MeantAttribute(constructor, target, reads)


def _unused_variables(method: Method) -> Iterator[ast.Name]:
    """Yield the first assignment of each variable whose value goes nowhere."""
    first: dict[str, ast.Name] = {}
    for node in method.nodes:
        for target in _targets(node):
            first.setdefault(target.id, target)
    changed = {id(name) for node in method.nodes if isinstance(node, ast.Expr) for name in _changed(node.value)}
    used = {
        node.id
        for node in method.nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store) and id(node) not in changed
    }
    shared = {name for node in method.nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    yield from (target for name, target in first.items() if name not in used | shared)


def _targets(node: ast.AST) -> Iterator[ast.Name]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and not _is_none(node.value):
        for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
            elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else (target,)
            yield from (element for element in elements if isinstance(element, ast.Name))


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _changed(statement: ast.expr) -> Iterator[ast.Name]:
    """Yield the variables that a call changes and passes to nothing else.

    ``layers.append(layer)``, ``conv.weight.data.zero_()`` and ``nn.init.zeros_(conv.bias)`` initialise what was meant
    as an attribute, and store it nowhere.
    """
    if not isinstance(statement, ast.Call) or not isinstance(statement.func, ast.Attribute):
        return
    if "init" in _names(statement.func.value):
        changed = (_root(argument) for argument in statement.args if isinstance(argument, ast.Attribute))
        yield from (root for root in changed if root is not None)
    elif (root := _root(statement.func)) is not None:
        yield root


def _names(expression: ast.expr) -> list[str]:
    """Return the parts of a dotted name; [] for anything else."""
    match expression:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=value, attr=name):
            return [*_names(value), name]
    return []


def _root(expression: ast.expr) -> ast.Name | None:
    """Return the variable at the start of ``conv.weight.data``."""
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    return expression if isinstance(expression, ast.Name) else None


def _reads(methods: Sequence[Method], name: str) -> Iterator[tuple[Method, ast.Attribute]]:
    for method in methods:
        tried = {id(part) for node in method.nodes if isinstance(node, ast.Try) for part in ast.walk(node)}
        for node in method.attributes(ast.Load):
            if node.attr == name and id(node) not in tried:
                yield method, node


def _may_define(method: Method, name: str) -> bool:
    """Return whether a method assigns the attribute, or asks whether it exists."""
    for node in method.nodes:
        if isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Constant) and node.value == name:
            return True
    return False

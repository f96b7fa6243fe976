"""What is put into a list or dict that is an attribute of a model."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from fxlsp.ide.fixes.class_context import Assignment, ClassAround, attribute_of_self
from fxlsp.ide.fixes.scalars import only_value
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import Function


@dataclass(frozen=True)
class Container:
    """The expressions of what a container holds; one of a comprehension or loop stands for all that it makes."""

    is_dict: bool
    elements: tuple[ast.expr, ...]
    keys: tuple[ast.expr, ...] = ()

    def __add__(self, other: Container) -> Container:
        return Container(self.is_dict, self.elements + other.elements, self.keys + other.keys)


def contents(owner: ClassAround, found: Assignment) -> Container | None:
    """All that is known to be put into the container; None if that cannot be told, or it is no container."""
    value = found.value
    if isinstance(value, ast.Name):
        return _of_local(owner, found, value.id)
    written = _written(value)
    if written is None:
        return None
    name = found.target.attr
    later = [_added(owner, method, name) for method in owner.home_of(found).methods()]
    return _sum(written, later)


def _sum(written: Container, later: list[Container | None]) -> Container | None:
    for more in later:
        if more is None or (more.elements and more.is_dict != written.is_dict):
            return None
        written += more
    return written


def _written(value: ast.expr) -> Container | None:
    """What the expression itself says."""
    if isinstance(value, ast.List | ast.Tuple):
        return _of_parts(value.elts)
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        return Container(False, (value.elt,))
    if isinstance(value, ast.Dict):
        keys = [key for key in value.keys if key is not None]
        return Container(True, tuple(value.values), tuple(keys)) if len(keys) == len(value.keys) else None
    if isinstance(value, ast.DictComp):
        return Container(True, (value.value,), (value.key,))
    return _of_call(value) if isinstance(value, ast.Call) else None


def _of_parts(parts: list[ast.expr]) -> Container | None:
    whole = Container(False, ())
    for part in parts:
        inner = _written(part.value) if isinstance(part, ast.Starred) else Container(False, (part,))
        if inner is None or inner.is_dict:
            return None
        whole += inner
    return whole


def _of_call(call: ast.Call) -> Container | None:
    """``list(...)`` and ``dict(name=...)``."""
    name = dotted(call.func)
    if name in ("list", "tuple") and not call.keywords and len(call.args) <= 1:
        return _written(call.args[0]) if call.args else Container(False, ())
    if name == "dict" and not call.args and all(each.arg for each in call.keywords):
        keys = tuple(ast.Constant(each.arg) for each in call.keywords)
        return Container(True, tuple(each.value for each in call.keywords), keys)
    return None


def _added(owner: ClassAround, method: Function, name: str) -> Container | None:
    """What a method adds to ``self.name``; None where it does something to it that is not followed here."""
    whole = Container(False, ())
    for node in ast.walk(method):
        if attribute_of_self(node, method) == name:
            more = _addition(owner, node)
            if more is None:
                return None
            whole = more + whole if more.elements else whole
    return whole


def _addition(owner: ClassAround, container: ast.AST) -> Container | None:
    """What one use of a container adds to it: nothing, or the argument of ``append``, or the value of an item."""
    tree = owner.tree
    parent = tree.parent(container)
    if isinstance(parent, ast.Attribute):
        call = tree.parent(parent)
        arguments = call.args if isinstance(call, ast.Call) else []
        if parent.attr in ("append", "insert"):
            return Container(False, (arguments[-1],)) if arguments else None
        if parent.attr == "extend":
            return _written(arguments[0]) if arguments else None
        return None if parent.attr in ("update", "setdefault") else Container(False, ())
    if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
        statement = tree.parent(parent)
        if not isinstance(statement, ast.Assign) or isinstance(parent.slice, ast.Slice):
            return None
        is_index = isinstance(parent.slice, ast.Constant) and isinstance(parent.slice.value, int)
        return Container(not is_index, (statement.value,), () if is_index else (parent.slice,))
    return Container(False, ())


def _of_local(owner: ClassAround, found: Assignment, name: str) -> Container | None:
    """Of a local list that is filled first and then given to the model, which nobody touches afterwards."""
    tree = owner.tree
    value = only_value(found.method, name)
    written = None if value is None else _written(value)
    uses = [node for node in ast.walk(found.method) if isinstance(node, ast.Name) and node.id == name]
    if written is None or any(node.lineno > found.statement.lineno for node in uses):
        return None
    if any(isinstance(each, ast.For | ast.While) for each in tree.ancestors(found.statement)):
        return None
    later = [_addition(owner, node) for node in uses if not isinstance(tree.parent(node), ast.Assign)]
    additions = [_added(owner, method, found.target.attr) for method in owner.home_of(found).methods()]
    return _sum(written, later + additions)

"""Elements of a list or dict that is an attribute of a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.ide.fixes.evidence.class_context import EnclosingClass, SelfAssignment, attribute_of_self
from fxlsp.ide.fixes.evidence.traced_values import only_value
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import Function


@dataclass(frozen=True)
class Container:
    """Expressions of a container's elements.

    The element of a comprehension or loop represents all elements that it makes.
    """

    is_dict: bool
    elements: tuple[ast.expr, ...]
    keys: tuple[ast.expr, ...] = ()

    def __add__(self, other: Container) -> Container:
        return Container(self.is_dict, self.elements + other.elements, self.keys + other.keys)


def contents(owner: EnclosingClass, found: SelfAssignment) -> Container | None:
    """Return all elements of the container.

    Returns None if they cannot be determined, or if the value is no container.
    """
    value = found.value
    if isinstance(value, ast.Name):
        return _of_local(owner, found, value.id)
    written = _written(value)
    if written is None:
        return None
    name = found.target.attr
    later = [_added(owner, method, name) for method in owner.owner_of(found).methods()]
    return _sum(written, later)


def _sum(written: Container, later: list[Container | None]) -> Container | None:
    for more in later:
        if more is None or (more.elements and more.is_dict != written.is_dict):
            return None
        written += more
    return written


def _written(value: ast.expr) -> Container | None:
    """Return the elements that the expression itself contains."""
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
    """Return the elements of ``list(...)`` or ``dict(name=...)``."""
    name = dotted(call.func)
    if name in ("list", "tuple") and not call.keywords and len(call.args) <= 1:
        return _written(call.args[0]) if call.args else Container(False, ())
    if name == "dict" and not call.args and all(each.arg for each in call.keywords):
        keys = tuple(ast.Constant(each.arg) for each in call.keywords)
        return Container(True, tuple(each.value for each in call.keywords), keys)
    return None


def _added(owner: EnclosingClass, method: Function, name: str) -> Container | None:
    """Return what a method adds to ``self.name``; None if that is not evident."""
    whole = Container(False, ())
    for node in ast.walk(method):
        if attribute_of_self(node, method) == name:
            more = _addition(owner, node)
            if more is None:
                return None
            whole = more + whole if more.elements else whole
    return whole


def _addition(owner: EnclosingClass, container: ast.AST) -> Container | None:
    """Return what one use of a container adds to it.

    That is nothing, the argument of ``append``, or the value of an item; None if it cannot be determined.
    """
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


def _of_local(owner: EnclosingClass, found: SelfAssignment, name: str) -> Container | None:
    """Return the elements of a local list that is filled, then assigned to the model.

    Returns None if the list is used after that.
    """
    tree = owner.tree
    value = only_value(found.method, name)
    written = None if value is None else _written(value)
    uses = [node for node in ast.walk(found.method) if isinstance(node, ast.Name) and node.id == name]
    if written is None or any(node.lineno > found.statement.lineno for node in uses):
        return None
    if any(isinstance(each, ast.For | ast.While) for each in tree.ancestors(found.statement)):
        return None
    later = [_addition(owner, node) for node in uses if not isinstance(tree.parent(node), ast.Assign)]
    additions = [_added(owner, method, found.target.attr) for method in owner.owner_of(found).methods()]
    return _sum(written, later + additions)


def attribute_taken_from(method: Function, used: ast.expr) -> str | None:
    """Return the attribute of a container of which an expression is an element.

    ``bs`` if ``self.bs[0]`` is used, or ``b`` in ``for b in self.bs``. One level deep, since the fix handles no more.
    """
    if isinstance(used, ast.Subscript) and not isinstance(used.slice, ast.Slice):
        return attribute_of_self(used.value, method)
    if not isinstance(used, ast.Name):
        return None
    loops = [source for target, source in _loops(method) for source in _sources(target, source, used.id)]
    if loops:
        names = {_container(method, source) for source in loops}
        return names.pop() if len(names) == 1 else None
    value = only_value(method, used.id)
    return attribute_taken_from(method, value) if isinstance(value, ast.Subscript) else None


def _loops(method: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the target and the iterable of every loop."""
    for node in ast.walk(method):
        if isinstance(node, ast.For | ast.comprehension):
            yield node.target, node.iter


def _sources(target: ast.expr, iterable: ast.expr, name: str) -> Iterator[ast.expr]:
    """Yield the iterables whose items a name in a loop's target takes."""
    if isinstance(target, ast.Name):
        if target.id == name:
            yield iterable
        return
    if not isinstance(target, ast.Tuple | ast.List):
        return
    for index, part in enumerate(target.elts):
        source = _part(iterable, index)
        if source is not None:
            yield from _sources(part, source, name)


def _part(iterable: ast.expr, index: int) -> ast.expr | None:
    """Return the iterable of the n-th of several targets."""
    if not isinstance(iterable, ast.Call) or any(isinstance(each, ast.Starred) for each in iterable.args):
        return None
    function = dotted(iterable.func)
    if function == "zip" and index < len(iterable.args):
        return iterable.args[index]
    if function == "enumerate" and index == 1 and iterable.args:
        return iterable.args[0]
    is_items = isinstance(iterable.func, ast.Attribute) and iterable.func.attr == "items" and not iterable.args
    return iterable if is_items and index == 1 else None


def _container(method: Function, source: ast.expr) -> str | None:
    """Return the attribute of ``self`` over whose elements an iterable runs."""
    if isinstance(source, ast.Subscript) and isinstance(source.slice, ast.Slice):
        return _container(method, source.value)
    if isinstance(source, ast.Call):
        if dotted(source.func) in ("reversed", "list", "tuple") and len(source.args) == 1:
            return _container(method, source.args[0])
        if isinstance(source.func, ast.Attribute) and source.func.attr in ("values", "items") and not source.args:
            return _container(method, source.func.value)
        return None
    return attribute_of_self(source, method)

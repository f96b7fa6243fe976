"""From the use of a module or parameter to the container that it is taken from."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.class_context import attribute_of_self
from fxlsp.ide.fixes.scalars import only_value
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import Function


def attribute_taken_from(method: Function, used: ast.expr) -> str | None:
    """``bs`` where ``self.bs[0]`` is used, or ``b`` in ``for b in self.bs``; one level deep, as the fix can go."""
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
    """The target and the iterable of every loop."""
    for node in ast.walk(method):
        if isinstance(node, ast.For | ast.comprehension):
            yield node.target, node.iter


def _sources(target: ast.expr, iterable: ast.expr, name: str) -> Iterator[ast.expr]:
    """What a name in a loop's target runs over."""
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
    """What the n-th of several targets runs over."""
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
    """The attribute of ``self`` over whose elements an iterable runs."""
    if isinstance(source, ast.Subscript) and isinstance(source.slice, ast.Slice):
        return _container(method, source.value)
    if isinstance(source, ast.Call):
        if dotted(source.func) in ("reversed", "list", "tuple") and len(source.args) == 1:
            return _container(method, source.args[0])
        if isinstance(source.func, ast.Attribute) and source.func.attr in ("values", "items") and not source.args:
            return _container(method, source.func.value)
        return None
    return attribute_of_self(source, method)

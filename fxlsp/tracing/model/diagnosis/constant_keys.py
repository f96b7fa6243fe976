"""Look-ups of a constant key in a dict that the code writes out, and that does not have it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from .bound_elsewhere import tree_of

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_READING = frozenset({"get", "keys", "values", "items", "copy"})


def lacks_constant_key(error: BaseException, raised: TracebackType) -> bool:
    """Return whether ``error`` is a look-up of a constant in a dict that has other keys whatever the model is given.

    The dict is a display, a local variable that a display alone is assigned to, or an attribute of ``self`` for which
    the file does the same. Nothing changes it: each other use of the name reads.

    Args:
        error: The exception.
        raised: The entry of its traceback for the code of the user that raised it.
    """
    if not isinstance(error, KeyError) or len(error.args) != 1 or raised.tb_next is not None:
        return False
    frame = raised.tb_frame
    tree = tree_of(frame.f_code.co_filename)
    function = _function_at(tree, raised.tb_lineno, frame.f_code.co_name)
    if function is None:
        return False
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and node.lineno <= raised.tb_lineno <= (node.end_lineno or 0)
        and _is_constant(node.slice, error.args[0])
    ]
    wanted = error.args[0]
    return bool(found) and all(
        (keys := _keys_written_out(each.value, function, tree, frame.f_locals)) is not None and wanted not in keys
        for each in found
    )


def _keys_written_out(
    container: ast.expr, function: _Function, tree: ast.Module, values: dict[str, Any]
) -> set[Any] | None:
    """Return the keys of a dict that has those of its display alone; None for others.

    An attribute without any is one that code of another file fills.
    """
    match container:
        case ast.Dict():
            return _keys_of(container)
        case ast.Name(id=name):
            uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
            is_given = any(isinstance(node, ast.arg) and node.arg == name for node in ast.walk(function.args))
            return None if is_given else _keys_held(_only_value(function, uses), values.get(name))
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == name]
            is_named = any(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(tree))
            held = getattr(values.get(owner), "__dict__", {}).get(name)
            return None if is_named else _keys_held(_only_value(tree, attributes), held) or None
    return None


def _keys_held(display: ast.expr | None, value: Any) -> set[Any] | None:
    """Return the keys of a display, if a value has the same."""
    keys = None if display is None else _keys_of(display)
    return keys if type(value) is dict and set(value) == keys else None


def _keys_of(display: ast.expr) -> set[Any] | None:
    """Return the keys of a dict display; None if they are not all constants."""
    match display:
        case ast.Dict(keys=keys):
            constants = [key.value for key in keys if isinstance(key, ast.Constant)]
            return set(constants) if len(constants) == len(keys) else None
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            names = [each.arg for each in keywords if each.arg is not None]
            return set(names) if len(names) == len(keywords) else None
    return None


def _only_value(scope: ast.AST, uses: list[Any]) -> ast.expr | None:
    """Return what is assigned to a name or attribute, if that is one value and all other uses in a scope read it."""
    stored = [node for node in uses if not isinstance(node.ctx, ast.Load)]
    values: list[ast.expr] = []
    reading: set[int] = set()
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                values += [value for each in stored if each is target]
        reading.update(id(each) for each in _read_by(node))
    is_read = all(id(node) in reading for node in uses if isinstance(node.ctx, ast.Load))
    return values[0] if len(stored) == 1 and len(values) == 1 and is_read else None


def _read_by(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the containers that a node reads, so that it neither changes them nor passes them on."""
    match node:
        case ast.Subscript(value=value, ctx=ast.Load()):
            yield value
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _READING:
            yield value
        case ast.Call(func=ast.Name(id="len" | "list" | "sorted" | "tuple"), args=[value]):
            yield value
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[value]):
            yield value
        case ast.For(iter=value) | ast.comprehension(iter=value):
            yield value


def _is_constant(key: ast.expr, wanted: Any) -> bool:
    return isinstance(key, ast.Constant) and type(key.value) is type(wanted) and key.value == wanted


def _function_at(tree: ast.Module, line: int, name: str) -> _Function | None:
    """Return the innermost function of a name that contains a line."""
    found = None
    for node in ast.walk(tree):
        if not isinstance(node, _DEFINITIONS) or node.name != name:
            continue
        if node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return found

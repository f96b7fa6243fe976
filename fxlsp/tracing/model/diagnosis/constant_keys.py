"""Look-ups of a constant key in a dict that the code writes out, and that does not have it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import torch

from ..locations.class_text import Function, function_at, tree_of
from ..locations.code_origin import is_torch

_READING = frozenset({"get", "keys", "values", "items", "copy"})


def lacks_constant_key(error: BaseException, raised: TracebackType) -> bool:
    """Return whether ``error`` is a look-up of a constant in a dict that has other keys whatever the model is given.

    The dict is a display, a local variable that a display alone is assigned to, or an attribute of ``self`` for which
    the file does the same. Nothing changes it: each other use of the name reads.

    Args:
        error: The exception.
        raised: The entry of its traceback for the code of the user that raised it.
    """
    if not isinstance(error, KeyError) or len(error.args) != 1:
        return False
    if raised.tb_next is not None:
        return _lacks_layer(error.args[0], raised, raised.tb_next)
    frame = raised.tb_frame
    tree = tree_of(frame.f_code.co_filename)
    function = function_at(tree, raised.tb_lineno, frame.f_code.co_name)
    if function is None:
        return False
    wanted = error.args[0]
    found = [node for node in _subscripts(function, raised.tb_lineno) if _is_constant(node.slice, wanted)]
    return bool(found) and all(
        (keys := _keys_written_out(each.value, function, tree, frame.f_locals)) is not None and wanted not in keys
        for each in found
    )


def _subscripts(tree: ast.AST, line: int) -> list[ast.Subscript]:
    """Return the look-ups of items at a line."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)]
    return [node for node in nodes if node.lineno <= line <= (node.end_lineno or 0)]


def _lacks_layer(wanted: Any, raised: TracebackType, behind: TracebackType) -> bool:
    """Return whether a ``ModuleDict`` is asked for a name that no constructor of the file gives any of its layers.

    The code writes out the name, or all of it but numbers, and each name that is added.
    """
    container, frame = behind.tb_frame.f_locals.get("self"), raised.tb_frame
    is_look_up = behind.tb_next is None and behind.tb_frame.f_code.co_name == "__getitem__"
    if not is_look_up or not is_torch(behind.tb_frame.f_code.co_filename) or not isinstance(wanted, str):
        return False
    if type(container) is not torch.nn.ModuleDict or not len(container):
        # Code of another file fills an empty one.
        return False
    tree = tree_of(frame.f_code.co_filename)
    at_line = _subscripts(tree, raised.tb_lineno)
    found = [node for node in at_line if re.fullmatch(_pattern(node.slice, r"\d+"), wanted)]
    names = {each.value.attr for each in found if isinstance(each.value, ast.Attribute)}
    if len(names) != 1 or not all(isinstance(each.value, ast.Attribute) for each in found):
        return False
    added = _names_added(tree, *names)
    return (
        not any(re.fullmatch(_pattern(each.slice, r"\d+"), key) for each in found for key in container)
        and all(any(re.fullmatch(each, key) for each in added) for key in container)
        and not any(re.fullmatch(each, wanted) for each in added)
    )


def _names_added(tree: ast.Module, name: str) -> list[str]:
    """Return patterns of the names that constructors add to an attribute that is a ``ModuleDict``.

    One that takes any name where something else may add some: a method, or code that it is passed to.
    """
    reading = {id(each) for node in ast.walk(tree) for each in _read_by(node)}
    in_constructors = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
        for each in ast.walk(node)
    }
    keys: list[ast.expr | None] = []
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text == name:
                keys.append(None)
            case ast.Subscript(value=ast.Attribute(attr=attr) as value, slice=key, ctx=ast.Store()) if attr == name:
                keys.append(key if id(node) in in_constructors else None)
                reading.add(id(value))
            case (
                ast.Assign(targets=[ast.Attribute(attr=attr) as target], value=value)
                | ast.AnnAssign(target=ast.Attribute(attr=attr) as target, value=ast.expr() as value)
            ) if attr == name:
                keys += _keys_of_layers(value) if id(node) in in_constructors else [None]
                reading.add(id(target))
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == name]
    is_changed = any(id(node) not in reading for node in uses)
    return [".*"] if is_changed else [pattern for key in keys for pattern in _patterns_of(key, tree)]


def _patterns_of(key: ast.expr | None, tree: ast.Module) -> list[str]:
    """Return patterns of the names that a key is: of all, if a variable is an item of anything but constants."""
    if not isinstance(key, ast.Name):
        return [(key and _pattern(key, ".*")) or ".*"]
    items: list[ast.expr] = []
    loops = 0
    for node in ast.walk(tree):
        match node:
            case (
                ast.For(target=ast.Name(id=name), iter=ast.Tuple(elts=each) | ast.List(elts=each))
                | ast.comprehension(target=ast.Name(id=name), iter=ast.Tuple(elts=each) | ast.List(elts=each))
            ) if name == key.id:
                items, loops = [*items, *each], loops + 1
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) if name == key.id:
                loops -= 1
    return [".*"] if loops else [_pattern(each, ".*") or ".*" for each in items] or [".*"]


def _keys_of_layers(made: ast.expr) -> list[ast.expr | None]:
    """Return the keys of the layers with which a ``ModuleDict`` is made; None for some that are not written out."""
    match made:
        case ast.Call(func=ast.Name(id="ModuleDict") | ast.Attribute(attr="ModuleDict"), args=args, keywords=[]):
            pass
        case _:
            return [None]
    match args:
        case []:
            return []
        case [ast.Dict(keys=keys)]:
            return list(keys)
        case [ast.DictComp(key=key)]:
            return [key]
    return [None]


def _pattern(key: ast.expr, formatted: str) -> str:
    """Return a pattern for the texts that a constant or an f-string may be; "" for other keys.

    Args:
        key: The key.
        formatted: The pattern of a value that an f-string formats. It has to have other text, too.
    """
    match key:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=values):
            texts = [each.value if isinstance(each, ast.Constant) else None for each in values]
            if any(texts):
                return "".join(formatted if each is None else re.escape(str(each)) for each in texts)
    return ""


def _keys_written_out(
    container: ast.expr, function: Function, tree: ast.Module, values: dict[str, Any]
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

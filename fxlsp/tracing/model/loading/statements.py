"""What one statement binds, changes and reads, by its syntax."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator

from .scopes import children, free_names, imported_names

WRAP = "torch.fx.wrap"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
_TRAINING = ("train", "eval", "zero_grad", "requires_grad_", "to", "cuda", "cpu", "fit")
"""Methods of a model that training loops call: inside a loop they do not count as changes, outside loops they do."""


def split_imports(statement: ast.stmt) -> list[ast.stmt]:
    """Return an import of several names as imports that can fail separately."""
    if not isinstance(statement, IMPORTS) or len(statement.names) == 1:
        return [statement]
    parts: list[ast.stmt] = []
    for alias in statement.names:
        part = copy.copy(statement)
        part.names = [alias]
        parts.append(part)
    return parts


def wrapped_names(statement: ast.stmt, imported: dict[str, str]) -> set[str]:
    """Return the names that calls of ``torch.fx.wrap("name")`` refer to."""
    names: set[str] = set()
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and full_name(node.func, imported) == WRAP:
            constants = (argument.value for argument in node.args if isinstance(argument, ast.Constant))
            names.update(value for value in constants if isinstance(value, str))
        waiting += children(node)
    return names


def used_to_define(statement: ast.stmt) -> set[str]:
    """Return the names read while a ``def`` or ``class`` statement is executed."""
    used: set[str] = set()
    for child in ast.iter_child_nodes(statement):
        if isinstance(statement, ast.ClassDef) and isinstance(child, DEFINITIONS):
            used |= used_to_define(child)
        elif isinstance(statement, ast.ClassDef) or not isinstance(child, ast.stmt):
            used |= free_names(child)
    return used


def relevant_parts(node: ast.AST, in_loop: bool = False) -> Iterator[ast.AST]:
    """Yield the parts of a statement that may bind or change something.

    Calls in a loop that belong to training are left out, and so are the bodies of definitions, which do not run when
    the definition is executed.
    """
    if in_loop and isinstance(node, ast.Expr) and _method(node.value) in _TRAINING:
        return
    yield node
    if isinstance(node, DEFINITIONS):
        return
    # The variables of a comprehension are local to it.
    children = [node.iter, *node.ifs] if isinstance(node, ast.comprehension) else ast.iter_child_nodes(node)
    for child in children:
        yield from relevant_parts(child, in_loop or isinstance(node, LOOPS))


def _method(node: ast.expr) -> str:
    """Return the name of a called method: ``eval`` for ``net.eval()``; else ""."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def changed_by(node: ast.AST, imported: dict[str, str]) -> list[str]:
    """Return the names that a node binds or may change: roots and dotted names."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [node.id]
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [root_name(node), full_name(node, imported)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _changed_by_call(node.value.func, imported)
    if isinstance(node, IMPORTS):
        return imported_names(node)
    return [node.name] if isinstance(node, DEFINITIONS) else []


def _changed_by_call(function: ast.expr, imported: dict[str, str]) -> list[str]:
    """Return the names that a call with an unused result may change.

    ``cfg.update(...)`` changes ``cfg``. ``train(net)`` does not count as a change of ``net``, nor does
    ``net(x).sum().backward()``: a call on the result of another call does not change what the first was called on.
    """
    dotted, root = _dotted(function), root_name(function)
    if dotted and root in imported:
        full = [full_name(function, imported)]
        return [root, *full] if isinstance(function, ast.Attribute) and may_have_state(imported[root]) else full
    return [root, dotted] if dotted and isinstance(function, ast.Attribute) else []


def may_have_state(full_name: str) -> bool:
    """Return whether an imported name may be mutable: ``from config import cfg``."""
    package, dot, _ = full_name.partition(".")
    return bool(dot) and package != "torch" and package not in sys.stdlib_module_names


def imports_of(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with its full name.

    ``from torch.fx import wrap`` yields ``wrap`` and ``torch.fx.wrap``.
    """
    for name, alias in zip(imported_names(node), node.names, strict=True):
        if isinstance(node, ast.ImportFrom):
            yield name, f"{node.module or ''}.{alias.name}"
        else:
            yield name, alias.name if alias.asname else name


def full_name(node: ast.expr, imported: dict[str, str]) -> str:
    """Return the dotted name at the start of an expression, resolved by imports."""
    root, dot, rest = _dotted(node).partition(".")
    return imported.get(root, root) + dot + rest


def root_name(node: ast.expr) -> str:
    """Return the name at the root of ``a.b[c].d()``: ``a``; "" if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _dotted(node: ast.expr) -> str:
    """Return the dotted name at the start of code: ``a.b`` for ``a.b[c]``; else ""."""
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    return node.id if isinstance(node, ast.Name) else ""

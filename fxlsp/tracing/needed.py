"""Which top-level statements of a file a model needs, so that nothing else of the file runs.

Kept are imports, ``def`` and ``class``, assignments that needed names depend on, and every statement that changes a
needed name, ``sys.path``, ``os.environ`` or torch's defaults; compound statements where they bind or change a needed
name, with their bodies filtered alike. A training loop at top level is left out.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .free_names import free_names

_WRAP = "torch.fx.wrap"
_ALWAYS_CHANGED = ("sys.path", "os.environ", "torch.set_default", "torch.backends.", "torch.manual_seed", _WRAP)
"""Dotted beginnings of what a statement may change with effect on every model."""

_TRAINING = ("train", "eval", "zero_grad", "requires_grad_", "to", "cuda", "cpu", "fit")
"""Methods of a model that training loops call: no reason to run the loop. Outside loops they count."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)


def needed_part(tree: ast.Module, names: Iterable[str]) -> ast.Module:
    """``tree`` without the top-level statements that ``names`` do not depend on; positions are kept.

    Imports that nothing needed uses are kept, but may fail: a missing package costs only the models that use it.
    """
    imported = {name: full for node in tree.body if isinstance(node, _IMPORTS) for name, full in _imports(node)}
    needed = _closure(tree, _Needed(set(names), imported, _names_of_itself(tree, imported)))
    return ast.Module(body=_kept(tree.body, needed), type_ignores=[])


class _Needed(NamedTuple):
    names: set[str]
    imported: dict[str, str]
    """Top-level names of modules and of what comes from them, with what each stands for: a call on a module changes
    nothing here."""
    itself: set[str]
    """Top-level names of the module itself: what is read from them is read from this file."""


def _names_of_itself(tree: ast.Module, imported: dict[str, str]) -> set[str]:
    """``here`` and ``there`` for ``here = sys.modules[__name__]`` and ``there = here``."""
    names: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _is_itself(statement.value, names, imported):
            names.update(target.id for target in statement.targets if isinstance(target, ast.Name))
    return names


def _is_itself(node: ast.expr, known: set[str], imported: dict[str, str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in known
    is_module = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == "__name__"
    return is_module and _full_name(node, imported) == "sys.modules"


def _closure(tree: ast.Module, needed: _Needed) -> _Needed:
    """``needed`` with every top-level name that its names, or definitions as they are made, depend on."""
    names = set(needed.names)
    while True:
        before = len(names)
        for statement in tree.body:
            names |= _names_needed_by(statement, needed._replace(names=names))
        if len(names) == before:
            return needed._replace(names=names)


def _names_needed_by(statement: ast.stmt, needed: _Needed) -> set[str]:
    if isinstance(statement, _DEFINITIONS):
        made = statement.name in needed.names
        return _read(statement, needed) if made else _used_to_define(statement, needed)
    if isinstance(statement, _IMPORTS) or not _matters(statement, needed):
        return set()
    return _read(statement, needed) | _wrapped_names(statement, needed.imported)


def _read(node: ast.AST, needed: _Needed) -> set[str]:
    """Names that ``node`` takes from the module, by themselves or as attributes of a name of the module itself."""
    names = free_names(node)
    if needed.itself.isdisjoint(names):
        return names
    return names | {
        attribute.attr
        for attribute in ast.walk(node)
        if isinstance(attribute, ast.Attribute) and _root(attribute) in needed.itself
    }


def _wrapped_names(statement: ast.stmt, imported: dict[str, str]) -> set[str]:
    """Names that ``torch.fx.wrap("name")`` looks up in this file when a model is traced."""
    return {
        argument.value
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and _full_name(node.func, imported) == _WRAP
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def _used_to_define(statement: ast.stmt, needed: _Needed) -> set[str]:
    """Names read when a ``def`` or ``class`` statement runs, before anything calls what it made."""
    used: set[str] = set()
    for child in ast.iter_child_nodes(statement):
        if isinstance(statement, ast.ClassDef) and isinstance(child, _DEFINITIONS):
            used |= _used_to_define(child, needed)
        elif isinstance(statement, ast.ClassDef) or not isinstance(child, ast.stmt):
            used |= _read(child, needed)
    return used


def _matters(statement: ast.stmt, needed: _Needed) -> bool:
    """Whether running ``statement`` binds or changes a needed name, or a default that every model depends on."""
    return any(
        name in needed.names or name.startswith(_ALWAYS_CHANGED)
        for node in _relevant(statement)
        for name in _changed_by(node, needed.imported)
    )


def _relevant(node: ast.AST, in_loop: bool = False) -> Iterator[ast.AST]:
    """The parts of a statement that may bind or change something; of a loop, not what belongs to training."""
    if in_loop and isinstance(node, ast.Expr) and _method(node.value) in _TRAINING:
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _relevant(child, in_loop or isinstance(node, (ast.For, ast.AsyncFor, ast.While)))


def _method(node: ast.expr) -> str:
    """``eval`` for ``net.eval()``; "" for anything but a method call."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _changed_by(node: ast.AST, imported: dict[str, str]) -> list[str]:
    """Names that ``node`` binds, and roots and dotted names of what it may change."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [node.id]
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [_root(node), _full_name(node, imported)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _changed_by_call(node.value.func, imported)
    if isinstance(node, _IMPORTS):
        return _imported_names(node)
    return [node.name] if isinstance(node, _DEFINITIONS) else []


def _changed_by_call(function: ast.expr, imported: dict[str, str]) -> list[str]:
    """What a call whose result nobody takes may change: ``cfg.update(...)`` changes ``cfg``.

    ``train(net)`` is no reason to train, nor is ``net(x).sum().backward()``: a call on the result of another call
    does not count as a change of what the first one was called on.
    """
    dotted, root = _dotted(function), _root(function)
    if dotted and root in imported:
        full = [_full_name(function, imported)]
        return [root, *full] if isinstance(function, ast.Attribute) and _may_have_state(imported[root]) else full
    return [root, dotted] if dotted and isinstance(function, ast.Attribute) else []


def _may_have_state(full_name: str) -> bool:
    """Whether an imported name may be an object that its methods change: ``from config import cfg``."""
    package, dot, _ = full_name.partition(".")
    return bool(dot) and package != "torch" and package not in sys.stdlib_module_names


def _imported_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Each name that an import binds, and what it stands for: ``wrap`` for ``torch.fx.wrap``."""
    for name, alias in zip(_imported_names(node), node.names, strict=True):
        if isinstance(node, ast.ImportFrom):
            yield name, f"{node.module or ''}.{alias.name}"
        else:
            yield name, alias.name if alias.asname else name


def _full_name(node: ast.expr, imported: dict[str, str]) -> str:
    """The dotted name at the beginning of an expression, with what its root was imported as."""
    root, dot, rest = _dotted(node).partition(".")
    return imported.get(root, root) + dot + rest


def _root(node: ast.expr) -> str:
    """The name at the root of ``a.b[c].d()``: ``a``; "" if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _dotted(node: ast.expr) -> str:
    """``a.b`` for ``a.b[c]``: the dotted name at the beginning of an expression; "" if there is none."""
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _kept(body: list[ast.stmt], needed: _Needed) -> list[ast.stmt]:
    kept: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            kept.append(statement)
        elif isinstance(statement, _IMPORTS):
            kept.append(_import(statement, needed))
        elif _matters(statement, needed) and not _is_main_guard(statement):
            kept.append(_filtered(statement, needed))
    return kept


def _is_main_guard(statement: ast.stmt) -> bool:
    """``if __name__ == "__main__":``, which an import would skip as well."""
    return isinstance(statement, ast.If) and "__name__" in free_names(statement.test) and not statement.orelse


def _import(statement: ast.Import | ast.ImportFrom, needed: _Needed) -> ast.stmt:
    if isinstance(statement, ast.ImportFrom) and (statement.module == "__future__" or statement.names[0].name == "*"):
        return statement
    if needed.names.intersection(_imported_names(statement)):
        return statement
    return _allowed_to_fail(statement)


def _allowed_to_fail(statement: ast.stmt) -> ast.Try:
    """``try: statement`` with ``except ImportError: pass``, all at the place of ``statement``."""
    error = ast.copy_location(ast.Name("ImportError", ast.Load()), statement)
    passing = ast.copy_location(ast.Pass(), statement)
    handler = ast.copy_location(ast.ExceptHandler(error, None, [passing]), statement)
    return ast.copy_location(ast.Try([statement], [handler], [], []), statement)


def _filtered(statement: ast.stmt, needed: _Needed) -> ast.stmt:
    """A compound statement with its bodies filtered; any other as it is."""
    if not isinstance(statement, (ast.If, ast.Try, ast.With, ast.For)):
        return statement
    filtered = copy.copy(statement)
    filtered.body = _body(statement.body, needed, statement)
    if isinstance(statement, (ast.If, ast.For, ast.Try)):
        filtered.orelse = _kept(statement.orelse, needed)  # type: ignore[union-attr]
    if isinstance(statement, ast.Try):
        filtered.finalbody = _kept(statement.finalbody, needed)  # type: ignore[union-attr]
        filtered.handlers = [_handler(handler, needed) for handler in statement.handlers]  # type: ignore[union-attr]
    return filtered


def _handler(handler: ast.ExceptHandler, needed: _Needed) -> ast.ExceptHandler:
    filtered = copy.copy(handler)
    filtered.body = _body(handler.body, needed, handler)
    return filtered


def _body(body: list[ast.stmt], needed: _Needed, place: ast.stmt | ast.ExceptHandler) -> list[ast.stmt]:
    """A filtered body that is never empty. ``raise`` and ``pass`` stay: they say which way a branch goes."""
    kept = [
        statement
        for original in body
        for statement in ([original] if isinstance(original, (ast.Raise, ast.Pass)) else _kept([original], needed))
    ]
    return kept or [ast.copy_location(ast.Pass(), place)]

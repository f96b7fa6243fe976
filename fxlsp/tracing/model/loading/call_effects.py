"""What calls at top level change: the names of the file that a called function writes to, and what is not the file's.

``register("block", Block)`` changes the dictionary that ``register`` stores into, ``patch()`` may change a class of
torch. Both return nothing, so without this the models that depend on them would be built without them.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from .scopes import imported_names

ELSEWHERE = "<elsewhere>"
"""Stands for state that does not belong to the file: an attribute of a class of torch, a registry of another file."""

CHANGING_METHODS = frozenset({"append", "add", "update", "extend", "insert", "setdefault", "register", "pop", "clear"})
"""Methods that change what they are called on, though their result may be used."""

TRAINING_METHODS = frozenset({"backward", "step", "zero_grad"})
"""Methods that only training calls: what calls them is not part of setting up a model."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


class CallEffects:
    """Effects of calls of the functions and classes that a file defines at top level."""

    def __init__(self, body: Iterable[ast.stmt], imported: Iterable[str]) -> None:
        """
        Args:
            imported: names that the file imports.
        """
        self._imported = frozenset(imported)
        self._defined = {name: function for statement in body for name, function in _callables(statement)}
        self._known: dict[str, tuple[frozenset[str], bool]] = {}

    def of(self, value: ast.expr) -> frozenset[str]:
        """Return the names that an expression statement changes by the functions that it calls."""
        if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            value = value.elt
        calls = []
        while isinstance(value, ast.Call):
            calls.append(value)
            value = value.func
        if not calls or not isinstance(value, ast.Name):
            return frozenset()
        if value.id == "setattr":
            return self._roots(calls[-1].args[:1])
        if value.id not in self._defined:
            return frozenset()
        changed, stores_into_arguments = self._of_function(value.id)
        return changed | self._of_arguments(calls) if stores_into_arguments else changed

    def trains(self, statement: ast.stmt) -> bool:
        """Return whether a statement calls, through whatever functions of the file, what only training calls."""
        return self._trains(statement, set())

    def _trains(self, node: ast.AST, seen: set[str]) -> bool:
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and each.attr in TRAINING_METHODS:
                return True
            if isinstance(each, ast.Name) and each.id in self._defined and each.id not in seen:
                seen.add(each.id)
                if self._trains(self._defined[each.id], seen):
                    return True
        return False

    def _of_arguments(self, calls: list[ast.Call]) -> frozenset[str]:
        return self._roots(each for call in calls for each in (*call.args, *(word.value for word in call.keywords)))

    def _of_function(self, name: str) -> tuple[frozenset[str], bool]:
        """Return the names that a function changes, and whether it stores into its arguments."""
        if name not in self._known:
            # An entry for functions that call each other.
            self._known[name] = (frozenset(), False)
            function = self._defined[name]
            if not self._trains(function, {name}):
                self._known[name] = self._read(function)
        return self._known[name]

    def _read(self, function: _Function) -> tuple[frozenset[str], bool]:
        scope = _Scope(function)
        changed: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Expr):
                changed |= self._called_in(node.value, scope)
            for target in _stored_into(node):
                changed |= self._of_root(_root(target), scope)
        stores_into_arguments = _PARAMETER in changed
        return frozenset(changed | scope.declared_global) - {_PARAMETER}, stores_into_arguments

    def _called_in(self, value: ast.expr, scope: _Scope) -> set[str]:
        """Return what an expression statement inside a function changes."""
        if not isinstance(value, ast.Call):
            return set()
        if isinstance(value.func, ast.Name) and value.func.id in self._defined:
            changed, stores_into_arguments = self._of_function(value.func.id)
            through = self._of_arguments([value]) if stores_into_arguments else frozenset()
            return {name for each in through for name in self._of_root(each, scope)} | changed
        return set()

    def _of_root(self, root: str, scope: _Scope) -> set[str]:
        """Return what a store into something reached from ``root`` changes."""
        if root in scope.imported:
            return {ELSEWHERE}
        if root in scope.aliases:
            return set().union(*(self._of_root(each, scope) for each in scope.aliases[root] if each != root))
        if root in scope.parameters:
            return {_PARAMETER}
        if root in scope.bound or not root:
            return set()
        if root in self._imported:
            return {root, ELSEWHERE}
        return {ELSEWHERE} if hasattr(builtins, root) else {root}

    def _roots(self, values: Iterable[ast.expr]) -> frozenset[str]:
        changed: set[str] = set()
        for value in values:
            root = _root(value)
            if root:
                changed |= {root, ELSEWHERE} if root in self._imported else {root}
        return frozenset(changed)


_PARAMETER = "<parameter>"


class _Scope:
    """Names inside a function, those of the functions in it included."""

    def __init__(self, function: _Function) -> None:
        self.parameters: set[str] = set()
        self.bound: set[str] = set()
        self.imported: set[str] = set()
        self.declared_global: set[str] = set()
        self.aliases: dict[str, set[str]] = {}
        """Variables that may be another object under a second name, by the names that they are taken from."""
        for node in ast.walk(function):
            self._add(node)
        self.bound -= self.declared_global

    def _add(self, node: ast.AST) -> None:
        if isinstance(node, ast.arg):
            self.parameters.add(node.arg)
        elif isinstance(node, ast.Global):
            self.declared_global |= set(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.bound.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.imported |= set(imported_names(node))
        elif isinstance(node, ast.Assign):
            self._alias(node.targets, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)):
            self._alias([node.target], node.iter)

    def _alias(self, targets: list[ast.expr], value: ast.expr) -> None:
        if any(isinstance(each, ast.Call) for each in ast.walk(value)):
            return
        names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
        for target in targets:
            for each in ast.walk(target) if names else ():
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    self.aliases.setdefault(each.id, set()).update(names - {each.id})


def _callables(node: ast.stmt) -> Iterator[tuple[str, _Function]]:
    """Yield the functions that a statement defines at top level; for a class, its ``__init__``."""
    if isinstance(node, _FUNCTIONS):
        yield node.name, node
    elif isinstance(node, ast.ClassDef):
        for child in node.body:
            if isinstance(child, ast.FunctionDef) and child.name == "__init__":
                yield node.name, child
    elif isinstance(node, (ast.If, ast.Try, ast.With)):
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.stmt):
                yield from _callables(inner)


def _stored_into(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the objects that a node stores into, or calls a changing method of."""
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in CHANGING_METHODS or node.func.attr.startswith(("register", "set_default")):
            yield node.func.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
        yield from node.args[:1]


def _root(node: ast.expr) -> str:
    """Return the name at the root of ``a.b[c]``; "" if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""

"""Program slices: the top-level statements of a file that a model needs.

A slice contains imports, ``def`` and ``class``, assignments that needed names depend on, and every statement that
changes a needed name, ``sys.path``, ``os.environ`` or torch's defaults; compound statements if they bind or change a
needed name, with their bodies filtered in the same way. A training loop at top level is left out.
"""

from __future__ import annotations

import ast
import builtins
import copy
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from .call_effects import ELSEWHERE, CallEffects
from .scopes import free_names, imported_names

_WRAP = "torch.fx.wrap"
_ALWAYS_CHANGED = (
    "sys.path",
    "os.environ",
    "torch.set_default",
    "torch.backends.",
    "torch.manual_seed",
    _WRAP,
    ELSEWHERE,
)
"""Prefixes of dotted names whose change affects every model."""

_TRAINING = ("train", "eval", "zero_grad", "requires_grad_", "to", "cuda", "cpu", "fit")
"""Methods of a model that training loops call: inside a loop they do not count as changes, outside loops they do."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)

_COMPOUND = (ast.If, ast.Try, ast.With, ast.For)
"""Statements that can run in part."""

_LOOKED_UP = frozenset({"globals", "vars", "locals", "exec", "eval"})
"""Functions through which code can use any name of the module."""


_OF_THE_PROCESS = ("sys.std", "sys.argv", "matplotlib", "warnings.", "logging.")
"""Prefixes of what a script sets for itself, which no model depends on."""


class SlicedStatement(NamedTuple):
    """Top-level statement of a slice."""

    place: int
    """Index among the top-level statements."""
    statement: ast.stmt
    """The statement; a compound one reduced to what is needed."""
    names: frozenset[str]
    """Names of the module that it binds or changes."""
    asked: ast.Call | None = None
    """The call of an imported function that decides whether the statement runs: if it sets something up."""

    @property
    def is_import(self) -> bool:
        return isinstance(self.statement, _IMPORTS)

    @property
    def is_definition(self) -> bool:
        return isinstance(self.statement, _DEFINITIONS)

    @property
    def is_partial(self) -> bool:
        """Whether the statement may run in several parts, for different names."""
        return isinstance(self.statement, _COMPOUND)


class ModuleSlicer:
    """Slicer of one file by the dependencies between its top-level statements.

    Every slice contains all imports and definitions, because they may register something. Those that nothing needs are
    allowed to fail: a missing package affects only the models that use it.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._body = [part for statement in tree.body for part in _split(statement)]
        self._imported = {
            name: full for node in self._body if isinstance(node, _IMPORTS) for name, full in _imports(node)
        }
        self._modules = {name for name, full in self._imported.items() if not _may_have_state(full)}
        self._effects = CallEffects(self._body, self._imported)
        defined = {node.name for node in self._body if isinstance(node, _DEFINITIONS)}
        self._constant = frozenset(defined | self._imported.keys() | set(dir(builtins)))
        """Names that running a statement for its effect may read, as they cost nothing."""
        self._changed: dict[ast.stmt, frozenset[str]] = {}
        self._read: dict[ast.stmt, set[str]] = {}
        self._used: dict[ast.stmt, set[str]] = {}
        outside = [self._changes(statement) for statement in self._body if not _is_main_guard(statement)]
        self._bound_outside: frozenset[str] = frozenset().union(*outside)
        self.bound: frozenset[str] = frozenset().union(*map(self._changes, self._body))
        """All names that some statement binds or changes."""

    def closure(self, names: Iterable[str]) -> set[str]:
        """Return ``names`` with all top-level names that they depend on.

        Included are names that definitions read while they are executed.
        """
        needed = set(names)
        while True:
            before = len(needed)
            for statement in self._body:
                needed |= self._read_by(statement, needed)
            if not needed.isdisjoint(_LOOKED_UP):
                needed |= self.exported()
            if len(needed) == before:
                return needed

    def parts(self, needed: set[str]) -> Iterator[SlicedStatement]:
        """Yield the statements that a closure needs, and those that always run.

        The order is that of the file.
        """
        for index, statement in enumerate(self._body):
            for kept in self._kept([statement], needed):
                asked = self._asked_of(statement)
                is_needed = asked is None or self._matters_to(statement, needed)
                yield SlicedStatement(index, kept, self._names(statement), None if is_needed else asked)

    def all_parts(self) -> Iterator[SlicedStatement]:
        """Yield every statement but for the ``__main__`` block."""
        for index, statement in enumerate(self._body):
            if not _is_main_guard(statement):
                yield SlicedStatement(index, statement, self._names(statement))

    def setup_parts(self) -> Iterator[SlicedStatement]:
        """Yield every statement but for the ``__main__`` block, loops and what trains."""
        for part in self.all_parts():
            if not isinstance(part.statement, _LOOPS) and not self._effects.trains(part.statement):
                yield part

    @cached_property
    def head(self) -> int:
        """Number of statements in the head of the file.

        The head is what precedes the first definition, up to the last import.
        """
        end = 0
        for index, statement in enumerate(self._body):
            if isinstance(statement, _DEFINITIONS) or _is_main_guard(statement):
                break
            if any(isinstance(node, _IMPORTS) for node in _relevant(statement)):
                end = index + 1
        return end

    def exported(self) -> set[str]:
        """Return the names that an importer of everything may use.

        Names bound by loops are left out: they belong to training.
        """
        return {
            name
            for statement in self._body
            if not isinstance(statement, _LOOPS) and not _is_main_guard(statement)
            for name in self._names(statement)
        }

    def _names(self, statement: ast.stmt) -> frozenset[str]:
        """Return the names that a statement binds or changes.

        Imported modules are left out: a call on one changes nothing in this file.
        """
        changed = {name for name in self._changes(statement) if "." not in name and name != ELSEWHERE}
        return frozenset(changed if isinstance(statement, _IMPORTS) else changed - self._modules)

    def _read_by(self, statement: ast.stmt, needed: set[str]) -> set[str]:
        """Return the names that the part of a statement in the slice reads."""
        if isinstance(statement, _IMPORTS):
            return set()
        if isinstance(statement, _DEFINITIONS) and statement.name not in needed:
            if statement not in self._used:
                self._used[statement] = _used_to_define(statement)
            return self._used[statement]
        if not isinstance(statement, _DEFINITIONS) and not self._matters(statement, needed):
            return free_names(statement) if isinstance(statement, ast.Raise) else set()
        if isinstance(statement, _COMPOUND):
            return set().union(*(self._read_by_child(child, needed) for child in ast.iter_child_nodes(statement)))
        if statement not in self._read:
            self._read[statement] = free_names(statement) | _wrapped_names(statement, self._imported)
        return self._read[statement]

    def _read_by_child(self, child: ast.AST, needed: set[str]) -> set[str]:
        if isinstance(child, ast.stmt):
            return self._read_by(child, needed)
        if isinstance(child, ast.ExceptHandler):
            return set().union(*(self._read_by_child(inner, needed) for inner in ast.iter_child_nodes(child)))
        return free_names(child)

    def _matters(self, statement: ast.stmt, needed: set[str]) -> bool:
        """Return whether a statement binds or changes a needed name, or a global default."""
        changed = self._changes(statement)
        if _is_main_guard(statement):
            # Only for names that no other statement binds: an import would skip the block.
            return not needed.isdisjoint(changed - self._bound_outside)
        if not needed.isdisjoint(changed) or any(name.startswith(_ALWAYS_CHANGED) for name in changed):
            return True
        return self._asked_of(statement) is not None

    def _matters_to(self, statement: ast.stmt, needed: set[str]) -> bool:
        """Return whether a statement matters whatever the function that it calls does."""
        changed = self._changes(statement)
        return not needed.isdisjoint(changed) or any(name.startswith(_ALWAYS_CHANGED) for name in changed)

    def _asked_of(self, statement: ast.stmt) -> ast.Call | None:
        """Return the call of a statement that calls an imported function for its effect, if it reads nothing costly."""
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            return None
        full = self._imported.get(_root(statement.value.func), "")
        if not full or full.split(".")[0] in ("torch", *sys.stdlib_module_names):
            return None
        return statement.value if free_names(statement) <= self._constant else None

    def _changes(self, statement: ast.stmt) -> frozenset[str]:
        if statement not in self._changed:
            self._changed[statement] = frozenset(
                name
                for node in _relevant(statement)
                for name in (*_changed_by(node, self._imported), *self._changed_through(node))
            )
        return self._changed[statement]

    def _changed_through(self, node: ast.AST) -> frozenset[str]:
        """Return the names that a node changes through a function, and whether it changes what is not the file's."""
        if isinstance(node, ast.Expr):
            return self._effects.of(node.value)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            full = _full_name(node, self._imported)
            is_imported = _root(node) in self._imported and not full.startswith(_OF_THE_PROCESS)
            return frozenset({ELSEWHERE} if is_imported else ())
        return frozenset()

    def _kept(self, body: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, (*_DEFINITIONS, *_IMPORTS)):
                kept.append(statement)
            elif self._matters(statement, needed):
                kept.append(self._filtered(statement, needed))
        return kept

    def _filtered(self, statement: ast.stmt, needed: set[str]) -> ast.stmt:
        """Return a compound statement with its bodies filtered, any other unchanged."""
        if not isinstance(statement, _COMPOUND):
            return statement
        filtered = copy.copy(statement)
        filtered.body = self._filtered_body(statement.body, needed, statement)
        if isinstance(statement, (ast.If, ast.For, ast.Try)):
            filtered.orelse = self._nested(statement.orelse, needed)  # type: ignore[union-attr]
        if isinstance(statement, ast.Try):
            filtered.finalbody = self._nested(statement.finalbody, needed)  # type: ignore[union-attr]
            filtered.handlers = [self._handler(handler, needed) for handler in statement.handlers]  # type: ignore[union-attr]
        if _is_main_guard(statement):
            filtered.test = ast.copy_location(ast.Constant(True), statement)  # type: ignore[union-attr]
        return filtered

    def _handler(self, handler: ast.ExceptHandler, needed: set[str]) -> ast.ExceptHandler:
        filtered = copy.copy(handler)
        filtered.body = self._filtered_body(handler.body, needed, handler)
        return filtered

    def _filtered_body(
        self, body: list[ast.stmt], needed: set[str], place: ast.stmt | ast.ExceptHandler
    ) -> list[ast.stmt]:
        """Return a filtered body, with a ``pass`` if it would be empty.

        ``raise`` and ``pass`` remain, because they decide how a branch continues.
        """
        kept = [
            statement
            for original in body
            for statement in (
                [original] if isinstance(original, (ast.Raise, ast.Pass)) else self._nested([original], needed)
            )
        ]
        return kept or [ast.copy_location(ast.Pass(), place)]

    def _nested(self, body: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
        """Return the filtered body of a compound statement.

        Imports that nothing needs are allowed to fail, so that they do not fail the whole statement.
        """
        return [
            _allowed_to_fail(statement)
            if isinstance(statement, _IMPORTS) and needed.isdisjoint(imported_names(statement))
            else statement
            for statement in self._kept(body, needed)
        ]


def _split(statement: ast.stmt) -> list[ast.stmt]:
    """Return an import of several names as imports that can fail separately."""
    if not isinstance(statement, _IMPORTS) or len(statement.names) == 1:
        return [statement]
    parts: list[ast.stmt] = []
    for alias in statement.names:
        part = copy.copy(statement)
        part.names = [alias]
        parts.append(part)
    return parts


def _wrapped_names(statement: ast.stmt, imported: dict[str, str]) -> set[str]:
    """Return the names that calls of ``torch.fx.wrap("name")`` refer to."""
    return {
        argument.value
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and _full_name(node.func, imported) == _WRAP
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def _used_to_define(statement: ast.stmt) -> set[str]:
    """Return the names read while a ``def`` or ``class`` statement is executed."""
    used: set[str] = set()
    for child in ast.iter_child_nodes(statement):
        if isinstance(statement, ast.ClassDef) and isinstance(child, _DEFINITIONS):
            used |= _used_to_define(child)
        elif isinstance(statement, ast.ClassDef) or not isinstance(child, ast.stmt):
            used |= free_names(child)
    return used


def _relevant(node: ast.AST, in_loop: bool = False) -> Iterator[ast.AST]:
    """Yield the parts of a statement that may bind or change something.

    Calls in a loop that belong to training are left out, and so are the bodies of definitions, which do not run when
    the definition is executed.
    """
    if in_loop and isinstance(node, ast.Expr) and _method(node.value) in _TRAINING:
        return
    yield node
    if isinstance(node, _DEFINITIONS):
        return
    # The variables of a comprehension are local to it.
    children = [node.iter, *node.ifs] if isinstance(node, ast.comprehension) else ast.iter_child_nodes(node)
    for child in children:
        yield from _relevant(child, in_loop or isinstance(node, _LOOPS))


def _method(node: ast.expr) -> str:
    """Return the name of a called method: ``eval`` for ``net.eval()``; else ""."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def _changed_by(node: ast.AST, imported: dict[str, str]) -> list[str]:
    """Return the names that a node binds or may change: roots and dotted names."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [node.id]
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return [_root(node), _full_name(node, imported)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _changed_by_call(node.value.func, imported)
    if isinstance(node, _IMPORTS):
        return imported_names(node)
    return [node.name] if isinstance(node, _DEFINITIONS) else []


def _changed_by_call(function: ast.expr, imported: dict[str, str]) -> list[str]:
    """Return the names that a call with an unused result may change.

    ``cfg.update(...)`` changes ``cfg``. ``train(net)`` does not count as a change of ``net``, nor does
    ``net(x).sum().backward()``: a call on the result of another call does not change what the first was called on.
    """
    dotted, root = _dotted(function), _root(function)
    if dotted and root in imported:
        full = [_full_name(function, imported)]
        return [root, *full] if isinstance(function, ast.Attribute) and _may_have_state(imported[root]) else full
    return [root, dotted] if dotted and isinstance(function, ast.Attribute) else []


def _may_have_state(full_name: str) -> bool:
    """Return whether an imported name may be mutable: ``from config import cfg``."""
    package, dot, _ = full_name.partition(".")
    return bool(dot) and package != "torch" and package not in sys.stdlib_module_names


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with its full name.

    ``from torch.fx import wrap`` yields ``wrap`` and ``torch.fx.wrap``.
    """
    for name, alias in zip(imported_names(node), node.names, strict=True):
        if isinstance(node, ast.ImportFrom):
            yield name, f"{node.module or ''}.{alias.name}"
        else:
            yield name, alias.name if alias.asname else name


def _full_name(node: ast.expr, imported: dict[str, str]) -> str:
    """Return the dotted name at the start of an expression, resolved by imports."""
    root, dot, rest = _dotted(node).partition(".")
    return imported.get(root, root) + dot + rest


def _root(node: ast.expr) -> str:
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


def _is_main_guard(statement: ast.stmt) -> bool:
    """Return whether a statement is ``if __name__ == "__main__":``.

    An import would skip it.
    """
    return isinstance(statement, ast.If) and "__name__" in free_names(statement.test) and not statement.orelse


def _allowed_to_fail(statement: ast.stmt) -> ast.Try:
    """Return the statement in a ``try`` with ``except ImportError: pass``."""
    error = ast.copy_location(ast.Name("ImportError", ast.Load()), statement)
    passing = ast.copy_location(ast.Pass(), statement)
    handler = ast.copy_location(ast.ExceptHandler(error, None, [passing]), statement)
    return ast.copy_location(ast.Try([statement], [handler], [], []), statement)

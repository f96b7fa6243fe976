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
from .statements import (
    DEFINITIONS,
    IMPORTS,
    LOOPS,
    WRAP,
    changed_by,
    full_name,
    imports_of,
    may_have_state,
    relevant_parts,
    root_name,
    split_imports,
    used_to_define,
    wrapped_names,
)

_ALWAYS_CHANGED = (
    "sys.path",
    "sys.modules",
    "os.environ",
    "torch.set_default",
    "torch.backends.",
    "torch.manual_seed",
    WRAP,
    ELSEWHERE,
)
"""Prefixes of dotted names whose change affects every model."""


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
        return isinstance(self.statement, IMPORTS)

    @property
    def is_definition(self) -> bool:
        return isinstance(self.statement, DEFINITIONS)

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
        self._body = [part for statement in tree.body for part in split_imports(statement)]
        self._imported = {
            name: full for node in self._body if isinstance(node, IMPORTS) for name, full in imports_of(node)
        }
        self._modules = {name for name, full in self._imported.items() if not may_have_state(full)}
        self._effects = CallEffects(self._body, self._imported)
        defined = {node.name for node in self._body if isinstance(node, DEFINITIONS)}
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
            if not isinstance(part.statement, LOOPS) and not self._effects.trains(part.statement):
                yield part

    @cached_property
    def head(self) -> int:
        """Number of statements in the head of the file.

        The head is what precedes the first definition, up to the last import.
        """
        end = 0
        for index, statement in enumerate(self._body):
            if isinstance(statement, DEFINITIONS) or _is_main_guard(statement):
                break
            if any(isinstance(node, IMPORTS) for node in relevant_parts(statement)):
                end = index + 1
        return end

    def exported(self) -> set[str]:
        """Return the names that an importer of everything may use.

        Names bound by loops are left out: they belong to training.
        """
        return {
            name
            for statement in self._body
            if not isinstance(statement, LOOPS) and not _is_main_guard(statement)
            for name in self._names(statement)
        }

    def _names(self, statement: ast.stmt) -> frozenset[str]:
        """Return the names that a statement binds or changes.

        Imported modules are left out: a call on one changes nothing in this file.
        """
        changed = {name for name in self._changes(statement) if "." not in name and name != ELSEWHERE}
        return frozenset(changed if isinstance(statement, IMPORTS) else changed - self._modules)

    def _read_by(self, statement: ast.stmt, needed: set[str]) -> set[str]:
        """Return the names that the part of a statement in the slice reads."""
        if isinstance(statement, IMPORTS):
            return set()
        if isinstance(statement, DEFINITIONS) and statement.name not in needed:
            if statement not in self._used:
                self._used[statement] = used_to_define(statement)
            return self._used[statement]
        if not isinstance(statement, DEFINITIONS) and not self._matters(statement, needed):
            return free_names(statement) if isinstance(statement, ast.Raise) else set()
        if isinstance(statement, ast.Try):
            asking = set().union(*(free_names(each) for each in statement.body if _asks_for_name(each)))
            return asking.union(*(self._read_by_child(child, needed) for child in ast.iter_child_nodes(statement)))
        if isinstance(statement, _COMPOUND):
            return set().union(*(self._read_by_child(child, needed) for child in ast.iter_child_nodes(statement)))
        if statement not in self._read:
            self._read[statement] = free_names(statement) | wrapped_names(statement, self._imported)
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
        full = self._imported.get(root_name(statement.value.func), "")
        if not full or full.split(".")[0] in ("torch", *sys.stdlib_module_names):
            return None
        return statement.value if free_names(statement) <= self._constant else None

    def _changes(self, statement: ast.stmt) -> frozenset[str]:
        if statement not in self._changed:
            self._changed[statement] = frozenset(
                name
                for node in relevant_parts(statement)
                for name in (*changed_by(node, self._imported), *self._changed_through(node))
            )
        return self._changed[statement]

    def _changed_through(self, node: ast.AST) -> frozenset[str]:
        """Return the names that a node changes through a function, and whether it changes what is not the file's."""
        if isinstance(node, ast.Expr):
            return self._effects.of(node.value)
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            full = full_name(node, self._imported)
            is_imported = root_name(node) in self._imported and not full.startswith(_OF_THE_PROCESS)
            return frozenset({ELSEWHERE} if is_imported else ())
        return frozenset()

    def _kept(self, body: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, (*DEFINITIONS, *IMPORTS)):
                kept.append(statement)
            elif self._matters(statement, needed):
                kept.append(self._filtered(statement, needed))
        return kept

    def _filtered(self, statement: ast.stmt, needed: set[str]) -> ast.stmt:
        """Return a compound statement with its bodies filtered, any other unchanged."""
        if not isinstance(statement, _COMPOUND):
            return statement
        filtered = copy.copy(statement)
        filtered.body = self._filtered_body(statement.body, needed, statement, isinstance(statement, ast.Try))
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
        self, body: list[ast.stmt], needed: set[str], place: ast.stmt | ast.ExceptHandler, is_tried: bool = False
    ) -> list[ast.stmt]:
        """Return a filtered body, with a ``pass`` if it would be empty.

        ``raise`` and ``pass`` remain, because they decide how a branch continues, and so does a name alone in a
        ``try``, which asks whether there is one.
        """
        kept = [
            statement
            for original in body
            for statement in (
                [original]
                if isinstance(original, (ast.Raise, ast.Pass)) or (is_tried and _asks_for_name(original))
                else self._nested([original], needed)
            )
        ]
        return kept or [ast.copy_location(ast.Pass(), place)]

    def _nested(self, body: list[ast.stmt], needed: set[str]) -> list[ast.stmt]:
        """Return the filtered body of a compound statement.

        Imports that nothing needs are allowed to fail, so that they do not fail the whole statement.
        """
        return [
            _allowed_to_fail(statement)
            if isinstance(statement, IMPORTS) and needed.isdisjoint(imported_names(statement))
            else statement
            for statement in self._kept(body, needed)
        ]


def _asks_for_name(statement: ast.stmt) -> bool:
    """Return whether a statement is a name or attribute alone, which raises if there is none: ``try: profile``."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name)


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

"""Import statements: full names of imported names, and imports as expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from fxlsp.source.python.expressions import free_names, substituted
from fxlsp.source.python.scopes import Scopes
from fxlsp.source.text.syntax import assignment_in, dotted_name, field, parents_of, text_of

_CONVENTIONS = {"torch": "torch", "nn": "torch.nn"}
"""Names that are assumed without an import: in a snippet, a cell, a file whose first lines are not yet written."""

_MOST_ALIASES = 8
"""Steps from alias to alias; a longer chain is a cycle."""


@dataclass(frozen=True)
class ImportedNames:
    """Full dotted names behind the names of one file.

    Those of relative imports start with their dots.
    """

    names: dict[str, str]
    stars: tuple[str, ...]
    """Modules of ``from ... import *``."""

    def resolve(self, dotted: str) -> str | None:
        """Return ``torch.nn.Module`` for ``nn.Module``; None for other names."""
        for _ in range(_MOST_ALIASES):
            head, dot, rest = dotted.partition(".")
            full = self.names.get(head) or self._assumed(head)
            if full is None:
                return None
            full += dot + rest
            next_head = full.partition(".")[0]
            if next_head == head or next_head not in self.names:
                return full
            dotted = full
        return None

    def _assumed(self, name: str) -> str | None:
        """Return the probable full name of a name that no statement binds."""
        if name in vars(builtins):
            return None
        if "torch.nn" in self.stars and name[:1].isupper():
            return f"torch.nn.{name}"
        if "torch" in self.stars and name == "nn":
            return "torch.nn"
        return _CONVENTIONS.get(name)


def imported_names(root: Node) -> ImportedNames:
    """Return the names that a file imports, in any scope."""
    names = dict(_aliases(root))
    stars: list[str] = []
    statements = parents_of(root, "import")
    for statement in statements:
        if statement.type == "import_statement":
            names.update(_plain_import(statement))
    for statement in statements:
        if statement.type != "import_from_statement":
            continue
        module = field(statement, "module_name")
        source = "" if module is None else text_of(module)
        if any(child.type == "wildcard_import" for child in statement.children):
            stars.append(source)
        names.update(_from_import(statement, source))
    return ImportedNames(names, tuple(stars))


def _aliases(root: Node) -> Iterator[tuple[str, str]]:
    """Yield the names at the top level that are assigned other names."""
    for statement in root.named_children:
        assignment = assignment_in(statement)
        target = None if assignment is None else field(assignment, "left")
        if assignment is not None and target is not None and target.type == "identifier":
            value = dotted_name(field(assignment, "right"))
            if value is not None:
                yield text_of(target), value


def _plain_import(statement: Node) -> Iterator[tuple[str, str]]:
    for full, alias in _imported(statement):
        # `import a.b` binds `a`, `import a.b as c` binds what `a.b` is.
        head = full.partition(".")[0]
        yield (alias, full) if alias is not None else (head, head)


def _from_import(statement: Node, source: str) -> Iterator[tuple[str, str]]:
    separator = "" if source.endswith(".") else "."
    for name, alias in _imported(statement):
        yield alias or name, f"{source}{separator}{name}"


def _imported(statement: Node) -> Iterator[tuple[str, str | None]]:
    """Yield the names in an import statement, each with its alias."""
    for item in statement.children_by_field_name("name"):
        name, alias = field(item, "name"), field(item, "alias")
        if item.type == "aliased_import" and name is not None:
            yield text_of(name), None if alias is None else text_of(alias)
        else:
            yield text_of(item), None


def import_expression(full: str) -> ast.expr | None:
    """Return ``__import__("package", fromlist=["Net"]).Net`` for ``package.Net``.

    None for a relative name.
    """
    if full.startswith("."):
        return None
    module, _, name = full.rpartition(".")
    text = f"__import__({module!r}, fromlist=[{name!r}]).{name}" if module else f"__import__({name!r})"
    return ast.parse(text, mode="eval").body


def with_imports(expression: ast.expr, scopes: Scopes, imports: ImportedNames) -> ast.expr | None:
    """Return the expression with names that only functions import replaced by imports.

    It is then valid at the top level of the file. None where the full name of an import is not known.
    """
    values: dict[str, ast.expr] = {}
    for name in free_names(expression):
        if name != "torch" and is_imported_inside(name, scopes):
            value = import_expression(imports.names.get(name, "."))
            if value is None:
                return None
            values[name] = value
    return substituted(expression, values) if values else expression


def is_imported_inside(name: str, scopes: Scopes) -> bool:
    """Return whether a name is imported only in functions or the ``__main__`` block."""
    return name not in scopes.module.bindings and name in scopes.imported_inside

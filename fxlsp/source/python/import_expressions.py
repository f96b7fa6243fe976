"""Imports written as expressions, for names that a file imports only inside of its functions."""

from __future__ import annotations

import ast

from fxlsp.source.python.expressions import free_names, substituted
from fxlsp.source.python.imports import ImportedNames
from fxlsp.source.python.scopes import Scopes


def import_expression(full: str) -> ast.expr | None:
    """``__import__("package", fromlist=["Net"]).Net`` for ``package.Net``; None for a relative name."""
    if full.startswith("."):
        return None
    module, _, name = full.rpartition(".")
    text = f"__import__({module!r}, fromlist=[{name!r}]).{name}" if module else f"__import__({name!r})"
    return ast.parse(text, mode="eval").body


def with_imports(expression: ast.expr, scopes: Scopes, imports: ImportedNames) -> ast.expr | None:
    """The expression in words that the top of the file knows; None where an import cannot be told."""
    values: dict[str, ast.expr] = {}
    for name in free_names(expression):
        if name != "torch" and is_imported_inside(name, scopes):
            value = import_expression(imports.names.get(name, "."))
            if value is None:
                return None
            values[name] = value
    return substituted(expression, values) if values else expression


def is_imported_inside(name: str, scopes: Scopes) -> bool:
    """Whether only functions, or the block that runs as a script, import a name."""
    return name not in scopes.module.bindings and name in scopes.imported_inside

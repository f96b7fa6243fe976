"""Recipes that use the names of one file, in words that another file understands by importing those names."""

from __future__ import annotations

import ast
import builtins
import os
import sys
from collections.abc import Iterable

from fxlsp.engine.index.index import Index
from fxlsp.report.recipes import Recipe
from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.python.bindings import BindingKind
from fxlsp.source.python.expressions import free_names, parse_expression, substituted, write, write_arguments
from fxlsp.source.python.imports import import_expression
from fxlsp.source.python.scopes import scopes_of
from fxlsp.source.text.documents import Document

_SOURCE_FOLDERS = ("", "src")
"""Below a workspace folder, where the imports of a trace are looked for."""


def rewrite_recipe(
    recipe: Recipe, target: Document, source: Document, index: Index, folders: Iterable[str]
) -> Recipe | None:
    """The recipe, whose texts use the names of ``source``, in words of ``target``; None where there are none.

    Args:
        folders: of the workspace, from which modules are imported.
    """
    rewriter = _Rewriter(target, source, index, module_name(source.path, target.path, folders))
    arguments = None if recipe.inputs is None else parse_expression(f"_({recipe.inputs})")
    init = rewriter.rewrite(parse_expression(recipe.init)) if recipe.init else None
    inputs = rewriter.rewrite(arguments)
    if (recipe.init and init is None) or (recipe.inputs is not None and not isinstance(inputs, ast.Call)):
        return None
    return Recipe(
        "" if init is None else write(init),
        write_arguments(inputs) if isinstance(inputs, ast.Call) else None,
        recipe.source,
    )


def module_name(path: str, importer: str, folders: Iterable[str]) -> str | None:
    """The dotted name by which a trace of ``importer`` finds the file ``path``; None where it has none for certain."""
    bases = [_package_root(importer), *(os.path.join(folder, each) for each in _SOURCE_FOLDERS for folder in folders)]
    bases = [os.path.normpath(base) for base in bases]
    for number, base in enumerate(bases):
        stem = os.path.splitext(os.path.relpath(path, base))[0]
        parts = stem.removesuffix(f"{os.sep}__init__").split(os.sep)
        if all(part.isidentifier() for part in parts):
            hidden = parts[0] in sys.stdlib_module_names or any(_has(earlier, parts[0]) for earlier in bases[:number])
            return None if hidden else ".".join(parts)
    return None


def _package_root(path: str) -> str:
    """The folder from which the file's own package, or the script itself, is imported."""
    folder = os.path.dirname(path)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def _has(folder: str, name: str) -> bool:
    return os.path.isdir(os.path.join(folder, name)) or os.path.isfile(os.path.join(folder, f"{name}.py"))


class _Rewriter:
    """What the names of one file are in another."""

    def __init__(self, target: Document, source: Document, index: Index, module: str | None) -> None:
        self._target = target
        self._source = source
        self._index = index
        self._module = module
        """What ``source`` is imported as."""

    def rewrite(self, expression: ast.expr | None) -> ast.expr | None:
        if expression is None:
            return None
        values: dict[str, ast.expr] = {}
        for name in free_names(expression) - {"_"}:
            value = self._value(name)
            if value is None:
                return None
            values[name] = value
        return substituted(expression, values)

    def _value(self, name: str) -> ast.expr | None:
        full = file_summary_of(self._source).imports.resolve(name)
        if full is not None and (full == "torch" or full.startswith("torch.")):
            return ast.parse(full, mode="eval").body
        place = self._index.resolve(self._source.path, name)
        if place is not None and place.path == self._target.path:
            return ast.parse(place.name, mode="eval").body
        if self._is_bound(self._source, name):
            return None if self._module is None else import_expression(f"{self._module}.{name}")
        if hasattr(builtins, name):
            return import_expression(f"builtins.{name}") if self._is_bound(self._target, name) else _name(name)
        return None

    def _is_bound(self, document: Document, name: str) -> bool:
        """Whether the top of a file gives the name a value."""
        bindings = scopes_of(document).module.bindings.get(name, [])
        return any(each.kind is not BindingKind.EXPRESSION_LOCAL for each in bindings)


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())

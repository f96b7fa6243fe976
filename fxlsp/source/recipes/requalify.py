"""Call sites of one file rewritten with the names of another file."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import replace

from fxlsp.source.models.file_summary import file_summary_of
from fxlsp.source.python.bindings import Binding, BindingKind
from fxlsp.source.python.constant_folding import folded
from fxlsp.source.python.expressions import copied, dotted, free_names, makes_tensor, parse_expression
from fxlsp.source.python.imports import ImportedNames, import_expression, is_imported_inside
from fxlsp.source.python.scopes import Scopes, scopes_of
from fxlsp.source.recipes.call_sites import CallSite
from fxlsp.source.recipes.markdown_blocks import SUFFIX
from fxlsp.source.recipes.recipes import FoundRecipe, recipe_from_call_site
from fxlsp.source.text.documents import Document

_MOST_STEPS = 8
"""The longest chain of names that are assigned names; a longer one is a cycle."""


def requalified(site: CallSite, document: Document, names: Mapping[str, str]) -> FoundRecipe | None:
    """Return the recipe of a call site in ``document`` for a model of another file.

    If it consists of literals, torch and definitions of the file of the model, it is written with the names of that
    file. Else it is written with those of ``document``, and states that file; None if Python cannot run that one.

    Args:
        names: names in ``document`` of definitions of the file of the model, with their names there.
    """
    runnable = not document.path.endswith(SUFFIX)
    requalifier = _Requalifier(scopes_of(document), file_summary_of(document).imports, names, runnable)
    try:
        init = None if site.init is None else requalifier.of(site.init)
        inputs = None if site.inputs is None else requalifier.of(site.inputs)
    except _FileLocalNameError:
        return _in_own_file(site, document)
    assert inputs is None or isinstance(inputs, ast.Call)
    if init is None and site.factory_call is not None:
        # Only the enclosing function, which the other file does not have, creates the model.
        return _in_own_file(site, document)
    return replace(recipe_from_call_site(CallSite(site.span, init, inputs)), file=document.path)


def _in_own_file(site: CallSite, document: Document) -> FoundRecipe | None:
    if document.path.endswith(SUFFIX):
        return None
    found = recipe_from_call_site(site)
    return replace(found, recipe=replace(found.recipe, file=document.path), file=document.path)


class _FileLocalNameError(Exception):
    """A name has a meaning only in its own file."""


class _Requalifier:
    def __init__(self, scopes: Scopes, imports: ImportedNames, names: Mapping[str, str], runnable: bool) -> None:
        """Store the names of a file.

        Args:
            names: see :func:`requalified`.
            runnable: whether Python can run the file, so that its imports can be taken from it.
        """
        self._scopes = scopes
        self._imports = imports
        self._names = names
        self._runnable = runnable

    def of(self, expression: ast.expr, steps: int = _MOST_STEPS) -> ast.expr:
        """Return an expression with the names of the other file.

        Raises:
            _FileLocalNameError: it depends on a name that only its own file defines.
        """
        free = free_names(expression)
        result: ast.expr = _Replacement(self, free, steps).visit(copied(expression))
        return folded(result)

    def replacement(self, node: ast.Name | ast.Attribute, steps: int) -> ast.expr | None:
        """Return the replacement of a dotted name, None for part of a replaced one."""
        name = dotted(node) or ""
        if name in self._names:
            return _name(self._names[name])
        if isinstance(node, ast.Attribute):
            full = self._imports.resolve(name)
            return _name(full) if full is not None and full.startswith("torch.") else None
        return self._root(node, steps)

    def _root(self, node: ast.Name, steps: int) -> ast.expr:
        full = self._imports.resolve(node.id)
        if full is not None and (full == "torch" or full.startswith("torch.")):
            return _name(full)
        if full is not None and (not self._runnable or is_imported_inside(node.id, self._scopes)):
            imported = import_expression(full)
            if imported is None:
                raise _FileLocalNameError(node.id)
            return imported
        bindings = self._scopes.module.bindings.get(node.id)
        if not bindings and full is None and hasattr(builtins, node.id) and not self._scopes.imports_everything:
            return node
        value = _constant(bindings or [])
        if value is None or not steps:
            raise _FileLocalNameError(node.id)
        return self.of(value, steps - 1)


def _constant(bindings: list[Binding]) -> ast.expr | None:
    """Return the expression of a name that is assigned exactly once.

    Statements may write into a tensor, which keeps its shape.
    """
    lasting = [each for each in bindings if each.kind is not BindingKind.EXPRESSION_LOCAL]
    if not lasting or lasting[0].kind is not BindingKind.ASSIGNED or lasting[0].value is None:
        return None
    made = parse_expression(lasting[0].value)
    is_written = made is not None and makes_tensor(made)
    kept = (BindingKind.CHANGED,) if is_written else ()
    return made if all(each.kind in kept for each in lasting[1:]) else None


def _name(name: str) -> ast.expr:
    return ast.parse(name, mode="eval").body


class _Replacement(ast.NodeTransformer):
    def __init__(self, requalifier: _Requalifier, free: frozenset[str], steps: int) -> None:
        self._requalifier = requalifier
        self._free = free
        self._steps = steps

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        root = (dotted(node) or "").partition(".")[0]
        found = self._requalifier.replacement(node, self._steps) if root in self._free else None
        if found is not None:
            return found
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._free:
            return node
        return self._requalifier.replacement(node, self._steps) or node

"""Fix for ``conv = ...`` in a constructor: ``self.conv = ...``, at all places of the variable."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.class_context import enclosing_class, self_of
from fxlsp.ide.fixes.fix import Fix, FixContext


def local_variable_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a local variable that was meant as an attribute."""
    tree = context.tree
    target = tree.node_at(context.span, ast.Name)
    around = None if target is None else enclosing_class(tree, target)
    if target is None or around is None or not isinstance(target.ctx, ast.Store):
        return
    _, method = around
    own = self_of(method)
    if own is None or method.name != "__init__" or _is_nested(method, target.id):
        return
    names = [node for node in ast.walk(method) if isinstance(node, ast.Name) and node.id == target.id]
    edits = tuple(context.edit(start, start, f"{own}.") for start in sorted(map(tree.start, names)))
    yield Fix(f"Assign the attribute {own}.{target.id}", edits, preferred=True)


def _is_nested(method: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Return whether a nested scope may have a variable of its own with the name."""
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)
    inner = (part for part in ast.walk(method) if part is not method and isinstance(part, scopes))
    return any(isinstance(node, ast.Name) and node.id == name for part in inner for node in ast.walk(part))

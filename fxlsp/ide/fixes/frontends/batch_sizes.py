"""Fix for a batch that is written as a number: ``x.view(2, -1)`` becomes ``x.view(x.shape[0], -1)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.torch_names import full_name
from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import PythonTree

_METHODS = ("view", "reshape")


def batch_size_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a method of a named tensor whose first size is a number."""
    tree = context.tree
    call = tree.node_at(context.span, ast.Call)
    if call is None or not tree.is_at(call, context.span):
        return
    # Where columns are unknown, the call is the first one of the line.
    found = [each for part in ast.walk(call) if (each := _written_batch(tree, part)) is not None]
    if len(found) == 1:
        ((name, size),) = found
        edit = context.edit(tree.start(size), tree.end(size), f"{name}.shape[0]")
        yield Fix(f"Take the batch from {name}: its first size must be the batch", (edit,))


def _written_batch(tree: PythonTree, node: ast.AST) -> tuple[str, ast.Constant] | None:
    """Return the name of a tensor and the number that a call of its method has for the first of several sizes."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in _METHODS:
        return None
    name, given = dotted(node.func.value), node.args[0] if node.args else None
    sizes = given.elts if isinstance(given, ast.Tuple | ast.List) else node.args
    is_module = full_name(tree, node.func) is not None
    if name in (None, "self") or is_module or len(sizes) < 2 or not isinstance(sizes[0], ast.Constant):
        return None
    return (name, sizes[0]) if type(sizes[0].value) is int else None

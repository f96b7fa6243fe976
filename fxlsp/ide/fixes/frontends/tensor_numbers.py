"""Fix for a number that is made of a tensor to compute with tensors: ``x * s.item()`` becomes ``x * s.detach()``.

As the number, the detached tensor passes no gradient on, and without dimensions it leaves floating tensors their dtype.
Integers become what it is, where a number makes them the default dtype.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.scalars import bracketed, number_of_scalar
from fxlsp.ide.fixes.evidence.traced_values import is_tensor_expression, only_value
from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.source.python.python_tree import PythonTree

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


def tensor_number_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for ``s.item()`` and ``float(s)``, if that is only used in arithmetic beside tensors."""
    tree = context.tree
    call = tree.node_at(context.span, ast.Call)
    scalar = None if call is None else number_of_scalar(tree, call)
    if call is None or scalar is None or not tree.is_at(call, context.span):
        return
    if context.has_comments(tree.start(call), tree.end(call)):
        return
    if all(_is_beside_tensor(tree, each) for each in _uses(tree, call)):
        text = bracketed(scalar, tree.text(scalar)).removesuffix(".detach()")
        edit = context.edit(tree.start(call), tree.end(call), f"{text}.detach()")
        # The text does not prove that the other side is a tensor, nor which dtypes they have.
        yield Fix("Leave it a tensor of its own dtype, without a gradient as the number is", (edit,))


def _uses(tree: PythonTree, number: ast.expr) -> list[ast.expr]:
    """Return the expression, or all uses of the name that alone is given it."""
    parent, function = tree.parent(number), tree.function_of(number)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if not isinstance(target, ast.Name) or function is None or only_value(function, target.id) is not number:
        return [number]
    loads = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return [node for node in loads if node.id == target.id]


def _is_beside_tensor(tree: PythonTree, number: ast.expr) -> bool:
    parent = tree.parent(number)
    if not isinstance(parent, ast.BinOp) or not isinstance(parent.op, _OPERATORS):
        return False
    other = parent.right if parent.left is number else parent.left
    return is_tensor_expression(tree, other) and number_of_scalar(tree, other) is None

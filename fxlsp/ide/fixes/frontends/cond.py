"""Fix for a choice whose sides call modules: ``torch.cond(condition, lambda: one, lambda: other, ())``.

It runs one side alone, as the choice does. torch.fx cannot trace it, and it refuses a side that returns what it was
given, as a dropout does in eval mode: each side returns a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.evidence.choices import choice_at
from fxlsp.ide.fixes.evidence.scalars import truth_of_tensor
from fxlsp.ide.fixes.evidence.torch_names import spelling
from fxlsp.ide.fixes.evidence.traced_values import is_tensor_expression
from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.source.python.python_tree import PythonTree

_OWN_SCOPE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""Expressions that mean something else in a lambda, as ``super()`` does."""


def cond_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a conditional expression or statement with a side that ``torch.where`` cannot compute."""
    tree = context.tree
    choice = choice_at(context)
    test = None if choice is None else truth_of_tensor(tree, choice.test)
    if choice is None or test is None or is_tensor_expression(tree, choice.one, choice.other):
        return
    if not _can_be_moved(choice.one) or not _can_be_moved(choice.other):
        return
    name, imports = spelling(context, "torch.cond")
    # Older versions of torch need the operands, here none: the sides read what they use.
    text = f"{choice.before}{name}({test}, lambda: {_copy(tree, choice.one)}, lambda: {_copy(tree, choice.other)}, ())"
    edit = context.edit(tree.start(choice.first), tree.end(choice.last), text)
    title = f"Choose with {name}, which torch.fx refuses: both sides must have one shape and dtype, and change nothing"
    yield Fix(title, (*imports, edit))


def _can_be_moved(side: ast.expr) -> bool:
    """Return whether a side makes one value, and evidently changes nothing."""
    if not isinstance(side, ast.Call | ast.BinOp | ast.Name):
        return False
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in ast.walk(side)]
    is_plain = not any(isinstance(each, _OWN_SCOPE) for each in ast.walk(side))
    return is_plain and not any(name == "super" or name.endswith("_") for name in names)


def _copy(tree: PythonTree, side: ast.expr) -> str:
    return tree.text(side) if isinstance(side, ast.BinOp) else f"{tree.text(side)}.clone()"

"""Fix for a choice by a traced condition: ``torch.where(condition, one, other)``.

``torch.where`` is right only if the condition is a boolean tensor with one element, if both sides may be computed, and
if they have the same shape. A condition on shapes is a Python number when the model runs: ``torch.where`` refuses it,
so there is no fix.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from fxlsp.ide.fixes.evidence.torch_names import spelling
from fxlsp.ide.fixes.evidence.traced_values import is_tensor_expression, shape_operands
from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.ide.fixes.scalars import is_truth_of_tensor
from fxlsp.source.python.comments import comments_by_line
from fxlsp.source.python.python_tree import PythonTree


@dataclass(frozen=True)
class _Choice:
    """``one if test else other``, and the code that its replacement replaces."""

    test: ast.expr
    one: ast.expr
    other: ast.expr
    first: ast.stmt | ast.expr
    last: ast.stmt | ast.expr
    before: str = ""
    """``x = `` or ``return ``."""


def where_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a conditional expression or statement that chooses a value."""
    tree = context.tree
    choice = _expression(context) or _statement(context)
    if choice is None or _has_comments(tree, choice):
        return
    test, one, other = choice.test, choice.one, choice.other
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, one, other = test.operand, other, one
    if not is_truth_of_tensor(tree, test) or not is_tensor_expression(tree, one, other):
        return
    name, imports = spelling(context, "torch.where")
    text = f"{choice.before}{name}({tree.text(test)}, {tree.text(one)}, {tree.text(other)})"
    edit = context.edit(tree.start(choice.first), tree.end(choice.last), text)
    same = shape_operands(tree, one) == shape_operands(tree, other)
    title = f"Choose with {name}, which computes both sides"
    yield Fix(title if same else f"{title}: they must have one shape and dtype", (*imports, edit), preferred=same)


def _expression(context: FixContext) -> _Choice | None:
    expression = context.tree.node_at(context.span, ast.IfExp)
    if expression is None or not context.tree.covers(expression.test, context.span):
        return None
    return _Choice(expression.test, expression.body, expression.orelse, expression, expression)


def _statement(context: FixContext) -> _Choice | None:
    tree = context.tree
    branch = tree.node_at(context.span, ast.If)
    if branch is None or not tree.covers(branch.test, context.span) or len(branch.body) != 1:
        return None
    # ``elif`` is an ``if`` to Python, and cannot become a statement of its own.
    if not tree.document.text.startswith("if", tree.start(branch)):
        return None
    if not branch.orelse:
        return _without_else(tree, branch)
    return _of_two(branch, branch.body[0], branch.orelse[0], branch) if len(branch.orelse) == 1 else None


def _of_two(branch: ast.If, one: ast.stmt, other: ast.stmt, last: ast.stmt) -> _Choice | None:
    if isinstance(one, ast.Return) and isinstance(other, ast.Return):
        if one.value is None or other.value is None:
            return None
        return _Choice(branch.test, one.value, other.value, branch, last, "return ")
    name = _assigned(one)
    if name is None or name != _assigned(other):
        return None
    assert isinstance(one, ast.Assign)
    assert isinstance(other, ast.Assign)
    return _Choice(branch.test, one.value, other.value, branch, last, f"{name} = ")


def _without_else(tree: PythonTree, branch: ast.If) -> _Choice | None:
    """Return the choice of an ``if`` without ``else``.

    ``if c: return a`` directly before ``return b``, or ``if c: x = f(x)``, where ``x`` has a value before.
    """
    (one,) = branch.body
    block = next(
        (body for _, body in ast.iter_fields(tree.parent(branch) or tree.module) if _holds(body, branch)), None
    )
    if isinstance(one, ast.Return) and isinstance(block, list):
        after = block[block.index(branch) + 1 :]
        return _of_two(branch, one, after[0], after[0]) if after and isinstance(after[0], ast.Return) else None
    name = _assigned(one)
    if name is None or not isinstance(one, ast.Assign) or name not in (shape_operands(tree, one.value) or ()):
        return None
    kept = ast.copy_location(ast.Name(name, ast.Load()), one.targets[0])
    return _Choice(branch.test, one.value, kept, branch, branch, f"{name} = ")


def _holds(body: object, branch: ast.If) -> bool:
    return isinstance(body, list) and branch in body


def _assigned(statement: ast.stmt) -> str | None:
    """Return the one name that a statement assigns."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        return target.id if isinstance(target, ast.Name) else None
    return None


def _has_comments(tree: PythonTree, choice: _Choice) -> bool:
    """Return whether comments would be lost. A comment after the whole stays."""
    comments = tree.document.derive(comments_by_line)
    start, end = tree.start(choice.first), tree.end(choice.last)
    places = [
        tree.lines.offset(each.span.line, each.span.column)
        for line in range(choice.first.lineno, (choice.last.end_lineno or 0) + 1)
        if (each := comments.get(line)) is not None
    ]
    return any(start <= place < end for place in places)

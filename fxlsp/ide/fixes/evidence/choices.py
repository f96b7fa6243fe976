"""Choices between two values: conditional expressions and statements that choose what a name or ``return`` gets."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from fxlsp.ide.fixes.fix import FixContext
from fxlsp.source.python.expressions import free_names
from fxlsp.source.python.python_tree import PythonTree
from fxlsp.source.text.positions import Span


@dataclass(frozen=True)
class Choice:
    """``one if test else other``, and the code that its replacement replaces."""

    test: ast.expr
    one: ast.expr
    other: ast.expr
    first: ast.stmt | ast.expr
    last: ast.stmt | ast.expr
    before: str = ""
    """``x = `` or ``return ``."""


def choice_at(context: FixContext) -> Choice | None:
    """Return the choice whose condition contains the problem, with its sides exchanged for each ``not``.

    Returns None for one with comments that a replacement would lose.
    """
    tree = context.tree
    choice = _expression(tree, context.span) or _statement(tree, context.span)
    if choice is None or context.has_comments(tree.start(choice.first), tree.end(choice.last)):
        return None
    while isinstance(choice.test, ast.UnaryOp) and isinstance(choice.test.op, ast.Not):
        choice = replace(choice, test=choice.test.operand, one=choice.other, other=choice.one)
    return choice


def _expression(tree: PythonTree, span: Span) -> Choice | None:
    expression = tree.node_at(span, ast.IfExp)
    if expression is None or not tree.covers(expression.test, span):
        return None
    return Choice(expression.test, expression.body, expression.orelse, expression, expression)


def _statement(tree: PythonTree, span: Span) -> Choice | None:
    branch = tree.node_at(span, ast.If)
    if branch is None or not tree.covers(branch.test, span) or len(branch.body) != 1:
        return None
    # ``elif`` is an ``if`` to Python, and cannot become a statement of its own.
    if not tree.document.text.startswith("if", tree.start(branch)):
        return None
    if not branch.orelse:
        return _without_else(tree, branch)
    return _of_two(branch, branch.body[0], branch.orelse[0], branch) if len(branch.orelse) == 1 else None


def _of_two(branch: ast.If, one: ast.stmt, other: ast.stmt, last: ast.stmt) -> Choice | None:
    if isinstance(one, ast.Return) and isinstance(other, ast.Return):
        if one.value is None or other.value is None:
            return None
        return Choice(branch.test, one.value, other.value, branch, last, "return ")
    name = _assigned(one)
    if name is None or name != _assigned(other):
        return None
    assert isinstance(one, ast.Assign)
    assert isinstance(other, ast.Assign)
    return Choice(branch.test, one.value, other.value, branch, last, f"{name} = ")


def _without_else(tree: PythonTree, branch: ast.If) -> Choice | None:
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
    if name is None or not isinstance(one, ast.Assign) or name not in free_names(one.value):
        return None
    kept = ast.copy_location(ast.Name(name, ast.Load()), one.targets[0])
    return Choice(branch.test, one.value, kept, branch, branch, f"{name} = ")


def _holds(body: object, branch: ast.If) -> bool:
    return isinstance(body, list) and branch in body


def _assigned(statement: ast.stmt) -> str | None:
    """Return the one name that a statement assigns."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        return target.id if isinstance(target, ast.Name) else None
    return None

"""Conditions that are a tensor with one truth value when the model runs."""

from __future__ import annotations

import ast

from fxlsp.ide.fixes.evidence.torch_names import full_name
from fxlsp.ide.fixes.evidence.traced_values import NUMBERS_OF_TENSORS, only_value
from fxlsp.source.python.python_tree import PythonTree

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "norm", "std", "var", "median", "amax", "amin", "nansum"})
"""Without further arguments, each makes a tensor without dimensions."""
_TRUTHS = frozenset({"any", "all"})
_SYMBOLS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_MOST_STEPS = 4
"""How many times a local name is replaced by the expression assigned to it."""


def is_truth_of_tensor(tree: PythonTree, condition: ast.expr, steps: int = _MOST_STEPS) -> bool:
    """Return whether a condition is evidently a tensor with one truth value.

    Examples are ``x.sum() > 0`` and ``(x < 0).any()``.
    """
    if isinstance(condition, ast.Compare):
        if len(condition.ops) != 1 or not isinstance(condition.ops[0], _SYMBOLS):
            return False
        sides = [condition.left, condition.comparators[0]]
        return any(_is_scalar(tree, side, steps) for side in sides) and all(_fits(tree, each, steps) for each in sides)
    if isinstance(condition, ast.BinOp) and isinstance(condition.op, ast.BitAnd | ast.BitOr | ast.BitXor):
        return all(is_truth_of_tensor(tree, side, steps) for side in (condition.left, condition.right))
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Invert):
        return is_truth_of_tensor(tree, condition.operand, steps)
    if isinstance(condition, ast.Call):
        return _is_reduction(tree, condition, _TRUTHS)
    given = _given(tree, condition) if steps else None
    return given is not None and is_truth_of_tensor(tree, given, steps - 1)


def _is_scalar(tree: PythonTree, expression: ast.expr, steps: int) -> bool:
    """Return whether an expression is evidently a tensor without dimensions."""
    if isinstance(expression, ast.Call):
        return _is_reduction(tree, expression, _REDUCTIONS) or _is_scalar_of_scalar(tree, expression, steps)
    if isinstance(expression, ast.BinOp):
        sides = (expression.left, expression.right)
        return any(_is_scalar(tree, side, steps) for side in sides) and all(_fits(tree, side, steps) for side in sides)
    if isinstance(expression, ast.UnaryOp) and not isinstance(expression.op, ast.Not):
        return _is_scalar(tree, expression.operand, steps)
    given = _given(tree, expression) if steps else None
    return given is not None and _is_scalar(tree, given, steps - 1)


def _is_scalar_of_scalar(tree: PythonTree, call: ast.Call, steps: int) -> bool:
    """Return whether a call is like ``x.sum().abs()``."""
    names = ("abs", "exp", "log", "sqrt", "float", "detach", "sigmoid")
    return isinstance(call.func, ast.Attribute) and call.func.attr in names and _is_scalar(tree, call.func.value, steps)


def _fits(tree: PythonTree, side: ast.expr, steps: int) -> bool:
    """Return whether a side of a comparison with a scalar has no dimensions either.

    It is a number or another scalar.
    """
    return _is_number(side) or _is_scalar(tree, side, steps)


def _is_number(side: ast.expr) -> bool:
    if isinstance(side, ast.UnaryOp):
        return _is_number(side.operand)
    if isinstance(side, ast.Constant):
        return isinstance(side.value, int | float)
    # An attribute of the model is a threshold. Were it a tensor, it would have one element: else the model could not
    # run.
    return isinstance(side, ast.Attribute) and isinstance(side.value, ast.Name) and side.value.id == "self"


def _is_reduction(tree: PythonTree, call: ast.Call, names: frozenset[str]) -> bool:
    """Return whether a call is ``x.sum()`` or ``torch.sum(x)``, over all dimensions."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in names:
        return False
    full = full_name(tree, call.func)
    if full is not None:
        return full == f"torch.{call.func.attr}" and len(call.args) == 1 and not call.keywords
    return not call.args and not call.keywords and not _is_of_shape(call.func.value)


def _is_of_shape(expression: ast.expr) -> bool:
    """Return whether an expression is about numbers, not tensors."""
    about = (node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute))
    return any(name in NUMBERS_OF_TENSORS for name in about)


def _given(tree: PythonTree, expression: ast.expr) -> ast.expr | None:
    """Return the value of a local name that is assigned once."""
    function = tree.function_of(expression)
    if not isinstance(expression, ast.Name) or function is None:
        return None
    return only_value(function, expression.id)

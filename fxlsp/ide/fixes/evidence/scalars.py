"""Tensors without dimensions, the numbers that are made of them, and conditions on them."""

from __future__ import annotations

import ast

from fxlsp.ide.fixes.evidence.torch_names import full_name
from fxlsp.ide.fixes.evidence.traced_values import NUMBERS_OF_TENSORS, is_shadowed, only_value
from fxlsp.source.python.python_tree import PythonTree

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "prod", "norm", "std", "var", "median", "amax", "amin", "nansum"})
"""Without further arguments, each makes a tensor without dimensions."""
_TRUTHS = frozenset({"any", "all"})
_SYMBOLS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_MOST_STEPS = 4
"""How many times a local name is replaced by the expression assigned to it."""


def truth_of_tensor(tree: PythonTree, condition: ast.expr) -> str | None:
    """Return the text of a condition as a tensor with one truth value; None if it is not evidently one.

    Examples are ``x.sum() > 0``, of ``x.sum().item() > 0`` too, and ``(x < 0).any()``, of ``bool((x < 0).any())`` too.
    """
    while isinstance(condition, ast.Call) and _is_call_of(tree, condition, "bool"):
        condition = condition.args[0]
    is_truth = _is_truth(tree, _tensor_of(tree, condition), _MOST_STEPS)
    return text_of_tensor(tree, condition) if is_truth else None


def number_of_scalar(tree: PythonTree, expression: ast.expr) -> ast.expr | None:
    """Return ``x.sum()`` of ``x.sum().item()`` and ``float(x.sum())``, if that is evidently without dimensions."""
    scalar = _converted(tree, expression)
    return scalar if scalar is not None and _is_scalar(tree, scalar, _MOST_STEPS) else None


def text_of_tensor(tree: PythonTree, expression: ast.expr) -> str:
    """Return the text of an expression without its conversions of tensors to numbers."""
    scalar = _converted(tree, expression)
    if scalar is not None:
        return bracketed(scalar, text_of_tensor(tree, scalar))
    text, start = tree.text(expression), tree.start(expression)
    for part in sorted(_operands(expression), key=tree.start, reverse=True):
        first, last = tree.start(part) - start, tree.end(part) - start
        text = text[:first] + text_of_tensor(tree, part) + text[last:]
    return text


def bracketed(expression: ast.expr, text: str) -> str:
    """Return the text of an expression as an operand, or for a method of it, wherever it is written."""
    is_one = isinstance(expression, ast.Call | ast.Name | ast.Attribute | ast.Subscript) and "\n" not in text
    return text if is_one else f"({text})"


def _tensor_of(tree: PythonTree, expression: ast.expr) -> ast.expr:
    """Return an expression without its conversions of tensors to numbers.

    Its names are nodes of the tree, other parts may be new.
    """
    scalar = _converted(tree, expression)
    if scalar is not None:
        return _tensor_of(tree, scalar)
    operands = [_tensor_of(tree, each) for each in _operands(expression)]
    if isinstance(expression, ast.Compare):
        return ast.Compare(operands[0], expression.ops, operands[1:])
    return ast.BinOp(operands[0], expression.op, operands[1]) if isinstance(expression, ast.BinOp) else expression


def _operands(expression: ast.expr) -> list[ast.expr]:
    if isinstance(expression, ast.Compare):
        return [expression.left, *expression.comparators]
    return [expression.left, expression.right] if isinstance(expression, ast.BinOp) else []


def _converted(tree: PythonTree, expression: ast.expr) -> ast.expr | None:
    """Return what ``….item()`` and ``float(…)`` convert."""
    if not isinstance(expression, ast.Call) or expression.keywords:
        return None
    if isinstance(expression.func, ast.Attribute) and expression.func.attr == "item" and not expression.args:
        return expression.func.value
    return expression.args[0] if _is_call_of(tree, expression, "float") else None


def _is_call_of(tree: PythonTree, call: ast.Call, name: str) -> bool:
    """Return whether a call is one of a builtin with one argument."""
    is_named = isinstance(call.func, ast.Name) and call.func.id == name
    return is_named and len(call.args) == 1 and not call.keywords and not is_shadowed(tree, name)


def _is_truth(tree: PythonTree, condition: ast.expr, steps: int) -> bool:
    if isinstance(condition, ast.Compare):
        if len(condition.ops) != 1 or not isinstance(condition.ops[0], _SYMBOLS):
            return False
        sides = [condition.left, condition.comparators[0]]
        return any(_is_scalar(tree, side, steps) for side in sides) and all(_fits(tree, each, steps) for each in sides)
    if isinstance(condition, ast.BinOp) and isinstance(condition.op, ast.BitAnd | ast.BitOr | ast.BitXor):
        return all(_is_truth(tree, side, steps) for side in (condition.left, condition.right))
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Invert):
        return _is_truth(tree, condition.operand, steps)
    if isinstance(condition, ast.Call):
        return _is_reduction(tree, condition, _TRUTHS)
    given = _given(tree, condition) if steps else None
    return given is not None and _is_truth(tree, given, steps - 1)


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

"""Expressions that make tensors and do nothing else, and what their shapes depend on."""

from __future__ import annotations

import ast

from fxlsp.ide.fixes.torch_names import full_name
from fxlsp.source.python.expressions import dotted
from fxlsp.source.python.python_tree import PythonTree

_KEEP_SHAPE = frozenset(
    {
        *("abs", "neg", "exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "square", "sin", "cos", "tan", "tanh", "erf"),
        *("sigmoid", "relu", "relu6", "gelu", "silu", "elu", "leaky_relu", "softplus", "hardswish", "mish", "selu"),
        *("clamp", "clip", "floor", "ceil", "round", "sign", "reciprocal", "softmax", "log_softmax", "nan_to_num"),
        *("clone", "detach", "contiguous", "add", "sub", "mul", "div", "pow"),
        *("maximum", "minimum", "lerp", "zeros_like", "ones_like", "full_like", "logical_not", "cumsum", "flip"),
    }
)
"""Functions and methods whose result has the shape and dtype of their tensors, broadcast together."""

NUMBERS_OF_TENSORS = frozenset(
    {*("shape", "size", "dim", "ndim", "stride", "numel", "nelement", "numpy", "tolist", "item", "dtype", "device")}
)
"""Attributes and methods of a tensor that are no tensors."""

_RANDOM = ("rand", "normal", "bernoulli", "multinomial", "dropout", "poisson", "exponential", "uniform")
"""What is in the names of functions that draw random numbers."""


def shapers(tree: PythonTree, expression: ast.expr) -> frozenset[str] | None:
    """The names whose shapes, broadcast together, are the shape of an expression; None where that is not evident."""
    if isinstance(expression, ast.Constant):
        return frozenset() if isinstance(expression.value, int | float) else None
    if isinstance(expression, ast.Name | ast.Attribute):
        name = dotted(expression)
        return None if name is None or name.endswith((".shape", ".T", ".mT", ".H")) else frozenset({name})
    if isinstance(expression, ast.UnaryOp):
        return None if isinstance(expression.op, ast.Not) else shapers(tree, expression.operand)
    if isinstance(expression, ast.BinOp):
        return None if isinstance(expression.op, ast.MatMult) else _all(tree, [expression.left, expression.right])
    if isinstance(expression, ast.Call):
        return _of_call(tree, expression)
    return None


def _of_call(tree: PythonTree, call: ast.Call) -> frozenset[str] | None:
    full = full_name(tree, call.func)
    name = (full or dotted(call.func) or "").rpartition(".")[2]
    if isinstance(call.func, ast.Attribute):
        name = call.func.attr
    if name not in _KEEP_SHAPE:
        return None
    if full is not None:
        return _all(tree, call.args) if full.startswith("torch.") else None
    if not isinstance(call.func, ast.Attribute) or dotted(call.func.value) == "self":
        return None
    return _all(tree, [call.func.value, *call.args])


def _all(tree: PythonTree, parts: list[ast.expr]) -> frozenset[str] | None:
    names: frozenset[str] = frozenset()
    for part in parts:
        found = shapers(tree, part)
        if found is None:
            return None
        names |= found
    return names


def is_tensor_expression(tree: PythonTree, *sides: ast.expr) -> bool:
    """Whether each of some expressions makes a tensor, without side effects or random numbers."""
    return all(_makes_tensor(side) and all(_is_pure(tree, node) for node in ast.walk(side)) for side in sides)


def _makes_tensor(side: ast.expr) -> bool:
    """Whether an expression may well be a tensor; sizes and numbers are none."""
    if isinstance(side, ast.BinOp):
        return _makes_tensor(side.left) or _makes_tensor(side.right)
    if isinstance(side, ast.UnaryOp):
        return _makes_tensor(side.operand)
    while isinstance(side, ast.Attribute | ast.Subscript | ast.Call):
        if isinstance(side, ast.Attribute) and side.attr in NUMBERS_OF_TENSORS:
            return False
        side = side.func if isinstance(side, ast.Call) else side.value
    return isinstance(side, ast.Name)


def _is_pure(tree: PythonTree, node: ast.AST) -> bool:
    if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.IfExp):
        return False
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not)
    if not isinstance(node, ast.Call):
        return True
    full = full_name(tree, node.func)
    if full is None:
        # A method of a tensor, not one of the model or a module of it, which may have state.
        if not isinstance(node.func, ast.Attribute) or (dotted(node.func.value) or "").partition(".")[0] == "self":
            return False
    elif not full.startswith("torch.") or full.rpartition(".")[2][:1].isupper():
        return False
    name = (full or (node.func.attr if isinstance(node.func, ast.Attribute) else "")).rpartition(".")[2]
    return not name.endswith("_") and not any(part in name for part in _RANDOM)

"""Expressions that are evidently tensors, modules or parameters, or take proxies.

The functions here read one file. They answer "no" or None where the function around an expression does not show it.
"""

from __future__ import annotations

import ast
import builtins

from fxlsp.ide.fixes.evidence.class_context import attribute_of_self
from fxlsp.ide.fixes.evidence.torch_names import full_name
from fxlsp.source.models.class_hierarchy import is_torch_module
from fxlsp.source.models.models import model_classes
from fxlsp.source.python.expressions import dotted, first_of_chain
from fxlsp.source.python.python_tree import Function, PythonTree

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_PASS_ON = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Attribute, ast.Tuple, ast.List)
"""Expressions that turn a traced value into a traced value, or a structure of them."""


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
"""Attributes and methods of a tensor that are not tensors."""

_RANDOM = ("rand", "normal", "bernoulli", "multinomial", "dropout", "poisson", "exponential", "uniform")
"""Parts of the names of functions that draw random numbers."""

_STATELESS = frozenset(
    {
        *("ReLU", "ReLU6", "LeakyReLU", "GELU", "SiLU", "ELU", "SELU", "CELU", "Mish", "Hardswish", "Hardsigmoid"),
        *("Sigmoid", "Tanh", "Softplus", "Softsign", "Softmax", "Softmax2d", "LogSoftmax", "LogSigmoid", "GLU"),
        *("Identity", "Flatten", "Unflatten", "MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d"),
        *("AvgPool3d", "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d"),
        *("AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "Upsample", "PixelShuffle", "PixelUnshuffle", "ZeroPad2d"),
        *("ReflectionPad2d", "ReplicationPad2d", "ConstantPad2d", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d"),
    }
)
"""Module classes of torch of which one instance does the same as several."""


def accepts_proxy(tree: PythonTree, node: ast.expr, *, strict: bool, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether torch.fx can trace on if an expression becomes a traced value.

    It can if the value is only used in arithmetic, passed to functions and returned.

    Args:
        strict: the expression was a Python number before, so functions of the model that receive it may need one.
        seen: local names whose uses are being examined already.
    """
    parent = tree.parent(node)
    if isinstance(parent, _STATEMENTS):
        return node is not parent.value or _targets_accept(tree, parent, strict, seen)
    if isinstance(parent, ast.Expr):
        return True
    if isinstance(parent, ast.Return):
        function = tree.function_of(parent)
        return function is not None and (function.name == "forward" or not strict)
    if isinstance(parent, ast.Call | ast.keyword):
        call = parent if isinstance(parent, ast.Call) else tree.parent(parent)
        return isinstance(call, ast.Call) and (node is call.func or _callee_accepts(tree, call, strict))
    if isinstance(parent, ast.Subscript):
        return node is parent.value and accepts_proxy(tree, parent, strict=strict, seen=seen)
    if isinstance(parent, ast.IfExp) and node is parent.test:
        return False
    if isinstance(parent, (*_PASS_ON, ast.IfExp)) and not _asks_for_truth(parent):
        return accepts_proxy(tree, parent, strict=strict, seen=seen)
    return False


def _asks_for_truth(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare):
        return len(node.ops) > 1 or isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _callee_accepts(tree: PythonTree, call: ast.Call, strict: bool) -> bool:
    """Return whether a callee accepts traced values.

    Torch's functions, modules of the model, and methods of tensors do.
    """
    full = full_name(tree, call.func)
    if full is not None:
        return full.startswith(("torch.", "math.")) or not strict
    if isinstance(call.func, ast.Name):
        return not strict and not hasattr(builtins, call.func.id)
    function = tree.function_of(call)
    called = None if function is None else attribute_of_self(call.func, function)
    return isinstance(call.func, ast.Attribute) and not (strict and called in _methods(tree, function))


def _methods(tree: PythonTree, function: Function | None) -> frozenset[str]:
    owner = None if function is None else tree.class_of(function)
    return frozenset() if owner is None else frozenset(each.name for each in owner.body if isinstance(each, Function))


def _targets_accept(
    tree: PythonTree, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, strict: bool, seen: frozenset[str]
) -> bool:
    """Return whether all uses of an assignment's targets accept a traced value."""
    function = tree.function_of(statement)
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]
    names = frozenset(part.id for part in parts if isinstance(part, ast.Name))
    if function is None or len(names) < len(parts):
        return False
    return all(
        accepts_proxy(tree, node, strict=strict, seen=seen | names)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names - seen
    )


def is_shadowed(tree: PythonTree, name: str) -> bool:
    """Return whether the file gives a builtin's name another meaning."""
    return hasattr(builtins, name) and any(
        (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.alias) and (node.asname or node.name) == name)
        or (isinstance(node, Function | ast.ClassDef) and node.name == name and tree.class_of(node) is None)
        for node in ast.walk(tree.module)
    )


def only_value(function: Function, name: str) -> ast.expr | None:
    """Return the value of a local name's only assignment.

    Returns None if there are several, or one of another kind.
    """
    stores = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
    if sum(not isinstance(node.ctx, ast.Load) for node in stores) != 1 or name in _parameters(function):
        return None
    if any(_binds_elsewhere(node, name) for node in ast.walk(function)):
        return None
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in node.targets
        ):
            return node.value if len(node.targets) == 1 else None
    return None


def _binds_elsewhere(node: ast.AST, name: str) -> bool:
    """Return whether a name is that of an outer scope, or also an imported one."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return name in node.names
    return isinstance(node, ast.alias) and (node.asname or node.name) == name


def _parameters(function: Function) -> frozenset[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return frozenset(each.arg for each in every if each is not None)


def shape_operands(tree: PythonTree, expression: ast.expr) -> frozenset[str] | None:
    """Return the names whose shapes, broadcast together, are an expression's shape.

    Returns None where that is not evident.
    """
    if isinstance(expression, ast.Constant):
        return frozenset() if isinstance(expression.value, int | float) else None
    if isinstance(expression, ast.Name | ast.Attribute):
        name = dotted(expression)
        return None if name is None or name.endswith((".shape", ".T", ".mT", ".H")) else frozenset({name})
    if isinstance(expression, ast.UnaryOp):
        return None if isinstance(expression.op, ast.Not) else shape_operands(tree, expression.operand)
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
        found = shape_operands(tree, part)
        if found is None:
            return None
        names |= found
    return names


def is_tensor_expression(tree: PythonTree, *sides: ast.expr) -> bool:
    """Return whether all expressions make tensors, purely and deterministically."""
    return all(_makes_tensor(side) for side in sides) and is_pure(tree, *sides)


def is_pure(tree: PythonTree, *expressions: ast.expr) -> bool:
    """Return whether expressions evidently change nothing, and are the same each time."""
    return all(_is_pure(tree, node) for each in expressions for node in ast.walk(each))


def _makes_tensor(side: ast.expr) -> bool:
    """Return whether an expression may be a tensor, not a size or number."""
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
        # A method of a tensor is pure. One of the model, or of a module in it, may have state.
        if not isinstance(node.func, ast.Attribute) or (dotted(node.func.value) or "").partition(".")[0] == "self":
            return False
    elif not full.startswith("torch.") or full.rpartition(".")[2][:1].isupper():
        return False
    name = (full or (node.func.attr if isinstance(node.func, ast.Attribute) else "")).rpartition(".")[2]
    return not name.endswith("_") and not any(part in name for part in _RANDOM)


def module_class_name(tree: PythonTree, expression: ast.expr) -> str | None:
    """Return the class name of a module that an expression evidently constructs."""
    call = first_of_chain(expression)
    if not isinstance(call, ast.Call):
        return None
    full = full_name(tree, call.func)
    if full is not None:
        return full.rpartition(".")[2] if is_torch_module(full) else None
    name = dotted(call.func)
    own = {each.qualname for each in model_classes(tree.document) if not each.local}
    return name.rpartition(".")[2] if name in own and name is not None else None


def makes_module(tree: PythonTree, expression: ast.expr) -> bool:
    """Return whether an expression is evidently a module.

    It constructs one, or is a local name for one.
    """
    if isinstance(expression, ast.IfExp):
        return makes_module(tree, expression.body) and makes_module(tree, expression.orelse)
    function = tree.function_of(expression)
    if isinstance(expression, ast.Name) and function is not None:
        value = only_value(function, expression.id)
        return value is not None and not isinstance(value, ast.Name) and makes_module(tree, value)
    return module_class_name(tree, expression) is not None


def makes_parameter(tree: PythonTree, expression: ast.expr) -> bool:
    """Return whether an expression evidently makes a parameter."""
    if not isinstance(expression, ast.Call):
        return False
    return full_name(tree, expression.func) in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


def is_stateless(tree: PythonTree, expression: ast.expr) -> bool:
    """Return whether the module that an expression constructs has no state."""
    call = first_of_chain(expression)
    full = full_name(tree, call.func) if isinstance(call, ast.Call) else None
    return full is not None and full.startswith("torch.nn.") and full.rpartition(".")[2] in _STATELESS

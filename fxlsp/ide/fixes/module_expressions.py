"""Expressions that evidently make modules or parameters."""

from __future__ import annotations

import ast

from fxlsp.ide.fixes.scalars import only_value
from fxlsp.ide.fixes.torch_names import full_name
from fxlsp.source.models.class_hierarchy import is_torch_module
from fxlsp.source.models.models import model_classes
from fxlsp.source.python.expressions import dotted, first_of_chain
from fxlsp.source.python.python_tree import PythonTree

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
"""Modules of torch's of which one does what several do."""


def made_class(tree: PythonTree, expression: ast.expr) -> str | None:
    """The class whose instance an expression makes, if that is evidently a module class: its name."""
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
    """Whether an expression is evidently a module: made right here, or a local name for one."""
    if isinstance(expression, ast.IfExp):
        return makes_module(tree, expression.body) and makes_module(tree, expression.orelse)
    function = tree.function_of(expression)
    if isinstance(expression, ast.Name) and function is not None:
        value = only_value(function, expression.id)
        return value is not None and not isinstance(value, ast.Name) and makes_module(tree, value)
    return made_class(tree, expression) is not None


def makes_parameter(tree: PythonTree, expression: ast.expr) -> bool:
    """Whether an expression evidently makes a parameter."""
    if not isinstance(expression, ast.Call):
        return False
    return full_name(tree, expression.func) in ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


def is_stateless(tree: PythonTree, expression: ast.expr) -> bool:
    """Whether the module that an expression makes has no state."""
    call = first_of_chain(expression)
    full = full_name(tree, call.func) if isinstance(call, ast.Call) else None
    return full is not None and full.startswith("torch.nn.") and full.rpartition(".")[2] in _STATELESS

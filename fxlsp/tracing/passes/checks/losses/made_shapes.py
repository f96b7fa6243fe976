"""Sizes of the tensors that a file makes itself: ``torch.randn(64, 1)``, and what it computes of them.

The functions of torch are called on the device ``meta``, where a tensor is its shape alone. No code of the file runs.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch

from .file_names import FileNames
from .value_origins import Frame, origin_of

_MAKERS = frozenset(("randn", "rand", "zeros", "ones", "full", "empty", "arange", "linspace", "randint", "tensor"))
_FUNCTIONS = frozenset(
    (
        *("cat", "stack", "squeeze", "unsqueeze", "flatten", "reshape", "sum", "mean", "sin", "cos", "exp", "tanh"),
        *("sigmoid", "relu", "abs", "sqrt", "log", "square", "transpose", "permute", "matmul", "pow"),
    )
)
_METHODS = _FUNCTIONS - {"cat", "stack"} | {"view", "t", "long", "int", "bool", "repeat", "expand"}
_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
    ast.USub: operator.neg,
}
_WITHOUT_SHAPE = ("device", "generator", "pin_memory")
_MOST_STEPS = 60


class UnknownValueError(Exception):
    """The text does not state the value."""


class MadeShapes:
    """Evaluation of expressions to numbers, and to tensors without data."""

    def __init__(self, names: FileNames) -> None:
        self._names = names
        self._steps = 0

    def shape(self, expression: ast.expr, frame: Frame) -> tuple[int, ...] | None:
        """Return the shape of a tensor; None if the file does not make it, or not in a way that is known here."""
        self._steps = 0
        try:
            value = self._value(expression, frame)
        except Exception:
            # Also what torch raises of operands that do not fit, whose line has another problem.
            return None
        return tuple(value.shape) if isinstance(value, torch.Tensor) else None

    def _value(self, expression: ast.expr, frame: Frame) -> Any:
        self._steps += 1
        origin = origin_of(expression, frame, self._names)
        if origin is None or origin.has_other_arguments or self._steps > _MOST_STEPS:
            raise UnknownValueError
        frame = origin.frame
        match origin.node:
            case ast.Constant(value=value):
                return value
            case ast.Tuple(elts=items):
                return tuple(self._value(each, frame) for each in items)
            case ast.List(elts=items):
                return [self._value(each, frame) for each in items]
            case ast.UnaryOp(op=op, operand=operand):
                return _OPERATORS[type(op)](self._value(operand, frame))
            case ast.BinOp(left=left, op=op, right=right):
                return _operated(op, self._value(left, frame), self._value(right, frame))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return _operated(op, self._value(left, frame), self._value(right, frame))
            case ast.Subscript(value=value, slice=index):
                return self._value(value, frame)[self._index(index, frame)]
            case ast.Call() as call:
                return self._called(call, frame)
        raise UnknownValueError

    def _index(self, index: ast.expr, frame: Frame) -> Any:
        if isinstance(index, ast.Slice):
            parts = (index.lower, index.upper, index.step)
            return slice(*(None if each is None else self._value(each, frame) for each in parts))
        if isinstance(index, ast.Tuple):
            return tuple(self._index(each, frame) for each in index.elts)
        return self._value(index, frame)

    def _called(self, call: ast.Call, frame: Frame) -> Any:
        path = self._names.imported(call.func, frame.scope)
        outer, _, name = path.rpartition(".")
        given = {each.arg: each.value for each in call.keywords if each.arg not in _WITHOUT_SHAPE}
        if outer == "torch" and name in _MAKERS:
            arguments, named = self._arguments(call.args, given, frame)
            return getattr(torch, name)(*arguments, **named, device="meta")
        if outer == "torch" and name in _FUNCTIONS:
            arguments, named = self._arguments(call.args, given, frame)
            return getattr(torch, name)(*arguments, **named)
        if not path and isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            owner = self._value(call.func.value, frame)
            if isinstance(owner, torch.Tensor):
                arguments, named = self._arguments(call.args, given, frame)
                return getattr(owner, call.func.attr)(*arguments, **named)
        raise UnknownValueError

    def _arguments(
        self, values: list[ast.expr], named: Mapping[str | None, ast.expr], frame: Frame
    ) -> tuple[list[Any], dict[str, Any]]:
        by_name = {name: self._value_or_dtype(each, frame) for name, each in named.items() if name is not None}
        if len(by_name) != len(named):
            raise UnknownValueError
        return [self._value_or_dtype(each, frame) for each in values], by_name

    def _value_or_dtype(self, expression: ast.expr, frame: Frame) -> Any:
        outer, _, name = self._names.imported(expression, frame.scope).rpartition(".")
        # An attribute of torch that is not in its namespace may be imported by being asked for.
        named = vars(torch).get(name) if outer == "torch" else None
        return named if isinstance(named, torch.dtype) else self._value(expression, frame)


def _operated(operation: ast.AST, left: Any, right: Any) -> Any:
    """Return the result of an operation of tensors or numbers, whose size does not grow with the numbers."""
    is_known = isinstance(left, torch.Tensor) or (isinstance(left, (int, float)) and not isinstance(operation, ast.Pow))
    if not is_known or not isinstance(right, (torch.Tensor, int, float)):
        raise UnknownValueError
    return _OPERATORS[type(operation)](left, right)

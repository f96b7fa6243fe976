"""Fix for a layer whose input has another size: the number that fits, in its constructor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fxlsp.ide.fixes.fix import Fix, FixContext
from fxlsp.report.problems import FittingNumber

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Pow)
_POSITIONS = {"num_channels": 1, "in2_features": 1}
"""Positions of the arguments that are not the first ones."""


def layer_number_fixes(context: FixContext) -> Iterator[Fix]:
    """Yield the fix for a number that is written in the call which makes the layer: ``nn.Linear(512, 10)``.

    That the layer runs with it was proven by the trace. The layer may as well be right and its input wrong, so it is
    not the preferred fix.
    """
    if context.number is None:
        return
    number, tree = context.number.number, context.tree
    call = tree.node_at(context.number.span, ast.Call)
    if call is None or not tree.is_at(call, context.number.span) or _name(call.func) != number.layer:
        return
    argument = _argument(call, number)
    if argument is None or _value(argument) != number.value:
        return
    edit = context.edit(tree.start(argument), tree.end(argument), str(number.fitting))
    parent = tree.parent(call)
    targets = parent.targets if isinstance(parent, ast.Assign) else []
    named = len(targets) == 1 and isinstance(targets[0], ast.Attribute | ast.Name)
    what = ast.unparse(targets[0]) if named else f"this {number.layer}"
    yield Fix(f"Make {what} take {number.fitting} {number.unit}", (edit,))


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _argument(call: ast.Call, number: FittingNumber) -> ast.expr | None:
    """Return the argument of the call that is the number; None if it is not written there."""
    named = [each.value for each in call.keywords if each.arg == number.argument]
    if named:
        return named[0]
    position = _POSITIONS.get(number.argument, 0)
    before = call.args[: position + 1]
    return (
        before[position]
        if len(before) > position and not any(isinstance(each, ast.Starred) for each in before)
        else None
    )


def _value(expression: ast.expr) -> int | None:
    """Return the value of a number, or of a calculation with numbers: ``16 * 5 * 5``."""
    match expression:
        case ast.Constant(value=value) if type(value) is int:
            return value
        case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, _OPERATORS):
            first, second = _value(left), _value(right)
            return None if first is None or second is None else _calculated(first, operator, second)
        case ast.Tuple(elts=[one]) | ast.List(elts=[one]):
            return _value(one)
    return None


def _calculated(first: int, operator: ast.operator, second: int) -> int | None:
    match operator:
        case ast.Add():
            return first + second
        case ast.Sub():
            return first - second
        case ast.Mult():
            return first * second
        case ast.FloorDiv():
            return first // second if second else None
        case ast.Pow():
            return int(first**second) if 0 <= second <= 16 else None
    return None

"""Whether the model itself catches what torch.fx raises, and so continues."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...model.locations.bytecode.instructions import instruction_of, walk_out
from ...model.locations.source_map import SourceMap
from .caller_expression import UNRESOLVED, CallerExpression


def is_caught(error: BaseException, places: SourceMap) -> bool:
    """Return whether the running user code would catch ``error`` and not raise again."""
    for frame in walk_out(sys._getframe(1)):
        if places.is_shown(frame.f_code.co_filename) and any(
            isinstance(error, kinds) for kinds in _caught_in(places, frame)
        ):
            return True
    return False


def _caught_in(places: SourceMap, frame: FrameType) -> Iterator[Any]:
    """Yield the types caught by statements around the current instruction of a frame."""
    expression = CallerExpression(places, frame)
    for statement, inner in places.statements_around(instruction_of(frame)):
        if isinstance(statement, ast.Try) and inner in statement.body:
            for handler in statement.handlers:
                kinds = BaseException if handler.type is None else expression.resolved(handler.type)
                if kinds is not UNRESOLVED and not isinstance(handler.body[-1], ast.Raise):
                    yield kinds
        elif isinstance(statement, ast.With):
            for item in statement.items:
                yield from _suppressed(expression, item.context_expr)


def _suppressed(expression: CallerExpression, entered: ast.expr) -> Iterator[Any]:
    """Yield the arguments of ``contextlib.suppress(...)``; nothing for other contexts."""
    if isinstance(entered, ast.Call) and expression.resolved(entered.func) is contextlib.suppress:
        kinds = [expression.resolved(argument) for argument in entered.args]
        yield from (kind for kind in kinds if kind is not UNRESOLVED)

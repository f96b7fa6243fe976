"""Truth of a traced value; where it depends on data, the likely branch."""

from __future__ import annotations

import ast
from collections import Counter
from types import CodeType
from typing import Any

from .....report.codes import CONTROL_FLOW
from ....isolation.torch_private import FakeTensor
from ....model.capture.outputs import Unknown
from ....model.locations.bytecode.instructions import Instruction
from ..context import RecoveryContext

_MOST_EQUAL_ANSWERS = 256
"""Number of times after which a test is answered otherwise: a loop may test what a function returns."""


class BranchChoice:
    """Decides the branches of one pass."""

    def __init__(self, context: RecoveryContext) -> None:
        self._context = context
        self._asked: Counter[tuple[CodeType, int]] = Counter()

    def truth_of(self, value: Any, error: BaseException | None) -> bool:
        """Return the truth of a value; plain torch.fx's ``error`` is a finding."""
        known = self._known_truth(value)
        if known is not None:
            self._context.note(CONTROL_FLOW, error)
            return known
        self._context.needs_data = True
        instruction = self._context.running_instruction()
        places = self._context.places
        statement = None if instruction is None else places.statement_of(instruction)
        side = likely_side(None if instruction is None else places.syntax_of(instruction), statement)
        if instruction is not None and self._is_loop(instruction):
            side = not side
        why = "Its value is not known here" if isinstance(value, Unknown) else "Only data could tell"
        remark = f"{why}; what follows is shown as if it were {side}."
        self._context.note(CONTROL_FLOW, error, remark)
        return side

    def _is_loop(self, instruction: Instruction) -> bool:
        """Return whether a test has been answered so often that its other answer has to end a loop."""
        self._asked[instruction[:2]] += 1
        return self._asked[instruction[:2]] > _MOST_EQUAL_ANSWERS

    def _known_truth(self, value: Any) -> bool | None:
        if isinstance(value, Unknown):
            return None
        with self._context.evaluation():
            return None if isinstance(value, FakeTensor) and value.numel() == 1 else bool(value)


def likely_side(tested: ast.AST | None, statement: ast.AST | None) -> bool:
    """Return the truth of ``tested`` with which ``statement`` most likely continues.

    An ``assert`` holds, a ``while`` ends, and a branch that raises is not taken; else the condition is true.
    """
    wanted = _leading_truth(statement)
    if tested is None or statement is None:
        return wanted
    return wanted != _is_negated(getattr(statement, "test", statement), tested)


def _leading_truth(statement: ast.AST | None) -> bool:
    if isinstance(statement, ast.While):
        return False
    return not (isinstance(statement, ast.If) and _raises(statement.body))


def _raises(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _is_negated(test: ast.AST, tested: ast.AST) -> bool:
    """Return whether an odd number of ``not`` is between a test and a part of it."""
    if test is tested or _same_place(test, tested):
        return False
    for child in ast.iter_child_nodes(test):
        if any(part is tested or _same_place(part, tested) for part in ast.walk(child)):
            return _is_negated(child, tested) != (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    return False


def _same_place(one: ast.AST, other: ast.AST) -> bool:
    places = [
        (getattr(node, "lineno", None), getattr(node, "col_offset", None), getattr(node, "end_col_offset", None))
        for node in (one, other)
    ]
    return places[0] == places[1] and type(one) is type(other)

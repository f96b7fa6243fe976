"""Which side a branch takes when only data could tell: the one on which the program most likely goes on."""

from __future__ import annotations

import ast


def likely_side(asked: ast.AST | None, statement: ast.AST | None) -> bool:
    """The truth of the expression ``asked`` inside ``statement`` that leads on.

    An ``assert`` holds, a ``while`` ends, and a branch that raises is not taken; else the condition is true.
    """
    wanted = _wanted_test(statement)
    if asked is None or statement is None:
        return wanted
    return wanted != _is_negated(getattr(statement, "test", statement), asked)


def _wanted_test(statement: ast.AST | None) -> bool:
    if isinstance(statement, ast.While):
        return False
    return not (isinstance(statement, ast.If) and _raises(statement.body))


def _raises(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _is_negated(test: ast.AST, asked: ast.AST) -> bool:
    """Whether an odd number of ``not`` stands between a test and the part of it that is asked for."""
    if test is asked or _same_place(test, asked):
        return False
    for child in ast.iter_child_nodes(test):
        if any(part is asked or _same_place(part, asked) for part in ast.walk(child)):
            return _is_negated(child, asked) != (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    return False


def _same_place(one: ast.AST, other: ast.AST) -> bool:
    places = [
        (getattr(node, "lineno", None), getattr(node, "col_offset", None), getattr(node, "end_col_offset", None))
        for node in (one, other)
    ]
    return places[0] == places[1] and type(one) is type(other)

"""Conditions in the syntax of the user's code: which fail, which set an attribute, which decide that a line runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from types import CodeType

from .evidence import Line
from .priors.class_body import tree_of

_COUNTING = frozenset({"range", "enumerate", "zip", "reversed", "len"})
Condition = tuple[ast.expr, bool]
"""An expression, and whether it has to hold."""
_Way = tuple[Condition, ...]
CHECKS = frozenset({"_assert", "_check", "_check_value", "_check_index", "_check_type"})
"""Functions of torch's that act as an ``assert``."""
_REGISTERING = frozenset({"add_module", "register_buffer", "register_module", "register_parameter"})


@lru_cache(maxsize=32)
def failing_conditions(code: CodeType, line: int, unbound: str | None) -> tuple[Condition, ...]:
    """Return the conditions of the statement on ``line``, and whether each should hold.

    Or those under which a variable is bound, where it was read ``unbound``.
    Remembered, since many tries end at the same statement.
    """
    return tuple(_found_conditions(code, line, unbound))


def _found_conditions(code: CodeType, line: int, unbound: str | None) -> Iterator[Condition]:
    at = line - code.co_firstlineno + 1
    for node in ast.walk(tree_of(code)):
        if isinstance(node, ast.Assert) and _covers(node, at):
            yield node.test, True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _covers(node, at):
            called = ast.unparse(node.value.func).rpartition(".")[2]
            yield from ((test, True) for test in node.value.args[:1] if called in CHECKS)
        if isinstance(node, ast.If) and unbound is not None:
            if _binds(node.body, unbound):
                yield node.test, True
        elif isinstance(node, ast.If):
            if _raises(node.body, at):
                yield node.test, False
            elif _raises(node.orelse, at):
                yield node.test, True


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _binds(body: list[ast.stmt], name: str) -> bool:
    stored = (node for each in body for node in ast.walk(each) if isinstance(node, ast.Name))
    return any(node.id == name and isinstance(node.ctx, ast.Store) for node in stored)


def _raises(body: list[ast.stmt], line: int) -> bool:
    """Return whether the line is of a ``raise`` in it, behind ``elif`` too."""
    return any(
        _covers(node, line) if isinstance(node, ast.Raise) else isinstance(node, ast.If) and _raises(node.orelse, line)
        for node in body
    ) or any(isinstance(node, ast.If) and len(body) == 1 and _raises(node.body, line) for node in body)


@lru_cache(maxsize=32)
def setting_conditions(code: CodeType, name: str) -> tuple[Condition, ...]:
    """Return the conditions under which a constructor sets an attribute, if it has any.

    Remembered, since many tries may lack the same.
    """
    ways = list(_ways(tree_of(code).body, name, code.co_varnames[0], ()))
    return () if () in ways else tuple(dict.fromkeys(each for way in ways for each in way))


def _ways(body: list[ast.stmt], name: str, owner: str, way: _Way) -> Iterator[_Way]:
    """Yield what holds wherever a statement sets the attribute."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _ways(statement.body, name, owner, (*way, (statement.test, True)))
            yield from _ways(statement.orelse, name, owner, (*way, (statement.test, False)))
        elif isinstance(statement, (ast.FunctionDef, ast.For, ast.While, ast.With, ast.Try)):
            yield from _ways(statement.body, name, owner, way)
        elif any(_sets(node, name, owner) for node in ast.walk(statement)):
            yield way


def _sets(node: ast.AST, name: str, owner: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=whose), attr=what, ctx=ast.Store()):
            return whose == owner and what == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=whose), attr=method), args=[ast.Constant(value=what), *_]):
            return whose == owner and method in _REGISTERING and what == name
    return False


def deciding_names(frames: Sequence[Line]) -> set[str]:
    """Return the names in the conditions under which the failing lines run."""
    return {name for frame, line in frames for part in _decisive(frame.f_code, line) for name in _name(part)}


def names_that_may_be_none(frames: Sequence[Line]) -> set[str]:
    """Return the names that the conditions under which the failing lines run compare with None."""
    parts = (part for frame, line in frames for part in _decisive(frame.f_code, line))
    return {
        name for part in parts if isinstance(part, ast.Compare) and _is_with_none(part) for name in _name(part.left)
    }


@lru_cache(maxsize=32)
def follows_values(code: CodeType) -> bool:
    """Return whether a condition or loop of a function reads anything but attributes of its first parameter, and None.

    What runs there may then be decided by a size. So it may where the text is not known.
    """
    owner, tree = code.co_varnames[:1], tree_of(code)
    return not tree.body or any(not _is_of_owner(each, owner) for node in ast.walk(tree) for each in _deciding(node))


def decides_by_values(node: ast.AST, owner: tuple[str, ...], stored: Collection[str]) -> bool:
    """Return whether a condition reads anything but attributes of ``owner``, and None; loops are none.

    Nor attributes that are ``stored`` while the model runs.
    """
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            tests = [test]
        case ast.comprehension(ifs=ifs):
            tests = ifs
        case ast.BoolOp():
            tests = [node]
        case ast.Match():
            return True
        case _:
            return False
    parts = [part for each in tests for part in _parts_of_condition(each)]
    read = {each.attr for part in parts for each in ast.walk(part) if isinstance(each, ast.Attribute)}
    return not read.isdisjoint(stored) or any(not _is_of_owner(part, owner) for part in parts)


def _deciding(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what decides whether, or how often, a part of a statement or expression runs."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield from _parts_of_condition(test)
        case ast.For(iter=subject) | ast.comprehension(iter=subject) | ast.Match(subject=subject):
            yield subject


def _parts_of_condition(test: ast.expr) -> Iterator[ast.expr]:
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _parts_of_condition(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts_of_condition(operand)
        case ast.Compare() if _is_with_none(test):
            pass
        case _:
            yield test


def _is_of_owner(test: ast.expr, owner: tuple[str, ...]) -> bool:
    names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
    called = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
    is_counting = all(isinstance(each, ast.Name) and each.id in _COUNTING for each in called)
    return is_counting and all(name in owner or name in _COUNTING for name in names)


def _is_with_none(test: ast.Compare) -> bool:
    return any(isinstance(each, ast.Constant) and each.value is None for each in test.comparators)


@lru_cache(maxsize=32)
def _decisive(code: CodeType, line: int) -> tuple[ast.AST, ...]:
    """Return the conditions and their parts."""
    at = line - code.co_firstlineno + 1
    branches = (node for node in ast.walk(tree_of(code)) if isinstance(node, (ast.If, ast.IfExp)))
    tests = [node.test for node in branches if node.lineno <= at <= (node.end_lineno or at)]
    return tuple(part for test in tests for part in ast.walk(test))


def statements_before(code: CodeType, line: int) -> list[ast.stmt]:
    """Return the statements of a function's body up to the one of a line, with that one."""
    found = [each for each in tree_of(code).body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]
    body = found[0].body if len(found) == 1 else []
    at = line - code.co_firstlineno + 1
    return [each for each in body if each.lineno <= at]


def _name(part: ast.AST) -> Iterator[str]:
    match part:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name


def dimension_of(subject: ast.expr) -> tuple[ast.expr, int] | None:
    """Return the tensor and its dimension of which ``subject`` is the size."""
    match subject:
        case ast.Subscript(value=ast.Attribute(value=tensor, attr="shape"), slice=index):
            pass
        case ast.Subscript(value=ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[]), slice=index):
            pass
        case ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[index]):
            pass
        case _:
            return None
    try:
        number = ast.literal_eval(index)
    except ValueError:
        return None
    return (tensor, number) if isinstance(number, int) else None


def rank_tensor(subject: ast.expr) -> ast.expr | None:
    """Return the tensor of which ``subject`` is the rank."""
    match subject:
        case ast.Attribute(value=tensor, attr="ndim"):
            return tensor
        case ast.Call(func=ast.Attribute(value=tensor, attr="dim" | "ndimension"), args=[]):
            return tensor
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(value=tensor, attr="shape")]):
            return tensor
        case ast.Call(func=ast.Name(id="len"), args=[ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[])]):
            return tensor
    return None


@lru_cache(maxsize=32)
def starred_dimensions(code: CodeType, name: str) -> tuple[ast.expr, int] | None:
    """Return the tensor whose further dimensions a name holds, and how many other ones it has.

    ``b, *axes, d = x.shape`` has two others for ``axes``, and so has ``b, *axes, d, device = *x.shape, x.device``.
    """
    for node in ast.walk(tree_of(code)):
        match node:
            case ast.Assign(targets=[ast.Tuple(targets)], value=value):
                starred = [each.value for each in targets if isinstance(each, ast.Starred)]
                if not any(isinstance(each, ast.Name) and each.id == name for each in starred):
                    continue
                whole, beside = _one_unpacked(value)
                tensor = None if whole is None else rank_tensor(ast.Call(ast.Name("len"), [whole], []))
                if tensor is not None:
                    return tensor, len(targets) - 1 - beside
    return None


def _one_unpacked(value: ast.expr) -> tuple[ast.expr | None, int]:
    """Return what alone is unpacked into a tuple, and how many other items that has; ``value`` if it is no tuple."""
    if not isinstance(value, ast.Tuple):
        return value, 0
    unpacked = [each.value for each in value.elts if isinstance(each, ast.Starred)]
    return (unpacked[0], len(value.elts) - 1) if len(unpacked) == 1 else (None, 0)

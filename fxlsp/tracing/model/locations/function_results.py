"""What a function can return, by its text: a tuple, a list, or nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

FunctionDefinition = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_HARMLESS_DECORATORS = ("staticmethod", "classmethod", "no_grad", "inference_mode", "autocast", "override")
"""Decorators after which a function returns what its text says."""


@dataclass(frozen=True)
class FunctionResult:
    """Types that a function can return, as far as its text shows them."""

    definition: FunctionDefinition

    def can_be(self, kind: type) -> bool:
        """Return whether a call may return a value of a type: tuple, list or that of None."""
        if not self._is_known:
            return False
        return any(_type_of(each.value) is kind for each in self._returns) or (kind is type(None) and self._can_end)

    def is_always(self, kind: type) -> bool:
        """Return whether each call that returns does so with a value of a type."""
        if not self.can_be(kind) or not all(_type_of(each.value) is kind for each in self._returns):
            return False
        return kind is type(None) or not self._can_end

    @property
    def length(self) -> int | None:
        """How many items the tuple has that each call returns; None if that may differ, or is not known."""
        if not self.is_always(tuple):
            return None
        items = [each.value.elts for each in self._returns if isinstance(each.value, ast.Tuple)]
        if any(isinstance(item, ast.Starred) for each in items for item in each):
            return None
        lengths = set(map(len, items))
        return lengths.pop() if len(lengths) == 1 else None

    @property
    def is_stub(self) -> bool:
        """Whether the body does nothing, so that a subclass has to define it."""
        return all(
            isinstance(each, ast.Pass) or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            for each in self.definition.body
        )

    @property
    def _is_known(self) -> bool:
        decorators = (ast.unparse(each) for each in self.definition.decorator_list)
        names = (text.partition("(")[0].rpartition(".")[2] for text in decorators)
        is_generator = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in self._nodes)
        is_plain = isinstance(self.definition, ast.FunctionDef) and not is_generator
        return is_plain and all(name in _HARMLESS_DECORATORS for name in names)

    @property
    def _returns(self) -> list[ast.Return]:
        return [node for node in self._nodes if isinstance(node, ast.Return)]

    @property
    def _can_end(self) -> bool:
        return _can_end(self.definition.body)

    @property
    def _nodes(self) -> Iterator[ast.AST]:
        """Yield the syntax nodes of the body without those of functions inside it."""
        waiting: list[ast.AST] = list(self.definition.body)
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, _SCOPES):
                waiting.extend(ast.iter_child_nodes(node))


def _type_of(value: ast.expr | None) -> type | None:
    """Return the type of what a ``return`` returns; None if its text does not show that."""
    match value:
        case None | ast.Constant(value=None):
            return type(None)
        case ast.Tuple():
            return tuple
        case ast.List() | ast.ListComp():
            return list
    return None


def _can_end(body: list[ast.stmt]) -> bool:
    """Return whether the end of a block may be reached."""
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.While(test=ast.Constant(value=True)):
            return False
        case ast.If(body=inner, orelse=otherwise):
            return not otherwise or _can_end(inner) or _can_end(otherwise)
        case ast.With(body=inner):
            return _can_end(inner)
        case ast.Try(body=inner, handlers=handlers, orelse=otherwise, finalbody=last):
            ends = _can_end(otherwise or inner) or any(_can_end(each.body) for each in handlers)
            return ends and (not last or _can_end(last))
        case ast.Match(cases=cases):
            takes_all = any(isinstance(each.pattern, ast.MatchAs) and each.pattern.pattern is None for each in cases)
            return not takes_all or any(_can_end(each.body) for each in cases)
    return True


@dataclass(frozen=True)
class AssignedCalls:
    """Calls whose result a variable may hold at a statement, as far as that is certain."""

    calls: tuple[ast.Call, ...]
    is_all: bool
    """Whether, if it holds none of them, it is what it was when the function began."""


def calls_assigned(name: str, before: ast.stmt, function: FunctionDefinition) -> AssignedCalls:
    """Return the calls whose result a variable may hold at a statement, the last assigned first.

    In a loop that may be a statement behind it, in the round before.
    """
    found: list[ast.Call] = []
    for block, index, may_have_run in _blocks_around(before, function):
        rounds = [block[:index], block[index:]] if may_have_run else [block[:index]]
        for statements, is_certain in zip(rounds, (True, False), strict=False):
            for statement in reversed(statements):
                if not _is_assigned(name, statement):
                    continue
                call, is_only = _call_in(name, statement)
                found += [call] if call is not None else []
                if call is None or (is_certain and is_only):
                    return AssignedCalls(tuple(found), is_all=False)
                if is_only:
                    break
    return AssignedCalls(tuple(found), is_all=True)


def _call_in(name: str, statement: ast.stmt) -> tuple[ast.Call | None, bool]:
    """Return the call that a statement assigns to a variable last, and whether it does so in any case.

    A loop may run no round. None if it may assign something else.
    """
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call() as call) if target == name:
            return call, True
        case ast.For(body=body, orelse=[]) | ast.While(body=body, orelse=[]):
            last = next((each for each in reversed(body) if _is_assigned(name, each)), None)
            return (None, False) if last is None else (_call_in(name, last)[0], False)
    return None, False


def _is_assigned(name: str, around: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in ast.walk(around)
    )


def _blocks_around(statement: ast.stmt, function: FunctionDefinition) -> list[tuple[list[ast.stmt], int, bool]]:
    """Return the lists of statements that may have run before one, innermost first.

    With each the number of those that have run in any case, and whether the others may have run, too.
    """
    found: list[tuple[list[ast.stmt], int, bool]] = []
    outer: ast.AST | None = function
    while outer is not None and outer is not statement:
        inner: ast.AST | None = None
        for name, block in _blocks_of(outer):
            index = next((at for at, each in enumerate(block) if _contains(each, statement)), None)
            if index is None:
                continue
            found += _blocks_before(outer, name)
            found.append((block, index, name == "body" and isinstance(outer, (ast.For, ast.While))))
            inner = block[index]
        outer = inner
    return found[::-1]


def _blocks_of(node: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    for name in ("body", "orelse", "finalbody"):
        yield name, getattr(node, name, [])
    for name in ("handlers", "cases"):
        for each in getattr(node, name, []):
            yield name, each.body


def _blocks_before(node: ast.AST, name: str) -> list[tuple[list[ast.stmt], int, bool]]:
    """Return the other blocks of a statement that may have run before the one with a name, the last one last."""
    match node, name:
        case ast.Try(body=body), "orelse":
            return [(body, len(body), False)]
        case ast.Try(body=body), "handlers":
            return [(body, 0, True)]
        case ast.Try(body=body, handlers=handlers, orelse=otherwise), "finalbody":
            return [(block, 0, True) for block in (body, *(each.body for each in handlers), otherwise)]
        case ((ast.For(body=body) | ast.While(body=body)), "orelse"):
            return [(body, 0, True)]
    return []


def _contains(node: ast.AST, statement: ast.stmt) -> bool:
    return any(part is statement for part in ast.walk(node))

"""Branches of a function's text that a pass did not enter."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from ....model.capture.tracer import ModulePathTracer, forward_code
from .executed_functions import UNRESOLVED, ExecutedFunction, ExecutedFunctions, function_key

_PLAIN = (bool, int, float, str, type(None))
_REPEATED = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ASKING = frozenset({"isinstance", "len", "callable", "hasattr", "getattr"})
"""Functions of a test that read nothing but their arguments."""


class _Step(NamedTuple):
    """Where a syntax node is in its parent."""

    parent: ast.AST
    field: str
    number: int
    """In the field, if that is a list; else 0."""

    @property
    def siblings(self) -> list[ast.AST]:
        found = getattr(self.parent, self.field)
        return found if isinstance(found, list) else [found]


class SkippedBranches:
    """What of the functions of a pass did not run, as far as their text shows it."""

    def __init__(self, executed: ExecutedFunctions, tracer: ModulePathTracer, changed: Collection[str]) -> None:
        """``changed`` names the attributes and globals that the pass set: what a test makes of them is not known."""
        self._executed = executed
        self._tracer = tracer
        self._changed = changed

    def skips(self, function: ExecutedFunction, node: ast.AST) -> bool:
        """Return whether ``node`` is in a branch that its test excludes: ``if self.use_cache`` where that is False."""
        modules: list[torch.nn.Module | None] = [*function.modules.values()] or [None]
        steps = _steps_to(function.definition, node)
        return all(any(self._excludes(function, step, module) for step in steps) for module in modules)

    def are_exclusive(self, function: ExecutedFunction, one: ast.AST, other: ast.AST) -> bool:
        """Return whether at most one of two nodes of a function runs.

        They are in different branches of one statement, or ``one`` is in a branch that ends with ``return`` or
        ``raise``, and ``other`` follows that statement. What the branch depends on did not change.
        """
        steps = _steps_to(function.definition, one)
        for index, (step, against) in enumerate(zip(steps, _steps_to(function.definition, other), strict=False)):
            if step != against:
                is_apart = self._is_apart(function, steps[index:], against)
                return is_apart and not any(map(_is_repeated, steps[1:index])) and self._runs_once(function, set())
        return False

    def _is_apart(self, function: ExecutedFunction, steps: Sequence[_Step], against: _Step) -> bool:
        step = steps[0]
        if isinstance(step.parent, (ast.If, ast.IfExp)) and {step.field, against.field} == {"body", "orelse"}:
            return not self._may_change(function, step.parent.test)
        if isinstance(step.parent, ast.Match) and (step.field, against.field) == ("cases", "cases"):
            guards = [case.guard for case in step.parent.cases if case.guard is not None]
            return not any(self._may_change(function, test) for test in (step.parent.subject, *guards))
        if step.field != against.field or step.number > against.number:
            return False
        for inner in steps[1:]:
            if isinstance(inner.parent, ast.If) and inner.field != "test" and _leaves(inner.siblings):
                return not self._may_change(function, inner.parent.test)
            if not isinstance(inner.parent, (ast.If, ast.With)):
                break
        return False

    def _excludes(self, function: ExecutedFunction, step: _Step, module: torch.nn.Module | None) -> bool:
        """Return whether what is at a step is left out: by the test above it, or since the function has ended."""
        parent = step.parent
        if isinstance(parent, (ast.If, ast.IfExp)) and step.field in ("body", "orelse"):
            return self._truth(function, parent.test, module) is (step.field == "orelse")
        earlier = step.siblings[: step.number]
        if isinstance(parent, ast.BoolOp):
            ending = isinstance(parent.op, ast.Or)
            return any(
                self._truth(function, value, module) is ending for value in earlier if isinstance(value, ast.expr)
            )
        return any(
            isinstance(statement, ast.If)
            and (truth := self._truth(function, statement.test, module)) is not None
            and _leaves(statement.body if truth else statement.orelse)
            for statement in earlier
        )

    def _truth(self, function: ExecutedFunction, test: ast.expr, module: torch.nn.Module | None) -> bool | None:
        """Return what a test was; None if that is known only by running it."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                negated = self._truth(function, operand, module)
                return None if negated is None else not negated
            case ast.BoolOp(op=operator, values=values):
                ending = isinstance(operator, ast.Or)
                found = [self._truth(function, each, module) for each in values]
                if ending in found:
                    return ending
                return None if None in found else not ending
            case ast.Compare(
                left=left, ops=[ast.Is() | ast.IsNot() as comparison], comparators=[ast.Constant(value=None)]
            ):
                compared = self._value(function, left, module)
                return None if compared is UNRESOLVED else (compared is None) is isinstance(comparison, ast.Is)
        value = self._value(function, test, module)
        return bool(value) if isinstance(value, _PLAIN) else None

    def _value(self, function: ExecutedFunction, expression: ast.expr, module: torch.nn.Module | None) -> object:
        if isinstance(expression, ast.Constant):
            return expression.value
        if not isinstance(expression, (ast.Name, ast.Attribute)) or self._mentions_changed(expression):
            return UNRESOLVED
        return function.resolve(expression, module)

    def _may_change(self, function: ExecutedFunction, test: ast.AST) -> bool:
        """Return whether a test may depend on what the pass changed."""
        calls = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
        return self._mentions_changed(test) or any(self._is_of_user(function, called) for called in calls)

    def _is_of_user(self, function: ExecutedFunction, called: ast.expr) -> bool:
        match called:
            case ast.Name(id=name):
                return name not in _ASKING
            case ast.Attribute(value=ast.Name(id=name)):
                return name == function.self_name
        return False

    def _mentions_changed(self, expression: ast.AST) -> bool:
        return any(name in self._changed for node in ast.walk(expression) for name in _names_in(node))

    def _runs_once(self, function: ExecutedFunction, callers: set[int]) -> bool:
        """Return whether a function runs at most once, for each module whose method it is."""
        if id(function) in callers:
            return False
        forwards = {id(module): forward_code(module) for module in function.modules.values()}
        if any(code is not None and function_key(code) == function.key for code in forwards.values()):
            counts = [sum(id(call.module) == each for call in self._tracer.calls) for each in forwards]
            return len(forwards) == 1 and counts[0] <= 1
        mentions = [
            (caller, node)
            for caller in self._executed.reachable
            for kind in (ast.Name, ast.Attribute)
            for node in caller.parts(kind)
            if function.code.co_name in _names_in(node)
        ]
        if len(mentions) != 1:
            return False
        ((caller, node),) = mentions
        is_repeated = any(map(_is_repeated, _steps_to(caller.definition, node)[1:]))
        return not is_repeated and self._runs_once(caller, callers | {id(function)})


def _steps_to(definition: ast.AST, node: ast.AST) -> list[_Step]:
    """Return the way from a definition to a node in it, outermost first; empty if it is not in it."""
    for step, child in _children(definition):
        if child is node:
            return [step]
        inner = _steps_to(child, node) if _contains_line(child, node) else []
        if inner:
            return [step, *inner]
    return []


def _contains_line(outer: ast.AST, node: ast.AST) -> bool:
    first, last, line = (getattr(*each, None) for each in ((outer, "lineno"), (outer, "end_lineno"), (node, "lineno")))
    return first is None or last is None or line is None or first <= line <= last


def _children(node: ast.AST) -> Iterator[tuple[_Step, ast.AST]]:
    for field, value in ast.iter_fields(node):
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST):
                yield _Step(node, field, index), child


def _is_repeated(step: _Step) -> bool:
    return isinstance(step.parent, (*_REPEATED, *_COMPREHENSIONS)) and not (
        isinstance(step.parent, (ast.For, ast.AsyncFor)) and step.field in ("iter", "orelse")
    )


def _leaves(body: Sequence[Any]) -> bool:
    """Return whether the function ends with a body."""
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise))


def _names_in(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a node itself reads: of a variable, an attribute, or as a text for ``getattr``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str() as name):
            return (name,)
    return ()

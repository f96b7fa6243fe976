"""A ``forward`` that returns nothing, or a module instead of the module's result (FX603)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import MethodType

import torch

from .....report.codes import NOTHING_RETURNED
from .....report.locations import RelatedPlace
from .....report.problems import Problem
from ....model import module_tree
from ....model.building.forward_entry import has_forward
from ....model.locations.class_text import code_of
from ..base.check import Check
from ..base.executed_functions import ExecutedFunction, function_key
from ..base.pass_result import PassResult
from .effects import may_have_effects


class ForwardResults(Check):
    """Check of the text of each ``forward`` that ran.

    A ``forward`` may run for its effects alone, which hooks and assigned attributes are: those are not reported.
    """

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for function, path in _forwards(traced):
            for making in _makers_of_result(function, traced):
                yield from _modules_returned(making, path, traced)
                if making.offsets and not _has_hooks(traced.root):
                    yield from _nothing_returned(making, path, traced)


def _forwards(traced: PassResult) -> Iterator[tuple[ExecutedFunction, str]]:
    """Yield each ``forward`` that ran, with the path of a module whose method it is."""
    for function in traced.executed.functions:
        if function.module is not None and function.definition.name == "forward":
            yield function, next(path for path, each in function.modules.items() if each is function.module)


def _has_hooks(root: torch.nn.Module) -> bool:
    return any(module._forward_hooks or module._forward_pre_hooks for module in module_tree.modules(root))


def _makers_of_result(forward: ExecutedFunction, traced: PassResult) -> list[ExecutedFunction]:
    """Return a ``forward`` and the methods of its module whose result it returns: ``return self._forward(x)``."""
    found = [forward]
    for function in found:
        for statement in function.parts(ast.Return):
            for part in _returned(statement.value):
                code = code_of(function.resolve(part.func)) if isinstance(part, ast.Call) else None
                if code is not None and isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                    # A method that only returns a module makes no node.
                    methods = [each for each in traced.executed.reachable if each.key == function_key(code)]
                    found += [each for each in methods if each.module is forward.module and each not in found]
    return found


def _modules_returned(function: ExecutedFunction, path: str, traced: PassResult) -> Iterator[Problem]:
    """Yield the modules and methods among the values of ``return``: ``return self.head``."""
    arguments = function.definition.args
    takes_input = len([*arguments.posonlyargs, *arguments.args]) > 1 or arguments.vararg is not None
    for statement in function.parts(ast.Return) if takes_input else ():
        for returned in _returned(statement.value):
            part = returned
            if isinstance(returned, ast.Name):
                part = _assigned_last(returned.id, statement, function.definition.body) or returned
            value = function.resolve(part) if isinstance(part, (ast.Attribute, ast.Subscript)) else None
            is_module = isinstance(value, torch.nn.Module) and has_forward(value)
            if is_module or (isinstance(value, MethodType) and isinstance(value.__self__, torch.nn.Module)):
                text = ast.unparse(part)
                yield traced.problem(
                    NOTHING_RETURNED,
                    f"forward returns the {'module' if is_module else 'method'} {text} instead of its result:"
                    f" {text}(...) was meant?",
                    traced.executed.location(function, part),
                    path,
                )


def _assigned_last(name: str, before: ast.stmt, body: list[ast.stmt]) -> ast.expr | None:
    """Return the expression that a variable was certainly assigned last before a statement.

    None if that is not known: a branch or loop may have assigned it, or several variables at once.
    """
    block = _block_of(before, body)
    for statement in reversed(block[: block.index(before)] if before in block else ()):
        if any(isinstance(node, ast.Name) and node.id == name and _is_stored(node) for node in ast.walk(statement)):
            match statement:
                case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(value=ast.expr() as value):
                    return value
            return None
    return None


def _is_stored(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _block_of(statement: ast.stmt, body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the list of statements that holds a statement; empty if none does."""
    if statement in body:
        return body
    for outer in body:
        for field in ("body", "orelse", "finalbody"):
            found = _block_of(statement, getattr(outer, field, []))
            if found:
                return found
    return []


def _returned(value: ast.expr | None) -> Iterator[ast.expr]:
    match value:
        case ast.Tuple(elts=values) | ast.List(elts=values):
            for each in values:
                yield from _returned(each)
        case ast.Dict(values=values):
            for each in values:
                yield from _returned(each)
        case ast.IfExp(body=one, orelse=other):
            yield from _returned(one)
            yield from _returned(other)
        case ast.expr():
            yield value


def _nothing_returned(function: ExecutedFunction, path: str, traced: PassResult) -> Iterator[Problem]:
    last = _last_statement(function.definition.body)
    if last is None or may_have_effects(function, path, traced):
        return
    can = any(each.value for each in function.parts(ast.Return))
    ends = f"{function.definition.name} {'can end' if can else 'ends'}"
    place = traced.places.of_definition(function.code)
    yield traced.problem(
        NOTHING_RETURNED,
        f"{ends} without returning anything, so its caller gets None: what it computes is lost.",
        place,
        path,
        (RelatedPlace("this is computed last", traced.executed.location(function, last)),),
    )


def _last_statement(body: list[ast.stmt]) -> ast.stmt | None:
    """Return the statement after which a function ends without ``return``, if it computes something."""
    match body[-1]:
        case ast.For(body=inner, orelse=[]) | ast.While(body=inner, orelse=[]) as loop:
            # Such a loop may be one that only ``return`` ends.
            return None if any(isinstance(node, ast.Return) for node in ast.walk(loop)) else _last_statement(inner)
        case ast.If(body=inner, orelse=[]) | ast.With(body=inner):
            return _last_statement(inner)
        case ast.If(body=inner, orelse=otherwise):
            return _last_statement(otherwise) or _last_statement(inner)
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign(value=ast.expr()) as last:
            return None if _is_discarded(last) else last
        case ast.Expr(value=ast.Call() | ast.Name() | ast.BinOp() | ast.Tuple()) as last:
            return last
    return None


def _is_discarded(last: ast.stmt) -> bool:
    """Return whether the last value is named ``_``, as one that nothing needs."""
    targets = last.targets if isinstance(last, ast.Assign) else ()
    return any(isinstance(target, ast.Name) and target.id.startswith("_") for target in targets)

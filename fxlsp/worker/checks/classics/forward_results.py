"""A ``forward`` that returns nothing, or a module instead of the module's result (FX603)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch

from ....report.codes import NOTHING_RETURNED
from ....report.locations import RelatedPlace
from ....report.problems import Problem
from ... import module_tree
from ...building.forward_entry import has_forward
from ..base.check import Check
from ..base.executed_functions import ExecutedFunction
from ..base.pass_result import PassResult
from .effects import may_have_effects


class ForwardResults(Check):
    """Check of the text of each ``forward`` that ran.

    A ``forward`` may run for its effects alone, which hooks and assigned attributes are: those are not reported.
    """

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for function in traced.executed.functions:
            module = function.module
            if module is None or function.definition.name != "forward":
                continue
            path = next(path for path, each in function.modules.items() if each is module)
            yield from _modules_returned(function, path, traced)
            if function.offsets and not _has_hooks(traced.root):
                yield from _nothing_returned(function, path, traced)


def _has_hooks(root: torch.nn.Module) -> bool:
    return any(module._forward_hooks or module._forward_pre_hooks for module in module_tree.modules(root))


def _modules_returned(function: ExecutedFunction, path: str, traced: PassResult) -> Iterator[Problem]:
    """Yield the modules among the values of ``return``: ``return self.head``."""
    arguments = function.definition.args
    takes_input = len([*arguments.posonlyargs, *arguments.args]) > 1 or arguments.vararg is not None
    for statement in function.parts(ast.Return) if takes_input else ():
        for part in _returned(statement.value):
            module = function.resolve(part)
            if (
                isinstance(module, torch.nn.Module)
                and isinstance(part, (ast.Attribute, ast.Subscript))
                and has_forward(module)
            ):
                text = ast.unparse(part)
                yield traced.problem(
                    NOTHING_RETURNED,
                    f"forward returns the module {text} instead of its result: {text}(...) was meant?",
                    traced.executed.location(function, part),
                    path,
                )


def _returned(value: ast.expr | None) -> Iterator[ast.expr]:
    match value:
        case ast.Tuple(elts=values) | ast.List(elts=values):
            for each in values:
                yield from _returned(each)
        case ast.Dict(values=values):
            for each in values:
                yield from _returned(each)
        case ast.expr():
            yield value


def _nothing_returned(function: ExecutedFunction, path: str, traced: PassResult) -> Iterator[Problem]:
    last = _last_statement(function.definition.body)
    if last is None or may_have_effects(function, path, traced):
        return
    ends = "forward can end" if any(each.value for each in function.parts(ast.Return)) else "forward ends"
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

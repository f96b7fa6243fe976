"""Whether the time that was asked for while tracing has a part in the graph, or is only measured and logged."""

from __future__ import annotations

import ast

import torch.fx

from ...locations.expressions import span_of
from ...locations.source_map import Instruction
from ..base.call_recorder import Call
from ..base.executed_functions import Function
from ..base.pass_result import Traced


def reaches_graph(traced: Traced, call: Call) -> bool:
    """Whether the result of ``call`` is an argument of a node, is computed with one, or decides a branch."""
    if any(_holds(node, call.result) for node in traced.tracer.graph.nodes):
        return True
    for instruction in reversed(call.call_stack):
        function = traced.executed.of_code(instruction.code)
        if function is not None:
            return _is_used(traced, function, instruction)
    return False


def _holds(node: torch.fx.Node, result: object) -> bool:
    found: list[object] = []
    torch.fx.node.map_aggregate((node.args, node.kwargs), found.append)
    return any(type(value) is type(result) and value == result for value in found)


def _is_used(traced: Traced, function: Function, instruction: Instruction) -> bool:
    place = traced.places.locate(instruction.code, instruction.offset)
    asked = [call for call in function.parts(ast.Call) if traced.executed.location(function, call) == place]
    if not asked:
        return False
    tainted = _Tainted(function, asked[0])
    tests = [branch.test for branch in function.parts(ast.If)]
    tests += [loop.test for loop in function.parts(ast.While)]
    tests += [choice.test for choice in function.parts(ast.IfExp)]
    if any(tainted.is_in(test) for test in tests):
        return True
    operations = {
        traced.places.locate(last.code, last.offset)
        for origin in traced.tracer.origins.values()
        if origin.call_stack and (last := origin.call_stack[-1]).code is function.code
    }
    parts = (*function.parts(ast.BinOp), *function.parts(ast.Call), *function.parts(ast.AugAssign))
    return any(tainted.is_in(part) and traced.executed.location(function, part) in operations for part in parts)


class _Tainted:
    """The expressions of a function that are computed from one of its calls, by way of local names."""

    def __init__(self, function: Function, call: ast.Call) -> None:
        self._call = span_of(call)
        self._names: set[str] = set()
        for assignment in function.parts(ast.Assign):
            if self.is_in(assignment.value):
                self._names |= {target.id for target in assignment.targets if isinstance(target, ast.Name)}

    def is_in(self, part: ast.AST) -> bool:
        return any(
            (isinstance(node, ast.Name) and node.id in self._names and isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.Call) and span_of(node) == self._call)
            for node in ast.walk(part)
        )

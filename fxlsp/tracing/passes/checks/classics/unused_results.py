"""Operations whose results nothing uses (FX608): ``x + y`` and ``x.unsqueeze(0)`` as statements.

Only operations of torch that certainly change none of their operands, no running statistics and nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

import torch
import torch.fx

from .....report.codes import RESULT_UNUSED
from .....report.locations import Location
from .....report.problems import Problem
from ....model import module_tree
from ..base.check import Check
from ..base.executed_functions import ExecutedFunction
from ..base.pass_result import PassResult

_METHODS_WITH_EFFECT = frozenset(
    {"backward", "register_hook", "retain_grad", "record_stream", "item", "size", "dim", "numel", "tolist"}
)
"""Methods without a trailing underscore that change something, or whose result may only be looked at."""
_FUNCTIONS_WITH_EFFECT = frozenset({"batch_norm", "instance_norm", "setitem", "delitem"})
_OPERATOR_MODULES = ("_operator", "operator")
_LONGEST = 60


class UnusedResults(Check):
    """Check of the finished graph: the nodes of a statement that is an expression have no users."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        modules = dict(module_tree.named_modules(traced.root, remove_duplicate=False))
        made = _nodes_by_place(traced)
        for function in traced.executed.functions:
            for statement in function.parts(ast.Expr):
                value = statement.value
                if not isinstance(value, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)):
                    continue
                if statement is function.definition.body[-1] and not _returns_value(function):
                    # A ``return`` is missing before it, which FX603 reports.
                    continue
                place = traced.executed.location(function, value)
                nodes = made.get(place, [])
                if nodes and not nodes[-1].users and not any(_has_effect(node, modules) for node in nodes):
                    path = traced.tracer.origins[nodes[-1]].module_path
                    yield traced.problem(RESULT_UNUSED, _message(value), place, path)


def _returns_value(function: ExecutedFunction) -> bool:
    return any(each.value is not None for each in function.parts(ast.Return))


def _nodes_by_place(traced: PassResult) -> dict[Location, list[torch.fx.Node]]:
    made: dict[Location, list[torch.fx.Node]] = {}
    for node in traced.tracer.graph.nodes:
        if not node.op.startswith("call"):
            continue
        place = traced.problem_location(traced.tracer.origins[node].call_stack)
        if place is not None:
            made.setdefault(place, []).append(node)
    return made


def _message(value: ast.expr) -> str:
    text = ast.unparse(value)
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return (
        f"The result of {shown} is not used: it is a new value, and what it is computed from stays as it was. "
        f"Without the statement the model computes the same."
    )


def _has_effect(node: torch.fx.Node, modules: Mapping[str, torch.nn.Module]) -> bool:
    """Return whether running a node may change something besides making its result."""
    if node.op == "call_module":
        return _module_has_effect(modules.get(str(node.target)))
    is_in_place = node.kwargs.get("inplace") is True or any(value is True for value in node.args)
    if is_in_place or node.kwargs.get("out") is not None:
        return True
    if node.op == "call_method":
        name = str(node.target)
        return name.endswith("_") or name in _METHODS_WITH_EFFECT
    return _function_has_effect(node.target)


def _function_has_effect(function: object) -> bool:
    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", None) or ""
    if module in _OPERATOR_MODULES:
        return name in _FUNCTIONS_WITH_EFFECT or f"__{name}__" in _AUGMENTED
    # Functions of torch that are made by C have no module.
    is_of_torch = module.startswith("torch") or getattr(torch, name, None) is function
    return not is_of_torch or name.startswith("_") or name.endswith("_") or name in _FUNCTIONS_WITH_EFFECT


_AUGMENTED = frozenset(
    f"__i{name}__"
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
        "matmul",
    )
)


def _module_has_effect(module: torch.nn.Module | None) -> bool:
    if module is None or not type(module).__module__.startswith("torch.nn."):
        return True
    hooks = (*module._forward_hooks, *module._forward_pre_hooks)
    has_statistics = next(module_tree.buffers(module), None) is not None
    return bool(hooks) or has_statistics or bool(getattr(module, "inplace", False))

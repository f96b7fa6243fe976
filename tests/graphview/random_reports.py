"""Random reports from a seed, with interrupted calls and boxes in cycles."""

from __future__ import annotations

import random

from fxlsp.report.graph import ModuleCall, Node, Opcode, Verdict
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Environment, Report

_PATHS = ("", "a", "a.0", "a.1", "a.1.x", "b", "b.c", "b.c.d")
_OPS: tuple[Opcode, ...] = ("call_function", "call_module", "call_method", "get_attr")


def random_report(seed: int, count: int) -> Report:
    """Return a report of ``count`` nodes."""
    chance = random.Random(seed)
    nodes = tuple(_node(chance, number) for number in range(count))
    calls = (_call("", 0, count), *(call for path in _PATHS[1:] for call in _calls(chance, path, count)))
    recipe = Recipe("Net()", "", "option")
    environment = Environment("3.11", "2.15")
    return Report("net.py:Net", environment, recipe, "train", Verdict(True), True, 0, nodes, (), calls, (), {})


def _node(chance: random.Random, number: int) -> Node:
    path, op = chance.choice(_PATHS), chance.choice(_OPS)
    if op == "call_module":
        path = f"{path}.leaf".lstrip(".")
    before = {chance.randrange(number) for _ in range(chance.randrange(4))} if number else set()
    inputs = tuple(f"n{each}" for each in sorted(before))
    return Node(f"n{number}", op, "f", path, path, None, None, (), None, (), 0, 0, input_nodes=inputs)


def _calls(chance: random.Random, path: str, count: int) -> list[ModuleCall]:
    """Return some calls of one module, one after the other."""
    bounds = sorted(chance.sample(range(count + 1), 2 * min(chance.randrange(4), (count + 1) // 2)))
    return [_call(path, first, end) for first, end in zip(bounds[::2], bounds[1::2], strict=True)]


def _call(path: str, first: int, end: int) -> ModuleCall:
    return ModuleCall(path, path, "Part", False, None, None, (), None, 0, 0, first, end)

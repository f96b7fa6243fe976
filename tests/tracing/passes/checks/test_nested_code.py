"""Names in comprehensions, lambdas and nested functions of a method are those of its text."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

from fxlsp.report.problems import Problem
from fxlsp.tracing.passes.checks.base.executed_functions import UNRESOLVED, ExecutedFunction
from tests.support.marked import PREAMBLE

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x):
        {body}
"""
OF_MODE = {
    "a comprehension": "return sum([b(x) for i, b in enumerate(self.blocks) if i == 0 or not self.training])",
    "a generator": "return sum(b(x) for i, b in enumerate(self.blocks) if i == 0 or not self.training)",
    "a lambda": "run = lambda: self.blocks[0](x) if self.training else self.blocks[1](x)\n        return run()",
}
NESTED = {
    "a comprehension": "return [block.training for block in blocks]",
    "a comprehension in another": "return [[block.training for block in each] for each in blocks]",
    "a generator": "return sum(block.training for block in blocks)",
    "a lambda": "return lambda block: block.training",
    "a nested function": "def run(block):\n        return block.training\n    return run",
    "a function in a nested one": "def run():\n        return lambda block: block.training\n    return run",
}


@pytest.mark.parametrize("name", OF_MODE)
def test_a_layer_that_the_other_mode_calls_is_not_unused(name: str, worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(PREAMBLE + NET.replace("{body}", OF_MODE[name])) + ":Net", "Net()", "torch.ones(2, 4)")
    found: list[Problem] = [each for each in report.problems if each.code.startswith("FX5")]
    assert not found


@pytest.mark.parametrize("name", NESTED)
def test_nested_code_is_part_of_a_function(name: str) -> None:
    function = _executed(f"def outer(blocks):\n    {NESTED[name]}\n")
    assert function.mentions("training")
    # A global of the same name is something else.
    assert function.resolve(ast.Name("block")) is UNRESOLVED
    assert function.resolve(ast.Name("other")) == "a global"


def test_a_variable_of_the_function_around_is_no_global() -> None:
    text = "def around(block):\n    def outer():\n        return block\n    return outer\n"
    function = _executed(text, "around(1)")
    assert function.resolve(ast.Name("block")) is UNRESOLVED
    assert function.resolve(ast.Name("other")) == "a global"


def _executed(text: str, of: str = "outer") -> ExecutedFunction:
    scope: dict[str, Any] = {"block": "a global", "other": "a global"}
    exec(compile(textwrap.dedent(text), "<test>", "exec"), scope)
    made = eval(of, scope)
    assert isinstance(made, FunctionType)
    definition = next(
        each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef) and each.name == "outer"
    )
    return ExecutedFunction(made.__code__, definition, scope)

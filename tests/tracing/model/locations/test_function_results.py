"""Which calls a variable may hold the result of at a statement."""

from __future__ import annotations

import ast
import textwrap

import pytest

from fxlsp.tracing.model.locations.function_results import calls_assigned

CERTAIN = {
    "the last assignment": ("x = f()\nx = g()\nuse(x)", "g"),
    "before a branch": ("x = f()\nif y:\n    use(x)", "f"),
    "behind a try": ("try:\n    x = f()\nexcept E:\n    pass\nelse:\n    use(x)", "f"),
}
OPEN = {
    "a loop that may run no round": ("x = f()\nfor y in z:\n    x = g()\nuse(x)", ["g", "f"]),
    "a handler, and the block before it": ("x = f()\ntry:\n    x = g()\nexcept E:\n    use(x)", ["g", "f"]),
    "a last block, and all before it": (
        "x = f()\ntry:\n    x = g()\nexcept E:\n    x = h()\nfinally:\n    use(x)",
        ["h", "g", "f"],
    ),
    "behind the rounds of a loop": ("x = f()\nwhile y:\n    x = g()\nelse:\n    use(x)", ["g", "f"]),
}
UNKNOWN = {
    "a handler behind a block that assigns anything": "x = f()\ntry:\n    x = 1\nexcept E:\n    use(x)",
    "a case that assigns anything": "x = f()\nmatch y:\n    case 1:\n        x = 1\n        use(x)",
}


def assigned(body: str) -> tuple[list[str], bool]:
    function = ast.parse("def forward(self, x, y, z):\n" + textwrap.indent(body, "    ")).body[0]
    assert isinstance(function, ast.FunctionDef)
    use = next(node for node in ast.walk(function) if isinstance(node, ast.Expr) and "use" in ast.unparse(node))
    found = calls_assigned("x", use, function)
    return [ast.unparse(call.func) for call in found.calls], found.is_all


@pytest.mark.parametrize("name", CERTAIN)
def test_an_assignment_that_has_run_in_any_case_is_the_only_one(name: str) -> None:
    body, expected = CERTAIN[name]
    assert assigned(body) == ([expected], False)


@pytest.mark.parametrize("name", OPEN)
def test_assignments_that_may_have_run_come_before_the_one_that_has(name: str) -> None:
    body, expected = OPEN[name]
    assert assigned(body) == (expected, False)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_assigned_by_no_call_leaves_nothing_certain(name: str) -> None:
    assert assigned(UNKNOWN[name]) == ([], False)

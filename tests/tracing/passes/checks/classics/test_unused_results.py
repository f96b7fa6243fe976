"""Statements whose results nothing uses are reported, those that change something are not."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x

    @staticmethod
    def backward(ctx, g):
        return g, None


class Writes(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, g):
        return g


@torch.fx.wrap
def logged(x):
    return x


def helper(x):
    return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.drop, self.norm = nn.Linear(4, 4), nn.Dropout(), nn.BatchNorm1d(4)
        self.relu, self.relu_in_place = nn.ReLU(), nn.ReLU(inplace=True)
        self.table = nn.Parameter(torch.ones(2, 4))
        self.seen = []

    def note(self, x):
        self.seen.append(1)
        return x

    def forward(self, x):
        x = self.a(x)
        {body}
        return x
"""
WRONG = {
    "an operator": "⟦x + self.table⟧",
    "a negation": "⟦-x⟧",
    "a comparison for an assignment": "⟦x == x * 2⟧",
    "a method": "⟦x.unsqueeze(0)⟧",
    "a method with keywords": "⟦x.transpose(dim0=0, dim1=1)⟧",
    "a conversion": "⟦x.to(torch.float64)⟧",
    "a function": "⟦torch.relu(x)⟧",
    "a functional": "⟦F.dropout(x, 0.5)⟧",
    "a module": "⟦self.drop(x)⟧",
    "a module whose result was meant to be in place": "⟦self.relu(x)⟧",
    "several operators": "⟦x * 2 + self.table⟧",
    "a chain": "⟦x.flatten(1).relu()⟧",
    "a function behind autograd": "⟦Straight.apply(x, x)⟧",
    "in a loop": "for _ in range(1):\n            ⟦x + 1⟧",
}
RIGHT = {
    "an assignment": "x = x + self.table",
    "a method in place": "x.add_(1)",
    "a chain that ends in place": "x.view(-1).add_(1)",
    "an augmented assignment": "x += 1",
    "a functional in place": "F.relu(x, inplace=True)",
    "a functional in place by position": "F.relu(x, True)",
    "a result that is written elsewhere": "torch.add(x, 1, out=x)",
    "a module in place": "self.relu_in_place(x)",
    "a module with statistics": "self.norm(x)",
    "a wrapped function": "logged(x)",
    "a method of the model": "self.note(x)",
    "an assertion": "torch._assert(x.sum() > 0, 'no')",
    "a string": "'x + 1'",
    "a hook": "x.register_hook(print)",
    "a variable that nothing uses": "y = x + 1",
    "an autograd function that writes in place": "Writes.apply(x)",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_result_that_is_thrown_away_is_reported(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(NET.format(body=WRONG[name]), "FX608")
    assert problem.message.startswith("The result of ")


@pytest.mark.parametrize("name", RIGHT)
def test_a_statement_that_changes_something_is_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(NET.format(body=RIGHT[name]), None)


def test_it_is_reported_in_a_child_and_behind_a_failure_too(mistakes: Mistakes) -> None:
    text = NET.format(body="if x.sum() > 0:\n            x = x * 2\n        ⟦x + self.table⟧").replace("Net(", "Inner(")
    text += (
        "\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = Inner()\n"
    )
    text += "\n    def forward(self, x):\n        return self.inner(x)\n"
    (problem,) = mistakes(text, "FX608")
    assert problem.module_path == "inner"


def test_no_wrapping_is_advised_for_a_function_whose_result_is_thrown_away(worker, write) -> None:  # type: ignore[no-untyped-def]
    text = "import torch\nimport torch.fx\nimport torch.nn.functional as F\nfrom torch import nn\n"
    report = worker.report(write(text + NET.format(body="Straight.apply(x, x)")) + ":Net", "Net()", "torch.ones(2, 4)")
    assert {problem.code for problem in report.problems} & {"FX311", "FX399"} == set()
    used = worker.report(
        write(text + NET.format(body="x = Straight.apply(x, x)")) + ":Net", "Net()", "torch.ones(2, 4)"
    )
    assert "FX311" in {problem.code for problem in used.problems}

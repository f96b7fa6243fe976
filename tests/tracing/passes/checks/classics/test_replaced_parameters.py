"""Parameters that forward makes anew are reported, those that it makes once or uses again are not."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.raw = torch.ones(4, 4)
        self.bias = None
        self.extra = None
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        {body}
        return self.b(self.a(x))
"""
WRONG = {
    "of a child": "⟦self.a.weight⟧ = nn.Parameter(self.raw / self.raw.norm())",
    "of a child, annotated": "⟦self.a.weight⟧: nn.Parameter = nn.Parameter(self.raw * 2)",
    "of its own": "⟦self.scale⟧ = nn.Parameter(torch.full((4,), 2.0))",
    "by the class of torch": "⟦self.scale⟧ = torch.nn.parameter.Parameter(torch.ones(4))",
    "that is not trained": "⟦self.a.bias⟧ = nn.Parameter(torch.zeros(4), requires_grad=False)",
    "of a variable": "layer = self.a\n        ⟦layer.weight⟧ = nn.Parameter(self.raw.clone())",
    "under a condition": "if self.training or True:\n            ⟦self.scale⟧ = nn.Parameter(torch.ones(4))",
    "in a loop": "for layer in (self.a,):\n            ⟦layer.weight⟧ = nn.Parameter(self.raw.clone())",
    "by setattr": "⟦setattr(self.a, 'weight', nn.Parameter(self.raw.clone()))⟧",
    "where there was none": "⟦self.extra⟧ = nn.Parameter(torch.ones(4))",
}
RIGHT = {
    "computed": "x = F.linear(x, self.raw / self.raw.norm())",
    "made on the first call": "if self.extra is None:\n            self.extra = nn.Parameter(torch.ones(4))",
    "of another layer": "self.b.weight = self.a.weight",
    "its own": "self.scale = self.scale",
    "taken away": "self.a.bias = None",
    "in place": "self.a.weight.data.copy_(self.raw)",
    "a buffer": "self.kept = self.raw * 2",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_parameter_that_forward_makes_anew_is_reported(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(NET.format(body=WRONG[name]), "FX609")
    assert "never trained" in problem.message
    assert "the graph" in problem.message.lower()


@pytest.mark.parametrize("name", RIGHT)
def test_another_assignment_is_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(NET.format(body=RIGHT[name]), None)

"""Losses of logits that get probabilities are reported, others are not."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.softmax, self.log_softmax, self.sigmoid = nn.Softmax(dim=1), nn.LogSoftmax(dim=1), nn.Sigmoid()
        self.cross_entropy, self.nll, self.bce = nn.CrossEntropyLoss(), nn.NLLLoss(), nn.BCEWithLogitsLoss()

    def forward(self, x, target):
        y = self.a(x)
        {body}
"""
WRONG = {
    "functions": "return ⟦F.cross_entropy(F.softmax(y, dim=1), target)⟧",
    "modules": "return ⟦self.cross_entropy(self.softmax(y), target)⟧",
    "a method": "y = y.softmax(1)\n        return ⟦F.cross_entropy(y, target)⟧",
    "torch.softmax": "p = torch.softmax(y, 1)\n        return ⟦self.cross_entropy(p, target)⟧, p",
    "a keyword": "return ⟦F.cross_entropy(target=target, input=F.softmax(y, 1))⟧",
    "softmax for nll_loss": "return ⟦F.nll_loss(F.softmax(y, 1), target)⟧",
    "sigmoid": "return ⟦F.binary_cross_entropy_with_logits(torch.sigmoid(y), target)⟧",
    "sigmoid as modules": "return ⟦self.bce(self.sigmoid(y), target)⟧",
}
RIGHT = {
    "of logits": "return F.cross_entropy(y, target)",
    "of logits, with the probabilities returned": "return F.cross_entropy(y, target), F.softmax(y, 1)",
    "log_softmax before nll_loss": "return self.nll(self.log_softmax(y), target)",
    "log_softmax before cross_entropy, which is the same": "return F.cross_entropy(F.log_softmax(y, 1), target)",
    "the logarithm of softmax": "return F.nll_loss(F.softmax(y, 1).log(), target)",
    "softmax of the target": "return F.cross_entropy(y, F.softmax(target, 1))",
    "softmax inside the model": "return F.cross_entropy(self.a(F.softmax(y, 1)), target)",
    "sigmoid before binary_cross_entropy": "return F.binary_cross_entropy(torch.sigmoid(y), target)",
    "sigmoid before cross_entropy, which may be meant": "return F.cross_entropy(torch.sigmoid(y), target)",
}
OF_CLASSES = "torch.ones(2, 4), torch.ones(2, dtype=torch.long)"
OF_VALUES = "torch.ones(2, 4), torch.ones(2, 4)"


@pytest.mark.parametrize("name", WRONG)
def test_a_loss_that_gets_what_it_computes_itself_is_reported(name: str, mistakes: Mistakes) -> None:
    inputs = OF_VALUES if "sigmoid" in name else OF_CLASSES
    (problem,) = mistakes(NET.format(body=WRONG[name]), "FX606", inputs)
    assert [place.message for place in problem.related] == ["it is applied here"]


@pytest.mark.parametrize("name", RIGHT)
def test_a_loss_that_gets_what_it_expects_is_not_reported(name: str, mistakes: Mistakes) -> None:
    inputs = OF_VALUES if "sigmoid" in name or "target" in name else OF_CLASSES
    mistakes(NET.format(body=RIGHT[name]), None, inputs)

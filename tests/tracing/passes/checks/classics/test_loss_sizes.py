"""Losses whose operands broadcast each other are reported, others are not."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, {width})
        self.mse, self.l1, self.huber, self.smooth = nn.MSELoss(), nn.L1Loss(), nn.HuberLoss(), nn.SmoothL1Loss()

    def forward(self, x, target):
        y = self.a(x)
        {body}
"""
WRONG = {
    "MSELoss": "return ⟦self.mse(y, target)⟧",
    "L1Loss": "return ⟦self.l1(y, target)⟧",
    "HuberLoss": "return ⟦self.huber(y, target)⟧ + 1",
    "SmoothL1Loss": "loss = ⟦self.smooth(target, y)⟧\n        return loss, y",
    "mse_loss": "return ⟦F.mse_loss(y, target)⟧",
    "l1_loss by keywords": "return ⟦F.l1_loss(target=target, input=y)⟧",
    "huber_loss without a reduction": "return ⟦F.huber_loss(y, target, reduction='none')⟧.mean()",
    "smooth_l1_loss of a row": "return ⟦F.smooth_l1_loss(y, target[None])⟧",
    "of doubles": "return ⟦self.mse(y.double(), target.double())⟧",
    "behind other operations": "return ⟦F.mse_loss(torch.sigmoid(y * 2), target.float())⟧",
}
RIGHT = {
    "squeezed": "return self.mse(y.squeeze(-1), target)",
    "unsqueezed": "return F.mse_loss(y, target.unsqueeze(1))",
    "viewed like the other": "return F.l1_loss(y, target.view_as(y))",
    "of one number for all": "return F.mse_loss(y, target.mean())",
    "of the first of them": "return F.mse_loss(y, target[:1])",
    "another operation": "return (y - target).abs().mean()",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_loss_of_a_column_and_a_row_is_reported(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(NET.format(body=WRONG[name], width=1), "FX607", "torch.ones(5, 4), torch.ones(5)")
    assert "(5, 5)" in problem.message


@pytest.mark.parametrize("name", RIGHT)
def test_a_loss_of_equal_sizes_is_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(NET.format(body=RIGHT[name], width=1), None, "torch.ones(5, 4), torch.ones(5)")


@pytest.mark.parametrize("target", ["torch.ones(5, 3)", "torch.ones(3)", "torch.ones(1, 3)", "torch.ones(())"])
def test_a_target_for_all_samples_is_not_reported(target: str, mistakes: Mistakes) -> None:
    mistakes(NET.format(body="return self.mse(y, target)", width=3), None, f"torch.ones(5, 4), {target}")


def test_guessed_inputs_prove_nothing(mistakes: Mistakes) -> None:
    mistakes(NET.format(body="return self.mse(y, target)", width=1), None, None)

"""Losses beside ``forward`` of the model's result and a target that broadcast each other are reported."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self, width=1):
        super().__init__()
        self.a = nn.Linear(4, width)

    def forward(self, x):
        return self.a(x)

"""
INPUTS = "torch.ones(8, 4)"
WRONG = {
    "tensors that the function makes": """
def train():
    x, y = torch.randn(8, 4), torch.randn(8)
    model, criterion = Net(), nn.MSELoss()
    for _ in range(10):
        loss = ⟦criterion(model(x), y)⟧
""",
    "another batch than the traced one": """
model = Net()
x = torch.rand(50, 4)
y = torch.randint(0, 2, (50,)).float()
prediction = model(x)
loss = ⟦F.mse_loss(prediction, y)⟧
""",
    "a target that is computed of the inputs": """
def train(device):
    x = torch.randn(8, 4).to(device)
    y = x.sum(dim=1) * 2 + 1
    model = Net().to(device)
    return ⟦F.l1_loss(model(x), y)⟧
""",
    "a loop of batches that was written twice": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(8)
for _ in range(2):
    loss = ⟦F.mse_loss(model(x), y)⟧
for _ in range(2):
    loss = ⟦F.mse_loss(model(x), y)⟧
""",
    "operands the other way round": """
model = Net()
x, y = torch.randn(8, 4), torch.linspace(0, 1, 8)
loss = ⟦F.huber_loss(y, model(x))⟧
""",
}
RIGHT = {
    "squeezed": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(8)
loss = F.mse_loss(model(x).squeeze(1), y)
""",
    "a target of a column": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(8).unsqueeze(1)
loss = F.mse_loss(model(x), y)
""",
    "a target that the file does not make": """
def step(x, y):
    model = Net()
    return F.mse_loss(model(x), y)
""",
    "a loader that the file does not make": """
def train(loader):
    model, criterion = Net(), nn.MSELoss()
    for x, y in loader:
        loss = criterion(model(x), y)
""",
    "a target that is reshaped in place": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(8)
y.unsqueeze_(1)
loss = F.mse_loss(model(x), y)
""",
    "a model with other arguments": """
model, x, y = Net(8), torch.randn(8, 4), torch.randn(8)
loss = F.mse_loss(model(x), y)
""",
    "inputs of another rank": """
model, x, y = Net(), torch.randn(4), torch.randn(8)
loss = F.mse_loss(model(x), y)
""",
    "a comparison beside a loss": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(8)
loss = (model(x) - y.mean()).abs().mean() + F.mse_loss(model(x).mean(), y.mean())
""",
    "one number for all": """
model, x, y = Net(), torch.randn(8, 4), torch.zeros(1)
loss = F.mse_loss(model(x), y)
""",
    "a target of the result's own size": """
model, x = Net(), torch.randn(8, 4)
y = torch.randn(8, 1)
loss = F.mse_loss(model(x), y)
""",
    "tensors of attributes, which another method may reshape": """
class Trainer:
    def __init__(self):
        self.model, self.x, self.y = Net(), torch.randn(8, 4), torch.randn(8)
        self.y.unsqueeze_(1)

    def step(self):
        return F.mse_loss(self.model(self.x), self.y)
""",
    "a target that another name reshapes in place": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(8)
t = y
t.unsqueeze_(1)
loss = F.mse_loss(model(x), y)
""",
    "a result that is a row for some": """
def train(model, x, y, flat):
    return F.mse_loss(model(x).squeeze(1), y) if flat else F.mse_loss(model(x), y)

train(Net(), torch.randn(8, 4), torch.randn(8), True)
""",
    "a power too large to compute": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(10 ** 10 ** 10)
loss = F.mse_loss(model(x), y)
""",
    "tensors that are made twice": """
model, x = Net(), torch.randn(8, 4)
y = torch.randn(8)
y = torch.randn(8, 1)
loss = F.mse_loss(model(x), y)
""",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_column_of_the_model_and_a_row_of_targets_are_reported(name: str, mistakes: Mistakes) -> None:
    for problem in mistakes(NET + WRONG[name], "FX607", INPUTS):
        assert "compares each value with each other one" in problem.message


@pytest.mark.parametrize("name", RIGHT)
def test_sizes_that_fit_or_are_not_proven_are_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(NET + RIGHT[name], None, INPUTS)


MODES = NET.replace(
    "        return self.a(x)", "        y = self.a(x)\n        return y if not self.training else y.squeeze(-1)"
)


def test_the_shape_in_one_mode_proves_nothing_of_the_other(mistakes: Mistakes) -> None:
    text = MODES + "\nmodel, x, y = Net(), torch.randn(8, 4), torch.randn(8)\nloss = F.mse_loss(model(x), y)\n"
    mistakes(text, None, INPUTS, "Net().eval()")

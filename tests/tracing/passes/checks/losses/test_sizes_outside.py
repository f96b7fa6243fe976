"""Losses beside ``forward`` of the model's result and a target that broadcast each other are reported."""

from __future__ import annotations

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
from torch.utils.data import DataLoader, TensorDataset

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
    "a loader of such tensors": """
def train(model, criterion):
    data = TensorDataset(torch.randn(60, 4), torch.randn(60))
    loader = DataLoader(data, batch_size=6, shuffle=True)
    for x, y in loader:
        loss = ⟦criterion(model(x), y)⟧

train(Net(), nn.SmoothL1Loss())
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
    "a batch of one": """
loader = DataLoader(TensorDataset(torch.randn(60, 4), torch.randn(60)))
model = Net()
for x, y in loader:
    loss = F.mse_loss(model(x), y)
""",
    "a batch of a size that is not stated": """
def train(size):
    model = Net()
    for x, y in DataLoader(TensorDataset(torch.randn(60, 4), torch.randn(60)), batch_size=size):
        loss = F.mse_loss(model(x), y)
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
    "another loss": """
model, x, y = Net(), torch.randn(8, 4), torch.randn(8)
loss = (model(x) - y.mean()).abs().mean()
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
}


@pytest.mark.parametrize("name", WRONG)
def test_a_column_of_the_model_and_a_row_of_targets_are_reported(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(NET + WRONG[name], "FX607", INPUTS)
    assert "compares each value with each other one" in problem.message


@pytest.mark.parametrize("name", RIGHT)
def test_sizes_that_fit_or_are_not_proven_are_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(NET + RIGHT[name], None, INPUTS)

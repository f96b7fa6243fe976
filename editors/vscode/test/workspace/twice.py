import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.first = Block(width)
        self.second = Block(width * 2)

    def forward(self, x):
        x = self.first(x)
        return self.second(torch.cat([x, x], dim=1))


Net()(torch.randn(2, 8))
Net(16)(torch.randn(4, 16))

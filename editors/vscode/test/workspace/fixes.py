import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(8, 8), nn.Linear(8, 8)]

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        assert x.sum() > -1e9
        return self.linear.forward(x)


Stack()(torch.randn(2, 8))
Gate()(torch.randn(2, 8))

import torch
from chosen import WIDTH
from torch import nn


class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, WIDTH)

    def forward(self, x):
        return self.linear(x)


Wide()(torch.randn(4, 2))

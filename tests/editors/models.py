"""What the tests of every editor open, and how long they wait."""

from __future__ import annotations

SECONDS = 90
"""Within which what is expected has to come: a limit for what is broken, on a machine that does other things too."""

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)


Net()(torch.randn(2, 3))
"""

LIST = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]
        self.head = nn.Linear(4, 4)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


Net()(torch.randn(2, 4))
"""

TWICE = """\
import torch
from torch import nn


class Down(nn.Module):
    def __init__(self, entering, leaving):
        super().__init__()
        self.conv = nn.Conv2d(entering, leaving, 3, stride=2, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Down(3, 8)
        self.rest = nn.Sequential(Down(8, 16), Down(16, 16))

    def forward(self, image):
        return self.rest(self.first(image))


Net()(torch.randn(1, 3, 64, 64))
"""

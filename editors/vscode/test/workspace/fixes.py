"""Something for every quick fix of the server."""

import torch
from torch import nn


def normalise(x):
    if x.sum() > 0:
        return x / x.sum()
    return x


class Registered(nn.Module):
    """What is kept where torch.nn does not see it."""

    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(8, 8), nn.Linear(8, 8)]
        self.heads = {"one": nn.Linear(8, 8), "two": nn.Linear(8, 8)}
        self.weights = [nn.Parameter(torch.ones(8)), nn.Parameter(torch.ones(8))]
        self.biases = {"low": nn.Parameter(torch.zeros(8)), "high": nn.Parameter(torch.zeros(8))}
        self.scale = torch.ones(8)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        x = self.heads["one"](x) + self.heads["two"](x)
        x = x * self.weights[0] - self.weights[1]
        x = x + self.biases["low"]
        x = nn.ReLU()(x)
        return x / self.scale


class Chosen(nn.Module):
    """Values that decide what runs."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        assert x.sum() > -1e9
        assert x.min() > -1e9, f"at least {x.min()}"
        x = x if x.mean() > 0 else -x
        x = normalise(x)
        return self.linear.forward(x)


class Sized(nn.Module):
    """Sizes that the graph has to compute, and what it does not do."""

    def forward(self, x):
        x.requires_grad = True
        low = torch.zeros(x.shape[0], 8)
        high = torch.ones(*x.shape)
        return x * len(x) + low + high


class Narrow(nn.Module):
    """A layer that takes fewer features than it gets."""

    def __init__(self):
        super().__init__()
        self.narrow = nn.Linear(4, 2)

    def forward(self, x):
        return self.narrow(x)


class Misspelt(nn.Module):
    """A layer whose name is written wrongly where it is called."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(8, 8)

    def forward(self, x):
        return self.wied(x)


class Local(nn.Module):
    """A layer that is meant as an attribute."""

    def __init__(self):
        super().__init__()
        late = nn.Linear(8, 8)
        nn.init.zeros_(late.bias)

    def forward(self, x):
        return x if x is not None else self.late(x)


Registered()(torch.randn(2, 8))
Local()(torch.randn(2, 8))
Narrow()(torch.randn(2, 8))
Misspelt()(torch.randn(2, 8))
Chosen()(torch.randn(2, 8))
Sized()(torch.randn(2, 8))

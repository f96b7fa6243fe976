"""A classifier that stops early when it is sure. torch.fx cannot record that choice: fxlsp underlines it."""

import torch
from torch import Tensor, nn


class EarlyExit(nn.Module):
    def __init__(self, features: int = 128, classes: int = 10) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(features, 64), nn.ReLU())
        self.guess = nn.Linear(64, classes)
        self.second = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
        self.answer = nn.Linear(64, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        guess = self.guess(x).softmax(dim=-1)
        if guess.amax(dim=-1).min() > 0.9:
            return guess
        x = x + self.second(x)
        return self.answer(x).softmax(dim=-1)


EarlyExit()(torch.randn(8, 128))

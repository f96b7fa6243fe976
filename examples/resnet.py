"""A small ResNet. Open it in an editor: every line of each ``forward`` shows the shape that leaves it."""

import torch
from torch import Tensor, nn


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, channels_in: int, channels_out: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels_out)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or channels_in != channels_out:
            self.shortcut = nn.Conv2d(channels_in, channels_out, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + self.shortcut(x))


# fxlsp: ResNet(classes=10)(torch.randn(1, 3, 64, 64))
class ResNet(nn.Module):
    """Three stages of two blocks each. The comment above says how fxlsp makes one and what it feeds it."""

    def __init__(self, classes: int, width: int = 32) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, padding=3, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.layer1 = self.stage(width, width, stride=1)
        self.layer2 = self.stage(width, 2 * width, stride=2)
        self.layer3 = self.stage(2 * width, 4 * width, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(4 * width, classes)

    @staticmethod
    def stage(channels_in: int, channels_out: int, stride: int) -> nn.Sequential:
        return nn.Sequential(Block(channels_in, channels_out, stride), Block(channels_out, channels_out))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.pool(x)
        x = torch.flatten(x, 1)
        return self.head(x)

"""ResNets as torchvision builds them, in one file that imports torch alone."""

import torch
from torch import Tensor, nn


class BasicBlock(nn.Module):
    def __init__(self, inplanes: int, planes: int, stride: int, downsample: nn.Module | None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        identity = x
        out = self.conv1(x)
        out = self.bn1(out)
        out = self.relu(out)
        out = self.conv2(out)
        out = self.bn2(out)
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, blocks: tuple[int, int, int, int], classes: int = 1000) -> None:
        super().__init__()
        self.inplanes = 64
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = self.make_layer(64, blocks[0], 1)
        self.layer2 = self.make_layer(128, blocks[1], 2)
        self.layer3 = self.make_layer(256, blocks[2], 2)
        self.layer4 = self.make_layer(512, blocks[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, classes)

    def make_layer(self, planes: int, count: int, stride: int) -> nn.Sequential:
        downsample = None
        if stride != 1:
            conv = nn.Conv2d(self.inplanes, planes, 1, stride, bias=False)
            downsample = nn.Sequential(conv, nn.BatchNorm2d(planes))
        first = BasicBlock(self.inplanes, planes, stride, downsample)
        self.inplanes = planes
        return nn.Sequential(first, *(BasicBlock(planes, planes, 1, None) for _ in range(1, count)))

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(x)
        x = self.bn1(x)
        x = self.relu(x)
        x = self.maxpool(x)
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        x = self.avgpool(x)
        x = torch.flatten(x, 1)
        return self.fc(x)


# fxlsp: resnet18()(torch.randn(1, 3, 224, 224))
def resnet18() -> ResNet:
    return ResNet((2, 2, 2, 2), classes=1000)

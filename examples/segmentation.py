"""An encoder and a decoder with connections across, as in a U-Net. fxlsp finds the call at the end by itself."""

import torch
from torch import Tensor, nn


def convolutions(channels_in: int, channels_out: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels_in, channels_out, 3, padding=1),
        nn.GELU(),
        nn.Conv2d(channels_out, channels_out, 3, padding=1),
        nn.GELU(),
    )


class Encoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.fine = convolutions(3, width)
        self.coarse = convolutions(width, 2 * width)
        self.down = nn.MaxPool2d(2)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        fine = self.fine(image)
        coarse = self.coarse(self.down(fine))
        return fine, coarse


class Decoder(nn.Module):
    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.merge = convolutions(2 * width, width)
        self.classify = nn.Conv2d(width, classes, 1)

    def forward(self, fine: Tensor, coarse: Tensor) -> Tensor:
        up = self.up(coarse)
        merged = self.merge(torch.cat([fine, up], dim=1))
        return self.classify(merged)


class UNet(nn.Module):
    def __init__(self, classes: int, width: int = 16) -> None:
        super().__init__()
        self.encoder = Encoder(width)
        self.decoder = Decoder(width, classes)

    def forward(self, image: Tensor) -> Tensor:
        fine, coarse = self.encoder(image)
        logits = self.decoder(fine, coarse)
        return logits.softmax(dim=1)


if __name__ == "__main__":
    model = UNet(classes=21)
    model(torch.randn(2, 3, 128, 96))

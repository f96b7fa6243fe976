"""Small models that no call site feeds, each with five mistakes of sizes to put in."""

from __future__ import annotations

from benchmarks.mistakes.broken_model import Edit, Host, Mistake

_HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
"""


def _model(
    name: str, made: str, signature: str, run: str, *mistakes: tuple[str, str, str]
) -> tuple[Host, tuple[Mistake, ...]]:
    constructor = "".join(f"        {line}\n" for line in made.splitlines())
    forward = "".join(f"        {line}\n" for line in run.splitlines())
    text = f"{_HEAD}{constructor}\n    def forward(self, {signature}):\n{forward}"
    broken = (
        Mistake(kind, (Edit(old, new),), ("FX401", "FX403"), ("error", "warning", "info", "hint"), "anywhere")
        for kind, old, new in mistakes
    )
    return Host("small", name, text, "Net()"), tuple(broken)


MODELS = (
    _model(
        "convolutions with a classifier",
        "self.one, self.two = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 32, 3)\nself.fc = nn.Linear(32, 10)",
        "x",
        "x = self.one(x).relu()\nx = self.two(x).relu()\nx = x.mean((2, 3))\nreturn self.fc(x)",
        ("view", "x = x.mean((2, 3))", "x = x.view(-1, 33)"),
        ("reshape", "x = x.mean((2, 3))", "x = x.mean((2, 3)).reshape(2, 33)"),
        ("cat", "x = x.mean((2, 3))", "x = torch.cat([x, x.mean((2, 3))], 1)"),
        ("broadcast", "return self.fc(x)", "return self.fc(x) + torch.ones(32, 1, 7)"),
        ("Linear", "nn.Linear(32, 10)", "nn.Linear(30, 10)"),
    ),
    _model(
        "LeNet",
        "self.one, self.two = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)\nself.pool = nn.MaxPool2d(2)\n"
        "self.fc, self.out = nn.Linear(400, 120), nn.Linear(120, 10)",
        "x",
        "x = self.pool(self.one(x).relu())\nx = self.pool(self.two(x).relu())\nx = x.flatten(1)\n"
        "x = self.fc(x).relu()\nreturn self.out(x)",
        ("view", "x = x.flatten(1)", "x = x.view(x.size(0), 17, 24)"),
        ("reshape", "x = x.flatten(1)", "x = x.reshape(-1, 425)"),
        ("cat", "x = self.fc(x).relu()", "x = torch.cat([self.fc(x), x[:1]], 1)"),
        ("broadcast", "return self.out(x)", "return self.out(x) * torch.ones(32, 11)"),
        ("Linear", "nn.Linear(120, 10)", "nn.Linear(100, 10)"),
    ),
    _model(
        "perceptron",
        "self.one, self.two, self.out = nn.Linear(784, 256), nn.Linear(256, 64), nn.Linear(64, 10)",
        "x",
        "h = self.one(x).relu()\nh = self.two(h).relu()\nreturn self.out(h)",
        ("view", "return self.out(h)", "return self.out(h.view(-1, 48))"),
        ("reshape", "h = self.two(h).relu()", "h = self.two(h.reshape(-1, 250)).relu()"),
        ("cat", "return self.out(h)", "return self.out(torch.cat([h, x], -1))"),
        ("broadcast", "h = self.two(h).relu()", "h = self.two(h) + self.one(x)"),
        ("Linear", "nn.Linear(256, 64)", "nn.Linear(128, 64)"),
    ),
    _model(
        "tokens in a recurrent layer",
        "self.embed = nn.Embedding(1000, 64)\nself.rnn = nn.LSTM(64, 128, batch_first=True)\n"
        "self.out = nn.Linear(128, 5)",
        "tokens",
        "x = self.embed(tokens)\ny, _ = self.rnn(x)\nlast = y[:, -1]\nreturn self.out(last)",
        ("view", "last = y[:, -1]", "last = y.view(-1, 100)"),
        ("reshape", "y, _ = self.rnn(x)", "y, _ = self.rnn(x.reshape(x.shape[0], -1, 60))"),
        ("cat", "last = y[:, -1]", "last = torch.cat([y[:, -1], x], 1)"),
        ("broadcast", "last = y[:, -1]", "last = (y + x)[:, -1]"),
        ("Linear", "nn.Linear(128, 5)", "nn.Linear(64, 5)"),
    ),
    _model(
        "attention over tokens",
        "self.embed, self.place = nn.Embedding(500, 64), nn.Parameter(torch.zeros(1, 1, 64))\n"
        "self.attend = nn.MultiheadAttention(64, 4, batch_first=True)\n"
        "self.norm, self.out = nn.LayerNorm(64), nn.Linear(64, 3)",
        "tokens",
        "x = self.embed(tokens) + self.place\ny, _ = self.attend(x, x, x)\nx = self.norm(x + y)\nx = x.mean(1)\n"
        "return self.out(x)",
        ("view", "x = x.mean(1)", "x = x.view(-1, 63)"),
        ("reshape", "x = x.mean(1)", "x = x.reshape(-1, 4, 15)"),
        ("cat", "self.norm(x + y)", "self.norm(torch.cat([x, y], -1))"),
        ("broadcast", "torch.zeros(1, 1, 64)", "torch.zeros(1, 1, 60)"),
        ("Linear", "nn.Linear(64, 3)", "nn.Linear(46, 3)"),
    ),
    _model(
        "signal",
        "self.one, self.two = nn.Conv1d(2, 16, 5, padding=2), nn.Conv1d(16, 16, 3, padding=1)\n"
        "self.fc = nn.Linear(16, 4)",
        "x",
        "h = self.one(x).relu()\nh = h + self.two(h)\nh = h.mean(-1)\nreturn self.fc(h)",
        ("view", "h = h.mean(-1)", "h = h.view(-1, 35)"),
        ("reshape", "h = h.mean(-1)", "h = h.reshape(-1, 7, 16).mean(1)"),
        ("cat", "h = h + self.two(h)", "h = torch.cat([h, self.two(h)[..., 1:]], 1)"),
        ("broadcast", "padding=1", "padding=0"),
        ("Linear", "nn.Linear(16, 4)", "nn.Linear(61, 4)"),
    ),
    _model(
        "encoder and decoder",
        "self.down, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 8, 2, 2)\n"
        "self.out = nn.Conv2d(11, 3, 1)\nself.scale = nn.Parameter(torch.ones(8, 1, 1))\nself.fc = nn.Linear(3, 2)",
        "x",
        "h = self.down(x).relu() * self.scale\nh = self.up(h)\nh = torch.cat([h, x], 1)\nh = self.out(h)\n"
        "return self.fc(h.mean((2, 3)))",
        ("view", "h = self.out(h)", "h = self.out(h).view(-1, 5, 7)"),
        ("reshape", "h.mean((2, 3))", "h.reshape(-1, 13)"),
        ("cat", "torch.cat([h, x], 1)", "torch.cat([h, x[..., 1:]], 1)"),
        ("broadcast", "torch.ones(8, 1, 1)", "torch.ones(8)"),
        ("Linear", "nn.Linear(3, 2)", "nn.Linear(4, 2)"),
    ),
    _model(
        "two inputs",
        "self.image, self.words = nn.Conv2d(3, 32, 3), nn.Linear(50, 32)\n"
        "self.join, self.out = nn.Linear(64, 16), nn.Linear(16, 2)",
        "image, words",
        "a = self.image(image).mean((2, 3))\nb = self.words(words)\nc = torch.cat([a, b], 1)\nc = self.join(c).relu()\n"
        "return self.out(c)",
        ("view", "return self.out(c)", "return self.out(c.view(-1, 15))"),
        ("reshape", "c = self.join(c)", "c = self.join(c.reshape(-1, 60))"),
        ("cat", "[a, b], 1", "[a, self.image(image)], 1"),
        ("broadcast", "c = torch.cat([a, b], 1)", "c = torch.cat([a, b], 1) + torch.ones(32, 60)"),
        ("Linear", "nn.Linear(64, 16)", "nn.Linear(32, 16)"),
    ),
)

"""Thirty models with one certain failure each, for the table of what is reported however their inputs are found.

Each is a model of ``benchmarks/mistakes/sizes.py`` with an edit after which the model fails with all inputs, or
torch.fx refuses it or records something else. The problem belongs on the line that ends with the mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from benchmarks.mistakes.broken_model import BrokenModel, Edit, Mistake
from benchmarks.mistakes.sizes import MODELS

_HOSTS = {host.name: host for host, _ in MODELS}
_IMAGES, _LENET, _MLP = "convolutions with a classifier", "LeNet", "perceptron"
_TOKENS, _ATTENTION, _SIGNAL = "tokens in a recurrent layer", "attention over tokens", "signal"
_UNET, _TWO = "encoder and decoder", "two inputs"
INPUTS: Mapping[str, str] = {
    _IMAGES: "torch.randn(2, 3, 24, 24)",
    _LENET: "torch.randn(4, 1, 32, 32)",
    _MLP: "torch.randn(8, 784)",
    _TOKENS: "torch.randint(1000, (2, 7))",
    _ATTENTION: "torch.randint(500, (2, 9))",
    _SIGNAL: "torch.randn(2, 2, 100)",
    _UNET: "torch.randn(2, 3, 24, 24)",
    _TWO: "torch.randn(2, 3, 24, 24), torch.randn(2, 50)",
}
"""With which each model runs before it is edited."""

_BLOCK = """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(256, 64)

    def forward(self, h):
        h = self.fc(h)


class Net(nn.Module):"""

_Edits = tuple[tuple[str, str], ...]
CRASHES: Mapping[str, tuple[str, _Edits]] = {
    "width of a linear layer": (
        _MLP,
        (("nn.Linear(256, 64)", "nn.Linear(128, 64)"), ("h = self.two(h).relu()", "h = self.two(h).relu()  # <-")),
    ),
    "channels of a convolution": (
        _IMAGES,
        (("nn.Conv2d(16, 32, 3)", "nn.Conv2d(8, 32, 3)"), ("x = self.two(x).relu()", "x = self.two(x).relu()  # <-")),
    ),
    "view of a number that no map has": (_LENET, (("x = x.flatten(1)", "x = x.view(x.size(0), 17, 24)  # <-"),)),
    "sum of two widths": (_TOKENS, (("last = y[:, -1]", "last = (y + x)[:, -1]  # <-"),)),
    "width of a normalisation": (
        _ATTENTION,
        (("nn.LayerNorm(64)", "nn.LayerNorm(32)"), ("x = self.norm(x + y)", "x = self.norm(x + y)  # <-")),
    ),
    "cat of two ranks": (_TWO, (("c = torch.cat([a, b], 1)", "c = torch.cat([a, self.image(image)], 1)  # <-"),)),
    "tuple of a recurrent layer": (
        _TOKENS,
        (("y, _ = self.rnn(x)", "y = self.rnn(x)"), ("last = y[:, -1]", "last = y[:, -1]  # <-")),
    ),
    "integers into a layer": (_IMAGES, (("return self.fc(x)", "return self.fc(x.long())  # <-"),)),
    "text added to a tensor": (_MLP, (("return self.out(h)", 'return self.out(h) + "bias"  # <-'),)),
    "layer added to a tensor": (_SIGNAL, (("h = h + self.two(h)", "h = h + self.two  # <-"),)),
    "attribute that does not exist": (_LENET, (("return self.out(x)", "return self.output(x)  # <-"),)),
    "method that no tensor has": (_ATTENTION, (("x = x.mean(1)", "x = x.meen(1)  # <-"),)),
    "name that nothing binds": (_UNET, (("h = torch.cat([h, x], 1)", "h = torch.cat([h, skip], 1)  # <-"),)),
    "heads that do not divide the width": (
        _ATTENTION,
        (
            (
                "self.attend = nn.MultiheadAttention(64, 4, batch_first=True)",
                "self.attend = nn.MultiheadAttention(64, 5, batch_first=True)  # <-",
            ),
        ),
    ),
    "method without return": (
        _SIGNAL,
        (
            ("def forward(self, x):", "def block(self, h):\n    self.two(h).relu()\n\ndef forward(self, x):"),
            ("h = h + self.two(h)", "h = h + self.block(h)  # <-"),
        ),
    ),
    "forward of a block without return": (
        _MLP,
        (
            ("class Net(nn.Module):", _BLOCK),
            ("nn.Linear(256, 64)", "Block()"),
            ("h = self.two(h).relu()", "h = self.two(h).relu()  # <-"),
        ),
    ),
    "state of a GRU unpacked as that of an LSTM": (
        _TOKENS,
        (("nn.LSTM", "nn.GRU"), ("y, _ = self.rnn(x)", "y, (h, c) = self.rnn(x)  # <-")),
    ),
    "two parts unpacked into three": (
        _TWO,
        (
            ("nn.Linear(50, 32)", "nn.Linear(50, 64)"),
            ("b = self.words(words)", "b, c, d = self.words(words).chunk(2, -1)  # <-"),
        ),
    ),
    "argument too many for a layer": (_IMAGES, (("x = self.two(x).relu()", "x = self.two(x, 2).relu()  # <-"),)),
    "index behind a list of layers": (
        _ATTENTION,
        (
            ("nn.LayerNorm(64)", "nn.ModuleList([nn.LayerNorm(64)])"),
            ("x = self.norm(x + y)", "x = self.norm[1](x + y)  # <-"),
        ),
    ),
}
"""The model raises: its host and its edits."""
MISTRACES: Mapping[str, tuple[str, _Edits]] = {
    "branch on a tensor": (
        _IMAGES,
        (("x = x.mean((2, 3))", "x = x.mean((2, 3))\nif x.sum() > 0:  # <-\n    x = -x"),),
    ),
    "loop over a tensor": (
        _MLP,
        (("return self.out(h)", "return torch.stack([self.out(row) for row in h])  # <-"),),
    ),
    "length of a tensor": (_TOKENS, (("last = y[:, -1]", "last = y.sum(1) / len(tokens)  # <-"),)),
    "number of a tensor": (_SIGNAL, (("h = h.mean(-1)", "h = h.mean(-1) * float(h.max())  # <-"),)),
    "item that is assigned": (_UNET, (("h = self.out(h)", "h = self.out(h)\nh[:, 0] = 0.0  # <-"),)),
    "zeros of a traced length": (
        _ATTENTION,
        (
            (
                "x = self.embed(tokens) + self.place",
                "x = self.embed(tokens) + torch.zeros(tokens.shape[1], 64)  # <-",
            ),
        ),
    ),
    "noise that is drawn once": (
        _LENET,
        (("x = self.fc(x).relu()", "x = self.fc(x).relu() + torch.randn(120)  # <-"),),
    ),
    # In a statement of its own: without columns, Python 3.10 finds no test in a conditional expression.
    "test of a type": (
        _TWO,
        (
            (
                "b = self.words(words)",
                "if not isinstance(words, torch.Tensor):  # <-\n    words = words * 2\nb = self.words(words)",
            ),
        ),
    ),
    "optional input": (
        _TWO,
        (
            ("image, words):", "image, words=None):"),
            ("b = self.words(words)", "b = self.words(words) if words is not None else a  # <-"),
        ),
    ),
    "count that changes": (
        _IMAGES,
        (
            ("self.fc = nn.Linear(32, 10)", "self.fc = nn.Linear(32, 10)\nself.calls = 0"),
            ("x = x.mean((2, 3))", "self.calls += 1  # <-\nx = x.mean((2, 3)) * self.calls"),
        ),
    ),
}
"""The model runs, and torch.fx refuses it or records something else."""


class CertainFailure(NamedTuple):
    """A model with one failure, and the inputs with which it would run without it."""

    name: str
    broken: BrokenModel
    inputs: str

    @property
    def commented(self) -> str:
        """The text with a recipe comment, in which no line has moved."""
        line = "class Net(nn.Module):"
        return self.broken.text.replace(line, f"{line}  # fxlsp: Net()({self.inputs})")

    @property
    def called(self) -> str:
        """The text with a call site behind the class."""
        return f"{self.broken.text}\n\nif __name__ == '__main__':\n    net = Net()\n    net({self.inputs})\n"


def _failure(name: str, host: str, edits: _Edits) -> CertainFailure:
    mistake = Mistake(name, tuple(Edit(*each) for each in edits), ("FX",))
    return CertainFailure(name, _HOSTS[host].broken(mistake), INPUTS[host])


FAILURES = tuple(_failure(name, *each) for name, each in {**CRASHES, **MISTRACES}.items())
DIFFERENCES: Mapping[str, str] = {
    "view of a number that no map has": "without a batch maps of 17 x 24 pass this line, and fail in the next one",
    "width of a normalisation": "line 17 fails by an assumed size: an error for stated inputs, a note for a guess",
    "optional input": "right for the inputs that are stated, which pass it, and wrong for the guess, which does not",
}
"""Why a failure is not reported alike, by its name: what is not mended."""

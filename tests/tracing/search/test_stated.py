"""Shapes of inputs that the code states, by patterns, comments, docstrings and annotations; flattened images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fxlsp.tracing.search.priors.layers import input_of
from fxlsp.tracing.search.priors.patterns import pattern_axes

HEAD = """
import torch
from torch import nn
import torch.nn.functional as F

"""


def net(made: str, forward: str) -> str:
    """A class that makes some layers, one a line, with a whole ``forward``."""
    lines = "".join(f"        {line}\n" for line in made.splitlines())
    return f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{lines}\n" + "".join(
        f"    {line}\n" for line in forward.strip("\n").splitlines()
    )


DOCSTRINGS = {
    "google style": "Run.\n\n    Args:\n        x (torch.Tensor): maps of shape (B, N, N, C)",
    "numpy style": "\n    x : torch.Tensor, shape = (batch_size, rows, columns, dim)",
    "sphinx style": "Run.\n\n    :param x: features, [batch, t, k, dim]",
    "times": "\n    x: B x N x M x C",
}
BEHIND_DOCSTRING = {name: f'def forward(self, x):\n    """{text}\n    """\n' for name, text in DOCSTRINGS.items()}
STATED = {
    **{name: f"{text}    return self.a(x)" for name, text in BEHIND_DOCSTRING.items()},
    "comment": "def forward(self, x):\n    # x: [batch size, rows, columns, hid dim]\n    return self.a(x)",
    "comment with an equals sign": "def forward(self, x):\n\n    #x = [batch, n, m, hid dim]\n\n    return self.a(x)",
    "comment in the signature": "def forward(\n    self,\n    x,  # (b, n, m, c)\n):\n    return self.a(x)",
    "annotation": "def forward(self, x: \"Float[Tensor, 'b n m c']\"):\n    return self.a(x)",
}


@pytest.mark.parametrize("style", STATED)
def test_the_rank_that_the_text_states_is_fed(style: str, worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(net("self.a = nn.Linear(8, 4)", STATED[style])) + ":Net")
    assert report.recipe.inputs == "torch.randn(2, 16, 16, 8)"


@pytest.mark.parametrize(
    ("forward", "inputs"),
    [
        pytest.param("def forward(self, x):\n    # x: (B, C)\n    return self.a(x)", "torch.randn(2, 8)", id="rows"),
        pytest.param(
            "def forward(self, x):\n    y = self.a(x)  # y: (B, N, M, C), x: (B, T, C)\n    return y",
            "torch.randn(2, 16, 8)",
            id="a comment behind code is about the result",
        ),
        pytest.param(
            "def forward(self, x):\n    x = x + 1\n    # x: (B, N, M, C)\n    return self.a(x)",
            "torch.randn(2, 16, 8)",
            id="a comment on another value of the name",
        ),
        pytest.param(
            'def forward(self, x):\n    """\n    x (Tensor, optional): whatever\n    """\n    return self.a(x)',
            "torch.randn(2, 16, 8)",
            id="brackets that hold no axes",
        ),
        pytest.param(
            'def forward(self, x):\n    """\n    x: maps\n    Returns: y (B, N, M, C)\n    """\n    return self.a(x)',
            "torch.randn(2, 16, 8)",
            id="axes of the result",
        ),
        pytest.param(
            "def forward(self, x):\n    # x: (C, B, T, L)\n    return self.a(x).sum(dim=(1, 2, 3))",
            None,
            id="a wrong comment",
        ),
        pytest.param(
            "def forward(self, x):\n    return torch.einsum('b n m c, d c -> b n m d', x, self.a.weight)",
            "torch.randn(2, 16, 16, 8)",
            id="einsum",
        ),
    ],
)
def test_what_is_stated_of_the_input_itself_counts(
    forward: str, inputs: str | None, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net("self.a = nn.Linear(8, 4)", forward)) + ":Net")
    assert report.recipe.source == "search"
    assert report.recipe.inputs is not None
    if inputs is not None:
        assert report.recipe.inputs == inputs


def test_integers_and_features_are_distinguished_by_the_docstring(worker: Any, write: Callable[..., str]) -> None:
    forward = '''
def forward(self, x, xa):
    """
    x : torch.LongTensor, shape = (batch_size, <= n_ctx)
    xa : torch.Tensor, shape = (batch_size, n_audio_ctx, n_audio_state)
    """
    q, k = self.query(self.table(x)), self.key(xa)
    return F.softmax(q @ k.transpose(-1, -2), -1)
'''
    made = "self.table = nn.Embedding(50, 8)\nself.query, self.key = nn.Linear(8, 8), nn.Linear(8, 8)"
    report = worker.report(write(net(made, forward)) + ":Net")
    assert report.recipe.inputs == "torch.ones(2, 16, dtype=torch.long), torch.randn(2, 16, 8)"


@pytest.mark.parametrize(
    ("pattern", "axes"),
    [
        ("b c h w -> b (h w) c", ("b", "c", "h", "w")),
        ("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", ("b", "c", "h", "w")),
        ("b ... d -> b d", None),
        ("b () d -> b d", ("b", "1", "d")),
        ("b 1 d -> b d", ("b", "1", "d")),
        ("* d", None),
    ],
)
def test_axes_of_patterns(pattern: str, axes: tuple[str, ...] | None) -> None:
    assert pattern_axes(pattern) == axes


@pytest.mark.parametrize(
    ("pattern", "shape"),
    [
        ("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", (2, 3, 64, 64)),
        ("b c (f pf) (h p1) (w p2) -> b (f h w) (p1 p2 pf c)", (2, 3, 32, 32, 32)),
        ("b n (h d) -> b h n d", None),
        ("b c h w -> b (h w) c", None),
    ],
)
def test_a_layer_that_makes_patches_takes_images(pattern: str, shape: tuple[int, ...] | None) -> None:
    layer = type("Rearrange", (torch.nn.Module,), {"__module__": "einops.layers.torch", "pattern": pattern})()
    taken = input_of(layer)
    assert (None if taken is None else taken.shape) == shape


def test_edges_are_what_einops_divides(worker: Any, write: Callable[..., str]) -> None:
    forward = """
def forward(self, x):
    x = self.a(x)
    if x.shape[-1] % 7:
        raise RuntimeError(f"Shape mismatch, can't divide axis of length {x.shape[-1]} in chunks of 7")
    return x
"""
    report = worker.report(write(net("self.a = nn.Conv2d(3, 8, 3, stride=4, padding=1)", forward)) + ":Net")
    assert report.recipe.inputs == "torch.randn(2, 3, 56, 56)"


@pytest.mark.parametrize(
    ("made", "signature", "run", "inputs"),
    [
        pytest.param(
            "self.a = nn.Linear(784, 8)",
            "img",
            "return self.a(img.view(img.size(0), -1))",
            "torch.randn(2, 1, 28, 28)",
            id="view",
        ),
        pytest.param(
            "self.a = nn.Linear(3072, 8)",
            "x",
            "return self.a(x.reshape(x.shape[0], -1))",
            "torch.randn(2, 3, 32, 32)",
            id="reshape, of three colours",
        ),
        pytest.param(
            "self.a = nn.Linear(1024, 8)", "x", "return self.a(x.flatten(1))", "torch.randn(2, 1, 32, 32)", id="flatten"
        ),
        pytest.param(
            "self.a = nn.Sequential(nn.Flatten(), nn.Linear(1024, 8), nn.ReLU(), nn.Linear(8, 2))",
            "x",
            "return self.a(x)",
            "torch.randn(2, 1, 32, 32)",
            id="a layer that flattens",
        ),
        pytest.param(
            "self.a, self.e = nn.Linear(784 + 4, 8), nn.Embedding(10, 4)",
            "img, labels",
            "return self.a(torch.cat([img.view(img.size(0), -1), self.e(labels)], -1))",
            "torch.randn(2, 1, 28, 28), torch.ones(2, dtype=torch.long)",
            id="beside labels",
        ),
    ],
)
def test_what_is_flattened_is_an_image(
    made: str, signature: str, run: str, inputs: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net(made, f"def forward(self, {signature}):\n    {run}")
    assert worker.report(write(text) + ":Net").recipe.inputs == inputs

"""Modules that ``forward`` makes or resizes from traced sizes have their true outputs, and no invented operations."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.marked import PREAMBLE
from tests.support.reference import output_shapes, reference_of

NET = """
class Scaled(nn.Module):
    def __init__(self, width, factor=2):
        super().__init__()
        self.lin = nn.Linear(width, width * factor)
        self.width = width

    def forward(self, x):
        return self.lin(x)[..., : self.width]

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2)
        self.pool = nn.AdaptiveAvgPool2d(3)
        self.flat = nn.Flatten()

    def forward(self, x):
        {body}
"""

MADE = {
    "upsampling to a size": "return nn.Upsample(size=x.size()[2:], mode='bilinear')(x[..., ::2, ::2])",
    "upsampling by a size of the shape": "return nn.Upsample(size=x.shape[-1])(x[..., :2, :2])",
    "normalising by a shape": "return nn.LayerNorm(x.shape[1:])(x)",
    "normalising by a size": "return nn.LayerNorm(x.size(-1))(x)",
    "a linear layer": "return nn.Linear(x.size(-1), 4)(x)",
    "a linear layer of a computed size": "return nn.Linear(x.shape[-1], x.shape[-1] // 2)(x)",
    "batch normalisation": "return nn.BatchNorm2d(x.shape[1])(x)",
    "group normalisation": "return nn.GroupNorm(2, x.shape[1])(x)",
    "a convolution": "b, c, h, w = x.shape\n        return nn.Conv2d(c, 4, 3)(x)",
    "a transposed convolution": "return nn.ConvTranspose2d(x.size(1), 4, 2, stride=2)(x)",
    "a pool of a size": "return nn.AvgPool2d(x.size(2))(x)",
    "a pool to a size": "return nn.AdaptiveAvgPool2d((x.size(2) // 2, x.size(3)))(x)",
    "a pad": "return nn.ZeroPad2d(x.size(1))(x)",
    "a sequence": "return nn.Sequential(nn.Linear(x.size(-1), 4), nn.ReLU())(x)",
    "a cell": "return nn.GRUCell(x.size(-1), 4)(x[:, 0, 0])",
    "an embedding": "return nn.Embedding(x.size(-1) + 2, 5)(x.long().clamp(0, 3))",
    "unflattening": "return nn.Unflatten(1, (2, x.size(1) // 2))(x)",
    "a module of the user": "return Scaled(x.size(-1))(x)",
    "a variable": "norm = nn.LayerNorm(x.size(-1))\n        y = norm(x)\n        return y + norm(x)",
    "what comes after": "y = nn.Linear(x.size(-1), 4)(x)\n        return self.flat(y * 2).relu()",
    "a size set on a layer": "self.up.size, self.up.scale_factor = x.shape[-1] * 2, None\n        return self.up(x)",
    "sizes set on a layer": (
        "self.pool.output_size = (x.size(2) // 2, x.size(3) // 2)\n        return self.pool(x).flatten(1)"
    ),
    "sizes in a list of a layer": "self.pool.output_size = [x.size(2) // 4, 1]\n        return self.pool(x) * 2",
}


@pytest.mark.parametrize("before", ["", "x = x + 1 if x.sum() > 0 else x * 2\n        "], ids=["alone", "behind"])
@pytest.mark.parametrize("name", MADE)
def test_the_output_is_that_of_the_model(name: str, before: str, worker: Any, write: Callable[..., str]) -> None:
    inputs = "torch.randn(2, 4, 8, 8)"
    text = PREAMBLE + textwrap.dedent(NET).format(body=before + MADE[name])
    reference = reference_of(text, inputs)
    assert reference.error is None, reference.error
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    assert report.verdict.traceable == (reference.refusal is None), report.verdict
    assert report.complete, report.problems
    assert output_shapes(report) == reference.shape
    targets = [node.target for node in report.nodes]
    assert not [target for target in targets if "empty" in target or "uniform" in target or "requires_grad" in target]
    assert not [problem for problem in report.problems if problem.code.startswith(("FX4", "FX9"))]


def test_a_constructor_that_the_sizes_do_not_suit_fails_as_in_python(worker: Any, write: Callable[..., str]) -> None:
    text = PREAMBLE + textwrap.dedent(NET).format(body="return nn.GroupNorm(3, x.size(1))(x)")
    report = worker.report(f"{write(text)}:Net", "Net()", "torch.randn(2, 4, 8, 8)")
    errors = [problem for problem in report.problems if problem.severity == "error"]
    assert [problem.code for problem in errors] == ["FX401"]
    assert "divisible" in errors[0].message

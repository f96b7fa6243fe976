"""How many positions a map has, and how many images there are, where their product is all that an error tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fxlsp.tracing.search.trials.runner import TorchCall
from fxlsp.tracing.search.trials.values import Group, Tensor, Text, Trial
from tests.tracing.search.frames import net, suggested

IMAGE = Trial(Text("Net()"), Group("inputs", (("x", Tensor((2, 3, 64, 64))),)))


def test_a_map_that_is_normalised_whole_has_edges_in_its_proportion() -> None:
    assert suggested(IMAGE, TorchCall("layer_norm", (torch.empty(2, 4, 16, 16), [4, 32, 32]), {}))[0] == (
        "torch.randn(2, 3, 128, 128)"
    )


@pytest.mark.parametrize(
    ("made", "signature", "run", "inputs"),
    [
        pytest.param(
            "self.a, self.b = nn.Conv2d(3, 4, 5), nn.Linear(4, 2)",
            "x",
            "return self.b(self.a(F.avg_pool2d(x, 5, stride=3)).flatten(1))",
            "torch.randn(2, 3, 17, 17)",
            id="one position",
        ),
        pytest.param(
            "self.a, self.b = nn.Conv2d(3, 96, 16, 16), nn.Parameter(torch.zeros(1, 64, 64, 96))",
            "x",
            "return self.a(x).permute(0, 2, 3, 1) + self.b",
            "torch.randn(2, 3, 1024, 1024)",
            id="a map of positions with channels last",
        ),
        pytest.param(
            "self.a, self.b = nn.Conv2d(3, 96, 16, 16), nn.Parameter(torch.zeros(1, 96, 28, 28))",
            "x",
            "return self.b + self.a(x)",
            "torch.randn(2, 3, 448, 448)",
            id="a map of positions with channels first",
        ),
        pytest.param(
            "self.a = 1",
            "x",
            "b, c, h, w = x.size()\ny = x.view(c, h * w)\nreturn y @ y.t()",
            "torch.randn(1, 32, 64, 64)",
            id="one image",
        ),
        pytest.param(
            "self.a, self.w = nn.Conv2d(3, 4, 1), nn.Parameter(torch.randn(4, 6))",
            "x, style",
            "return self.a(x) * F.linear(style, self.w).view(x.shape[0], 4, 1, 1)",
            "torch.randn(2, 3, 64, 64), torch.randn(2, 6)",
            id="features of an image without positions",
        ),
    ],
)
def test_what_does_not_fit_shows_how_many_positions_there_are(
    made: str, signature: str, run: str, inputs: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("", made, signature, run).replace("(self, ):", "(self):")
    assert worker.report(write(text) + ":Net").recipe.inputs == inputs

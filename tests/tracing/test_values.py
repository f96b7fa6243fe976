"""What the values pass says of costs is what torch.utils.flop_counter counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        ("nn.GRU(4, 3, bidirectional=True)", (5, 2, 4)),
        ("nn.LSTMCell(4, 3)", (2, 4)),
        ("nn.Sequential(nn.Linear(4, 4), nn.Hardswish(inplace=True), nn.GLU(), nn.LogSigmoid())", (2, 4)),
        ("torch.nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))", (2, 4)),
        ("nn.MultiheadAttention(4, 2)", (3, 2, 4)),
        ("nn.Conv2d(4, 8, 3, groups=2)", (2, 4, 5, 5)),
    ],
)
def test_a_layer_costs_what_torch_counts(
    layer: str, shape: tuple[int, ...], worker: Any, write: Callable[..., str]
) -> None:
    path = write(
        f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = {layer}

            def forward(self, x):
                return self.layer({"x, x, x" if "Attention" in layer else "x"}), x // 2
        """
    )
    report = worker.report(f"{path}:Net", "Net()", f"torch.randn{shape}")
    module = eval(layer, {"torch": torch, "nn": torch.nn})
    with FlopCounterMode(display=False) as counter:
        module(*[torch.randn(shape)] * (3 if "Attention" in layer else 1))
    assert report.calls[0].flops == counter.get_total_flops()

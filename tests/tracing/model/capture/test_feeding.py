"""Arguments of a model's call, bound as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_several_arguments_of_which_none_is_passed_are_empty(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch

        class Net(torch.nn.Module):
            def forward(self, x, *rest, scale=2.0, **options):
                return x * scale
        """
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    outputs = {node.target: node.output for node in report.nodes if node.op == "placeholder"}
    assert outputs == {
        "x": {"shape": [1, 4], "dtype": "float32"},
        "*rest": {"list": []},
        "scale": {"value": 2.0},
        "**options": {"dict": {}},
    }
    assert report.complete

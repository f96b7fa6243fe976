"""Edges between the nodes of a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_a_node_names_the_nodes_that_its_arguments_mention(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.bias = nn.Parameter(torch.zeros(3))

            def forward(self, x):
                y = torch.cat([x, x + self.bias], dim=0)
                return {"y": y}
        """
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.ones(2, 3)")
    edges = {node.name: node.input_nodes for node in report.nodes}
    assert edges == {"x": (), "bias": (), "add": ("x", "bias"), "cat": ("x", "add"), "output": ("cat",)}

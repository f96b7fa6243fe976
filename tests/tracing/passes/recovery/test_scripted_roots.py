"""Models that are scripted themselves: torch.fx refuses to begin, their inputs and outputs are known all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

FILE = """
import torch
from torch import nn

class Scripted(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    @torch.jit.script_method
    def forward(self, x, scale: float = 2.0):
        return self.fc(x) * scale

class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)

scripted = torch.jit.script(Plain())
traced = torch.jit.trace(Plain(), torch.randn(2, 4))
"""


@pytest.mark.parametrize("target", ["Scripted()", "scripted", "traced"])
def test_a_scripted_model_cannot_be_traced_and_has_its_shapes(
    target: str, worker: Any, write: Callable[..., str]
) -> None:
    init = target if target.endswith("()") else None
    report = worker.report(f"{write(FILE)}:{target.removesuffix('()')}", init, "torch.randn(2, 4)")
    assert not report.verdict.traceable
    assert [problem.code for problem in report.problems] == ["FX112"]
    outputs = [node.output or {} for node in report.nodes]
    assert (outputs[0].get("shape"), outputs[-1].get("shape")) == ([2, 4], [2, 3])

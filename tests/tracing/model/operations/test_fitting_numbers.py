"""A layer that fails for a number of its constructor comes with the number that fits, if a second run proves it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn

from fxlsp.report.problems import Problem
from fxlsp.tracing.model.operations.fitting_numbers import fitting_number
from fxlsp.tracing.model.operations.operation import Operation
from tests.support.marked import PREAMBLE

MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""


@dataclass(frozen=True)
class Fails:
    init: str
    """Number that does not fit is between ``«`` and ``»``."""
    inputs: str
    fitting: int
    forward: str = "return self.a(x)"


FITTING = {
    "Linear": Fails("self.a = nn.Linear(«30», 5)", "torch.ones(2, 20)", 20),
    "Linear of a sequence": Fails("self.a = nn.Linear(«30», 5, bias=False)", "torch.ones(2, 7, 20)", 20),
    "Linear by name": Fails("self.a = nn.Linear(out_features=5, in_features=«30»)", "torch.ones(2, 20)", 20),
    "Linear by a product": Fails(
        "self.a = nn.Linear(«16 * 5 * 5», 5)", "torch.ones(2, 3, 4)", 12, "return self.a(x.flatten(1))"
    ),
    "Conv1d": Fails("self.a = nn.Conv1d(«4», 8, 3)", "torch.ones(2, 3, 9)", 3),
    "Conv2d": Fails("self.a = nn.Conv2d(«64», 8, 3, padding='same')", "torch.ones(2, 32, 9, 9)", 32),
    "Conv2d in groups": Fails("self.a = nn.Conv2d(«8», 8, 3, groups=4)", "torch.ones(2, 12, 9, 9)", 12),
    "Conv3d": Fails(
        "self.a = nn.Conv3d(«1», 8, 3, stride=2, padding_mode='circular', padding=1)", "torch.ones(2, 3, 9, 9, 9)", 3
    ),
    "ConvTranspose2d": Fails("self.a = nn.ConvTranspose2d(«64», 8, 2, 2)", "torch.ones(2, 32, 9, 9)", 32),
    "BatchNorm1d": Fails("self.a = nn.BatchNorm1d(«8»)", "torch.ones(2, 6)", 6),
    "BatchNorm2d": Fails("self.a = nn.BatchNorm2d(«8», affine=False)", "torch.ones(2, 6, 5, 5)", 6),
    "GroupNorm": Fails("self.a = nn.GroupNorm(2, «8»)", "torch.ones(2, 6, 5, 5)", 6),
    "InstanceNorm2d": Fails("self.a = nn.InstanceNorm2d(«8», affine=True)", "torch.ones(2, 6, 5, 5)", 6),
    "LayerNorm": Fails("self.a = nn.LayerNorm(«8»)", "torch.ones(2, 3, 6)", 6),
    "LayerNorm of a tuple": Fails("self.a = nn.LayerNorm(«(8,)», elementwise_affine=False)", "torch.ones(2, 3, 6)", 6),
    "LSTM": Fails(
        "self.a = nn.LSTM(«8», 5, batch_first=True, num_layers=2)", "torch.ones(2, 3, 6)", 6, "return self.a(x)[0]"
    ),
    "RNN": Fails(
        "self.a = nn.RNN(input_size=«8», hidden_size=5, nonlinearity='relu')",
        "torch.ones(2, 3, 6)",
        6,
        "return self.a(x)[0]",
    ),
    "GRUCell": Fails("self.a = nn.GRUCell(«8», 5)", "torch.ones(2, 6)", 6),
    "Bilinear": Fails("self.a = nn.Bilinear(6, «8», 5)", "torch.ones(2, 6)", 6, "return self.a(x, x)"),
    "PReLU": Fails("self.a = nn.PReLU(«8»)", "torch.ones(2, 6)", 6),
    "an item of Sequential": Fails(
        "self.a = nn.Sequential(nn.Linear(20, 12), nn.ReLU(), nn.Linear(«13», 5))", "torch.ones(2, 20)", 12
    ),
    "called twice alike": Fails(
        "self.a = nn.Linear(«30», 5)", "torch.ones(2, 20)", 20, "return self.a(x) + self.a(-x)"
    ),
    "half precision": Fails(
        "self.a = nn.Linear(«30», 5, dtype=torch.float64)", "torch.ones(2, 20, dtype=torch.float64)", 20
    ),
    "beside a branch": Fails(
        "self.a = nn.Linear(«30», 5)",
        "torch.ones(2, 20)",
        20,
        "if x.sum() > 0:\n            x = -x\n        return self.a(x)",
    ),
}
NONE = {
    "a loop makes several": ("self.a = nn.ModuleList([nn.Linear(30, 20) for _ in range(2)])", "return self.a[0](x)"),
    "two calls of other sizes": ("self.a = nn.Linear(30, 5)", "return self.a(x), self.a(x[:, :7])"),
    "one call fits": ("self.a = nn.Linear(30, 5)", "return self.a(x), self.a(torch.cat([x, x[:, :10]], 1))"),
    "its weight is used": ("self.a = nn.Linear(30, 5)", "return self.a(x) + self.a.weight.sum()"),
    "its weight is shared": (
        "self.a = nn.Linear(30, 5); self.b = nn.Linear(30, 5); self.b.weight = self.a.weight",
        "return self.a(x)",
    ),
    "its weight was replaced": (
        "self.a = nn.Linear(30, 5); self.a.weight = nn.Parameter(torch.ones(4, 30))",
        "return self.a(x)",
    ),
    "another class": ("self.a = Own(30, 5)", "return self.a(x)"),
    "it has a hook": (
        "self.a = nn.Linear(30, 5); self.a.register_forward_pre_hook(lambda m, args: args)",
        "return self.a(x)",
    ),
    "the input is not flattened": (
        "self.a = nn.Linear(40, 5)",
        "return self.a(x.reshape(2, 10, 2, 2)[:, :, :, :1].expand(2, 10, 2, 2))",
    ),
    "the input may be transposed": ("self.a = nn.Linear(10, 5)", "return self.a(x.reshape(2, 10, 2))"),
    "groups forbid it": ("self.a = nn.Conv1d(8, 8, 1, groups=8)", "return self.a(x.reshape(2, 4, 5))"),
    "behind another failure": (
        "self.a = nn.LayerNorm(30); self.b = nn.Linear(40, 5)",
        "y = self.a(x[:, :13])\n        return self.b(y)",
    ),
    "no layer": ("self.w = nn.Parameter(torch.ones(5, 30))", "return F.linear(x, self.w)"),
    "another rank": ("self.a = nn.Conv2d(30, 5, 3)", "return self.a(x)"),
    "a parametrization": (
        "self.a = torch.nn.utils.parametrizations.weight_norm(nn.Linear(30, 5))",
        "return self.a(x)",
    ),
}
OWN = "class Own(nn.Linear):\n    pass\n"


def failures(worker: Any, path: str, inputs: str | None) -> list[Problem]:
    problems = worker.report(f"{path}:Net", "Net()", inputs).problems
    return [problem for problem in problems if problem.code == "FX401"]


@pytest.mark.parametrize("name", FITTING)
def test_the_number_that_fits_ends_the_failure(name: str, worker: Any, write: Callable[..., str]) -> None:
    case = FITTING[name]
    text = PREAMBLE + MODEL.format(init=case.init, forward=case.forward)
    start, end = text.index("«"), text.index("»")
    before, number, after = text[:start], text[start + 1 : end], text[end + 1 :]
    found = failures(worker, write(f"{before}{number}{after}"), case.inputs)
    assert found
    for problem in found:
        fitting = problem.fitting
        assert fitting is not None
        assert (fitting.value, fitting.fitting) == (eval(number)[0] if "," in number else eval(number), case.fitting)
        assert fitting.location.line == before.count("\n") + 1
        if sys.version_info >= (3, 11):
            line = text.replace("«", "").replace("»", "").split("\n")[fitting.location.line - 1]
            called = line[fitting.location.column - 1 : fitting.location.end_column - 1]
            assert called.startswith(f"nn.{fitting.layer}(")
            assert called.endswith(")")
            assert number in called
    assert failures(worker, write(f"{before}{case.fitting}{after}"), case.inputs) == []


@pytest.mark.parametrize("name", NONE)
def test_no_number_is_offered_where_it_would_not_do(name: str, worker: Any, write: Callable[..., str]) -> None:
    init, forward = NONE[name]
    text = PREAMBLE + OWN + MODEL.format(init=init, forward=forward)
    found = failures(
        worker, write(text), "torch.ones(2, 20)" if name != "the input is not flattened" else "torch.ones(2, 40)"
    )
    assert found
    unproven = found if name != "behind another failure" else found[1:]
    assert [problem.fitting for problem in unproven] == [None] * len(unproven)


def test_no_number_is_offered_for_inputs_that_were_guessed(worker: Any, write: Callable[..., str]) -> None:
    init = "self.a = nn.Linear(8, 20); self.b = nn.Linear(30, 5)"
    path = write(PREAMBLE + MODEL.format(init=init, forward="return self.b(self.a(x))"))
    (certain,) = failures(worker, path, None)
    assert certain.severity == "error"
    assert certain.fitting is not None
    assert certain.fitting.fitting == 20
    path = write(PREAMBLE + MODEL.format(init="self.a = nn.Linear(8, 20)", forward="return self.a(x)"))
    guess = {"init": "Net()", "inputs": "torch.randn(2, 9)", "source": "search"}
    problems = worker.report(f"{path}:Net", guess=guess).problems
    assert [problem.fitting for problem in problems if problem.severity == "info"] in ([], [None])


def test_the_largest_index_of_one_input_is_no_size_of_a_table() -> None:
    indices, table = torch.tensor([[1, 9]]), nn.Embedding(4, 8)
    assert fitting_number(Operation("call_module", "table", (indices,), {}, table)) is None

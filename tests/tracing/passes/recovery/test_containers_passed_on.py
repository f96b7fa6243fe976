"""Containers that a model hands to its modules are followed as torch.fx and Python do, without further nodes."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.marked import PREAMBLE

TOP = """
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import NamedTuple

Pair = namedtuple("Pair", "a b")

class Named(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor

@dataclass
class Batch:
    a: torch.Tensor
    b: torch.Tensor

class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, batch, **also):
        {inner}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = Enc()
        self.more = nn.ModuleDict({{"enc": Enc()}})

    def forward(self, batch):
        {outer}
"""

FIRST = "return self.fc(batch['a'])"
OUTER = "return self.enc(batch)"

PASSED = {
    "a dict": ("{'a': torch.randn(4, 6)}", FIRST, OUTER),
    "a dict, its result used": ("{'a': torch.randn(4, 6)}", FIRST, "x = self.enc(batch)\n        return x / x.std()"),
    "a dict by keyword": ("{'a': torch.randn(4, 6)}", FIRST, "return self.enc(batch=batch)"),
    "a dict in a dict": ("{'x': {'a': torch.randn(4, 6)}}", FIRST, "return self.enc(batch['x'])"),
    "a dict made in forward": ("torch.randn(4, 6)", FIRST, "return self.enc({'a': batch})"),
    "an ordered dict": ("OrderedDict(a=torch.randn(4, 6))", FIRST, OUTER),
    "a dict, handed on twice": ("{'a': torch.randn(4, 6)}", FIRST, "return self.enc(batch) + self.more['enc'](batch)"),
    "a list": ("[torch.randn(4, 6), torch.randn(4, 6)]", "return self.fc(batch[0]) + batch[1]", OUTER),
    "a list, unpacked": (
        "[torch.randn(4, 6), torch.randn(4, 6)]",
        "a, b = batch\n        return self.fc(a) + b",
        OUTER,
    ),
    "a tuple": ("(torch.randn(4, 6), torch.randn(4, 6))", "return self.fc(batch[0]) + batch[1]", OUTER),
    "a tuple of tuples": ("((torch.randn(4, 6), 2), 3)", "return self.fc(batch[0][0]) * batch[1]", OUTER),
    "a named tuple": ("Pair(torch.randn(4, 6), torch.randn(4, 6))", "return self.fc(batch.a) + batch.b", OUTER),
    "a typed named tuple": ("Named(torch.randn(4, 6), torch.randn(4, 6))", "return self.fc(batch.a) + batch[1]", OUTER),
    "a dataclass": ("Batch(torch.randn(4, 6), torch.randn(4, 6))", "return self.fc(batch.a) + batch.b", OUTER),
    "a list that a module returns": (
        "torch.randn(4, 6)",
        "return [self.fc(batch), batch]",
        "xs = self.enc(batch)\n        return xs[0] + xs[1]",
    ),
    "a dict that a module returns": (
        "torch.randn(4, 6)",
        "return {'y': self.fc(batch)}",
        "return self.more['enc'](self.enc(batch)['y'])['y']",
    ),
    "a dict and options": ("{'a': torch.randn(4, 6)}", FIRST, "return self.enc(batch, scale=batch['a'], mode='x')"),
    "a chunked tensor": (
        "torch.randn(4, 12)",
        "return self.fc(batch[0]) + batch[1]",
        "return self.enc(batch.chunk(2, -1))",
    ),
    "the result of an LSTM": (
        "torch.randn(4, 3, 6)",
        "return self.fc(batch[0]) + batch[1][0].sum()",
        "w = torch.ones(24, 6)\n        return self.enc(torch.lstm_cell(batch[:, 0], (batch[:, 1], batch[:, 2]), w, w))",  # noqa: E501
    ),
}


@pytest.mark.parametrize("name", PASSED)
def test_a_container_that_is_passed_on_makes_no_problem(name: str, worker: Any, write: Callable[..., str]) -> None:
    inputs, inner, outer = PASSED[name]
    text = PREAMBLE + textwrap.dedent(TOP).format(inner=inner, outer=outer)
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(compile(text, "model.py", "exec", dont_inherit=True), namespace)
    graph = torch.fx.symbolic_trace(namespace["Net"]()).graph
    assert report.verdict.traceable, report.verdict
    assert report.complete
    assert [node.name for node in report.nodes] == [node.name for node in graph.nodes]
    wrong = [problem for problem in report.problems if problem.code.startswith(("FX1", "FX3", "FX4"))]
    assert not [problem for problem in wrong if problem.code != "FX304"], wrong


@pytest.mark.parametrize("name", PASSED)
def test_behind_a_branch_it_is_the_only_problem(name: str, worker: Any, write: Callable[..., str]) -> None:
    inputs, inner, outer = PASSED[name]
    branch = "if self.enc.fc.weight.sum() > 1e9:\n            batch = None\n        "
    text = PREAMBLE + textwrap.dedent(TOP).format(inner=inner, outer=branch + outer)
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    assert report.complete, report.problems
    assert [problem.code for problem in report.problems if problem.code.startswith(("FX1", "FX4"))] == ["FX101"]

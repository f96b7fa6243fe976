"""Shapes that depend on data: the graph runs on data too, and what fails behind them is reported."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.support.cases import skip_if_lacking
from tests.support.marked import PREAMBLE
from tests.support.reference import output_shapes, reference_of

NET = """
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

@torch.fx.wrap
def packed(x, n):
    return pack_padded_sequence(x, n, batch_first=True)

@torch.fx.wrap
def tile(x, n):
    return x.repeat(int(n), 1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 6)
        self.lstm = nn.LSTM(6, 6, batch_first=True)

    def forward(self, x, m):
        {body}
"""

INPUTS = "torch.randn(2, 6), torch.tensor([True, False])"

RUNS = {
    "a mask": "return self.lin(x[m])",
    "a mask and a constant": "y = x[m]\n        return y * torch.tensor(2.0)",
    "a mask of the values": "return x[x > 0] * 2",
    "nonzero": "return x[m.nonzero().squeeze(1)]",
    "unique": "return torch.unique(m)",
    "where": "return x[torch.where(m)[0]]",
    "masked_select": "return x.masked_select(m[:, None]).view(-1, 6)",
    "a wrapped function": "return tile(x, m.sum()) + 1",
    "repeat_interleave": "return x.repeat_interleave(m.long(), 0)",
    "a constant sum": "return x[x > 0] + torch.arange(3).sum()",
}


@pytest.mark.parametrize("name", RUNS)
def test_the_nodes_are_those_of_torch_fx_and_have_shapes(name: str, worker: Any, write: Callable[..., str]) -> None:
    text = PREAMBLE + textwrap.dedent(NET).format(body=RUNS[name])
    reference = reference_of(text, INPUTS)
    assert reference.refusal is None
    report = worker.report(f"{write(text)}:Net", "Net()", INPUTS)
    assert report.verdict.traceable
    assert report.complete, report.problems
    assert [node.name for node in report.nodes] == reference.names
    if "x > 0" not in RUNS[name]:
        assert output_shapes(report) == reference.shape
    assert not [problem for problem in report.problems if problem.code.startswith("FX4")], report.problems


FAILS = {
    "a product": "y = x[m]\n        return y @ torch.ones(3, 3)",
    "a layer": "y = x[m][:, :3]\n        return self.lin(y)",
    "a sum": "y = x[m]\n        return y + torch.ones(5)",
    "a view": "y = x[m]\n        return y.view(-1, 4, 5)",
    "behind a branch": "if x.sum() > 0:\n            x = x + 1\n        y = x[m]\n        return y @ torch.ones(3, 3)",
    "a concatenation": "return torch.cat([x[m], torch.ones(1, 5)])",
}


@pytest.mark.parametrize("name", FAILS)
def test_what_fails_behind_one_is_an_error(name: str, worker: Any, write: Callable[..., str]) -> None:
    text = PREAMBLE + textwrap.dedent(NET).format(body=FAILS[name])
    assert reference_of(text, INPUTS).error is not None
    report = worker.report(f"{write(text)}:Net", "Net()", INPUTS)
    errors = [problem for problem in report.problems if problem.severity == "error"]
    assert [problem.code for problem in errors] == ["FX401"], report.problems
    assert errors[0].location is not None
    assert "torch.ones" in errors[0].message or errors[0].location.line > 20


GRAPH = {
    "numpy of a shape": "import numpy as np\n        y = x[m]\n        return y / np.prod(x.shape)",
    "indices that are None": (
        "out = self.lstm(packed(x[:, None].expand(2, 3, 6), torch.tensor([3, 2])))[0]\n"
        "        return pad_packed_sequence(out, batch_first=True)[0]"
    ),
}


@pytest.mark.parametrize("name", GRAPH)
def test_a_graph_that_fails_behind_one_is_a_problem(name: str, worker: Any, write: Callable[..., str]) -> None:
    skip_if_lacking("parsers" if name == "indices that are None" else None)
    text = PREAMBLE + textwrap.dedent(NET).format(body=GRAPH[name])
    reference = reference_of(text, INPUTS)
    assert (reference.error, reference.refusal) == (None, None)
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(compile(text, "model.py", "exec", dont_inherit=True), namespace)
    try:
        torch.fx.symbolic_trace(namespace["Net"]())(torch.randn(2, 6), torch.tensor([True, False]))
    except Exception:
        wanted = ["FX402"]
    else:
        wanted = []
    report = worker.report(f"{write(text)}:Net", "Net()", INPUTS)
    assert report.verdict.traceable
    assert report.complete
    assert output_shapes(report) == reference.shape
    assert [problem.code for problem in report.problems if problem.code.startswith("FX4")] == wanted, report.problems

"""Addresses of tensors, lazy modules, and tests that end a trace."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.marked import PREAMBLE
from tests.support.reference import output_shapes, reference_of

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(6, 6)
        self.narrow = nn.Linear(6, 2)
        self.l6 = nn.Linear(6, 3)
        self.parts = nn.ModuleDict({{"l6": nn.Linear(6, 2), "6": nn.Linear(6, 4)}})
        self.table = {{"6": 2}}
        {init}

    def forward(self, x):
        {body}
"""

CASES = {
    "two tensors": (
        "pass",
        "y = x + 1\n        return (self.wide if x.data_ptr() == y.data_ptr() else self.narrow)(x)",
    ),
    "a view": (
        "pass",
        "y = x.view(4, 6)\n        return (self.wide if x.data_ptr() == y.data_ptr() else self.narrow)(x)",
    ),
    "a part": ("pass", "y = x[1:]\n        return (self.wide if x.data_ptr() == y.data_ptr() else self.narrow)(x)"),
    "one tensor": ("pass", "return (self.wide if x.data_ptr() == x.data_ptr() else self.narrow)(x)"),
    "a copy": (
        "pass",
        "y = x.clone()\n        return self.wide(x) if x.data_ptr() == y.data_ptr() else self.narrow(x)",
    ),
    "parameters": (
        "pass",
        (
            "same = self.wide.weight.data_ptr() == self.l6.weight.data_ptr()\n        x = x + len(x)\n"
            "        return self.wide(x) if same else self.narrow(x)"
        ),
    ),
    "tied parameters": (
        "self.tied = nn.Linear(6, 6)\n        self.tied.weight = self.wide.weight",
        (
            "same = self.wide.weight.data_ptr() == self.tied.weight.data_ptr()\n        x = x + len(x)\n"
            "        return self.wide(x) if same else self.narrow(x)"
        ),
    ),
    "a lazy layer": ("self.lazy = nn.LazyLinear(3)", "x = x * 2 if x.sum() > -1e9 else x\n        return self.lazy(x)"),
    "a lazy layer alone": ("self.lazy = nn.LazyLinear(3)", "return self.lazy(x)"),
    "a lazy convolution": (
        "self.lazy = nn.Sequential(nn.LazyConv1d(3, 2), nn.LazyBatchNorm1d())",
        "return self.lazy(x[None].expand(2, 4, 6)) + len(x)",
    ),
    "lazy layers": (
        "self.lazy = nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(5))",
        "return self.lazy(x + len(x))",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_model_is_followed_as_it_runs(name: str, worker: Any, write: Callable[..., str]) -> None:
    init, body = CASES[name]
    inputs = "torch.randn(4, 6)"
    text = PREAMBLE + textwrap.dedent(NET).format(init=init, body=body)
    reference = reference_of(text, inputs)
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    assert report.verdict.traceable == (reference.refusal is None)
    assert report.complete, report.problems
    assert output_shapes(report) == reference.shape
    assert not [problem for problem in report.problems if problem.code.startswith(("FX4", "FX9"))], report.problems


ENDS = {
    "an assertion": "assert isinstance(x, torch.Tensor)\n        return self.wide(x)",
    "an assertion with a text": "assert isinstance(x, (list, torch.Tensor)), 'no'\n        return self.wide(x)",
    "a negated test": (
        "if not isinstance(x, torch.Tensor):\n            raise TypeError('no')\n        return self.wide(x)"
    ),
    "an f-string key": "n = x.shape[1]\n        return self.parts[f'l{n}'](x)",
    "a text key": "return self.parts[str(x.size(1))](x)",
    "a text key of a dict": "return x * self.table[str(x.size(1))]",
    "a text of an attribute": "return getattr(self, f'l{x.shape[-1]}')(x)",
    "a formatted key": "return self.parts['l%d' % 6](x) * self.table['{}'.format(x.size(1))]",
}


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_the_trace_says_so(name: str, worker: Any, write: Callable[..., str]) -> None:
    inputs = "torch.randn(4, 6)"
    text = PREAMBLE + textwrap.dedent(NET).format(init="pass", body=ENDS[name])
    reference = reference_of(text, inputs)
    assert reference.refusal is not None
    report = worker.report(f"{write(text)}:Net", "Net()", inputs)
    assert not report.verdict.traceable
    assert report.complete
    assert output_shapes(report) == reference.shape
    assert any("torch.fx cannot trace this" in problem.message for problem in report.problems), report.problems

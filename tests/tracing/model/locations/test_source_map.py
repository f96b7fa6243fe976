"""The location of each node is the exact expression that made it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fxlsp.report.graph import Node
from fxlsp.report.locations import Location
from fxlsp.report.report import Report

columns = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows no columns")

HEADER = """
import torch
from torch import nn
import torch.nn.functional as F


def helper(x):
    return torch.sigmoid(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.weight = nn.Parameter(torch.ones(8))
        self.register_buffer("mean", torch.ones(8))
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(2)])
        self.parameter_list = nn.ParameterList([nn.Parameter(torch.ones(8)) for _ in range(2)])

    def forward(self, x):
"""


def source(body: str) -> str:
    return HEADER + "".join(f"        {line}\n" if line else "\n" for line in body.strip("\n").split("\n"))


@pytest.fixture
def trace(worker: Any, write: Callable[..., str]) -> Callable[[str], Report]:
    def trace(body: str) -> Report:
        report: Report = worker.report(write(source(body)) + ":Net", "Net()", "torch.randn(2, 8)")
        return report

    return trace


def text_of(location: Location | None) -> str:
    assert location is not None
    lines = Path(location.file).read_text(encoding="utf-8").split("\n")[location.line - 1 : location.end_line]
    lines[-1] = lines[-1][: location.end_column - 1]
    lines[0] = lines[0][location.column - 1 :]
    return "\n".join(lines)


def node(report: Report, name: str) -> Node:
    return next(node for node in report.nodes if node.name == name)


@columns
@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        ("return self.lin(x)", "lin", "self.lin(x)"),
        ("return self.lin(x) + x", "add", "self.lin(x) + x"),
        ("return x.relu().view(-1).tanh()", "view", "x.relu().view(-1)"),
        (
            "return (\n    x.relu()\n    .view(-1)\n    .tanh()\n)",
            "tanh",
            "x.relu()\n            .view(-1)\n            .tanh()",
        ),
        (
            "return F.softmax(\n    x,\n    dim=1,\n)",
            "softmax",
            "F.softmax(\n            x,\n            dim=1,\n        )",
        ),
        ("x += 1\nreturn x", "add", "x += 1"),
        ("return -x.relu()", "neg", "-x.relu()"),
        ("return x[:, 1]", "getitem", "x[:, 1]"),
        ("a, b = x.chunk(2, 1)\nreturn a", "getitem", "a"),
        ("a, b = x.chunk(2, 1)\nreturn a", "getitem_1", "b"),
        ("s = x.shape\ny = x + 1\nreturn y.view(s[0], 8)", "getattr_1", "x.shape"),
        ("s = x.shape\ny = x + 1\nreturn y.view(s[0], 8)", "getitem", "s[0]"),
        ("return x * self.weight", "weight", "self.weight"),
        ("return x * 2 - self.mean", "mean", "self.mean"),
        ("return torch.cat([x, self.weight[None]])", "weight", "self.weight"),
        ("return [layer(x) for layer in self.layers][0]", "layers_1", "layer(x)"),
        ("é = 'naïve'; return x.relu()", "relu", "x.relu()"),
        ("𝛼 = x.relu(); return 𝛼.tanh()", "tanh", "𝛼.tanh()"),
        ("return x.relu() if self.training else x", "relu", "x.relu()"),
        ("return x == 1", "eq", "x == 1"),
        ("return x", "x", "x"),
        ("return x", "output", "return x"),
        ("y = x.relu()\nif self.training:\n    return y + 1\nreturn y", "output", "return y + 1"),
        ("return (lambda v: v.exp())(x)", "exp", "v.exp()"),
        ("with torch.no_grad():\n    if x is None:\n        return x\n    return x + 1", "output", "return x + 1"),
        ("y = x.relu(); z = y.exp().tanh(); return z", "tanh", "y.exp().tanh()"),
        ("y = x.relu(); z = y + 1; return z", "output", "return z"),
        ("if x is None: return x\nreturn x + 1", "output", "return x + 1"),
        ("try:\n    return x + 1\nfinally:\n    y = x * 2", "output", "return x + 1"),
        ("with torch.no_grad():\n    y = x + 1", "output", "forward"),
        ("if x is None:\n    return x\ny = x + 1\nreturn", "output", "return"),
        ("for p in self.parameter_list:\n    x = x * p\nreturn x", "parameter_list_1", "self.parameter_list"),
        ("return [x * p for p in self.parameter_list]", "parameter_list_1", "self.parameter_list"),
        ("return self.body(x)", "body_1", "self.body(x)"),
    ],
)
def test_a_node_is_located_at_its_expression(
    body: str, name: str, expected: str, trace: Callable[[str], Report]
) -> None:
    assert text_of(node(trace(body), name).location) == expected


@columns
def test_the_stack_of_a_node_leads_from_the_root_to_the_operation(trace: Callable[[str], Report]) -> None:
    report = trace("y = helper(self.lin(x))\nreturn y")
    sigmoid = node(report, "sigmoid")
    assert [text_of(step.location) for step in sigmoid.stack] == ["helper(self.lin(x))", "torch.sigmoid(x)"]
    assert [step.module_path for step in sigmoid.stack] == ["", ""]
    assert sigmoid.module_path == ""


@columns
def test_a_named_tuple_that_forward_returns_is_located_at_the_return(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        from typing import NamedTuple
        import torch
        from torch import nn

        class Both(NamedTuple):
            a: torch.Tensor
            b: torch.Tensor

        class Net(nn.Module):
            def forward(self, x):
                both = Both(x + 1, x - 1)
                return both
        """
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(2)")
    assert report.complete
    assert text_of(node(report, "both").location) == "return both"


def test_lines_are_right_on_every_python(trace: Callable[[str], Report]) -> None:
    report = trace("y = self.lin(x)\ny = y + 1\nreturn y")
    assert report.complete
    header = HEADER.count("\n")
    lines = [node.location and node.location.line for node in report.nodes]
    assert lines == [header, header + 1, header + 2, header + 3]


def test_a_call_of_a_module_knows_its_forward_and_what_went_through_it(trace: Callable[[str], Report]) -> None:
    root, body, *_ = trace("return self.body(x)").calls
    assert root.module_path == ""
    assert root.forward is not None
    assert root.forward.line == HEADER.count("\n")
    assert body.module_path == "body"
    assert not body.leaf
    assert body.inputs == ({"shape": [2, 8], "dtype": "float32"},)
    assert body.output == {"shape": [2, 8], "dtype": "float32"}
    assert (body.params, body.flops) == (72, 2 * 2 * 8 * 8)


def test_modules_have_the_place_where_they_were_constructed(trace: Callable[[str], Report]) -> None:
    modules = {module.path: module for module in trace("return x").modules}
    location = modules["body.0"].location
    assert location is not None
    assert location.line == 1 + HEADER.split("\n").index(
        "        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU())"
    )
    assert modules["lin"].arguments == "in_features=8, out_features=8, bias=True"
    assert modules["lin"].calls == 0


def test_a_shared_module_has_the_first_name_and_the_path_of_its_call(worker: Any, write: Callable[..., str]) -> None:
    path = write(
        """
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(4, 4)
                self.second = self.first

            def forward(self, x):
                return self.second(self.first(x))
        """
    )
    report = worker.report(f"{path}:Net", "Net()", "torch.randn(1, 4)")
    assert [(node.module_path, node.call_path) for node in report.nodes[1:3]] == [
        ("first", "first"),
        ("first", "second"),
    ]
    assert report.modules[1].aliases == ("second",)


def test_children_of_a_root_container_are_located_where_they_were_constructed(
    worker: Any, write: Callable[..., str]
) -> None:
    path = write("from torch import nn\nnet = nn.Sequential(\n    nn.Linear(4, 4),\n    nn.ReLU(),\n)\n")
    report = worker.report(f"{path}:net", "net", "torch.randn(1, 4)")
    assert [node.location and node.location.line for node in report.nodes[1:3]] == [3, 4]

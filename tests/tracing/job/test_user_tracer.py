"""Traces with the user's settings: subclass of torch.fx.Tracer, leaf modules, wraps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from fxlsp.report.codes import CONTROL_FLOW
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.report.tracer_choice import ObjectReference, TracerChoice
from tests.support.worker import Worker

columns = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 knows no columns")

MODEL = """\
import torch
from torch import nn

import operations
from operations import scaled


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x):
        if self.training and x.sum() > 0:
            x = x + 1
        return self.conv(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.act = nn.Sequential(nn.ReLU())

    def forward(self, x):
        x = self.act(self.block(x)) * 2
        return operations.scaled(scaled(x))
"""
OPERATIONS = """\
import math


def scaled(x):
    if x.shape[0] > 1:
        return x * 2
    return x / math.sqrt(3)


NUMBER = 3
"""
TRACERS = """\
import torch.fx
from torch.ao.quantization.fx.tracer import QuantizationTracer

from model import Block


class OpaqueTracer(torch.fx.Tracer):
    \"\"\"As the tracer of PyTorch's module_tracer.py, with a leaf of its own.\"\"\"

    current_module_qualified_name = ""
    node_to_originating_module = {}

    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Block) or super().is_leaf_module(m, module_qualified_name)

    def call_module(self, m, forward, args, kwargs):
        before = self.current_module_qualified_name
        try:
            self.current_module_qualified_name = self.path_of_module(m)
            return super().call_module(m, forward, args, kwargs)
        finally:
            self.current_module_qualified_name = before

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None):
        proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr)
        self.node_to_originating_module[proxy.node] = self.current_module_qualified_name
        return proxy


class NotingTracer(torch.fx.Tracer):
    \"\"\"Makes a node of its own for each call of a module, by a function beside it.\"\"\"

    def call_module(self, m, forward, args, kwargs):
        return super().call_module(m, forward, (noted(self, args[0]), *args[1:]), kwargs)

    def to_bool(self, obj):
        return super().to_bool(obj)


def noted(tracer, value):
    return tracer.create_proxy("call_method", "contiguous", (value,), {})


class Quantizing(QuantizationTracer):
    def __init__(self):
        super().__init__([], [Block])


class Demanding(torch.fx.Tracer):
    def __init__(self, leaves):
        super().__init__()


class Clashing(torch.fx.Tracer):
    def __init__(self):
        super().__init__()
        self.calls = []


class Raising(torch.fx.Tracer):
    def __init__(self):
        raise ValueError("no such thing")


class NoTracer:
    pass
"""

INPUTS = "torch.randn(1, 3, 8, 8)"
WRAPPED = TracerChoice(wrap=(ObjectReference("operations:scaled"),))


@pytest.fixture
def files(write: Callable[..., str]) -> Mapping[str, str]:
    texts = {"model.py": MODEL, "operations.py": OPERATIONS, "tracers.py": TRACERS}
    return {name: write(text, name) for name, text in texts.items()}


@pytest.fixture
def traced(worker: Worker, files: Mapping[str, str]) -> Callable[[TracerChoice], Report]:
    return lambda choice: worker.report(f"{files['model.py']}:Net", "Net()", INPUTS, tracer=choice)


def shown(report: Report) -> list[tuple[str, str | None]]:
    return [(node.target, node.module_path) for node in report.nodes]


WITH_LEAF = [
    ("x", ""),
    ("block", "block"),
    ("act.0", "act.0"),
    ("operator.mul", ""),
    ("operations.scaled", ""),
    ("operations.scaled", ""),
    ("output", None),
]


def text_at(place: Location | None, text: str) -> str:
    assert place is not None
    lines = text.split("\n")
    return lines[place.line - 1][place.column - 1 : place.end_column - 1]


def test_classes_whose_names_fit_a_pattern_are_leaves_and_functions_are_wrapped(
    traced: Callable[[TracerChoice], Report],
) -> None:
    report = traced(TracerChoice(leaf_modules=("model.Bl*",), wrap=(ObjectReference("operations:scaled"),)))
    assert report.verdict.traceable
    assert report.complete
    assert shown(report) == WITH_LEAF
    assert report.problems == ()


@columns
@pytest.mark.parametrize(
    "name",
    ["{folder}/tracers.py:OpaqueTracer", "tracers:OpaqueTracer", "{folder}/tracers.py:Quantizing"],
)
def test_a_subclass_of_the_users_traces(traced: Callable[[TracerChoice], Report], tmp_path: Path, name: str) -> None:
    tracer = ObjectReference(name.format(folder=tmp_path))
    report = traced(TracerChoice(tracer, wrap=WRAPPED.wrap))
    assert report.verdict.traceable
    assert shown(report) == WITH_LEAF
    assert [text_at(node.location, MODEL) for node in report.nodes[1:5]] == [
        "self.block(x)",
        "self.act(self.block(x))",
        "self.act(self.block(x)) * 2",
        "scaled(x)",
    ]


def test_torchvisions_tracer_traces_and_its_own_lines_are_no_places(traced: Callable[[TracerChoice], Report]) -> None:
    pytest.importorskip("torchvision", reason="its own tracer is the one that traces here")
    tracer = ObjectReference("torchvision.models.feature_extraction:NodePathTracer")
    report = traced(TracerChoice(tracer, ("*.Block",), WRAPPED.wrap))
    assert shown(report) == WITH_LEAF
    assert {step.location.file for node in report.nodes for step in node.stack} == {
        str(Path(report.target.rpartition(":")[0]))
    }


@columns
def test_nodes_that_a_tracer_makes_are_located_where_the_model_made_it_do_so(
    traced: Callable[[TracerChoice], Report],
) -> None:
    report = traced(TracerChoice(ObjectReference("tracers:NotingTracer"), ("*.Block",), WRAPPED.wrap))
    first, second, third = (node for node in report.nodes if node.target == "contiguous")
    assert text_at(first.location, MODEL) == "self.block(x)"
    assert text_at(second.location, MODEL) == text_at(third.location, MODEL) == "self.act(self.block(x))"


@columns
def test_what_such_a_tracer_refuses_is_in_the_model(traced: Callable[[TracerChoice], Report]) -> None:
    report = traced(TracerChoice(ObjectReference("tracers:NotingTracer"), wrap=WRAPPED.wrap))
    assert not report.verdict.traceable
    problem = next(problem for problem in report.problems if problem.code == CONTROL_FLOW)
    assert text_at(problem.location, MODEL) == "x.sum() > 0"
    assert "block" in {node.module_path for node in report.nodes}, "the recovering pass goes on"
    assert report.verdict.error is not None
    assert text_at(report.verdict.error.location, MODEL) == "x.sum() > 0"


@pytest.mark.parametrize("leaf_modules", [(), ("*.Block",)])
def test_the_graph_is_the_one_that_the_tracer_makes_by_itself(
    worker: Worker, write: Callable[..., str], leaf_modules: tuple[str, ...]
) -> None:
    text = MODEL.replace("import operations\nfrom operations import scaled\n", "").replace("self.training and ", "")
    text = text.replace("        if x.sum() > 0:\n            x = x + 1\n", "")
    text = text.replace("operations.scaled(scaled(x))", "x")
    path = write(text, "plain.py")
    namespace: dict[str, Any] = {"__name__": "plain"}
    exec(text, namespace)

    class Tracer(torch.fx.Tracer):
        def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
            by_name = bool(leaf_modules) and type(m).__name__ == "Block"
            return by_name or super().is_leaf_module(m, module_qualified_name)

    expected = [(node.name, node.op) for node in Tracer().trace(namespace["Net"]()).nodes]
    report = worker.report(f"{path}:Net", "Net()", INPUTS, tracer=TracerChoice(leaf_modules=leaf_modules))
    assert [(node.name, node.op) for node in report.nodes] == expected


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (TracerChoice(ObjectReference("tracers:Missing")), "tracer: there is no Missing in tracers"),
        (
            TracerChoice(ObjectReference("nowhere:Tracer")),
            "cannot be loaded: ModuleNotFoundError: No module named 'nowhere'",
        ),
        (
            TracerChoice(ObjectReference("{folder}/nowhere.py:Tracer")),
            "cannot be loaded: FileNotFoundError: there is no file",
        ),
        (TracerChoice(ObjectReference("tracers:NoTracer")), "tracers:NoTracer is no subclass of torch.fx.Tracer"),
        (TracerChoice(ObjectReference("tracers:Demanding")), "Demanding cannot be made without arguments (leaves)"),
        (TracerChoice(ObjectReference("tracers:Raising")), "Raising() raises ValueError: no such thing"),
        (TracerChoice(ObjectReference("tracers:Clashing")), "has attributes that fxlsp's own tracer has too (calls)"),
        (TracerChoice(wrap=(ObjectReference("operations:missing"),)), "wrap: there is no missing in operations"),
        (TracerChoice(wrap=(ObjectReference("operations:NUMBER"),)), "wrap: operations:NUMBER is no function"),
        (
            TracerChoice(ObjectReference("torch.ao.quantization.fx.tracer:QuantizationTracer")),
            "without arguments (skipped_module_names, skipped_module_classes): name a subclass whose __init__ gives",
        ),
    ],
)
def test_a_tracer_or_function_that_is_of_no_use_is_reported(
    worker: Worker, files: Mapping[str, str], tmp_path: Path, choice: TracerChoice, words: str
) -> None:
    place = Location("/pyproject.toml", 1, 1, 1, 9)
    tracer = choice.tracer and ObjectReference(choice.tracer.text.format(folder=tmp_path), place)
    choice = TracerChoice(tracer, (), tuple(ObjectReference(function.text, place) for function in choice.wrap))
    message = worker.answer(f"{files['model.py']}:Net", "Net()", INPUTS, tracer=choice)
    failure = message["failure"]["failure"]
    assert failure["code"] == "FX908"
    assert words in failure["message"]
    assert Location.from_json(failure["location"]) == place


def test_a_builtin_is_wrapped_in_every_file(worker: Worker, write: Callable[..., str]) -> None:
    path = write(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x * len(x)\n"
    )
    report = worker.report(f"{path}:Net", "Net()", INPUTS, tracer=TracerChoice(wrap=(ObjectReference("builtins:len"),)))
    assert report.verdict.traceable
    assert any(node.target.endswith("len") for node in report.nodes)

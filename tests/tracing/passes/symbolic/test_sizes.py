"""Sizes of a report as expressions of symbols: which are free, how they are named, and what is not claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.support.worker import Worker

MODELS = """
    import torch
    from torch import nn
    from torch.nn import functional as F


    class Conv(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True))
            self.head = nn.Linear(8, 10)

        def forward(self, x):
            return self.head(self.down(x).flatten(2).mean(2))


    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(50, 32)
            self.positions = nn.Parameter(torch.zeros(1, 16, 32))

        def forward(self, tokens):
            batch, steps = tokens.shape
            x = self.table(tokens) + self.positions[:, :steps]
            return x.view(batch * steps, 32)


    class Fixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 4, 5)
            self.head = nn.Linear(4 * 24 * 24, 10)

        def forward(self, x):
            return self.head(self.conv(x).flatten(1))


    class Unet(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.up, self.last = nn.Conv2d(3, 8, 3, 2, 1), nn.Upsample(scale_factor=2), nn.Conv2d(11, 4, 1)

        def forward(self, x):
            return self.last(torch.cat([x, self.up(self.inner(x))], 1))


    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = nn.Linear(16, 4)

        def forward(self, x, adj):
            return adj @ self.lin(x)


    class Never(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", torch.ones(3, 4))

        def forward(self, x):
            return x * self.mask
"""


@pytest.fixture
def traced(worker: Worker, write: Callable[..., str]) -> Callable[..., Report]:
    path = write(MODELS)

    def traced(name: str, inputs: str, **options: Any) -> Report:
        return worker.report(f"{path}:{name}", f"{name}()", inputs, symbols=True, **options)

    return traced


def dims(report: Report, name: str) -> list[Any]:
    node = next(node for node in report.nodes if node.name == name)
    assert node.output is not None
    found: list[Any] = node.output["symbolic"] if "symbolic" in node.output else node.output["shape"]
    return found


def test_windows_halve_the_edges_of_an_image_and_the_batch_stays(traced: Callable[..., Report]) -> None:
    report = traced("Conv", "torch.randn(2, 3, 32, 32)")
    assert report.symbols == {"B": 2, "H": 32, "W": 32}
    assert dims(report, "down_0") == ["B", 8, "(H+1)//2", "(W+1)//2"]
    assert dims(report, "mean") == ["B", 8]
    assert dims(report, "down_2") == ["B", 8, "(H+1)//4", "(W+1)//4"]
    values = {"H": report.symbols["H"], "W": report.symbols["W"], "B": report.symbols["B"]}
    for node in report.nodes:
        if node.output is not None and "symbolic" in node.output:
            evaluated = [eval(dim, {}, values) if isinstance(dim, str) else dim for dim in node.output["symbolic"]]
            assert evaluated == node.output["shape"]


def test_arguments_and_results_of_calls_have_expressions_too(traced: Callable[..., Report]) -> None:
    report = traced("Conv", "torch.randn(2, 3, 32, 32)")
    call = next(call for call in report.calls if call.module_path == "down")
    assert call.inputs[0] is not None
    assert call.inputs[0]["symbolic"] == ["B", 3, "H", "W"]
    assert call.output is not None
    assert call.output["symbolic"] == ["B", 8, "(H+1)//4", "(W+1)//4"]
    pool = next(node for node in report.nodes if node.name == "down_2")
    assert pool.inputs[0] is not None
    assert pool.inputs[0]["symbolic"] == ["B", 8, "(H+1)//2", "(W+1)//2"]


def test_names_are_those_of_the_code_and_a_table_of_positions_bounds_a_length(traced: Callable[..., Report]) -> None:
    report = traced("Sequence", "torch.zeros(2, 16, dtype=torch.long)")
    assert report.symbols == {"batch": 2, "steps": 16}
    assert dims(report, "view") == ["batch*steps", 32]


def test_a_size_that_a_layer_fixes_stays_a_number(traced: Callable[..., Report]) -> None:
    report = traced("Fixed", "torch.randn(1, 1, 28, 28)")
    assert report.symbols == {"B": 1}
    assert dims(report, "conv") == ["B", 4, 24, 24]


def test_edges_that_must_be_even_are_free_among_the_even_ones(traced: Callable[..., Report]) -> None:
    report = traced("Unet", "torch.randn(2, 3, 64, 64)")
    assert dims(report, "inner") == ["B", 8, "(H+1)//2", "(W+1)//2"]
    assert dims(report, "cat") == ["B", 11, "H", "W"]


def test_dimensions_that_are_free_only_together_are_one_symbol(traced: Callable[..., Report]) -> None:
    report = traced("Graph", "torch.randn(7, 16), torch.randn(7, 7)")
    assert len(report.symbols) == 1
    (name,) = report.symbols
    assert dims(report, "matmul") == [name, 4]
    assert dims(report, "adj") == [name, name]


def test_a_model_without_a_free_size_has_no_symbols(traced: Callable[..., Report]) -> None:
    report = traced("Never", "torch.randn(3, 4)")
    assert report.symbols == {}
    assert all("symbolic" not in (node.output or {}) for node in report.nodes)


def test_the_graph_comes_first_and_the_expressions_with_the_problems(worker: Worker, write: Callable[..., str]) -> None:
    request = worker.ask(f"{write(MODELS)}:Conv", "Conv()", "torch.randn(2, 3, 32, 32)", early=True, symbols=True)
    early, report = worker.next(), worker.next()
    assert (early["type"], early["id"], report["type"]) == ("early", request, "report")
    assert "symbolic" not in str(early["report"]["nodes"])
    assert report["follows_early"]
    assert report["symbolic"]["symbols"] == {"B": 2, "H": 32, "W": 32}


def test_without_a_request_there_are_no_expressions(worker: Worker, write: Callable[..., str]) -> None:
    answer = worker.answer(f"{write(MODELS)}:Conv", "Conv()", "torch.randn(2, 3, 32, 32)")
    assert "symbolic" not in answer


def test_a_process_that_was_not_forked_knows_expressions_too(
    spawning_worker: Worker, write: Callable[..., str]
) -> None:
    report = spawning_worker.report(f"{write(MODELS)}:Conv", "Conv()", "torch.randn(2, 3, 32, 32)", symbols=True)
    assert dims(report, "down_0") == ["B", 8, "(H+1)//2", "(W+1)//2"]

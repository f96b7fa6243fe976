"""Questions to both front ends, by a worker and by torch itself, about one model that tests fill with a statement."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import suppress
from typing import Any

import torch

from fxlsp.report.frontends import FrontendProblem, FrontendVerdict
from tests.support.worker import Worker

HAS_COLUMNS = sys.version_info >= (3, 11)
MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 4)

    def forward(self, x):
        y = self.a(x)
        {statement}
        return y
"""
LINE = 12
"""Of the statement."""
FINE = MODEL.format(statement="y = torch.relu(y)")
BRANCH = MODEL.format(statement="if y.sum() > 0: y = y + 1")
BRANCH_ON_CALL = MODEL.format(statement="if torch.any(y > 0): y = y + 1")
NUMBER = MODEL.format(statement="print(y.shape); y = y * x.mean().item()")
LOOP = MODEL.format(statement="for _ in range(2): y = y + 1; print(y.shape)")
FIXED = MODEL.format(statement="y = self.a(x.view(2, -1))")
EVEN = MODEL.format(statement="y = self.a(x.view(2, x.shape[0] // 2, 8))")


def verdict(worker: Worker, path: str, frontend: str, inputs: str = "torch.randn(2, 8)") -> FrontendVerdict:
    found, needs_fixed_sizes = answer(worker, path, frontend, inputs)
    if not needs_fixed_sizes:
        return found
    fixed, _ = answer(worker, path, frontend, inputs, fixed_sizes=True)
    return found if fixed.verdict == "ok" else fixed


def answer(worker: Worker, path: str, frontend: str, inputs: str, **options: bool) -> tuple[FrontendVerdict, bool]:
    message = worker.answer(f"{path}:Net", "Net()", inputs, frontend=frontend, **options)
    assert message["type"] == "frontend", message
    return FrontendVerdict.from_json(message["verdict"]), message.get("needs_fixed_sizes", False)


def model_of(path: str) -> torch.nn.Module:
    """The same model as a user makes it."""
    spec = importlib.util.spec_from_file_location("model_of_a_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model: torch.nn.Module = module.Net()
    return model


def exports(path: str, x: torch.Tensor, with_dynamic_batch: bool) -> bool:
    """Return what torch itself does."""
    shapes: Any = {"x": {0: torch.export.Dim("batch")}} if with_dynamic_batch else None
    with suppress(Exception):
        torch.export.export(model_of(path), (x,), dynamic_shapes=shapes, strict=False)
        return True
    return False


def compiles_whole(path: str, x: torch.Tensor) -> bool:
    """Return what torch itself does."""
    torch._dynamo.reset()
    whole: Any = torch.compile(model_of(path), fullgraph=True, backend="eager")
    with suppress(Exception):
        whole(x)
        return True
    return False


def lines_of_breaks(path: str, x: torch.Tensor) -> list[int]:
    """Return the lines at which torch itself continues with another graph."""
    explained: Any = torch._dynamo.explain(model_of(path))(x)
    return [reason.user_stack[-1].lineno for reason in explained.break_reasons]


def line_of(problem: FrontendProblem) -> int | None:
    return None if problem.location is None else problem.location.line


def text_at(path: str, problem: FrontendProblem) -> str:
    place = problem.location
    assert place is not None
    assert place.file == path
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()[place.line - 1][place.column - 1 : place.end_column - 1]


X = torch.randn(2, 8)

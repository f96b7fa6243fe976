"""One small trace ahead of time: in the template for torch's lazy imports and caches, in children for their pages."""

from __future__ import annotations

import sys

import torch

from ...report.recipes import Recipe
from ..building.builder import Built, seed
from ..building.construction import Constructions, construct
from ..building.fake_tensors import new_fake_mode
from ..checks.base.pass_result import Traced
from ..checks.registry import Checking
from ..locations.expressions import Expressions
from ..locations.source_map import SourceMap
from ..locations.sources import Sources
from ..plain_pass.assembly import Assembly
from ..plain_pass.feeding import Feed, ModelWithInputs
from ..plain_pass.interpreter import ValueInterpreter
from ..plain_pass.tracer import ModulePathTracer
from ..recovery.recovering_pass import recover
from ..torch_private import FakeTensorMode

_TARGET = "_Usual"


class _Usual(torch.nn.Module):
    """The layers that most models have."""

    def __init__(self) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.BatchNorm2d(64), torch.nn.ReLU(), torch.nn.MaxPool2d(2)
        )
        self.pool = torch.nn.AdaptiveAvgPool2d(1)
        self.norm = torch.nn.LayerNorm(64)
        self.drop = torch.nn.Dropout()
        self.head = torch.nn.Linear(64, 10)
        self.embedding = torch.nn.Embedding(10, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.flatten(self.pool(self.body(x) + 1), 1)
        x = torch.nn.functional.softmax(self.head(self.drop(self.norm(x))), dim=-1)
        return torch.cat([x.view(x.shape[0], -1), self.embedding(x.argmax(1))], 1)


def warm_up() -> None:
    """Do what both passes of a trace do, on a small model."""
    warm_up_first_pass()
    warm_up_second_pass()


def warm_up_first_pass() -> None:
    """Trace a small model, run it on fake tensors, let one operation fail, and check all that is checked."""
    model, constructions, places, mode = _usual()
    tracer, checking = ModulePathTracer(places), Checking()
    with checking.watching(model, tracer):
        tracer.trace(model)
    for size in (0, 16):
        interpreter = ValueInterpreter(model, tracer, mode)
        interpreter.run_on({"x": torch.ones(2, 3, size, size)})
    assembly = Assembly(model, tracer, interpreter.values, places, constructions)
    assembly.nodes(), assembly.modules(), assembly.calls()
    list(checking.problems(Traced(model, tracer, places, constructions, _TARGET)))


def warm_up_second_pass() -> None:
    """Follow a small model on fake tensors."""
    model, constructions, places, mode = _usual()
    feed = Feed(Recipe("", None, "default"), {"x": torch.ones(2, 3, 16, 16)})
    built = Built(model, _Usual, sys.modules[__name__], _TARGET)
    recover(ModelWithInputs(_TARGET, built, constructions, feed, mode, real=False), places)


def _usual() -> tuple[torch.nn.Module, Constructions, SourceMap, FakeTensorMode]:
    sources = Sources({})
    places, mode = SourceMap(sources, Expressions(sources)), new_fake_mode()
    seed()
    constructions = Constructions(places)
    return construct(_Usual, constructions, mode, real_tensors=False), constructions, places, mode

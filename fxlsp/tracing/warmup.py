"""One small trace in the template, so that every child finds torch's lazy imports and caches ready."""

from __future__ import annotations

import torch

from .building import seed
from .construction import Constructions, construct
from .expressions import Expressions
from .fakes import new_fake_mode
from .frames import Places
from .sources import Sources
from .tracer import ModulePathTracer
from .values import ValueInterpreter


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
    """Build, trace and run a small model on fake tensors, and let one operation fail."""
    sources = Sources({})
    places = Places(sources, Expressions(sources))
    mode = new_fake_mode()
    seed()
    model = construct(_Usual, Constructions(places), mode, really=False)
    tracer = ModulePathTracer(places)
    tracer.trace(model)
    for size in (16, 0):
        ValueInterpreter(model, tracer, mode).run_on({"x": torch.ones(2, 3, size, size)})

"""Preparation of a process before its request: torch, packages, a small trace.

The small trace makes torch's lazy imports and caches happen in the supervisor, and copies pages in workers.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterable
from contextlib import suppress

import torch

from ....report.recipes import Recipe
from ....wire.messages import WIRE
from ...isolation.sandbox.accelerators import redirect_defaults_to_cpu
from ...isolation.sandbox.hardware import do_without_hardware
from ...isolation.sandbox.single_process import stay_alone
from ...isolation.sandbox.weights import skip_weights
from ...isolation.torch_private import FakeTensorMode, disable_accelerators
from ...model.building.builder import Built, seed
from ...model.building.construction import Constructions, construct
from ...model.building.fake_tensors import make_init_skippable, new_fake_mode
from ...model.building.pickled_fakes import give_fakes_addresses, make_fakes_picklable
from ...model.capture.assembly import Assembly
from ...model.capture.feeding import Feed, ModelWithInputs
from ...model.capture.interpreter import ValueInterpreter
from ...model.capture.tracer import ModulePathTracer
from ...model.loading.installed_only import only_installed_modules
from ...model.locations.expressions import Expressions
from ...model.locations.source_map import SourceMap
from ...model.locations.sources import Sources
from ...passes.checks.base.pass_result import PassResult
from ...passes.checks.registry import Checking
from ...passes.recovery.recovering_pass import recover


def prepare_torch() -> None:
    """Disable what a trace must not do in torch, and do one small trace ahead."""
    # Before a package is imported that could bind the originals.
    disable_accelerators()
    redirect_defaults_to_cpu()
    do_without_hardware()
    stay_alone()
    skip_weights()
    make_init_skippable()
    make_fakes_picklable()
    give_fakes_addresses()
    warm_up()
    # Done once here, and not in each forked process.
    WIRE.prepare()
    gc.collect()
    gc.freeze()


def preload(names: Iterable[str]) -> None:
    """Import those of the packages that can be imported."""
    with only_installed_modules():
        for name in names:
            # The trace that needs a package reports why it cannot be imported, at the line that imports it.
            with suppress(Exception):
                importlib.import_module(name.partition(".")[0])
    gc.collect()
    gc.freeze()


_TARGET = "_Usual"


class _Usual(torch.nn.Module):
    """Model of the layers that most models have."""

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
    """Run both passes of a trace on a small model."""
    warm_up_plain_pass()
    warm_up_recovering_pass()


def warm_up_plain_pass() -> None:
    """Run the plain pass and all checks on a small model; one operation fails."""
    model, constructions, places, mode = _usual()
    tracer, checking = ModulePathTracer(places), Checking()
    with checking.watching(model, tracer):
        tracer.trace(model)
    for size in (0, 16):
        interpreter = ValueInterpreter(model, tracer, mode)
        interpreter.run_on({"x": torch.ones(2, 3, size, size)})
    assembly = Assembly(model, tracer, interpreter.values, places, constructions)
    assembly.nodes(), assembly.modules(), assembly.calls()
    list(checking.problems(PassResult(model, tracer, places, constructions, _TARGET)))


def warm_up_recovering_pass() -> None:
    """Run the recovering pass on a small model."""
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

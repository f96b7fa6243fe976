"""The run of a graph on fake inputs costs little more than torch's own, whatever else is recorded of each node."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
import torch
from torch import nn

from fxlsp.tracing.isolation.torch_private import FakeTensor, FakeTensorMode
from fxlsp.tracing.model.building.construction import Constructions, construct
from fxlsp.tracing.model.building.fake_tensors import make_init_skippable, new_fake_mode
from fxlsp.tracing.model.capture.interpreter import ValueInterpreter
from fxlsp.tracing.model.capture.tracer import ModulePathTracer
from fxlsp.tracing.model.locations.expressions import Expressions
from fxlsp.tracing.model.locations.source_map import SourceMap
from fxlsp.tracing.model.locations.sources import Sources

MOST = 2.0
"""Times the calls of torch's own run: 1.3 to 1.5 on the oldest and the newest torch when this was written."""


@pytest.fixture(scope="module", autouse=True)
def _init_skippable() -> Iterator[None]:
    before = dict(vars(torch.nn.init))
    make_init_skippable()
    yield
    vars(torch.nn.init).update(before)


class Traced:
    """Model built as for a trace, with its graph."""

    def __init__(self, make: Callable[[], nn.Module], *shape: int) -> None:
        sources = Sources({})
        places = SourceMap(sources, Expressions(sources))
        self.mode = new_fake_mode()
        self.model = construct(make, Constructions(places), self.mode, real_tensors=False).eval()
        self.inputs = construct(lambda: torch.randn(shape), Constructions(places), self.mode, real_tensors=False)
        self._tracer = ModulePathTracer(places)
        self._tracer.trace(self.model)

    def run(self) -> ValueInterpreter:
        interpreter = ValueInterpreter(self.model, self._tracer, self.mode)
        interpreter.run_on({next(iter(self._tracer.graph.nodes)).name: self.inputs})
        return interpreter


def calls_of(run: Callable[[], Any]) -> int:
    """Return how many Python and C functions a run calls, after one run that fills torch's caches.

    Both runs consist of such calls, whose number, unlike a time, is the same on every machine and under any load.
    """
    run()
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before, is_collecting = sys.getprofile(), gc.isenabled()
    # A collection would count what other tests have left.
    gc.disable()
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
        if is_collecting:
            gc.enable()
    return calls


def bare_run(traced: Traced, shape: tuple[int, ...]) -> Callable[[], Any]:
    """Return a run of the graph by torch's own interpreter, with every parameter fake."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    with mode:
        inputs = torch.randn(shape)
        for module in traced.model.modules():
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    module._parameters[name] = nn.Parameter(torch.empty(parameter.shape, dtype=parameter.dtype))
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = torch.empty(buffer.shape, dtype=buffer.dtype)
    graph = torch.fx.symbolic_trace(traced.model)

    def run() -> Any:
        with mode:
            return torch.fx.Interpreter(graph).run(inputs)

    return run


@pytest.mark.torchvision
@pytest.mark.parametrize("name", ["resnet18", "vit_b_16"])
def test_the_values_of_a_graph_cost_a_few_times_what_torch_needs_for_it(name: str) -> None:
    import torchvision

    shape = (2, 3, 224, 224)
    traced, bare = (Traced(getattr(torchvision.models, name), *shape) for _ in range(2))
    assert calls_of(traced.run) < MOST * calls_of(bare_run(bare, shape))


def test_a_small_real_parameter_is_no_reason_to_compute_a_shape_anew() -> None:
    traced = Traced(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Flatten(1), nn.Linear(32, 4)), 2, 3, 4, 4
    )
    assert not any(isinstance(parameter, FakeTensor) for parameter in traced.model.parameters())
    traced.run()
    before = FakeTensorMode.cache_info()
    traced.run()
    after = FakeTensorMode.cache_info()
    assert after.misses == before.misses
    assert after.bypasses.get("non-fake tensor", 0) == before.bypasses.get("non-fake tensor", 0)


def test_in_place_changes_of_real_parameters_have_the_shapes_that_torch_gives_them() -> None:
    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.seen = nn.Buffer(torch.zeros(8))
            self.scale = nn.Parameter(torch.ones(8))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.seen.add_(x.mean(0))
            return torch.cat([x * self.scale, self.seen.view(1, 8)])

    interpreter = Traced(Scaled, 512, 8).run()
    assert not any(value.error for value in interpreter.values.values())
    shown = [value.shown for node, value in interpreter.values.items() if node.op == "output"]
    assert shown == [{"shape": [513, 8], "dtype": "float32"}]

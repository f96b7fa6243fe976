"""What a user runs by hand to see what fxlsp shows: nodes, modules and shapes.

Modules are printed as PyTorch's module_tracer.py example does, shapes are those of torch.fx's ShapeProp.

``python -m benchmarks.module_tracer`` does it once, for torchvision's ResNet-18 as PyTorch's example does, or with
``--own-file`` for the one that the server is measured on, which saves the import of torchvision. ``--repeat N`` prints
instead, in seconds, the medians of making the model and of ``symbolic_trace`` where torch is imported already.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import torch
import torch.fx
from torch.fx.passes.shape_prop import ShapeProp


class ModulePathTracer(torch.fx.Tracer):
    """Tracer that records which module each node came from."""

    def __init__(self) -> None:
        super().__init__()
        self.current_module_qualified_name = ""
        self.node_to_originating_module: dict[torch.fx.Node, str] = {}

    def call_module(self, m: torch.nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        before = self.current_module_qualified_name
        try:
            self.current_module_qualified_name = self.path_of_module(m)
            return super().call_module(m, forward, args, kwargs)
        finally:
            self.current_module_qualified_name = before

    def create_proxy(self, *args: Any, **kwargs: Any) -> torch.fx.Proxy:
        proxy = super().create_proxy(*args, **kwargs)
        self.node_to_originating_module[proxy.node] = self.current_module_qualified_name
        return proxy


def show(model: torch.nn.Module) -> None:
    tracer = ModulePathTracer()
    graph = tracer.trace(model)
    ShapeProp(torch.fx.GraphModule(model, graph)).propagate(torch.randn(1, 3, 224, 224))
    for node in graph.nodes:
        path, meta = tracer.node_to_originating_module.get(node), node.meta["tensor_meta"]
        print(f"Node {node.name} is from module {path}: {tuple(meta.shape)}")


def repeat(count: int) -> None:
    from benchmarks.models.resnet import resnet18

    seconds: list[tuple[float, float]] = []
    for _ in range(count):
        began = time.perf_counter()
        model = resnet18()
        made = time.perf_counter()
        torch.fx.symbolic_trace(model)
        seconds.append((made - began, time.perf_counter() - made))
    print(*(statistics.median(column) for column in zip(*seconds, strict=True)))


def main() -> None:
    if sys.argv[1:2] == ["--repeat"]:
        repeat(int(sys.argv[2]))
    elif sys.argv[1:] == ["--own-file"]:
        from benchmarks.models.resnet import resnet18

        show(resnet18())
    else:
        import torchvision.models

        show(torchvision.models.resnet18())


if __name__ == "__main__":
    main()

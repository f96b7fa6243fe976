"""What plain Python and torch.fx do with a model, to compare a report with."""

from __future__ import annotations

import itertools
import linecache
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import torch
import torch.fx

from fxlsp.report.report import Report

_numbers = itertools.count()


class Reference(NamedTuple):
    """Result of a class ``Net`` in eager mode, and what torch.fx raises for it."""

    shape: Any
    """Shape of the output; of a container, the shapes in it; None if the model raises."""
    error: BaseException | None
    """What the model raises."""
    refusal: BaseException | None
    """What ``torch.fx.symbolic_trace`` raises."""
    names: list[str]
    """Names of the nodes of the graph; empty if there is none."""


def reference_of(text: str, inputs: str) -> Reference:
    """Run and trace the class ``Net`` of a text."""
    error: BaseException | None = None
    shape = None
    try:
        scope = _module(text)
        shape = shapes_of(scope["Net"]()(*_arguments(inputs, scope)))
    except Exception as raised:
        error = raised
    try:
        graph = torch.fx.symbolic_trace(_module(text)["Net"]()).graph
    except Exception as raised:
        return Reference(shape, error, raised, [])
    return Reference(shape, error, None, [node.name for node in graph.nodes])


def _module(text: str) -> dict[str, Any]:
    module = ModuleType(f"_reference_{next(_numbers)}")
    module.__file__ = f"<{module.__name__}>"
    sys.modules[module.__name__] = module
    linecache.cache[module.__file__] = (len(text), None, text.splitlines(keepends=True), module.__file__)
    torch.manual_seed(0)
    exec(compile(text, module.__file__, "exec", dont_inherit=True), vars(module))
    return vars(module)


def _arguments(inputs: str, scope: dict[str, Any]) -> tuple[Any, ...]:
    found = eval(f"({inputs},)", scope)
    assert isinstance(found, tuple)
    return found


def shapes_of(value: Any) -> Any:
    """Return the shapes of a value, numbers as they are."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, Mapping):
        return {key: shapes_of(item) for key, item in value.items()}
    return [shapes_of(item) for item in value] if isinstance(value, (list, tuple)) else value


def output_shapes(report: Report) -> Any:
    """Return the shapes that a report shows for the output of the model."""
    (output,) = (node.output for node in report.nodes if node.op == "output")
    return _shown(output)


def _shown(output: Any) -> Any:
    if output is None:
        return None
    if "shape" in output:
        return tuple(output["shape"])
    if "list" in output:
        return [_shown(item) for item in output["list"]]
    if "dict" in output:
        return {key: _shown(item) for key, item in output["dict"].items()}
    return output.get("value", output)

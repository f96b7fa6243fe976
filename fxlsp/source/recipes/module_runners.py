"""Functions that run a module which they are given: exporters, tracers, and those that print a summary."""

from __future__ import annotations

import ast
from typing import NamedTuple

_TAKING_ARGUMENTS = {
    "torch.jit.trace": "example_inputs",
    "torch.onnx.export": "args",
    "torch.export.export": "args",
    "fvcore.nn.FlopCountAnalysis": "inputs",
    "thop.profile": "inputs",
}
"""The parameter behind the module: one argument of the module, or a tuple of them."""

_TAKING_SIZES = {"torchinfo.summary": (), "torchsummary.summary": (2,), "ptflops.get_model_complexity_info": (1,)}
"""The parameter behind the module is the size of its input; what they put before that size, as the batch."""

_SIZES = ("input_size", "input_res")


class GivenModule(NamedTuple):
    """A module handed to a function, and what that function will call it with."""

    module: ast.expr
    arguments: list[ast.expr]


def runs_modules(function: str) -> bool:
    """Whether a function (by its full dotted name) is one of those."""
    return function in _TAKING_ARGUMENTS or function in _TAKING_SIZES


def given_module(call: ast.Call, function: str) -> GivenModule | None:
    """What a call of such a function runs; None where the call does not say with what."""
    if function in _TAKING_SIZES:
        size = _second(call, _SIZES)
        arguments = [] if size is None else [_random(each, _TAKING_SIZES[function]) for each in _sizes(size)]
    else:
        given = _second(call, (_TAKING_ARGUMENTS[function],))
        arguments = given.elts if isinstance(given, ast.Tuple) else [given] if given is not None else []
    return GivenModule(call.args[0], arguments) if call.args and arguments else None


def _second(call: ast.Call, names: tuple[str, ...]) -> ast.expr | None:
    """The second argument, by its place or by one of its names."""
    if len(call.args) > 1:
        return call.args[1]
    return next((keyword.value for keyword in call.keywords if keyword.arg in names), None)


def _sizes(given: ast.expr) -> list[ast.expr]:
    """The sizes given: one, or a list of several."""
    if isinstance(given, (ast.Tuple, ast.List)) and any(isinstance(each, (ast.Tuple, ast.List)) for each in given.elts):
        return given.elts
    return [given]


def _random(size: ast.expr, batch: tuple[int, ...]) -> ast.expr:
    """``torch.randn(1, 3, 224, 224)`` for a size."""
    numbers = size.elts if isinstance(size, (ast.Tuple, ast.List)) else [ast.Starred(size, ast.Load())]
    randn = ast.Attribute(ast.Name("torch", ast.Load()), "randn", ast.Load())
    return ast.Call(randn, [*map(ast.Constant, batch), *numbers], [])

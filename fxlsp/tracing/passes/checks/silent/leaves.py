"""Modules that unexpectedly are leaves of the graph, or are not (FX315 to FX317)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import torch
import torch.nn.modules.loss

from .....report.codes import HIDDEN_MODEL, LEAF_BYPASSED, LEAF_EXPECTED
from .....report.locations import Location
from .....report.problems import Problem
from ....model import module_tree
from ....model.capture.tracer import TracedCall, forward_code
from ....model.locations.code_origin import is_installed
from ..base.check import Check
from ..base.executed_functions import UNRESOLVED, ExecutedFunction, function_key
from ..base.pass_result import PassResult

_CONTAINERS = (
    torch.nn.Module,
    torch.nn.Sequential,
    torch.nn.ModuleList,
    torch.nn.ModuleDict,
    torch.nn.Identity,
    torch.nn.ParameterList,
    torch.nn.ParameterDict,
)
_WRAPPERS = (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)


class BypassedLeaves(Check):
    """Check for ``module.forward(...)`` where ``module(...)`` is meant."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for function in traced.executed.functions:
            if not function.mentions("forward"):
                continue
            for call in function.parts(ast.Call):
                if isinstance(call.func, ast.Attribute) and call.func.attr == "forward":
                    yield from _bypassed(traced, function, call, call.func.value)


def _bypassed(traced: PassResult, function: ExecutedFunction, call: ast.Call, of: ast.expr) -> Iterator[Problem]:
    if isinstance(of, ast.Call) or (isinstance(of, ast.Name) and of.id == function.self_name):
        # ``super().forward(x)`` and ``self.forward(x)`` are the module's own.
        return
    location = traced.executed.location(function, call)
    if not _ran(traced, function, location):
        return
    paths = {module: path for path, module in reversed(list(module_tree.named_modules(traced.root)))}
    for path, module in tuple(function.modules.items()) or (("", None),):
        called = function.resolve(of, module)
        known = isinstance(called, torch.nn.Module)
        if not known and (called is not UNRESOLVED or not _enters_forward(traced, function, location)):
            continue
        name = ast.unparse(of)
        where = f" ({paths[called]})" if isinstance(called, torch.nn.Module) and paths.get(called) else ""
        message = (
            f"{name}.forward() is called instead of {name}(): torch.fx records no call of that module{where}, its "
            f"operations belong to {path or 'the root'}, and its hooks do not run."
        )
        yield traced.problem(LEAF_BYPASSED, message, location, path)
        return


def _ran(traced: PassResult, function: ExecutedFunction, location: Location) -> bool:
    return any(traced.places.locate(function.code, offset) == location for offset in function.offsets)


def _enters_forward(traced: PassResult, function: ExecutedFunction, location: Location) -> bool:
    """Return whether nodes of this call belong to another module's ``forward``.

    This is decided by what the graph shows.
    """
    codes = [forward_code(module) for module in module_tree.modules(traced.root)]
    forwards = {function_key(code) for code in codes if code is not None}
    for node, origin in traced.tracer.origins.items():
        for index, step in enumerate(origin.call_stack):
            if step.code is function.code and traced.places.locate(step.code, step.offset) == location:
                inner = origin.call_stack[index + 1 :]
                owner = str(node.target).rpartition(".")[0]
                if inner and inner[0].code.co_name == "forward" and function_key(inner[0].code) in forwards:
                    return True
                if not inner and node.op == "get_attr" and owner != (step.module_path or ""):
                    return True
    return False


class TracedThrough(Check):
    """Check for subclasses of layers that are no leaves, and for wrappers that are."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for call in traced.tracer.calls:
            cls = type(call.module)
            if isinstance(call.module, _WRAPPERS) and call.leaf:
                message = (
                    f"{cls.__name__} is a leaf to torch.fx: the graph has one node for it, and the model inside "
                    f"({type(call.module.module).__name__}) is hidden."
                )
                yield traced.problem(HIDDEN_MODEL, message, _calling(traced, call), call.module_path)
            base = None if call.leaf else _layer_behind(cls)
            if base is not None:
                message = (
                    f"torch.fx traces through {cls.__name__}, though it runs the forward of torch.nn.{base.__name__}: "
                    f"only classes defined in torch.nn are leaves by default."
                )
                place = traced.places.of_class(cls)
                if place is None or is_installed(place.file):
                    place = _calling(traced, call)
                yield traced.problem(LEAF_EXPECTED, message, place, call.module_path)


def _calling(traced: PassResult, call: TracedCall) -> Location | None:
    made = traced.constructions.of(call.module)
    place = traced.problem_location(call.call_stack)
    return place or (None if made is None else traced.places.locate(made.code, made.offset))


def _layer_behind(cls: type[torch.nn.Module]) -> type | None:
    """Return the layer of torch.nn whose ``forward`` a class outside torch inherits."""
    owner = next((base for base in cls.__mro__ if "forward" in vars(base)), None)
    if owner is None or owner is cls or owner in _CONTAINERS or not owner.__module__.startswith("torch.nn."):
        return None
    return None if owner.__module__ == torch.nn.modules.loss.__name__ else owner

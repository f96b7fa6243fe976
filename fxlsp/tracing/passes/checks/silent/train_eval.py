"""Differences between the graphs of train and eval mode, and their cause (FX304)."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import torch
import torch.fx

from .....report.codes import MODE_BAKED, severity_of
from .....report.locations import Location
from .....report.problems import Problem
from .....wire.messages import ModeDifference
from ....model import module_tree
from ....model.building.builder import seed
from ....model.building.construction import Constructions
from ....model.building.fake_tensors import OnCpu
from ....model.building.state_snapshot import StateSnapshot
from ....model.capture.tracer import ModulePathTracer
from ....model.diagnosis.failures import readable, text_of
from ....model.locations.class_text import codes_within
from ....model.locations.source_map import SourceMap
from ..base.executed_functions import ExecutedFunction, FunctionKey, function_key
from ..base.pass_result import PassResult

MakeTracer = Callable[[], ModulePathTracer]


def mode_problems(difference: ModeDifference, model: str) -> Iterator[Problem]:
    """Yield a problem at each place that makes the graphs differ."""
    own, other = ("train", "eval") if difference.training else ("eval", "train")
    message = (
        f"The graph is that of {own} mode ({difference.nodes} nodes); {other} mode has another "
        f"({difference.other_nodes} nodes). What self.training decides here is baked in: {other}() does not change "
        "the graph."
    )
    for place in difference.places:
        yield Problem(MODE_BAKED, severity_of(MODE_BAKED), message, place, model=model)


def may_depend_on_mode(root: torch.nn.Module, make_tracer: MakeTracer) -> bool:
    """Return whether the code of a class that is traced through reads ``training``."""
    tracer = make_tracer()
    entered = (
        module
        for path, module in module_tree.named_modules(root)
        if module is root or not _is_leaf(tracer, module, path)
    )
    classes = {cls for module in entered for cls in type(module).__mro__}
    functions = (value for cls in classes if not _is_of_torch(cls) for value in vars(cls).values())
    return any(_reads_training(getattr(function, "__code__", None)) for function in map(_unwrapped, functions))


def _is_leaf(tracer: ModulePathTracer, module: torch.nn.Module, path: str) -> bool:
    try:
        return tracer.is_leaf_module(module, path)
    except Exception:
        # An error of the user's tracer, which is reported when it traces.
        return False


def _is_of_torch(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in ("torch", "builtins")


def _unwrapped(value: Any) -> Any:
    value = getattr(value, "__func__", value.fget if isinstance(value, property) else value)
    return inspect.unwrap(value) if callable(value) else value


def _reads_training(code: CodeType | None) -> bool:
    return code is not None and any("training" in each.co_names for each in codes_within(code))


def mode_differences(root: torch.nn.Module, places: SourceMap, make_tracer: MakeTracer) -> ModeDifference:
    """Trace ``root`` in its own mode and in the other, and compare the graphs.

    Run it in a separate process: tracing changes the model.
    """
    training = root.training
    before = StateSnapshot(root)
    own = _traced(root, places, make_tracer())
    before.restore()
    root.train(not training)
    other = _traced(root, places, make_tracer())
    entered = tuple(dict.fromkeys(call.module_path for call in other.tracer.calls))
    counts = (len(own.tracer.graph.nodes), len(other.tracer.graph.nodes))
    error = None if other.error is None else f"{type(other.error).__name__}: {readable(text_of(other.error))}"
    # If one graph ends with an error and the other does not, they differ by where that happens.
    comparable = (own.error is None) == (other.error is None)
    found = tuple(_places(own, other)) if comparable else ()
    return ModeDifference(training, *counts, found, entered, error)


def _traced(root: torch.nn.Module, places: SourceMap, tracer: ModulePathTracer) -> PassResult:
    error: BaseException | None = None
    seed()
    try:
        with OnCpu():
            tracer.trace(root)
    except BaseException as raised:
        # Whatever the user's code raises ends this pass only.
        error = raised
    return PassResult(root, tracer, places, Constructions(places), "", error)


def _places(own: PassResult, other: PassResult) -> Iterator[Location]:
    here, there = _made_by_functions(own), _made_by_functions(other)
    # A function that ran in one mode only did so for a reason elsewhere.
    ran = {function.key for function in own.executed.functions} & {one.key for one in other.executed.functions}
    differing = {key for key in ran if here.get(key) != there.get(key)}
    if not differing:
        return
    seen: set[Location] = set()
    for traced in (own, other):
        for function in traced.executed.reachable:
            # A helper that made no node in either mode may decide for the functions that call it.
            if function.key in differing or not (function.key in here or function.key in there):
                for location in _mode_reads(traced, function):
                    if location not in seen:
                        seen.add(location)
                        yield location


def _mode_reads(traced: PassResult, function: ExecutedFunction) -> Iterator[Location]:
    if function.mentions("training"):
        for part in function.parts(ast.Attribute):
            if part.attr == "training" and isinstance(part.ctx, ast.Load):
                yield traced.executed.location(function, part)


def _made_by_functions(traced: PassResult) -> dict[FunctionKey, list[Any]]:
    """Return for each function its positions when nodes were made, and its own nodes.

    A position is a source location: instructions differ where the compiler made two of one expression.
    """
    found: dict[FunctionKey, list[Any]] = {}
    for node in traced.tracer.graph.nodes:
        call_stack = traced.tracer.origins[node].call_stack
        for depth, step in enumerate(call_stack):
            steps = found.setdefault(function_key(step.code), [])
            place = traced.places.locate(step.code, step.offset)
            if depth == len(call_stack) - 1:
                steps.append((place, node.op, node.target, _comparable_arguments(node)))
            elif not steps or steps[-1] != place:
                steps.append(place)
    return found


def _comparable_arguments(node: torch.fx.Node) -> str:
    """Return the arguments of a node, without the names of other nodes."""
    return repr(torch.fx.node.map_aggregate((node.args, node.kwargs), _comparable_value))


def _comparable_value(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, str, type(None), torch.dtype)):
        return value
    return type(value).__name__

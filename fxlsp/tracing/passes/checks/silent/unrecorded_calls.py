"""Calls that the graph does not record (FX309 to FX312).

These are draws of random numbers by Python and numpy, and reads of the time, unless it is only measured and logged
(FX309); seeds and settings (FX310); custom backward functions (FX311); checkpoints (FX312).
"""

from __future__ import annotations

import ast
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.fx
import torch.utils.checkpoint

from .....report.codes import CHECKPOINT, CONTEXT_DROPPED, CUSTOM_BACKWARD, RANDOM, RESULT_UNUSED
from .....report.problems import Problem
from ....isolation.torch_private import CHECKPOINT_PARTS
from ....model.capture.tracer import ModulePathTracer
from ....model.diagnosis.failures import text_of
from ....model.locations.bytecode.instructions import Instruction
from ....model.locations.class_text import code_of
from ....model.locations.expressions import span_of
from ..base.call_recorder import CallRecorder, FunctionToRecord, RecordedCall
from ..base.check import Check
from ..base.executed_functions import ExecutedFunction
from ..base.pass_result import PassResult

_SETTINGS = ("seed", "setstate", "getstate", "set_state", "get_state", "get_bit_generator", "set_bit_generator")
_TIMES = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time")
_TORCH_SETTINGS = (
    (torch, "manual_seed", "torch.manual_seed"),
    (torch, "seed", "torch.seed"),
    (torch, "set_rng_state", "torch.set_rng_state"),
    (torch, "set_default_dtype", "torch.set_default_dtype"),
    (torch, "use_deterministic_algorithms", "torch.use_deterministic_algorithms"),
    (torch, "set_float32_matmul_precision", "torch.set_float32_matmul_precision"),
    (torch.cuda, "manual_seed", "torch.cuda.manual_seed"),
    (torch.cuda, "manual_seed_all", "torch.cuda.manual_seed_all"),
    (random, "seed", "random.seed"),
)
_LONGEST = 40
"""Characters of a value that a message shows."""
_CHECKPOINTS = ("checkpoint", "checkpoint_sequential", *CHECKPOINT_PARTS)
"""The private functions are called by the public ones, even through a reference such as a ``functools.partial``."""


class UnrecordedCalls(Check):
    """Check for calls that run while the model is traced and that no node represents."""

    def __init__(self) -> None:
        self._recorder = CallRecorder([*_draws(), *_settings(), *_times(), *_checkpoints()])

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        with self._recorder.recording(root, tracer):
            yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for call in self._recorder.calls:
            found = _classified(traced, call)
            location = traced.problem_location(call.call_stack) if found is not None else None
            if found is not None and location is not None:
                code, message = found
                yield traced.problem(code, message, location, call.module_path)


def _classified(traced: PassResult, call: RecordedCall) -> tuple[str, str] | None:
    """Return the code and message for a call, None if it is harmless."""
    name = call.name
    where = f" in module {call.module_path}" if call.module_path else ""
    if name.startswith("torch.utils.checkpoint"):
        return CHECKPOINT, (
            "Activation checkpointing vanishes from the graph: torch.fx records what runs inside, and the graph keeps "
            "all its activations."
        )
    if name.endswith(".apply"):
        if name.startswith("torch."):
            return None
        function = name.removesuffix(".apply").rpartition(".")[2]
        if _is_thrown_away(traced, call):
            return RESULT_UNUSED, (
                f"The result of {function}.apply is not used{where}: nothing that is trained depends on it, so its "
                f"backward never runs, neither in the model nor in a graph."
            )
        return CUSTOM_BACKWARD, (
            f"torch.fx traces through {function}.apply{where}: the graph holds what its forward does, and the "
            f"gradients of that; its own backward is lost."
        )
    if name.startswith("time."):
        if not _reaches_graph(traced, call):
            return None
        return RANDOM, (
            f"{name}() is asked once, while the model is traced: the graph holds that time, or what followed from it."
        )
    if name in _NAMES_OF_SETTINGS:
        return CONTEXT_DROPPED, (
            f"{name} runs once, while the model is traced{where}; the graph does not call it, so that its random "
            f"numbers or settings differ from the model's."
        )
    if name.endswith("default_rng") and call.arguments:
        return None
    return RANDOM, (
        f"{name} draws once, while the model is traced{where}: the graph holds what followed from its result "
        f"({_shown(call.result)}) for ever."
    )


def _shown(result: object) -> str:
    text = " ".join(text_of(result, repr).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _is_thrown_away(traced: PassResult, call: RecordedCall) -> bool:
    """Return whether a call is a statement of its own, of a function that does not say that it writes in place."""
    place = traced.problem_location(call.call_stack)
    function = traced.executed.with_code(call.call_stack[-1].code) if call.call_stack else None
    if function is None or place is None:
        return False
    for statement in function.parts(ast.Expr):
        called = statement.value
        if not isinstance(called, ast.Call) or traced.executed.location(function, called) != place:
            continue
        owner = function.resolve(called.func.value) if isinstance(called.func, ast.Attribute) else None
        code = code_of(getattr(owner, "forward", None))
        return code is not None and "mark_dirty" not in code.co_names
    return False


def _draws() -> list[FunctionToRecord]:
    found = [FunctionToRecord(random, name, f"random.{name}") for name in random.__all__ if name not in _SETTINGS]
    found = [recorded for recorded in found if not isinstance(getattr(random, recorded.attribute), type)]
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        for name in numpy.__all__:
            drawn = getattr(numpy, name, None)
            if name not in _SETTINGS and callable(drawn) and not isinstance(drawn, type):
                found.append(FunctionToRecord(numpy, name, f"numpy.random.{name}"))
    return found


def _settings() -> list[FunctionToRecord]:
    found = [FunctionToRecord(*setting) for setting in _TORCH_SETTINGS]
    numpy = sys.modules.get("numpy.random")
    return found if numpy is None else [*found, FunctionToRecord(numpy, "seed", "numpy.random.seed")]


def _times() -> list[FunctionToRecord]:
    return [FunctionToRecord(time, name, f"time.{name}") for name in _TIMES]


def _checkpoints() -> list[FunctionToRecord]:
    return [
        FunctionToRecord(torch.utils.checkpoint, name, f"torch.utils.checkpoint.{name}", by_torch=name.startswith("_"))
        for name in _CHECKPOINTS
    ]


_NAMES_OF_SETTINGS = {name for *_, name in _TORCH_SETTINGS} | {"numpy.random.seed"}


def _reaches_graph(traced: PassResult, call: RecordedCall) -> bool:
    """Return whether the result of a call takes part in the graph.

    It does as an argument of a node, if it is computed with one, or if it decides a branch.
    """
    if any(_holds(node, call.result) for node in traced.tracer.graph.nodes):
        return True
    for instruction in reversed(call.call_stack):
        function = traced.executed.with_code(instruction.code)
        if function is not None:
            return _is_used(traced, function, instruction)
    return False


def _holds(node: torch.fx.Node, result: object) -> bool:
    found: list[object] = []
    torch.fx.node.map_aggregate((node.args, node.kwargs), found.append)
    return any(type(value) is type(result) and value == result for value in found)


def _is_used(traced: PassResult, function: ExecutedFunction, instruction: Instruction) -> bool:
    place = traced.places.locate(instruction.code, instruction.offset)
    calls = [call for call in function.parts(ast.Call) if traced.executed.location(function, call) == place]
    if not calls:
        return False
    tainted = _Tainted(function, calls[0])
    tests = [branch.test for branch in function.parts(ast.If)]
    tests += [loop.test for loop in function.parts(ast.While)]
    tests += [choice.test for choice in function.parts(ast.IfExp)]
    if any(tainted.is_in(test) for test in tests):
        return True
    operations = {
        traced.places.locate(last.code, last.offset)
        for origin in traced.tracer.origins.values()
        if origin.call_stack and (last := origin.call_stack[-1]).code is function.code
    }
    parts = (*function.parts(ast.BinOp), *function.parts(ast.Call), *function.parts(ast.AugAssign))
    return any(tainted.is_in(part) and traced.executed.location(function, part) in operations for part in parts)


class _Tainted:
    """Expressions of a function computed from one of its calls, through local names."""

    def __init__(self, function: ExecutedFunction, call: ast.Call) -> None:
        self._call = span_of(call)
        self._names: set[str] = set()
        for assignment in function.parts(ast.Assign):
            if self.is_in(assignment.value):
                self._names |= {target.id for target in assignment.targets if isinstance(target, ast.Name)}

    def is_in(self, part: ast.AST) -> bool:
        return any(
            (isinstance(node, ast.Name) and node.id in self._names and isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.Call) and span_of(node) == self._call)
            for node in ast.walk(part)
        )

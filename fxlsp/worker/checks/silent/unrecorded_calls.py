"""Calls that leave nothing in the graph: draws of random numbers and of the time, seeds, checkpoints, custom backwards
(FX309 of Python and numpy, FX310 for settings, FX311, FX312).
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.utils.checkpoint

from ....report.codes import CHECKPOINT, CONTEXT_DROPPED, CUSTOM_BACKWARD, RANDOM
from ....report.problems import Problem
from ...plain_pass.tracer import ModulePathTracer
from ...torch_private import CHECKPOINT_PARTS
from ..base.call_recorder import Call, Recorded, Recorder
from ..base.check import Check
from ..base.pass_result import Traced
from .clock_reads import reaches_graph

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
_CHECKPOINTS = ("checkpoint", "checkpoint_sequential", *CHECKPOINT_PARTS)
"""The last are reached by way of the first, whatever kept a reference to that (a ``functools.partial``)."""


class UnrecordedCalls(Check):
    """Looks for calls that run while the model is traced and that no node stands for."""

    def __init__(self) -> None:
        self._recorder = Recorder([*_draws(), *_settings(), *_times(), *_checkpoints()])

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        with self._recorder.recording(root, tracer):
            yield

    def problems(self, traced: Traced) -> Iterator[Problem]:
        for call in self._recorder.calls:
            found = _told(traced, call)
            location = traced.standing(call.call_stack) if found is not None else None
            if found is not None and location is not None:
                code, message = found
                yield traced.problem(code, message, location, call.module_path)


def _told(traced: Traced, call: Call) -> tuple[str, str] | None:
    """The code and message for a call; None if it does no harm."""
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
        return CUSTOM_BACKWARD, (
            f"torch.fx traces through {function}.apply{where}: the graph holds what its forward does, and the "
            f"gradients of that; its own backward is lost."
        )
    if name.startswith("time."):
        if not reaches_graph(traced, call):
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
        f"({call.result!r:.40}) for ever."
    )


def _draws() -> list[Recorded]:
    found = [Recorded(random, name, f"random.{name}") for name in random.__all__ if name not in _SETTINGS]
    found = [recorded for recorded in found if not isinstance(getattr(random, recorded.attribute), type)]
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        for name in numpy.__all__:
            drawn = getattr(numpy, name, None)
            if name not in _SETTINGS and callable(drawn) and not isinstance(drawn, type):
                found.append(Recorded(numpy, name, f"numpy.random.{name}"))
    return found


def _settings() -> list[Recorded]:
    found = [Recorded(*setting) for setting in _TORCH_SETTINGS]
    numpy = sys.modules.get("numpy.random")
    return found if numpy is None else [*found, Recorded(numpy, "seed", "numpy.random.seed")]


def _times() -> list[Recorded]:
    return [Recorded(time, name, f"time.{name}") for name in _TIMES]


def _checkpoints() -> list[Recorded]:
    return [
        Recorded(torch.utils.checkpoint, name, f"torch.utils.checkpoint.{name}", by_torch=name.startswith("_"))
        for name in _CHECKPOINTS
    ]


_NAMES_OF_SETTINGS = {name for *_, name in _TORCH_SETTINGS} | {"numpy.random.seed"}

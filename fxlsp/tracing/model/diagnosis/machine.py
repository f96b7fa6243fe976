"""Failures of a model that are those of this machine, or of what fxlsp keeps from a model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...isolation.sandbox.audit import RefusedError, is_refused_by_system
from ...isolation.sandbox.resource_limits import reached_limit

_LACKS = re.compile(
    r"""No\ accelerator\ is\ available | No\ (CUDA\ )?GPUs?\ (are|is)\ available | (found\ )?no\ NVIDIA\ driver
    | Torch\ not\ compiled\ with\ (CUDA|XPU|MPS|ROCM) | CUDA\ error | CUDA\ driver | cudaErr | libcuda | HIP\ error
    | (must|should|need\w*|expect\w*|require\w*|support\w*|available|implemented|works?|run)\b[^.\n]{0,60}
      \b(CUDA|GPU|cuda|XPU|HPU|MPS|NPU|TPU|ROCm)\b
    | \b(CUDA|GPU|XPU|HPU|NPU|TPU)\b[^.\n]{0,40}\b(required|only|needed|tensors?)\b
    | not\ (implemented|supported)\ (for|on|by)\ (the\ )?['"]?(CPU|cpu)\b | does\ not\ support\ [^.\n]{0,30}on\ CPU
    | (?:on|with|from|for)\ the\ 'CPU'\ backend | active\ drivers | no\ kernel\ image | NCCL | nccl
    | Default\ process\ group\ has\ not\ been\ initialized
    """,
    re.VERBOSE,
)


def lacks_hardware(message: str) -> bool:
    """Return whether a message says that this machine lacks a device, or a driver or library of one."""
    return _LACKS.search(message) is not None


def may_be_of_machine(errors: Iterable[BaseException], message: str) -> bool:
    """Return whether errors may be due to a missing device or package, or to the sandbox or one of its limits.

    Args:
        errors: an error and those that it was raised for.
        message: what they say together.
    """
    return lacks_hardware(message) or any(
        isinstance(each, (ModuleNotFoundError, RefusedError))
        or is_refused_by_system(each)
        or reached_limit(each) is not None
        for each in errors
    )

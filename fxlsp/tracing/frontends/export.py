"""Verdict of torch.export: with a batch of any size, else with the sizes of the inputs.

The batch is the first dimension of every tensor that has dimensions, where all have the same size there: models for
training are called so. Where the sizes differ, nothing says which dimension is the batch, and only fixed sizes are
tried. Dimensions of images and sequences stay fixed: many models fix these on purpose.

torch.export fixes sizes of 0 and 1 by itself, so that a batch of one is repeated.

A process exports once: following a model leaves fake tensors in the model and in the packages that it uses, which would
spoil a second export.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch

from ...report.frontend_codes import EXPORT_BRANCH, EXPORT_FAILS, EXPORT_FIXED, EXPORT_NUMBER, EXPORT_UNSUPPORTED
from ...report.frontends import FrontendProblem, FrontendVerdict
from ...report.locations import Location
from ..isolation.torch_private import tensors_in, tree_map
from ..isolation.torch_private.export_and_compile import fixed_sizes_noted, is_constraint_violation, refusal_of
from ..model.building.forward_entry import forward_entry
from ..model.building.registrations import running_code
from ..model.diagnosis.failures import message_of
from ..model.locations.source_map import SourceMap
from .model_call import ModelCall, chain_of, is_condition, place_of_error, problem_of, problem_of_error

_LEAST_DYNAMIC = 2
"""Smallest size that torch.export does not fix by itself."""
_LISTED = re.compile(r"^\s*- ", re.MULTILINE)
"""Begin of the first reason below the headline of violated constraints."""


class _Limit(NamedTuple):
    """What keeps torch.export from taking any batch."""

    problem: FrontendProblem
    is_one_batch: bool
    """Whether the code fixes the batch or fails with another one; else it only takes some, such as even ones."""


class ExportAnswer(NamedTuple):
    """Verdict of one export."""

    verdict: FrontendVerdict
    needs_fixed_sizes: bool = False
    """Whether it holds only if another process exports the model with the sizes of its inputs."""


def export_verdict(call: ModelCall, source_map: SourceMap, fixed_sizes: bool = False) -> ExportAnswer:
    """Return what torch.export, not strict, makes of a model.

    Args:
        call: of the model, which must not have been called before.
        source_map: finds the expressions.
        fixed_sizes: whether a batch of any size was tried before, by another process.
    """
    tensors = [each for each in tensors_in((call.args, call.kwargs)) if not each.is_nested and each.dim()]
    batch = None if fixed_sizes else _batch_of(tensors)
    if batch is None:
        return ExportAnswer(_verdict_with_fixed_sizes(call, source_map))
    limit = _limit_of_batch(call, source_map)
    if limit is None:
        return ExportAnswer(FrontendVerdict("export", "ok", "exports with a dynamic batch", batch="dynamic"))
    if len(tensors) > 1:
        # Of several inputs a first size may be equal to the batch by accident, such as the layers of a state.
        return ExportAnswer(_exports_as_given(), needs_fixed_sizes=True)
    return ExportAnswer(_limited_verdict(limit, batch), needs_fixed_sizes=True)


def _verdict_with_fixed_sizes(call: ModelCall, source_map: SourceMap) -> FrontendVerdict:
    refused = _exported(call, None)
    if refused is None:
        return _exports_as_given()
    return FrontendVerdict("export", "problem", "1 problem", (_refused(refused, source_map),))


def _refused(error: BaseException, source_map: SourceMap) -> FrontendProblem:
    """Return the problem of an error of an export with fixed sizes."""
    found = problem_of_error(error, EXPORT_FAILS, source_map)
    match refusal_of(chain_of(error)):
        case "value":
            is_branch = found.location is not None and is_condition(found.location, source_map)
            return replace(found, code=EXPORT_BRANCH if is_branch else EXPORT_NUMBER, is_of_machine=False)
        case "form":
            return replace(found, code=EXPORT_UNSUPPORTED)
    return found


def _exports_as_given() -> FrontendVerdict:
    return FrontendVerdict("export", "ok", "exports, with the sizes of its inputs")


def _limited_verdict(limit: _Limit, batch: int) -> FrontendVerdict:
    if limit.is_one_batch:
        summary = f"exports, but only with the batch fixed at {batch}"
        return FrontendVerdict("export", "ok", summary, (limit.problem,), batch="fixed")
    return FrontendVerdict("export", "ok", "exports, but takes only some batches", (limit.problem,), batch="limited")


def _batch_of(tensors: Sequence[torch.Tensor]) -> int | None:
    """Return the size that the first dimension of all inputs has; None if they have none in common."""
    sizes = {int(tensor.shape[0]) for tensor in tensors}
    return sizes.pop() if len(sizes) == 1 and 0 not in sizes else None


def _limit_of_batch(call: ModelCall, source_map: SourceMap) -> _Limit | None:
    """Export a model for any batch; return what keeps it from that, if anything."""
    fixed_at: list[Location | None] = []

    def note() -> None:
        running = running_code(sys._getframe(1), source_map)
        fixed_at.append(None if running is None else source_map.locate(*running.of_workspace[:2]))

    with fixed_sizes_noted(note):
        error = _exported(call, torch.export.Dim("batch"))
    if error is None:
        return None
    place = place_of_error(error, source_map) or next((each for each in fixed_at if each is not None), None)
    is_one_batch = bool(fixed_at) or not is_constraint_violation(error)
    return _Limit(problem_of(_reason(error), place, EXPORT_FIXED), is_one_batch)


def _reason(error: BaseException) -> str:
    """Return torch's message, for a constraint from its reason on: "You marked batch as dynamic but ..."."""
    message = message_of(error)
    listed = _LISTED.search(message) if is_constraint_violation(error) else None
    return message if listed is None else message[listed.end() :]


def _repeated(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.is_nested or not value.dim() or value.shape[0] >= _LEAST_DYNAMIC:
        return value
    return torch.cat([value] * _LEAST_DYNAMIC)


def _exported(call: ModelCall, batch: Any) -> BaseException | None:
    """Export a model; return the error, if any.

    ``batch`` is the dimension of that name, None for fixed sizes.
    """
    args, kwargs, shapes = call.args, call.kwargs, None
    try:
        if batch is not None:
            args, kwargs = tree_map(_repeated, args), tree_map(_repeated, kwargs)
            bound = inspect.signature(forward_entry(call.model)).bind(*args, **kwargs)
            shapes = {
                name: tree_map(lambda each: _dynamic(each, batch), value) for name, value in bound.arguments.items()
            }
        torch.export.export(call.model, args, kwargs, dynamic_shapes=shapes, strict=False)
    except BaseException as error:
        # SystemExit and KeyboardInterrupt included: the user's code raised them.
        return error
    return None


def _dynamic(value: Any, batch: Any) -> Any:
    return {0: batch} if isinstance(value, torch.Tensor) and value.dim() else None

"""Modules that are never called (FX501), parameters that are never used (FX502).

Only certain cases are reported: ``forward`` ran to its end, the module was entered in neither mode, and no code visible
to this process reads the attribute that holds it. Losses, decoders and heads for another task are read by other code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from .....report.codes import MODULE_NEVER_CALLED, PARAMETER_NEVER_USED
from .....report.problems import Problem
from ....model import module_tree
from ..base.check import Check
from ..base.module_names import OriginPlaces, joined, kind_of_state, registration_of
from ..base.pass_result import PassResult
from .attribute_reads import AttributeReads, is_of_torch


class Unused(Check):
    """Check for FX501 and FX502."""

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        if traced.error is not None or traced.has_failed_operation:
            # Modules called after the point where the pass ended were not entered, and which would be called behind an
            # operation that fails, once it is repaired, is not known.
            return
        if _returns_nothing(traced):
            # A forward that is still being written may call them further down.
            return
        found = list(_unused(traced))
        if found and (traced.entered_in_other_mode is not None or not _depends_on_mode(traced)):
            yield from found


def _returns_nothing(traced: PassResult) -> bool:
    return any(node.op == "output" and node.args[0] is None for node in traced.tracer.graph.nodes)


def _depends_on_mode(traced: PassResult) -> bool:
    return any(function.mentions("training") for function in traced.executed.functions)


def _unused(traced: PassResult) -> Iterator[Problem]:
    modules = dict(module_tree.named_modules(traced.root))
    entered = {traced.root, *(call.module for call in traced.tracer.calls)}
    entered.update(modules[path] for path in traced.entered_in_other_mode or () if path in modules)
    alive = _with_owners(modules.values(), entered)
    tied = _held_twice(modules.values())
    reads = AttributeReads(traced.root, traced.places)
    for path, module in modules.items():
        # Children of torch's own modules are used by torch's code, and leaves do not call their children.
        if module not in entered or is_of_torch(type(module)):
            continue
        for name, child in module._modules.items():
            dead = child is not None and child not in alive and kind_of_state(child) is not None
            if child is not None and dead and not reads.may_read(path, module, name):
                yield from _never_called(traced, joined(path, name), child)
        for name, parameter in module._parameters.items():
            dead = parameter is not None and id(parameter) not in tied
            if parameter is not None and dead and not reads.may_read(path, module, name):
                yield from _never_used(traced, path, module, name, parameter)


def _with_owners(modules: Iterable[torch.nn.Module], entered: set[torch.nn.Module]) -> set[torch.nn.Module]:
    """Return ``entered``, with every module that contains one of them."""
    owners: dict[torch.nn.Module | None, list[torch.nn.Module]] = {}
    for module in modules:
        for child in module._modules.values():
            owners.setdefault(child, []).append(module)
    alive = set(entered)
    waiting = list(entered)
    while waiting:
        for owner in owners.get(waiting.pop(), ()):
            if owner not in alive:
                alive.add(owner)
                waiting.append(owner)
    return alive


def _held_twice(modules: Iterable[torch.nn.Module]) -> set[int]:
    """Return the ``id`` of parameters with several names.

    One that is used under another name is used.
    """
    seen: set[int] = set()
    twice: set[int] = set()
    for module in modules:
        for parameter in module._parameters.values():
            (twice if id(parameter) in seen else seen).add(id(parameter))
    return twice


def _never_called(traced: PassResult, path: str, module: torch.nn.Module) -> Iterator[Problem]:
    made = OriginPlaces.at(traced.constructions.written(module), traced)
    if made is None:
        return
    if isinstance(module, (torch.nn.ParameterList, torch.nn.ParameterDict)):
        message = f"The parameters of {path} are never used.{_consequence(module_tree.parameters(module))}"
        yield traced.problem(PARAMETER_NEVER_USED, message, made.own, path)
    else:
        message = f"{path} ({type(module).__name__}) is never called.{_consequence(module_tree.parameters(module))}"
        yield traced.problem(MODULE_NEVER_CALLED, message, made.own, path)


def _never_used(
    traced: PassResult, path: str, owner: torch.nn.Module, name: str, parameter: torch.nn.Parameter
) -> Iterator[Problem]:
    written = registration_of(owner, name, traced)
    if written is not None:
        message = f"The parameter {joined(path, name)} is never used.{_consequence([parameter], 'elements')}"
        yield traced.problem(PARAMETER_NEVER_USED, message, written.own, path)


def _consequence(parameters: Iterable[torch.nn.Parameter], things: str = "parameters") -> str:
    """Return the consequence for training; "" if there is nothing to train."""
    trained = [parameter for parameter in parameters if parameter.requires_grad]
    if not trained:
        return ""
    unknown = any(isinstance(parameter, torch.nn.UninitializedParameter) for parameter in trained)
    count = "" if unknown else f"{sum(parameter.numel() for parameter in trained):,} "
    return (
        f" Its {count}{things} get no gradient, and DistributedDataParallel fails on such parameters unless it is "
        "given find_unused_parameters=True."
    )

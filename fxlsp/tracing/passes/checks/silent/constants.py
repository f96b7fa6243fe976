"""Values computed, drawn or updated once while tracing (FX306, FX308, FX309).

Of FX309, the random numbers of torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.fx

from .....report.code_records import Severity
from .....report.codes import BUFFER_UPDATE, CONSTANT, RANDOM, severity_of
from .....report.locations import Location
from .....report.problems import Problem
from ....model.capture.tracer import ModulePathTracer
from ..base.check import Check
from ..base.eager_operations import EagerOperation, EagerOperations, TensorOrigin
from ..base.pass_result import PassResult
from ..base.tensor_owners import TensorOwner, owner_of

_CONSTANT = re.compile(r"_tensor_constant\d+")


class Constants(Check):
    """Check of the operations that ran eagerly in a pass and the constants they made."""

    def __init__(self) -> None:
        self._operations: EagerOperations | None = None

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        self._operations = EagerOperations(root, tracer)
        with self._operations:
            yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        if self._operations is None:
            return
        yield from _updates(traced, self._operations.notes)
        for operation in self._operations.notes:
            yield from _of_operation(traced, operation)
        for node in traced.tracer.graph.nodes:
            if node.op == "get_attr":
                yield from _of_constant(traced, node, self._operations)


def _updates(traced: PassResult, operations: list[EagerOperation]) -> Iterator[Problem]:
    found: dict[str, dict[Location, str]] = {}
    used = {str(node.target) for node in traced.tracer.graph.nodes if node.op == "get_attr"}
    for operation in operations:
        used |= operation.origin.state - operation.written
        location = traced.problem_location(operation.call_stack) if operation.written else None
        if location is not None:
            for name in sorted(operation.written):
                found.setdefault(name, {})[location] = operation.module_path
    for name, places in found.items():
        what = f"{_kind(traced, name)} {name}"
        message = f"{what} is updated here once, while the model is traced, and never by the graph."
        # ``num_batches_tracked`` of a normalisation that is traced through: nothing in the graph reads it.
        severity: Severity | None = None if name in used or _changes(traced.root, name) else "hint"
        for location, path in places.items():
            # ``self.n[0] += 1`` adds, and then assigns the item: the larger expression is the one to report.
            if not any(_is_inside(location, other) for other in places):
                yield traced.problem(BUFFER_UPDATE, message, location, path, severity=severity)


def _is_inside(location: Location, other: Location) -> bool:
    start, end = (location.line, location.column), (location.end_line, location.end_column)
    return (
        location != other
        and location.file == other.file
        and (other.line, other.column) <= start
        and end <= (other.end_line, other.end_column)
    )


def _of_operation(traced: PassResult, operation: EagerOperation) -> Iterator[Problem]:
    location = traced.problem_location(operation.call_stack)
    if location is None:
        return
    path = operation.module_path
    if operation.draws:
        message = (
            f"Random numbers are drawn here once, while the model is traced (torch's {operation.name}): the graph "
            f"holds them as a constant, or what followed from them, and draws none."
        )
        yield traced.problem(RANDOM, message, location, path)
    if operation.reads_number and operation.origin.state:
        names = _listed(operation.origin.state)
        message = (
            f"The value of {names} is read here while the model is traced: the graph holds the number, or what "
            f"followed from it, and does not follow {names} when it changes."
        )
        yield traced.problem(CONSTANT, message, location, path, severity=_severity(traced, operation.origin))


def _of_constant(traced: PassResult, node: torch.fx.Node, operations: EagerOperations) -> Iterator[Problem]:
    tensor = _tensor_at(traced.root, str(node.target))
    if tensor is None:
        return
    origin = traced.tracer.origins[node]
    if not _CONSTANT.fullmatch(str(node.target)):
        # One that is to be trained belongs into a parameter, not into a buffer (FX602).
        if _is_plain_attribute(traced.root, str(node.target)) and not tensor.requires_grad:
            message = (
                f"The tensor {node.target} is an attribute, but no buffer: it is not in the state_dict, and does not "
                f"move with the model to another device."
            )
            location = traced.attribute_location(origin.call_stack, str(node.target).rpartition(".")[2])
            yield traced.problem(CONSTANT, message, location, origin.module_path, severity="hint")
        return
    made = operations.made_by(tensor)
    if made is None:
        owner = owner_of(traced, tensor)
        if owner is not None:
            message = (
                f"This uses a tensor that {owner.description} holds: in the graph it is the constant {node.target}, "
                f"not in the state_dict of the model."
            )
            yield traced.problem(
                CONSTANT,
                message,
                traced.problem_location(origin.call_stack),
                origin.module_path,
                severity=_owner_severity(owner),
            )
        return
    location = traced.problem_location(made.call_stack) or traced.problem_location(origin.call_stack)
    if made.origin.state:
        names = _listed(made.origin.state)
        message = (
            f"This is computed from {names} once, while the model is traced: in the graph it is the constant "
            f"{node.target}, which does not follow {names} when it changes (load_state_dict, an update)."
        )
        yield traced.problem(CONSTANT, message, location, made.module_path, severity=_severity(traced, made.origin))
        return
    owners = [owner for owner in (owner_of(traced, tensor) for tensor in made.origin.foreign) if owner is not None]
    if owners:
        message = (
            f"This is computed from a tensor that {owners[0].description} holds: in the graph it is the constant "
            f"{node.target}, which does not follow it and is not in the state_dict of the model."
        )
        yield traced.problem(CONSTANT, message, location, made.module_path, severity=_owner_severity(owners[0]))


def _owner_severity(owner: TensorOwner) -> Severity:
    """Return the severity for a constant that an attribute, list or global holds.

    Tensors in lists are often meant to be state; a global or a separate attribute is a constant on purpose.
    """
    return severity_of(CONSTANT) if owner.in_container else "hint"


def _severity(traced: PassResult, origin: TensorOrigin) -> Severity:
    """Return the severity for a constant computed from state.

    Floating-point buffers that are saved change in training; indices and masks do not.
    """
    return severity_of(CONSTANT) if any(_changes(traced.root, name) for name in origin.state) else "hint"


def _changes(root: torch.nn.Module, name: str) -> bool:
    owner_path, _, own_name = name.rpartition(".")
    owner = root.get_submodule(owner_path)
    if own_name in owner._parameters:
        return True
    tensor = owner._buffers.get(own_name)
    saved = own_name not in owner._non_persistent_buffers_set
    return saved and isinstance(tensor, torch.Tensor) and (tensor.is_floating_point() or tensor.is_complex())


def _kind(traced: PassResult, name: str) -> str:
    owner_path, _, own_name = name.rpartition(".")
    return "The parameter" if own_name in traced.root.get_submodule(owner_path)._parameters else "The buffer"


def _listed(names: frozenset[str]) -> str:
    first, *rest = sorted(names)
    return first if not rest else f"{first} and {rest[0]}" if len(rest) == 1 else f"{first} and {len(rest)} more"


def _tensor_at(root: torch.nn.Module, target: str) -> torch.Tensor | None:
    found: object = root
    for name in target.split("."):
        found = getattr(found, name, None)
    return found if isinstance(found, torch.Tensor) else None


def _is_plain_attribute(root: torch.nn.Module, target: str) -> bool:
    owner_path, _, name = target.rpartition(".")
    try:
        owner = root.get_submodule(owner_path)
    except AttributeError:
        return False
    # The older spectral_norm and weight_norm compute an attribute from a parameter whose name derives from it.
    computed = any(f"{name}{suffix}" in owner._parameters for suffix in ("_orig", "_g"))
    return name in vars(owner) and not computed
